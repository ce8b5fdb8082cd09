// YAML as people write it by hand: a bounded tree with positions, and a reader that finds every
// mistake at once.
//
//     REMIT_TRY_ASSIGN(const yaml::Node root, yaml::parse(text));
//     yaml::Problems problems("bundle.yaml");
//     yaml::ObjectReader bundle(root, "the bundle", problems);
//     bundle.format("bundle", "remit.bundle/1");
//     std::string version = bundle.required_string("version");
//     for (const yaml::Node& item : bundle.required_list("routes")) {
//       yaml::ObjectReader route(item, "a route", problems);
//       std::string name = route.required_string("name");
//       route.finish();  // a problem for each key that nobody asked for
//     }
//     bundle.finish();
//     if (!problems.empty()) return problems.take();
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/limits.h"
#include "base/result.h"

namespace remit::yaml {

/// A position in a text; both count from 1, columns in bytes. Line 0 is the file as a whole.
struct Place {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  friend auto operator<=>(const Place&, const Place&) = default;
};

class Node;

/// A key of a map with where it stands.
struct Key {
  std::string text;
  Place place;
};

/// One node of a document, an owned tree. Plain scalars have the types of YAML 1.2's core schema
/// (`true`, `12`, `1.5`, `null`); quoted ones and block scalars are strings. A plain `yes`, `on` or
/// date is a string. Immutable once parsed.
class Node {
 public:
  enum class Kind : std::uint8_t {
    kNull,
    kBool,
    kInteger,  ///< fits 64 bits, decimal
    kNumber,   ///< any other number: a fraction, an exponent, hexadecimal, `.inf`, beyond 64 bits
    kString,
    kList,
    kMap,
  };

  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] Place place() const { return place_; }
  /// What the node is, in words for a message: `text`, `a list`, `the number 12`.
  [[nodiscard]] std::string describe() const;

  [[nodiscard]] std::optional<bool> if_bool() const;
  [[nodiscard]] std::optional<std::int64_t> if_integer() const;
  /// The text of a string; null for any other kind.
  [[nodiscard]] const std::string* if_string() const;
  /// Items of a list, in order; empty for any other kind.
  [[nodiscard]] std::span<const Node> items() const;
  /// Keys and values of a map, in order, two spans of one length; empty for any other kind.
  [[nodiscard]] std::span<const Key> keys() const;
  [[nodiscard]] std::span<const Node> values() const;
  /// The value of a key of a map; null if there is none.
  [[nodiscard]] const Node* find(std::string_view key) const;

 private:
  friend class TreeBuilder;
  Kind kind_ = Kind::kNull;
  bool bool_ = false;
  Place place_;
  std::int64_t integer_ = 0;
  std::string text_;
  std::vector<Key> keys_;
  std::vector<Node> children_;
};

/// Bounds of one parse.
struct ParseLimits {
  std::size_t max_bytes = kMaxConfigBytes;
  std::size_t max_depth = kMaxYamlDepth;  ///< nesting of lists and maps
  std::size_t max_nodes = kMaxYamlNodes;
};

/// Parses one YAML 1.2 document; JSON is YAML. Errors, each with `LINE:COLUMN` as its place:
/// `invalid_input` for a text that is not YAML or not UTF-8, a control character, a byte order
/// mark, a key given twice, a key that is not text, a second document; `unsupported` for an anchor,
/// an alias, a tag or a `%` directive; `limit_exceeded` for a bound of `limits`. An empty text is a
/// null node. Never throws. Thread-safe.
Result<Node> parse(std::string_view text, const ParseLimits& limits = {});

/// What is wrong with one file, in the order of the file. At most kMaxProblems are kept: whoever
/// has more mends those first. Not thread-safe.
class Problems {
 public:
  /// `file` is how messages name the file.
  explicit Problems(std::string file) : file_(std::move(file)) {}

  void add(Place place, std::string message, ErrorCode code = ErrorCode::kInvalidInput);
  void add(const Node& node, std::string message, ErrorCode code = ErrorCode::kInvalidInput) {
    add(node.place(), std::move(message), code);
  }
  /// Adds an error of `parse`, or any other whose place lies within this file.
  void add(Error error);

  [[nodiscard]] bool empty() const { return found_.empty(); }
  [[nodiscard]] const std::string& file() const { return file_; }
  /// Everything added, sorted by place; `where` is `FILE:LINE:COLUMN`. Leaves this object empty.
  std::vector<Error> take();

 private:
  struct Found {
    Place place;
    std::size_t order;  // of adding
    Error error;
  };
  std::string file_;
  std::vector<Found> found_;
};

/// Reads a map key by key. What is missing or of the wrong type becomes a problem and reads as an
/// empty value, so that the reader goes on and finds the rest. A node that is no map is one problem
/// and not one for each key. Node and problems outlive the reader. Not thread-safe.
class ObjectReader {
 public:
  /// `what` says in a message what the map is: `a route`, `the manifest`.
  ObjectReader(const Node& node, std::string_view what, Problems& problems);

  /// The format's name and version, which must be the first key: `bundle: remit.bundle/1`. Another
  /// version of the same format is `unsupported`. False if a problem was added: what follows is
  /// then of another format and not worth reading.
  bool format(std::string_view key, std::string_view name);

  /// The value of `key`. Null if absent, which for `required_node` is a problem. A key without a
  /// value (`key:`) is a null node.
  const Node* required_node(std::string_view key);
  const Node* optional_node(std::string_view key);

  /// Text that is not empty.
  std::string required_string(std::string_view key);
  std::optional<std::string> optional_string(std::string_view key);

  std::int64_t required_integer(std::string_view key, std::int64_t least,
                                std::int64_t most = std::numeric_limits<std::int64_t>::max());
  std::optional<std::int64_t> optional_integer(
      std::string_view key, std::int64_t least,
      std::int64_t most = std::numeric_limits<std::int64_t>::max());

  std::optional<bool> optional_bool(std::string_view key);

  /// Items of a list. `required_list` wants the key, not an item.
  std::span<const Node> required_list(std::string_view key);
  std::span<const Node> optional_list(std::string_view key);
  /// A list of texts, none of them empty or given twice.
  std::vector<std::string> required_strings(std::string_view key);
  std::vector<std::string> optional_strings(std::string_view key);

  /// One of a few words, e.g. `{{"enforce", Mode::kEnforce}, {"shadow", Mode::kShadow}}`; the
  /// problem lists them all.
  template <class T>
  std::optional<T> optional_choice(std::string_view key,
                                   std::initializer_list<std::pair<std::string_view, T>> choices) {
    return choice(optional_node(key), key, choices);
  }
  template <class T>
  std::optional<T> required_choice(std::string_view key,
                                   std::initializer_list<std::pair<std::string_view, T>> choices) {
    return choice(required_node(key), key, choices);
  }

  /// Adds a problem at the value of `key`, or at the map if it has no such key.
  void problem(std::string_view key, std::string message,
               ErrorCode code = ErrorCode::kInvalidInput);

  /// Adds a problem for each key that was not asked for, naming the keys that were. True if this
  /// reader added no problem at all.
  bool finish();

 private:
  template <class T>
  std::optional<T> choice(const Node* node, std::string_view key,
                          std::initializer_list<std::pair<std::string_view, T>> choices) {
    if (node == nullptr) return std::nullopt;
    std::string words;
    for (const auto& [word, value] : choices) {
      const std::string* text = node->if_string();
      if (text != nullptr && *text == word) return value;
      words.append(words.empty() ? "" : ", ").append(word);
    }
    add(*node, wrong_choice(key, *node, words));
    return std::nullopt;
  }
  static std::string wrong_choice(std::string_view key, const Node& node, std::string_view words);
  void add(const Node& node, std::string message, ErrorCode code = ErrorCode::kInvalidInput);
  std::optional<std::string> text_of(const Node& node, std::string_view key);
  std::optional<std::int64_t> integer_of(const Node& node, std::string_view key, std::int64_t least,
                                         std::int64_t most);
  std::span<const Node> list_of(const Node* node, std::string_view key);
  std::vector<std::string> strings_of(const Node* node, std::string_view key);

  const Node& node_;
  std::string what_;
  Problems& problems_;
  std::set<std::string, std::less<>> asked_;
  bool is_map_ = false;
  bool clean_ = true;
};

}  // namespace remit::yaml
