// Reading maps key by key, and keeping what is wrong with them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <tuple>

#include "base/nearest_word.h"
#include "yaml/yaml.h"

namespace remit::yaml {
namespace {

/// `3:7` read back; line 0 for any other place.
Place parse_place(std::string_view where) {
  Place place;
  const char* const end = where.data() + where.size();
  const auto line = std::from_chars(where.data(), end, place.line);
  if (line.ec != std::errc{} || line.ptr == end || *line.ptr != ':') return {};
  const auto column = std::from_chars(line.ptr + 1, end, place.column);
  return column.ec == std::errc{} ? place : Place{};
}

bool is_number(const Node& node) {
  return node.kind() == Node::Kind::kInteger || node.kind() == Node::Kind::kNumber;
}

/// What a document is that is not the one that was wanted, by its first line.
std::string other_document(const Node& root) {
  if (root.keys().empty()) return "";
  if (root.keys().front().text == "event") return "; this is an event";
  const std::string* const text = root.values().front().if_string();
  const bool is_ours = text != nullptr && text->starts_with("remit.") && text->size() < 40;
  return is_ours ? "; this is " + quoted(*text) : "";
}

}  // namespace

void Problems::add(Place place, std::string message, ErrorCode code) {
  std::string where = place.line == 0 ? "" : fmt::format("{}:{}", place.line, place.column);
  add(Error{code, std::move(message), std::move(where)});
}

void Problems::add(Error error) {
  if (found_.size() >= kMaxProblems) return;
  const Place place = parse_place(error.where);
  found_.push_back(Found{place, found_.size(), in_place(file_, std::move(error))});
}

std::vector<Error> Problems::take() {
  std::sort(found_.begin(), found_.end(), [](const Found& left, const Found& right) {
    return std::tie(left.place, left.order) < std::tie(right.place, right.order);
  });
  std::vector<Error> out;
  out.reserve(found_.size());
  for (Found& found : found_) out.push_back(std::move(found.error));
  found_.clear();
  return out;
}

ObjectReader::ObjectReader(const Node& node, std::string_view what, Problems& problems)
    : node_(node), what_(what), problems_(problems), is_map_(node.kind() == Node::Kind::kMap) {
  if (!is_map_) add(node, fmt::format("{} must be a map, not {}", what_, node.describe()));
}

void ObjectReader::add(const Node& node, std::string message, ErrorCode code) {
  clean_ = false;
  problems_.add(node, std::move(message), code);
}

void ObjectReader::problem(std::string_view key, std::string message, ErrorCode code) {
  const Node* node = node_.find(key);
  add(node == nullptr ? node_ : *node, std::move(message), code);
}

bool ObjectReader::format(std::string_view key, std::string_view name) {
  if (!is_map_) return false;
  asked_.emplace(key);
  const bool is_first = !node_.keys().empty() && node_.keys().front().text == key;
  const std::string* text = is_first ? node_.values().front().if_string() : nullptr;
  if (text != nullptr && *text == name) return true;
  const std::string_view family = name.substr(0, name.rfind('/') + 1);
  if (text != nullptr && !family.empty() && text->starts_with(family)) {
    add(node_.values().front(),
        fmt::format("{} is not supported; this version reads {}", quoted(*text), name),
        ErrorCode::kUnsupported);
  } else {
    add(node_,
        fmt::format("the first line must be \"{}: {}\"{}", key, name, other_document(node_)));
  }
  return false;
}

const Node* ObjectReader::optional_node(std::string_view key) {
  asked_.emplace(key);
  return node_.find(key);
}

const Node* ObjectReader::required_node(std::string_view key) {
  const Node* node = optional_node(key);
  if (node == nullptr && is_map_) add(node_, fmt::format("{} lacks \"{}\"", what_, key));
  return node;
}

std::optional<std::string> ObjectReader::text_of(const Node& node, std::string_view key) {
  const std::string* text = node.if_string();
  if (text == nullptr) {
    const bool unquoted = is_number(node) || node.kind() == Node::Kind::kBool;
    add(node, fmt::format("\"{}\" must be text, not {}{}", key, node.describe(),
                          unquoted ? "; put it in quotes" : ""));
    return std::nullopt;
  }
  if (text->empty()) {
    add(node, fmt::format("\"{}\" must not be empty", key));
    return std::nullopt;
  }
  return *text;
}

std::string ObjectReader::required_string(std::string_view key) {
  const Node* node = required_node(key);
  return node == nullptr ? std::string() : text_of(*node, key).value_or("");
}

std::optional<std::string> ObjectReader::optional_string(std::string_view key) {
  const Node* node = optional_node(key);
  return node == nullptr ? std::nullopt : text_of(*node, key);
}

std::optional<std::int64_t> ObjectReader::integer_of(const Node& node, std::string_view key,
                                                     std::int64_t least, std::int64_t most) {
  const std::optional<std::int64_t> value = node.if_integer();
  if (!value) {
    add(node, fmt::format("\"{}\" must be an integer, not {}", key, node.describe()));
    return std::nullopt;
  }
  if (*value >= least && *value <= most) return value;
  const bool open_ended = most == std::numeric_limits<std::int64_t>::max();
  add(node, open_ended
                ? fmt::format("\"{}\" must be at least {}, not {}", key, least, *value)
                : fmt::format("\"{}\" must be from {} to {}, not {}", key, least, most, *value));
  return std::nullopt;
}

std::int64_t ObjectReader::required_integer(std::string_view key, std::int64_t least,
                                            std::int64_t most) {
  const Node* node = required_node(key);
  return node == nullptr ? 0 : integer_of(*node, key, least, most).value_or(0);
}

std::optional<std::int64_t> ObjectReader::optional_integer(std::string_view key, std::int64_t least,
                                                           std::int64_t most) {
  const Node* node = optional_node(key);
  return node == nullptr ? std::nullopt : integer_of(*node, key, least, most);
}

std::optional<bool> ObjectReader::optional_bool(std::string_view key) {
  const Node* node = optional_node(key);
  if (node == nullptr) return std::nullopt;
  const std::optional<bool> value = node->if_bool();
  if (!value) {
    add(*node, fmt::format("\"{}\" must be true or false, not {}", key, node->describe()));
  }
  return value;
}

std::span<const Node> ObjectReader::list_of(const Node* node, std::string_view key) {
  if (node == nullptr) return {};
  if (node->kind() != Node::Kind::kList) {
    add(*node, fmt::format("\"{}\" must be a list, not {}", key, node->describe()));
  }
  return node->items();
}

std::span<const Node> ObjectReader::required_list(std::string_view key) {
  return list_of(required_node(key), key);
}

std::span<const Node> ObjectReader::optional_list(std::string_view key) {
  return list_of(optional_node(key), key);
}

std::vector<std::string> ObjectReader::strings_of(const Node* node, std::string_view key) {
  std::vector<std::string> out;
  std::set<std::string_view> seen;
  for (const Node& item : list_of(node, key)) {
    std::optional<std::string> text = text_of(item, key);
    if (!text) continue;
    if (!seen.insert(*item.if_string()).second) {
      add(item, fmt::format("{} stands twice in \"{}\"", quoted(*text), key));
      continue;
    }
    out.push_back(*std::move(text));
  }
  return out;
}

std::vector<std::string> ObjectReader::required_strings(std::string_view key) {
  return strings_of(required_node(key), key);
}

std::vector<std::string> ObjectReader::optional_strings(std::string_view key) {
  return strings_of(optional_node(key), key);
}

std::string ObjectReader::wrong_choice(std::string_view key, const Node& node,
                                       std::string_view words) {
  std::vector<std::string_view> known;
  for (std::string_view rest = words; !rest.empty();) {
    const std::size_t end = std::min(rest.find(", "), rest.size());
    known.push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 2, rest.size()));
  }
  const std::string* const text = node.if_string();
  return fmt::format("\"{}\" must be one of {}, not {}{}", key, words, node.describe(),
                     text == nullptr ? "" : suggestion(*text, known));
}

bool ObjectReader::finish() {
  for (const Key& key : node_.keys()) {
    if (asked_.contains(key.text)) continue;
    clean_ = false;
    const std::vector<std::string_view> known(asked_.begin(), asked_.end());
    problems_.add(key.place,
                  fmt::format("unknown key {} in {}; known are {}{}", quoted(key.text), what_,
                              fmt::join(asked_, ", "), suggestion(key.text, known)));
  }
  return clean_;
}

}  // namespace remit::yaml
