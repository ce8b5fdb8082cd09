// Threads that the system may refuse.
#pragma once

#include <system_error>
#include <thread>
#include <utility>

namespace remit {

/// A thread that runs `work`; one that is not joinable if the system gives no more (a bound on
/// processes, no memory for a stack), in which case `work` never runs.
template <class Work>
std::thread start_thread(Work work) {
  try {
    return std::thread(std::move(work));
  } catch (const std::system_error&) {
    return {};
  }
}

}  // namespace remit
