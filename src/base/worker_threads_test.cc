// Jobs on threads: how many at once, how many wait, and what becomes of one that throws.
#include "base/worker_threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <new>
#include <thread>

#include "tests/support/no_more_threads.h"

namespace remit {
namespace {

using remit::testing::NoMoreThreads;

/// What one thread opens and another waits for.
class Gate {
 public:
  void open() { is_open_ = true; }
  void wait() const {
    while (!is_open_) std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }

 private:
  std::atomic<bool> is_open_{false};
};

TEST(WorkerThreads, RunAllAndAsManyAtOnceAsAllowed) {
  std::atomic<int> running{0};
  std::atomic<int> most{0};
  std::atomic<int> done{0};
  WorkerThreads workers(4);
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(workers.post([&] {
      const int now = ++running;
      int seen = most;
      while (seen < now && !most.compare_exchange_weak(seen, now)) {
      }
      std::this_thread::yield();
      --running;
      ++done;
    }));
  }
  workers.close();
  EXPECT_EQ(done, 100);
  EXPECT_LE(most, 4);
  EXPECT_FALSE(workers.post([] {}));
}

TEST(WorkerThreads, MakeAThreadForAJobWhileOthersWait) {
  WorkerThreads workers(2);
  Gate first;
  Gate second;
  // Each waits for the other: with one thread for both this would never end.
  EXPECT_TRUE(workers.post([&] {
    first.open();
    second.wait();
  }));
  EXPECT_TRUE(workers.post([&] {
    second.open();
    first.wait();
  }));
  workers.close();
}

TEST(WorkerThreads, TakeNoMoreThanMayWait) {
  for (const bool makes_all : {false, true}) {
    WorkerThreads workers(1, 2);
    if (makes_all) {
      ASSERT_TRUE(workers.start());
    }
    Gate begun;
    Gate end;
    std::atomic<int> done{0};
    EXPECT_TRUE(workers.post([&] {
      begun.open();
      end.wait();
      ++done;
    }));
    begun.wait();
    EXPECT_TRUE(workers.post([&] { ++done; }));
    EXPECT_TRUE(workers.post([&] { ++done; }));
    EXPECT_FALSE(workers.post([&] { done += 100; }));
    end.open();
    workers.close();
    EXPECT_EQ(done, 3);
  }
}

TEST(WorkerThreads, OutliveAJobThatThrows) {
  WorkerThreads workers(1);
  std::atomic<int> done{0};
  EXPECT_TRUE(workers.post([] { throw std::bad_alloc(); }));
  EXPECT_TRUE(workers.post([&] { ++done; }));
  workers.close();
  EXPECT_EQ(done, 1);
}

TEST(WorkerThreads, RefuseAJobThatNoThreadCouldRun) {
  WorkerThreads workers(2);
  std::atomic<int> done{0};
  {
    const NoMoreThreads scarce;
    EXPECT_FALSE(workers.post([&] { done += 100; }));
    EXPECT_FALSE(WorkerThreads(1).start());
  }
  EXPECT_TRUE(workers.post([&] { ++done; }));
  Gate gate;
  EXPECT_TRUE(workers.post([&] {
    gate.wait();
    ++done;
  }));
  {
    const NoMoreThreads scarce;  // whoever is busy comes to it later
    EXPECT_TRUE(workers.post([&] { ++done; }));
    EXPECT_TRUE(workers.post([&] { ++done; }));
  }
  gate.open();
  workers.close();
  EXPECT_EQ(done, 4);
}

}  // namespace
}  // namespace remit
