// Memory that will be wanted soon.
#pragma once

namespace remit {

/// Has the processor fetch the cache line at `address`, which need not be valid. A hint.
inline void prefetch(const void* address) {
  __builtin_prefetch(address);
  // g++ takes a function that only prefetches for one without effects and drops the calls of it.
  __asm__ volatile("");
}

}  // namespace remit
