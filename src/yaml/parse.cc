// Parsing: the library's events into a bounded tree, with everything refused that people do not
// need and attackers do.
#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <charconv>
#include <exception>
#include <sstream>
#include <unordered_set>

#include <fmt/format.h>

#include "base/utf8.h"
#include "yaml/yaml.h"

namespace remit::yaml {
namespace {

Error at_place(Place place, ErrorCode code, std::string message) {
  return Error{code, std::move(message), fmt::format("{}:{}", place.line, place.column)};
}

Place place_of(const YAML::Mark& mark) {
  // The library marks an unknown place with -1.
  return Place{static_cast<std::uint32_t>(std::max(mark.line, 0) + 1),
               static_cast<std::uint32_t>(std::max(mark.column, 0) + 1)};
}

Place place_at(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const std::size_t newline = before.rfind('\n');
  const std::size_t start = newline == std::string_view::npos ? 0 : newline + 1;
  return Place{static_cast<std::uint32_t>(std::count(before.begin(), before.end(), '\n') + 1),
               static_cast<std::uint32_t>(offset - start + 1)};
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string_view without_sign(std::string_view text) {
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  return text;
}

std::size_t digits_at_start(std::string_view text) {
  const auto end = std::find_if_not(text.begin(), text.end(), is_digit);
  return static_cast<std::size_t>(end - text.begin());
}

bool is_based_integer(std::string_view text) {
  const bool octal = text.starts_with("0o");
  if (!octal && !text.starts_with("0x")) return false;
  const std::string_view allowed = octal ? "01234567" : "0123456789abcdefABCDEF";
  return text.size() > 2 && text.find_first_not_of(allowed, 2) == std::string_view::npos;
}

/// A number of the core schema (YAML 1.2.2, section 10.3.2) that is no decimal integer.
bool is_other_number(std::string_view text) {
  if (is_based_integer(text)) return true;
  for (const std::string_view word : {".nan", ".NaN", ".NAN"}) {
    if (text == word) return true;
  }
  text = without_sign(text);
  for (const std::string_view word : {".inf", ".Inf", ".INF"}) {
    if (text == word) return true;
  }
  std::size_t digits = digits_at_start(text);
  text.remove_prefix(digits);
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    const std::size_t fraction = digits_at_start(text);
    text.remove_prefix(fraction);
    digits += fraction;
  }
  if (digits == 0) return false;
  if (text.empty()) return true;
  if (text.front() != 'e' && text.front() != 'E') return false;
  text = without_sign(text.substr(1));
  return !text.empty() && digits_at_start(text) == text.size();
}

/// Characters and forms that no file needs, looked for before the library sees the text: it stops
/// silently at a byte 4, guesses UTF-16 from NULs, and counts lines by `\n` alone.
Status check_text(std::string_view text, const ParseLimits& limits) {
  if (text.size() > limits.max_bytes) {
    return Error{ErrorCode::kLimitExceeded, fmt::format("larger than {} bytes", limits.max_bytes)};
  }
  if (text.starts_with("\xef\xbb\xbf")) {
    return at_place({1, 1}, ErrorCode::kInvalidInput, "a byte order mark");
  }
  if (const auto bad = first_invalid_utf8(text)) {
    return at_place(place_at(text, *bad), ErrorCode::kInvalidInput, "not UTF-8");
  }
  std::size_t separators = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool line_end = byte == '\r' && i + 1 < text.size() && text[i + 1] == '\n';
    if ((byte < 0x20 && byte != '\n' && byte != '\t' && !line_end) || byte == 0x7f) {
      return at_place(place_at(text, i), ErrorCode::kInvalidInput,
                      fmt::format("the control character \\x{:02x}", byte));
    }
    const std::string_view punctuation = "[{,:";
    if (punctuation.find(text[i]) != std::string_view::npos) ++separators;
  }
  // The library holds the tokens of a whole flow collection before it reports the first of them.
  if (separators > 2 * limits.max_nodes) {
    return Error{ErrorCode::kLimitExceeded, fmt::format("more than {} nodes", limits.max_nodes)};
  }
  return {};
}

/// The place of a `%` directive before the document, which the library would act on in silence.
std::optional<std::size_t> find_directive(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    if (text[at] == '%') return at;
    const std::size_t content = text.find_first_not_of(" \t\r", at);
    if (content == std::string_view::npos) return std::nullopt;
    if (text[content] != '#' && text[content] != '\n') return std::nullopt;
    const std::size_t newline = text.find('\n', content);
    if (newline == std::string_view::npos) return std::nullopt;
    at = newline + 1;
  }
  return std::nullopt;
}

/// The library's words for what is wrong, without outside text.
std::string reason_of(const YAML::Exception& exception) {
  const std::string_view message = exception.msg;
  return fmt::format("not YAML: {}", message.substr(0, message.find(':')));
}

}  // namespace

/// Builds the tree out of the library's events. After the first error it ignores the rest: the
/// library recurses to its own bound and comes back.
class TreeBuilder final : public YAML::EventHandler {
 public:
  TreeBuilder(std::string_view text, const ParseLimits& limits) : text_(text), limits_(limits) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) {
      fail(mark, ErrorCode::kInvalidInput, "more than one document, or text behind its end");
    }
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (refused(mark, anchor)) return;
    attach(new_node(mark, Node::Kind::kNull));
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    fail(mark, ErrorCode::kUnsupported, "aliases are not supported: write the value again");
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    if (refused(mark, anchor)) return;
    if (value.find('\0') != std::string::npos) {
      return fail(mark, ErrorCode::kInvalidInput, "a NUL character in a text");
    }
    // The library writes some escapes (`\_`, `\N`) as single bytes.
    if (first_invalid_utf8(value)) {
      return fail(mark, ErrorCode::kInvalidInput,
                  "an escape that is not supported: write the character itself");
    }
    if (!is_closed(mark)) return fail(mark, ErrorCode::kInvalidInput, "a text without end");
    Node node = new_node(mark, Node::Kind::kString);
    node.text_ = value;
    if (tag == "?") type_plain(node);
    attach(std::move(node));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open(mark, anchor, Node::Kind::kList);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    open(mark, anchor, Node::Kind::kMap);
  }
  void OnMapEnd() override { close(); }

  /// The tree, or the first error. `library_error` is what the library said, if it said anything.
  Result<Node> finish(std::optional<Error> library_error) {
    // A text that is cut off within a flow collection looks to us like one with a list for a key:
    // what the library says of it is nearer to the truth.
    if (library_error && (!error_ || error_->code == ErrorCode::kInvalidInput)) {
      return *std::move(library_error);
    }
    if (error_) return *std::move(error_);
    if (root_) return *std::move(root_);
    Node empty;
    empty.place_ = Place{1, 1};
    return empty;
  }

 private:
  struct Frame {
    Node node;
    std::unordered_set<std::string> seen;  // keys of a map
  };

  Node new_node(const YAML::Mark& mark, Node::Kind kind) {
    Node node;
    node.kind_ = kind;
    node.place_ = place_of(mark);
    return node;
  }

  void fail(const YAML::Mark& mark, ErrorCode code, std::string message) {
    if (!error_) error_ = at_place(place_of(mark), code, std::move(message));
  }

  /// Whether to ignore an event: an earlier error, or one that this event is.
  bool refused(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor != YAML::NullAnchor) {
      fail(mark, ErrorCode::kUnsupported, "anchors are not supported: write the value again");
    }
    // The events give a quoted text and one with the tag `!` the same tag; the text tells.
    if (mark.pos >= 0 && static_cast<std::size_t>(mark.pos) < text_.size() &&
        text_[static_cast<std::size_t>(mark.pos)] == '!') {
      fail(mark, ErrorCode::kUnsupported, "tags are not supported");
    }
    if (++nodes_ > limits_.max_nodes) {
      fail(mark, ErrorCode::kLimitExceeded, fmt::format("more than {} nodes", limits_.max_nodes));
    }
    return error_.has_value();
  }

  void open(const YAML::Mark& mark, YAML::anchor_t anchor, Node::Kind kind) {
    if (refused(mark, anchor)) return;
    if (frames_.size() >= limits_.max_depth) {
      return fail(mark, ErrorCode::kLimitExceeded,
                  fmt::format("nested more than {} deep", limits_.max_depth));
    }
    if (key_expected()) return fail(mark, ErrorCode::kInvalidInput, "a key must be text");
    frames_.push_back(Frame{new_node(mark, kind), {}});
  }

  void close() {
    if (error_ || frames_.empty()) return;
    Node node = std::move(frames_.back().node);
    frames_.pop_back();
    attach(std::move(node));
  }

  [[nodiscard]] bool key_expected() const {
    if (frames_.empty()) return false;
    const Node& node = frames_.back().node;
    return node.kind_ == Node::Kind::kMap && node.keys_.size() == node.children_.size();
  }

  void attach(Node node) {
    if (frames_.empty()) {
      root_ = std::move(node);
      return;
    }
    if (!key_expected()) {
      Node& parent = frames_.back().node;
      // The library puts a value that is not there at the token that came instead of it.
      const bool absent = parent.kind_ == Node::Kind::kMap && node.kind_ == Node::Kind::kNull &&
                          node.place_.line != parent.keys_.back().place.line;
      if (absent) node.place_ = parent.keys_.back().place;
      parent.children_.push_back(std::move(node));
      return;
    }
    if (node.kind_ != Node::Kind::kString) {
      error_ = at_place(node.place_, ErrorCode::kInvalidInput,
                        fmt::format("a key must be text, not {}", node.describe()));
      return;
    }
    Frame& frame = frames_.back();
    if (!frame.seen.insert(node.text_).second) {
      error_ = at_place(node.place_, ErrorCode::kInvalidInput,
                        fmt::format("the key {} is given twice", quoted(node.text_)));
      return;
    }
    frame.node.keys_.push_back(Key{std::move(node.text_), node.place_});
  }

  /// Whether the quoted text at `mark` has an end: the library takes the end of the file for one.
  [[nodiscard]] bool is_closed(const YAML::Mark& mark) const {
    if (mark.pos < 0 || static_cast<std::size_t>(mark.pos) >= text_.size()) return true;
    std::string_view rest = text_.substr(static_cast<std::size_t>(mark.pos));
    const char quote = rest.front();
    if (quote != '\'' && quote != '"') return true;
    for (std::size_t i = 1; i < rest.size(); ++i) {
      const bool doubled = quote == '\'' && rest.substr(i).starts_with("''");
      const bool escape = quote == '"' && rest[i] == '\\';
      if (doubled || escape) {
        ++i;
      } else if (rest[i] == quote) {
        return true;
      }
    }
    return false;
  }

  static void type_plain(Node& node) {
    const std::string_view text = node.text_;
    if (text == "true" || text == "True" || text == "TRUE") {
      node.kind_ = Node::Kind::kBool;
      node.bool_ = true;
    } else if (text == "false" || text == "False" || text == "FALSE") {
      node.kind_ = Node::Kind::kBool;
    } else if (const std::string_view digits = without_sign(text);
               !digits.empty() && digits_at_start(digits) == digits.size()) {
      const std::string_view number = text.front() == '+' ? digits : text;
      const auto [end, error] =
          std::from_chars(number.data(), number.data() + number.size(), node.integer_);
      node.kind_ = error == std::errc{} ? Node::Kind::kInteger : Node::Kind::kNumber;
    } else if (is_other_number(text)) {
      node.kind_ = Node::Kind::kNumber;
    }
  }

  std::string_view text_;
  const ParseLimits& limits_;
  std::vector<Frame> frames_;
  std::optional<Node> root_;
  std::optional<Error> error_;
  std::size_t nodes_ = 0;
  std::size_t documents_ = 0;
};

Result<Node> parse(std::string_view text, const ParseLimits& limits) {
  REMIT_TRY(check_text(text, limits));
  if (const auto directive = find_directive(text)) {
    return at_place(place_at(text, *directive), ErrorCode::kUnsupported,
                    "directives are not supported");
  }
  TreeBuilder builder(text, limits);
  std::optional<Error> library_error;
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    // A second document, or a stray text behind the first, is an error of the builder.
    if (parser.HandleNextDocument(builder)) parser.HandleNextDocument(builder);
  } catch (const YAML::DeepRecursion& exception) {
    library_error = at_place(place_of(exception.mark), ErrorCode::kLimitExceeded,
                             fmt::format("nested more than {} deep", limits.max_depth));
  } catch (const YAML::Exception& exception) {
    const bool alias = exception.msg == YAML::ErrorMsg::UNKNOWN_ANCHOR;
    library_error =
        alias ? at_place(place_of(exception.mark), ErrorCode::kUnsupported,
                         "aliases are not supported: write the value again")
              : at_place(place_of(exception.mark), ErrorCode::kInvalidInput, reason_of(exception));
  } catch (const std::exception&) {
    library_error = Error{ErrorCode::kInvalidInput, "not YAML: the parser failed"};
  }
  return builder.finish(std::move(library_error));
}

}  // namespace remit::yaml
