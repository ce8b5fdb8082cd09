// Ids made of random bytes, and the machine's own sources of randomness and time.
#include "base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "base/clock.h"

namespace remit {
namespace {

class FixedRandom final : public Random {
 public:
  explicit FixedRandom(std::byte value) : value_(value) {}
  void fill(std::span<std::byte> out) override { std::fill(out.begin(), out.end(), value_); }

 private:
  std::byte value_;
};

TEST(RandomId, IsAllTheBitsInLowerCaseBase32) {
  FixedRandom zeros(std::byte{0});
  EXPECT_EQ(random_id(zeros), std::string(26, 'a'));
  FixedRandom ones(std::byte{0xff});
  EXPECT_EQ(random_id(ones), std::string(25, '7') + "4");  // the last character has three bits
}

TEST(RandomId, DoesNotRepeat) {
  SystemRandom random;
  std::set<std::string> seen;
  for (int i = 0; i < 2000; ++i) {
    const std::string id = random_id(random);
    EXPECT_EQ(id.size(), 26U);
    EXPECT_EQ(id.find_first_not_of("abcdefghijklmnopqrstuvwxyz234567"), std::string::npos);
    EXPECT_TRUE(seen.insert(id).second);
  }
}

TEST(SystemRandom, FillsTheWholeSpan) {
  SystemRandom random;
  std::vector<std::byte> bytes(4096);
  random.fill(bytes);
  const std::span<const std::byte> all(bytes);
  for (std::size_t part = 0; part < 16; ++part) {
    const auto piece = all.subspan(part * 256, 256);
    EXPECT_TRUE(
        std::any_of(piece.begin(), piece.end(), [](std::byte b) { return b != std::byte{}; }));
  }
  random.fill({});
}

TEST(SystemClock, MonotonicTimeNeverStepsBack) {
  const SystemClock clock;
  MonotonicTime last = clock.monotonic_now();
  for (int i = 0; i < 1000; ++i) {
    const MonotonicTime now = clock.monotonic_now();
    EXPECT_GE(now, last);
    last = now;
  }
  EXPECT_EQ((last + Duration(5)) - last, Duration(5));
  EXPECT_GT(clock.wall_now().unix_ns, 1'700'000'000'000'000'000);
}

}  // namespace
}  // namespace remit
