// Looking texts up.
#include "conformance/words.h"

#include <algorithm>

namespace remit::conformance {

const std::string* find_text(const json::Object& from, std::string_view key) {
  const json::Value* value = from.find(key);
  return value == nullptr ? nullptr : value->if_string();
}

std::string text_of(const json::Object& from, std::string_view key) {
  const std::string* text = find_text(from, key);
  return text == nullptr ? "" : *text;
}

std::string text_of(const json::Value& from, std::string_view key) {
  return from.if_object() == nullptr ? "" : text_of(*from.if_object(), key);
}

std::string without_line_end(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return text;
}

bool contains(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace remit::conformance
