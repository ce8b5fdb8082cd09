// Marks looked for.
#include "conformance/answer_words.h"

#include <algorithm>

namespace remit::conformance {

std::string_view status_in(const json::Value& words) {
  const json::Value* status = words.find("status");
  const std::string* text = status == nullptr ? nullptr : status->if_string();
  if (text == nullptr) return {};
  for (const std::string_view sight : {"denied", "failed", "unknown"}) {
    if (*text == sight) return sight;
  }
  return {};
}

bool is_one_of(std::int64_t code, const std::vector<std::int64_t>& codes) {
  return std::find(codes.begin(), codes.end(), code) != codes.end();
}

bool has_mark(std::string_view words, const std::vector<std::string>& marks) {
  return std::any_of(marks.begin(), marks.end(), [&](const std::string& mark) {
    return words.find(mark) != std::string_view::npos;
  });
}

}  // namespace remit::conformance
