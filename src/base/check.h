// Checks of our own assumptions. None of them is for outside input, which gets an Error instead.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/error.h"

namespace remit {

/// Prints the failed condition with its place on standard error and aborts.
[[noreturn]] void check_failed(const char* file, int line, std::string_view condition);

/// Counts a defect that the program survives and returns the `internal` error that stands for it,
/// which for access means deny. Where the environment variable REMIT_BUG_ABORTS is set, as in every
/// test, it aborts. Thread-safe.
Error bug(const char* file, int line, std::string_view what);

/// How many times `bug` was called in this process. Thread-safe.
std::uint64_t bug_count();

}  // namespace remit

/// CHECK: always on, for what no input can cause.
#define REMIT_CHECK(condition) \
  (static_cast<bool>(condition) ? void(0) : ::remit::check_failed(__FILE__, __LINE__, #condition))

/// BUG: a state that cannot be, met where the program can go on by refusing. Yields an Error.
#define REMIT_BUG(what) ::remit::bug(__FILE__, __LINE__, what)

/// DCHECK: for checks too dear for release builds.
#ifdef NDEBUG
#define REMIT_DCHECK(condition) void(0)
#else
#define REMIT_DCHECK(condition) REMIT_CHECK(condition)
#endif
