// Names to addresses before resolvers that answer, refuse and hang.
#include "http/host_lookup.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <thread>

#include "base/limits.h"

namespace remit::http {
namespace {

using namespace std::chrono_literals;

class HostLookupTest : public ::testing::Test {
 protected:
  /// `one two`, or `code: message`.
  std::string said(HostLookup& lookup, const std::string& host, Duration patience = 20s,
                   const std::stop_token& stop = {}) {
    const auto got = lookup.addresses(host, clock_.monotonic_now() + patience, stop);
    if (!got) return std::string(error_code_name(got.error().code)) + ": " + got.error().message;
    std::string out;
    for (const std::string& address : *got) out += (out.empty() ? "" : " ") + address;
    return out;
  }
  SystemClock clock_;
};

TEST_F(HostLookupTest, AsksForNamesOnly) {
  std::atomic<int> asked{0};
  HostLookup lookup(clock_, [&](const std::string& host) {
    ++asked;
    return host == "known" ? HostLookup::Addresses{"10.0.0.1", "fd00::1"} : HostLookup::Addresses{};
  });
  EXPECT_EQ(said(lookup, "127.0.0.1"), "127.0.0.1");
  EXPECT_EQ(said(lookup, "::1"), "::1");
  EXPECT_EQ(said(lookup, "localhost"), "127.0.0.1 ::1");
  EXPECT_EQ(asked, 0);
  EXPECT_EQ(said(lookup, "known"), "10.0.0.1 fd00::1");
  EXPECT_EQ(said(lookup, "unknown"), "unavailable: the name is not known");
  EXPECT_EQ(asked, 2);
}

// REQ-HT-035.
TEST_F(HostLookupTest, LeavesBehindWhatHangs) {
  // Outlives the look-ups, as the look-ups outlive their lookup.
  const auto release = std::make_shared<std::promise<void>>();
  const std::shared_future<void> released(release->get_future());
  const auto running = std::make_shared<std::atomic<int>>(0);
  {
    HostLookup lookup(clock_, [released, running](const std::string&) {
      ++*running;
      released.wait();
      --*running;
      return HostLookup::Addresses{"10.0.0.1"};
    });
    EXPECT_EQ(said(lookup, "hangs", 50ms), "deadline_exceeded: the name was not looked up in time");
    std::stop_source stop;
    auto cancelled = std::async(std::launch::async,
                                [&] { return said(lookup, "hangs", 20s, stop.get_token()); });
    while (*running < 2) std::this_thread::sleep_for(1ms);
    stop.request_stop();
    EXPECT_EQ(cancelled.get(), "unavailable: cancelled");
    for (std::size_t i = 2; i < kMaxHostLookups; ++i) {
      EXPECT_EQ(said(lookup, "hangs", 10ms),
                "deadline_exceeded: the name was not looked up in time");
    }
    EXPECT_EQ(said(lookup, "hangs"), "unavailable: too many names are being looked up");
    EXPECT_EQ(said(lookup, "127.0.0.1"), "127.0.0.1") << "an address needs no resolver";
  }
  release->set_value();
  while (*running > 0) std::this_thread::sleep_for(1ms);
}

TEST_F(HostLookupTest, AsksTheSystem) {
  EXPECT_FALSE(HostLookup::ask_system("localhost").empty());
  EXPECT_TRUE(HostLookup::ask_system("no-such-name.invalid").empty());
}

}  // namespace
}  // namespace remit::http
