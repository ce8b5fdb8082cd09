// A system that gives no more threads, for tests of what needs one.
#pragma once

#include <pthread.h>

#include <cstddef>

#include <gtest/gtest.h>

namespace remit::testing {

/// While it lives, no thread of this process can be started: their stacks would not fit into
/// memory. Those that run are not touched. One at a time.
class NoMoreThreads {
 public:
  NoMoreThreads() {
    pthread_attr_t attributes;
    pthread_getattr_default_np(&attributes);
    pthread_attr_getstacksize(&attributes, &stack_bytes_);
    pthread_attr_destroy(&attributes);
    EXPECT_EQ(set_stack_bytes(std::size_t{1} << 46U), 0);
  }
  ~NoMoreThreads() { EXPECT_EQ(set_stack_bytes(stack_bytes_), 0); }
  NoMoreThreads(const NoMoreThreads&) = delete;
  NoMoreThreads& operator=(const NoMoreThreads&) = delete;

 private:
  static int set_stack_bytes(std::size_t bytes) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, bytes);
    const int error = pthread_setattr_default_np(&attributes);
    pthread_attr_destroy(&attributes);
    return error;
  }

  std::size_t stack_bytes_ = 0;
};

}  // namespace remit::testing
