// What a failed check and a survived defect do.
#include "base/check.h"

#include <fmt/format.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace remit {
namespace {

// The one counter of the process: a defect is process-wide news, and an atomic cannot tear.
std::atomic<std::uint64_t>& bugs() {
  static std::atomic<std::uint64_t> count{0};
  return count;
}

}  // namespace

void check_failed(const char* file, int line, std::string_view condition) {
  std::fprintf(stderr, "%s:%d: check failed: %.*s\n", file, line,
               static_cast<int>(condition.size()), condition.data());
  std::abort();
}

Error bug(const char* file, int line, std::string_view what) {
  bugs().fetch_add(1, std::memory_order_relaxed);
  if (std::getenv("REMIT_BUG_ABORTS") != nullptr) check_failed(file, line, what);
  return Error{ErrorCode::kInternal, fmt::format("defect: {}", what),
               fmt::format("{}:{}", file, line)};
}

std::uint64_t bug_count() {
  return bugs().load(std::memory_order_relaxed);
}

}  // namespace remit
