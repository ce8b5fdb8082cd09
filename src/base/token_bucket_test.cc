// Rates by a clock of the test's, one key and many.
#include "base/token_bucket.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace remit {
namespace {

using namespace std::chrono_literals;

/// How many of `tries` are had at once.
template <class Take>
int had(int tries, const Take& take) {
  int out = 0;
  for (int i = 0; i < tries; ++i) out += take() ? 1 : 0;
  return out;
}

TEST(TokenBucket, GivesABurstAndThenItsRate) {
  MonotonicTime now;
  TokenBucket bucket(10, 4);
  const auto take = [&] { return bucket.take(now); };
  EXPECT_TRUE(bucket.is_full(now));
  EXPECT_EQ(had(9, take), 4);
  EXPECT_FALSE(bucket.is_full(now));
  now = now + 99ms;
  EXPECT_EQ(had(9, take), 0);
  now = now + 1ms;
  EXPECT_EQ(had(9, take), 1);
  now = now + 250ms;
  EXPECT_EQ(had(9, take), 2);
  now = now + 1h;
  EXPECT_TRUE(bucket.is_full(now));
  EXPECT_EQ(had(9, take), 4) << "what was not used in an hour is not saved";
}

TEST(TokenBuckets, EachKeyHasItsOwn) {
  const MonotonicTime now;
  TokenBuckets buckets(2, 8);
  EXPECT_EQ(had(5, [&] { return buckets.take("a", now); }), 2);
  EXPECT_EQ(had(5, [&] { return buckets.take("b", now); }), 2);
  TokenBuckets unbounded(0, 8);
  EXPECT_EQ(had(1000, [&] { return unbounded.take("a", now); }), 1000);
}

TEST(TokenBuckets, AFloodOfKeysTakesNothingFromThoseThatWereThere) {
  MonotonicTime now;
  TokenBuckets buckets(2, 4);
  for (const char* key : {"a", "b", "c", "d"}) EXPECT_TRUE(buckets.take(key, now));
  int strangers = 0;
  for (int i = 0; i < 100; ++i) strangers += buckets.take("x" + std::to_string(i), now) ? 1 : 0;
  EXPECT_EQ(strangers, 2) << "they share one";
  EXPECT_TRUE(buckets.take("a", now));
  EXPECT_FALSE(buckets.take("a", now));
  // Those that say nothing for a second are forgotten, and make room.
  now = now + 1s;
  EXPECT_EQ(had(5, [&] { return buckets.take("y", now); }), 2);
  EXPECT_EQ(had(5, [&] { return buckets.take("z", now); }), 2);
}

TEST(TokenBuckets, ManyThreadsGetNoMoreThanOne) {
  const MonotonicTime now;
  TokenBuckets buckets(100, 2);
  std::vector<int> each(4);
  std::vector<std::thread> threads;
  for (int& count : each) {
    threads.emplace_back([&] { count = had(100, [&] { return buckets.take("a", now); }); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(each[0] + each[1] + each[2] + each[3], 100);
}

}  // namespace
}  // namespace remit
