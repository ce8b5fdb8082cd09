// Telling by its words what an answer of an executor is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"

namespace remit::conformance {

/// What a caller saw, one of kSights, and the words of it.
struct Seen {
  std::string saw, answer;
};

/// By what an answer that does not say `{"status":…}` is told apart.
struct AnswerMarks {
  std::vector<std::int64_t> denied_codes = {};  ///< of JSON-RPC errors, or HTTP statuses
  std::vector<std::string> denied_texts = {};   ///< anywhere in the words of an error
  std::vector<std::int64_t> failed_codes = {};  ///< HTTP statuses
  std::vector<std::int64_t> unknown_codes = {};
};

/// `denied`, `failed` or `unknown` where `words` is an object whose `status` says so; else empty.
std::string_view status_in(const json::Value& words);

bool is_one_of(std::int64_t code, const std::vector<std::int64_t>& codes);
/// Whether any of `marks` stands in `words`.
bool has_mark(std::string_view words, const std::vector<std::string>& marks);

}  // namespace remit::conformance
