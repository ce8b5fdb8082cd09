// Runs a part of another folder so that no exception of it crosses the boundary.
#pragma once

#include <exception>
#include <string>
#include <utility>

#include "base/result.h"

namespace remit::enforcement {

/// What `part()` returns, a `Result`; an exception that leaves it is the `internal` error that
/// means deny. `name` says in the error's place which part it was.
template <class Part>
auto guarded(const char* name, Part&& part) -> decltype(part()) {
  try {
    return std::forward<Part>(part)();
  } catch (const std::exception& fault) {
    return Error{ErrorCode::kInternal, "exception: " + quoted(fault.what()), name};
  } catch (...) {
    return Error{ErrorCode::kInternal, "exception of an unknown type", name};
  }
}

}  // namespace remit::enforcement
