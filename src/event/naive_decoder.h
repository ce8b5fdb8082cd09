// A deliberately naive twin of the decoder, for the tests and the fuzz target: a tree of the whole
// line, then the rules of spec/events.md one by one.
#pragma once

#include <charconv>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "base/rfc3339.h"
#include "base/utf8.h"
#include "event/event.h"
#include "event/names.h"

namespace remit::event::naive {

/// One JSON value, with its key if it is a member.
struct Node {
  char kind = '0';        ///< `{`, `[`, `"`, `0` for a number, `t`, `f`, `n`
  std::string text = {};  ///< of a string: its characters; of a number: as written
  std::string key = {};
  std::vector<Node> items = {};  ///< of an array or an object
};

/// JSON into a tree that keeps duplicates.
class NaiveJson {
 public:
  explicit NaiveJson(std::string text) : text_(std::move(text)) {}

  std::optional<Node> document() {
    if (first_invalid_utf8(text_)) return std::nullopt;
    space();
    std::optional<Node> node = value();
    space();
    return node && at_ == text_.size() ? node : std::nullopt;
  }

 private:
  char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool eat(const std::string& word) {
    if (text_.compare(at_, word.size(), word) != 0) return false;
    at_ += word.size();
    return true;
  }
  void space() {
    while (at_ < text_.size() && std::strchr(" \t\r\n", text_[at_]) != nullptr &&
           text_[at_] != '\0') {
      ++at_;
    }
  }

  std::optional<Node> value() {
    if (next() == '{') return object();
    if (next() == '[') return array();
    if (next() == '"') return string();
    if (eat("true")) return Node{'t'};
    if (eat("false")) return Node{'f'};
    if (eat("null")) return Node{'n'};
    return number();
  }

  std::optional<Node> object() {
    Node node{'{'};
    eat("{");
    space();
    if (eat("}")) return node;
    do {
      space();
      if (next() != '"') return std::nullopt;
      std::optional<Node> key = string();
      space();
      if (!key || !eat(":")) return std::nullopt;
      space();
      std::optional<Node> member = value();
      if (!member) return std::nullopt;
      member->key = key->text;
      node.items.push_back(*member);
      space();
    } while (eat(","));
    if (!eat("}")) return std::nullopt;
    return node;
  }

  std::optional<Node> array() {
    Node node{'['};
    eat("[");
    space();
    if (eat("]")) return node;
    do {
      space();
      std::optional<Node> item = value();
      if (!item) return std::nullopt;
      node.items.push_back(*item);
      space();
    } while (eat(","));
    if (!eat("]")) return std::nullopt;
    return node;
  }

  std::optional<Node> number() {
    const std::size_t start = at_;
    eat("-");
    if (!eat("0") && digits() == 0) return std::nullopt;
    if (eat(".") && digits() == 0) return std::nullopt;
    if (eat("e") || eat("E")) {
      if (!eat("+")) eat("-");
      if (digits() == 0) return std::nullopt;
    }
    return Node{'0', text_.substr(start, at_ - start)};
  }

  int digits() {
    int count = 0;
    for (; next() >= '0' && next() <= '9'; ++at_) ++count;
    return count;
  }

  std::optional<Node> string() {
    Node node{'"'};
    eat("\"");
    while (!eat("\"")) {
      if (at_ >= text_.size() || static_cast<unsigned char>(next()) < 0x20) return std::nullopt;
      if (!eat("\\")) {
        node.text += text_[at_++];
        continue;
      }
      const char name = next();
      ++at_;
      if (name == 'u') {
        if (!code_point(node.text)) return std::nullopt;
        continue;
      }
      const std::string_view names = "\"\\/bfnrt";
      const std::size_t which = name == '\0' ? std::string_view::npos : names.find(name);
      if (which == std::string_view::npos) return std::nullopt;
      node.text += "\"\\/\b\f\n\r\t"[which];
    }
    return node;
  }

  std::optional<unsigned> unit() {
    if (at_ + 4 > text_.size()) return std::nullopt;
    const std::string hex = text_.substr(at_, 4);
    if (hex.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos) return std::nullopt;
    at_ += 4;
    unsigned code = 0;
    std::from_chars(hex.data(), hex.data() + hex.size(), code, 16);
    return code;
  }

  bool code_point(std::string& out) {
    const std::optional<unsigned> first = unit();
    if (!first) return false;
    unsigned code = *first;
    if (code >= 0xdc00 && code < 0xe000) return false;
    if (code >= 0xd800 && code < 0xdc00) {
      if (!eat("\\u")) return false;
      const std::optional<unsigned> second = unit();
      if (!second || *second < 0xdc00 || *second > 0xdfff) return false;
      code = 0x10000 + (code - 0xd800) * 0x400 + (*second - 0xdc00);
    }
    if (code < 0x80) {
      out += static_cast<char>(code);
    } else if (code < 0x800) {
      out += {static_cast<char>(0xc0 | (code >> 6)), static_cast<char>(0x80 | (code & 63))};
    } else if (code < 0x10000) {
      out += {static_cast<char>(0xe0 | (code >> 12)), static_cast<char>(0x80 | (code >> 6 & 63)),
              static_cast<char>(0x80 | (code & 63))};
    } else {
      out += {static_cast<char>(0xf0 | (code >> 18)), static_cast<char>(0x80 | (code >> 12 & 63)),
              static_cast<char>(0x80 | (code >> 6 & 63)), static_cast<char>(0x80 | (code & 63))};
    }
    return true;
  }

  std::string text_;
  std::size_t at_ = 0;
};

template <class List>
inline bool is_one_of(const List& list, const std::string& text) {
  for (const std::string_view item : list) {
    if (item == text) return true;
  }
  return false;
}

// What REQ-EV-006 to 010 ask of one known field; nothing if it is malformed, else how it prints.
inline std::optional<std::string> print_field(const std::string& key, const Node& node) {
  const std::string_view integers[] = {"seq",    "attempt", "invocations",
                                       "events", "effects", "duration_us"};
  if (is_one_of(integers, key)) {
    if (node.kind != '0' || node.text.find_first_of(".eE") != std::string::npos) return {};
    if (node.text.size() > 17) return {};
    std::int64_t number = 0;
    std::from_chars(node.text.data(), node.text.data() + node.text.size(), number);
    const std::int64_t least = key == "seq" || key == "attempt" ? 1 : key == "events" ? -1 : 0;
    if (number < least || number > kMaxSafeInteger) return {};
    return std::to_string(number);
  }
  if (key == "enforced") {
    if (node.kind != 't' && node.kind != 'f') return {};
    return std::string(1, node.kind);
  }
  if (key == "further_resources" || key == "determining_policies") {
    if (node.kind != '[') return {};
    std::string out = "[";
    for (const Node& item : node.items) {
      if (item.kind != '"') return {};
      out += item.text + "|";
    }
    return out;
  }
  if (key == "resource_id" && node.kind == 'n') return "null";
  if (node.kind != '"') return {};
  if (key == "invocation_id" && node.text.empty()) return {};
  if (key == "time" && !is_rfc3339(node.text)) return {};
  if (key == "mode" && !is_one_of(kModes, node.text)) return {};
  if (key == "principal_state" && !is_one_of(kPrincipalStates, node.text)) return {};
  if (key == "approval_state" && !is_one_of(kApprovalStates, node.text)) return {};
  return "\"" + node.text;
}

/// Every field of the event as text, or nothing if the line is malformed.
inline std::optional<std::string> decode_naively(std::string line) {
  if (!line.empty() && line.back() == '\r') line.pop_back();
  const std::optional<Node> root = NaiveJson(line).document();
  if (!root || root->kind != '{') return {};
  std::vector<std::optional<std::string>> fields(kFieldCount);
  std::optional<std::string> kind;
  int ignored = 0;
  for (const Node& node : root->items) {
    const std::string& key = node.key;
    if (key == "event") {
      if (kind || node.kind != '"') return {};
      kind = node.text;
      continue;
    }
    std::size_t index = 0;
    while (index < kFieldCount && kKeyNames[index] != key) ++index;
    if (index == kFieldCount) {
      ++ignored;
      continue;
    }
    if (fields[index]) return {};
    fields[index] = print_field(key, node);
    if (!fields[index]) return {};
  }
  if (!kind) return {};
  const bool is_extension = kind->compare(0, 2, "x.") == 0;
  if (!is_extension && !is_one_of(kKindNames, *kind)) return {};
  const bool is_of_run = is_extension || *kind == "run.started" || *kind == "run.finished" ||
                         *kind == "policy.published" || *kind == "approval.changed" ||
                         *kind == "evidence.lost";
  if (!is_of_run && !fields[0]) return {};
  const auto& events = fields[static_cast<std::size_t>(Field::kEvents)];
  if (events && *events == "-1" && *kind != "evidence.lost") return {};
  std::string out = (is_extension ? "x." : *kind) + "\n";
  for (std::size_t i = 0; i < kFieldCount; ++i) {
    if (fields[i]) out += std::string(kKeyNames[i]) + "=" + *fields[i] + "\n";
  }
  return out + std::to_string(ignored);
}

/// An event as `decode_naively` prints it.
inline std::string print(const Event& event) {
  std::string out = std::string(event_kind_name(event.kind)) + "\n";
  const auto print_list = [&](const std::vector<std::string_view>& list) {
    out += "[";
    for (const std::string_view item : list) out += std::string(item) + "|";
  };
  for (std::size_t i = 0; i < kFieldCount; ++i) {
    const auto field = static_cast<Field>(i);
    if (!event.has(field)) continue;
    out += std::string(field_name(field)) + "=";
    if (field == Field::kResourceId && event.resource_id_is_null) {
      out += "null";
    } else if (field <= Field::kLastText) {
      out += "\"" + std::string(event.text(field));
    } else if (field <= Field::kLastInteger) {
      out += std::to_string(event.integer(field));
    } else if (field == Field::kEnforced) {
      out += event.enforced ? "t" : "f";
    } else {
      print_list(field == Field::kFurtherResources ? event.further_resources
                                                   : event.determining_policies);
    }
    out += "\n";
  }
  return out + std::to_string(event.ignored_fields);
}

}  // namespace remit::event::naive
