// Small questions to messages and to lists of words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"

namespace remit::conformance {

/// The text that is the member `key`; null where there is none, or something else.
const std::string* find_text(const json::Object& from, std::string_view key);
/// The same, empty where there is none. A value that is no object has no members.
std::string text_of(const json::Object& from, std::string_view key);
std::string text_of(const json::Value& from, std::string_view key);

/// `text` without the ends of lines behind it.
std::string without_line_end(std::string text);

bool contains(const std::vector<std::string>& words, std::string_view word);

}  // namespace remit::conformance
