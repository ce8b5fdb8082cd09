// The gateway's parts by themselves: admission, outgoing lines, workers, tables, `_meta`.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "gateway/call_meta.h"
#include "gateway/live_calls.h"
#include "gateway/live_tools.h"
#include "gateway/outbox.h"
#include "gateway/replies.h"
#include "gateway/server_listings.h"
#include "gateway/server_requests.h"
#include "process/file_descriptor.h"
#include "process/lines.h"
#include "tests/support/fake_clock.h"

namespace remit::gateway {
namespace {

using std::chrono::milliseconds;
using Admission = LiveCalls::Admission;
constexpr milliseconds kLong{20'000};

TEST(LiveCallsTest, AdmitsEachIdOnceAtATime) {
  remit::testing::FakeClock clock;
  LiveCalls calls(0, clock);
  EXPECT_EQ(calls.admit(mcp::RequestId{1}).admission, Admission::kAdmitted);
  EXPECT_EQ(calls.admit(mcp::RequestId{1}).admission, Admission::kRepeated);
  EXPECT_EQ(calls.admit(mcp::RequestId{"1"}).admission, Admission::kAdmitted);
  calls.close(mcp::RequestId{1});
  EXPECT_EQ(calls.admit(mcp::RequestId{1}).admission, Admission::kAdmitted);
}

TEST(LiveCallsTest, BoundsHowManyThereAre) {
  remit::testing::FakeClock clock;
  LiveCalls calls(0, clock);
  for (std::size_t id = 0; id < kMaxCallsInFlight; ++id) {
    ASSERT_EQ(calls.admit(mcp::RequestId{static_cast<std::int64_t>(id)}).admission,
              Admission::kAdmitted);
  }
  EXPECT_EQ(calls.admit(mcp::RequestId{-1}).admission, Admission::kFull);
  EXPECT_FALSE(calls.wait_until_empty(milliseconds{0}));
  for (std::size_t id = 0; id < kMaxCallsInFlight; ++id) {
    calls.close(mcp::RequestId{static_cast<std::int64_t>(id)});
  }
  EXPECT_TRUE(calls.wait_until_empty(milliseconds{0}));
}

TEST(LiveCallsTest, BoundsHowLargeTheyAreTogether) {
  remit::testing::FakeClock clock;
  LiveCalls calls(0, clock);
  const auto admit = [&](int id, std::size_t bytes) {
    return calls.admit(mcp::RequestId{id}, bytes).admission;
  };
  EXPECT_EQ(admit(1, 2 * kMaxCallBytesInFlight), Admission::kAdmitted);  // alone, any may go
  EXPECT_EQ(admit(2, 1), Admission::kFull);
  calls.close(mcp::RequestId{1});
  EXPECT_EQ(admit(1, kMaxCallBytesInFlight - 1), Admission::kAdmitted);
  EXPECT_EQ(admit(2, 1), Admission::kAdmitted);
  EXPECT_EQ(admit(3, 1), Admission::kFull);
  calls.close(mcp::RequestId{2});
  calls.close(mcp::RequestId{2});
  EXPECT_EQ(admit(3, 1), Admission::kAdmitted);
  EXPECT_EQ(admit(4, 1), Admission::kFull);
}

TEST(LiveCallsTest, BoundsHowFastTheyCome) {
  remit::testing::FakeClock clock;
  LiveCalls calls(2, clock);
  const auto knock = [&](int id) { return calls.knock(mcp::RequestId{id}); };
  EXPECT_EQ(knock(1), Admission::kAdmitted);
  EXPECT_EQ(knock(2), Admission::kAdmitted);
  EXPECT_EQ(knock(3), Admission::kTooFast);
  clock.advance(milliseconds{499});
  EXPECT_EQ(knock(3), Admission::kTooFast);
  clock.advance(milliseconds{1});
  EXPECT_EQ(calls.admit(mcp::RequestId{7}).admission, Admission::kAdmitted);  // costs nothing more
  EXPECT_EQ(knock(7), Admission::kRepeated);                                  // nor does this
  EXPECT_EQ(knock(3), Admission::kAdmitted);
  EXPECT_EQ(knock(4), Admission::kTooFast);
  clock.advance(std::chrono::hours{1});  // no more than one second's worth is saved
  EXPECT_EQ(knock(4), Admission::kAdmitted);
  EXPECT_EQ(knock(5), Admission::kAdmitted);
  EXPECT_EQ(knock(6), Admission::kTooFast);
}

TEST(LiveCallsTest, CancelsTheCallOfTheId) {
  remit::testing::FakeClock clock;
  LiveCalls calls(0, clock);
  const auto one = calls.admit(mcp::RequestId{1}).call;
  const auto two = calls.admit(mcp::RequestId{2}).call;
  EXPECT_FALSE(calls.cancel(mcp::RequestId{3}));
  EXPECT_TRUE(calls.cancel(mcp::RequestId{1}));
  EXPECT_TRUE(one->stop.stop_requested() && one->is_cancelled);
  EXPECT_FALSE(two->stop.stop_requested());
  calls.stop_all();
  EXPECT_TRUE(two->stop.stop_requested());
  EXPECT_FALSE(two->is_cancelled);  // it is still owed an answer
}

using Next = ServerListings::Next;

TEST(ServerListingsTest, GivesTheTurnToOneAtATime) {
  remit::testing::FakeClock clock;
  ServerListings listings(clock);
  EXPECT_EQ(listings.note_change("a"), Next::kNothing);  // not ready: it is listed once it is
  EXPECT_TRUE(listings.begin("a"));
  EXPECT_FALSE(listings.begin("a"));
  EXPECT_TRUE(listings.begin("b"));
  EXPECT_EQ(listings.note_change("a"), Next::kNothing);
  EXPECT_EQ(listings.end("a", true), Next::kList);  // it changed meanwhile
  EXPECT_FALSE(listings.is_ready("a"));
  EXPECT_EQ(listings.end("a", false), Next::kNothing);
  EXPECT_FALSE(listings.is_ready("a"));  // its list never came
  EXPECT_TRUE(listings.begin("a"));
  EXPECT_EQ(listings.end("a", true), Next::kNothing);
  EXPECT_TRUE(listings.is_ready("a") && listings.is_settled("a"));
  EXPECT_FALSE(listings.begin("a"));
  EXPECT_EQ(listings.note_change("a"), Next::kList);
  EXPECT_TRUE(listings.is_ready("a") && !listings.is_settled("a"));
  EXPECT_FALSE(listings.wait_until_settled("a", milliseconds{0}, {}));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(listings.wait_until_settled("a", kLong, stop.get_token()));
  EXPECT_EQ(listings.end("a", false), Next::kNothing);
  EXPECT_TRUE(listings.wait_until_settled("a", kLong, {}));
  listings.abandon("b");
  EXPECT_FALSE(listings.wait_until_settled("b", kLong, {}));  // it has never been ready
}

// REQ-BD-109.
TEST(ServerListingsTest, GivesUpAServerThatChangesWithoutEnd) {
  remit::testing::FakeClock clock;
  ServerListings listings(clock);
  ASSERT_TRUE(listings.begin("during"));
  for (std::size_t i = 1; i < kMaxListingsInARow; ++i) {
    listings.note_change("during");
    ASSERT_EQ(listings.end("during", true), Next::kList) << i;
  }
  listings.note_change("during");
  EXPECT_EQ(listings.end("during", true), Next::kGiveUp);
  EXPECT_FALSE(listings.begin("during"));
  ASSERT_TRUE(listings.begin("after"));
  for (std::size_t i = 1; i < kMaxListingsInARow; ++i) {
    ASSERT_EQ(listings.end("after", true), Next::kNothing);
    ASSERT_EQ(listings.note_change("after"), Next::kList) << i;
  }
  EXPECT_GT(listings.pause_before("after"), milliseconds{0});
  ASSERT_EQ(listings.end("after", true), Next::kNothing);
  clock.advance(kListingRest);  // a rest, and the count starts anew
  ASSERT_EQ(listings.note_change("after"), Next::kList);
  EXPECT_EQ(listings.pause_before("after"), milliseconds{0});
  for (std::size_t i = 1; i < kMaxListingsInARow; ++i) {
    ASSERT_EQ(listings.end("after", true), Next::kNothing);
    ASSERT_EQ(listings.note_change("after"), Next::kList) << i;
  }
  ASSERT_EQ(listings.end("after", true), Next::kNothing);
  EXPECT_EQ(listings.note_change("after"), Next::kGiveUp);
  EXPECT_EQ(listings.note_change("after"), Next::kNothing);
  // Its old list may still be in hand: nobody may go by it.
  EXPECT_TRUE(listings.is_ready("after") && !listings.is_settled("after"));
  EXPECT_FALSE(listings.wait_until_settled("after", kLong, {}));
}

TEST(OutboxTest, KeepsTheOrderOfEachSender) {
  auto pipe = process::make_pipe();
  ASSERT_TRUE(pipe);
  constexpr int kSenders = 4;
  constexpr int kLines = 2000;
  std::vector<std::thread> senders;
  Outbox outbox(pipe->write_end.get());
  for (int sender = 0; sender < kSenders; ++sender) {
    senders.emplace_back([&outbox, sender] {
      for (int line = 0; line < kLines; ++line) {
        const std::string text = std::to_string(sender) + " " + std::to_string(line) +
                                 std::string(static_cast<std::size_t>(line % 300), '.') + "\n";
        EXPECT_TRUE(outbox.send(text));
      }
    });
  }
  process::LineReader reader(pipe->read_end.get(), 1000);
  std::vector<int> next(kSenders, 0);
  for (int i = 0; i < kSenders * kLines; ++i) {
    const process::LineRead read = reader.next(kLong);
    ASSERT_EQ(read.event, process::LineEvent::kLine);
    const std::string line(read.line);
    const auto sender = static_cast<std::size_t>(line[0] - '0');
    EXPECT_EQ(std::atoi(line.c_str() + 2), next.at(sender)++) << line;
  }
  for (std::thread& sender : senders) sender.join();
}

TEST(OutboxTest, IsBoundedAndGivesUpOnAPeerThatTakesNothing) {
  process::ignore_broken_pipes();
  auto pipe = process::make_pipe();
  ASSERT_TRUE(pipe);
  Outbox outbox(pipe->write_end.get(), {.max_bytes = 200'000, .stall = milliseconds{50}});
  const std::string line(99'999, 'x');
  EXPECT_TRUE(outbox.offer(line));
  EXPECT_FALSE(outbox.offer(line, 1000));  // too much waits already
  // Room never comes: the outbox breaks, and with it every sender that waits.
  while (outbox.send(line)) {
  }
  EXPECT_TRUE(outbox.is_broken());
  EXPECT_FALSE(outbox.offer("x"));
}

TEST(OutboxTest, GivesASlowPeerItsLastWordsOnceHurried) {
  process::ignore_broken_pipes();
  auto pipe = process::make_pipe();
  auto hurry = process::Wakeup::make();
  ASSERT_TRUE(pipe && hurry);
  Outbox outbox(pipe->write_end.get(), {.max_bytes = 100'000});
  outbox.hurry_once_readable(hurry->fd(), milliseconds{20});
  ASSERT_TRUE(outbox.send(std::string(500'000, 'x')));
  EXPECT_FALSE(outbox.is_broken());
  hurry->notify();
  EXPECT_FALSE(outbox.send("more\n"));  // waited for room, long before the peer counts as stalled
  EXPECT_TRUE(outbox.is_broken());
}

TEST(OutboxTest, TakesBackOnlyWhatNeverLeft) {
  process::ignore_broken_pipes();
  auto pipe = process::make_pipe();
  ASSERT_TRUE(pipe);
  Outbox outbox(pipe->write_end.get());
  const std::string large(500'000, 'x');  // more than a pipe takes
  ASSERT_TRUE(outbox.offer_tagged(large, 1));
  ASSERT_TRUE(outbox.offer_tagged(large, 2));  // the writer may have it in hand, or not
  ASSERT_TRUE(outbox.offer_tagged("three\n", 3));
  EXPECT_FALSE(outbox.withdraw(1));  // its first bytes are written
  EXPECT_TRUE(outbox.withdraw(3));
  EXPECT_FALSE(outbox.withdraw(3));
  EXPECT_FALSE(outbox.withdraw(4));
}

TEST(OutboxTest, IsBrokenOnceThePeerIsGone) {
  process::ignore_broken_pipes();
  auto pipe = process::make_pipe();
  ASSERT_TRUE(pipe);
  Outbox outbox(pipe->write_end.get());
  pipe->read_end.close();
  while (outbox.send("x\n")) {
  }
  EXPECT_TRUE(outbox.is_broken());
}

TEST(OutboxTest, WritesWhatIsQueuedBeforeItCloses) {
  auto pipe = process::make_pipe();
  ASSERT_TRUE(pipe);
  std::size_t lines = 0;
  std::thread reading([&] {
    process::LineReader reader(pipe->read_end.get(), 1000);
    while (reader.next(kLong).event == process::LineEvent::kLine) ++lines;
  });
  {
    Outbox outbox(pipe->write_end.get());
    for (int i = 0; i < 10'000; ++i) EXPECT_TRUE(outbox.send(std::string(99, 'x') + "\n"));
    outbox.close(kLong);
    EXPECT_FALSE(outbox.send("late\n"));
  }
  pipe->write_end.close();
  reading.join();
  EXPECT_EQ(lines, 10'000U);
}

// REQ-BD-058, REQ-BD-062: each way of not being entered has a truth of its own.
TEST(RepliesTest, ACallWithoutAnAnswerSaysWhy) {
  using enforcement::HandlerOutcome;
  using enforcement::HandlerResult;
  struct Case {
    HandlerResult result;
    const char* code;
    const char* retry;
  };
  const Case cases[] = {
      {{.outcome = HandlerOutcome::kFailed, .error_type = "claim_lost"}, "claim_lost", "later"},
      {{.outcome = HandlerOutcome::kFailed, .error_type = "permit_expired"},
       "permit_expired",
       "later"},
      {{.outcome = HandlerOutcome::kCancelled}, "cancelled", "never"},
      {{.error_type = "exception"}, "malformed_answer", "never"},
  };
  for (const Case& each : cases) {
    const HandlerResult told = result_without_answer(each.result, ReplyForm::kToolStructured);
    EXPECT_EQ(told.outcome, each.result.outcome);
    const json::Value line = json::parse(payload_line(mcp::RequestId{1}, told.payload)).value();
    const json::Value* content = line.find("result")->find("structuredContent");
    ASSERT_NE(content, nullptr) << told.payload;
    EXPECT_EQ(*content->find("code")->if_string(), each.code);
    EXPECT_EQ(*content->find("retry")->if_string(), each.retry);
  }
}

TEST(ServerRequestsTest, GivesIdsOfItsOwnAndKeepsServersApart) {
  // The table only compares addresses.
  alignas(8) std::byte places[16];
  auto* one = reinterpret_cast<Upstream*>(&places[0]);
  auto* two = reinterpret_cast<Upstream*>(&places[8]);
  ServerRequests table;
  EXPECT_EQ(table.open({one, mcp::RequestId{"a"}}), 1);
  EXPECT_EQ(table.open({one, mcp::RequestId{"a"}}), std::nullopt);
  EXPECT_EQ(table.open({two, mcp::RequestId{"a"}}), 2);
  EXPECT_EQ(table.take(mcp::RequestId{"1"}), std::nullopt);
  const auto taken = table.take(mcp::RequestId{1});
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->upstream, one);
  EXPECT_EQ(table.take(mcp::RequestId{1}), std::nullopt);
  EXPECT_EQ(table.take_back({one, mcp::RequestId{"a"}}), std::nullopt);
  EXPECT_EQ(table.take_back({two, mcp::RequestId{"a"}}), 2);
  for (std::size_t i = 0; i < kMaxServerRequests; ++i) {
    EXPECT_TRUE(table.open({one, mcp::RequestId{static_cast<std::int64_t>(i)}}));
  }
  EXPECT_EQ(table.open({one, mcp::RequestId{"more"}}), std::nullopt);
  EXPECT_TRUE(table.open({two, mcp::RequestId{"more"}}));
  EXPECT_EQ(table.take_all(*one).size(), kMaxServerRequests);
  EXPECT_EQ(table.take_all(*two).size(), 1U);
}

TEST(CallMetaTest, TakesWhatIsWellFormedAndOursToTake) {
  const auto read = [](const std::string& meta) {
    access::ProposedCall call;
    const auto params = json::parse(R"({"_meta":)" + meta + "}");
    EXPECT_TRUE(params) << meta;
    const auto token = read_meta(*params->if_object(), call);
    if (!token) return "error " + token.error().message;
    return (*token ? (*token)->json() : "-") + "|" + call.planner_policy_version + "|" +
           call.idempotency_key + "|" + call.trace_id + "|" + call.span_id + "|" + call.run_id;
  };
  EXPECT_EQ(read("{}"), "-|||||");
  EXPECT_EQ(read(R"({"progressToken":"t","io.remit/policy-version":"v1","io.remit/run-id":"r"})"),
            "\"t\"|v1||||");
  EXPECT_EQ(read(R"({"io.remit/idempotency-key":"k"})"), "-||k|||");
  const std::string trace(32, 'a');
  const std::string span(16, 'b');
  EXPECT_EQ(read(R"({"traceparent":"00-)" + trace + "-" + span + R"(-01"})"),
            "-|||" + trace + "|" + span + "|");
  for (const std::string& other :
       {"00-" + trace + "-" + span, "01-" + trace + "-" + span + "-01",
        "00-" + std::string(32, 'A') + "-" + span + "-01", "00_" + trace + "-" + span + "-01"}) {
    EXPECT_EQ(read(R"({"traceparent":")" + other + R"("})"), "-|||||") << other;
  }
  EXPECT_TRUE(read(R"({"progressToken":1.5})").starts_with("error "));
  EXPECT_TRUE(read(R"({"io.remit/policy-version":1})").starts_with("error "));
  EXPECT_TRUE(read(R"({"io.remit/idempotency-key":""})").starts_with("error "));
  EXPECT_TRUE(read(R"({"io.remit/idempotency-key":")" + std::string(257, 'k') + R"("})")
                  .starts_with("error "));
}

TEST(LiveToolsTest, ComparesSchemasInCanonicalForm) {
  policy::Tool tool;
  tool.name = "a.tool";
  tool.upstream_server = "s";
  tool.upstream_tool = "tool";
  const auto schema = json::parse(R"({"type":"object","properties":{"b":{},"a":{}}})");
  ASSERT_TRUE(schema);
  auto compiled = json::Schema::compile(*schema);
  ASSERT_TRUE(compiled);
  tool.arguments = *compiled;
  tool.arguments_schema = json::canonical(*schema);
  const auto state = [&](const std::string& definition) {
    LiveTools tools;
    const auto value = json::parse(definition);
    EXPECT_TRUE(value) << definition;
    tools.set("s", {*value->if_object()});
    return LiveTools::state_of(tool, tools.find(tool).get());
  };
  EXPECT_EQ(LiveTools::state_of(tool, nullptr), ToolState::kAbsent);
  EXPECT_EQ(
      state(R"({"name":"tool","inputSchema":{"properties":{"a":{},"b":{}},"type":"object"}})"),
      ToolState::kLive);
  EXPECT_EQ(state(R"({"name":"tool","inputSchema":{"properties":{"a":{}},"type":"object"}})"),
            ToolState::kQuarantined);
  EXPECT_EQ(state(R"({"name":"Tool","inputSchema":{"type":"object"}})"), ToolState::kAbsent);
  EXPECT_EQ(state(R"({"name":"tool","execution":{"taskSupport":"required"},)"
                  R"("inputSchema":{"properties":{"a":{},"b":{}},"type":"object"}})"),
            ToolState::kTaskOnly);
}

}  // namespace
}  // namespace remit::gateway
