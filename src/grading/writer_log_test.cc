// Sets of numbers and the window of recent lines, each beside a plain model.
#include "grading/writer_log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "tests/support/seeded_random.h"

namespace remit::grading {
namespace {

TEST(NumberSet, IsASet) {
  testing::SeededRandom random;
  for (int round = 0; round < 300; ++round) {
    NumberSet numbers;
    std::set<std::int64_t> model;
    const std::uint64_t span = 1 + random.number(40);
    for (int i = 0; i < 60; ++i) {
      const auto number = static_cast<std::int64_t>(1 + random.number(span));
      EXPECT_EQ(numbers.add(number), model.insert(number).second);
    }
    for (std::int64_t number = 0; number <= static_cast<std::int64_t>(span) + 1; ++number) {
      EXPECT_EQ(numbers.contains(number), model.contains(number));
    }
    std::int64_t end = -1;
    for (const auto& [first, last] : numbers.ranges()) {
      EXPECT_GT(first, end + 1);  // disjoint, not touching
      EXPECT_LE(first, last);
      end = last;
    }
  }
}

TEST(RecentLines, KeepsExactlyTheWindow) {  // REQ-EV-040
  testing::SeededRandom random;
  for (int round = 0; round < 20; ++round) {
    RecentLines lines;
    std::map<std::int64_t, std::uint64_t> model;
    const std::uint64_t span = random.number(2) == 0 ? 2000 : 400'000;
    std::int64_t highest = 0;
    for (int i = 0; i < 3000; ++i) {
      const auto number = static_cast<std::int64_t>(1 + random.number(span));
      if (model.contains(number)) continue;
      const std::uint64_t hash = random.number(1'000'000);
      lines.put(number, hash, 7);
      highest = std::max(highest, number);
      model[number] = hash;
    }
    for (const auto& [number, hash] : model) {
      const RecentLines::Entry* found = lines.find(number);
      // One that came when it was too old already is too old now as well.
      EXPECT_EQ(found != nullptr, number > highest - kRepeatWindow) << number;
      EXPECT_TRUE(found == nullptr || found->hash == hash) << number;
    }
    EXPECT_EQ(lines.find(highest + 1), nullptr);
  }
}

TEST(RecentLines, FollowsALongLog) {
  RecentLines lines;
  const std::int64_t last = kRepeatWindow * 3 + 17;
  for (std::int64_t number = 1; number <= last; ++number) {
    lines.put(number, static_cast<std::uint64_t>(number), 1);
  }
  EXPECT_EQ(lines.find(last - kRepeatWindow), nullptr);
  ASSERT_NE(lines.find(last - kRepeatWindow + 1), nullptr);
  EXPECT_EQ(lines.find(last)->hash, static_cast<std::uint64_t>(last));
}

}  // namespace
}  // namespace remit::grading
