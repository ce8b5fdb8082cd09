// What transcripts cannot show: many calls at once, ends that are not orderly, and deaths.
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <set>
#include <sstream>

#include "evidence/verify.h"
#include "gateway/tool_listing.h"
#include "process/child.h"
#include "tests/stdio/session.h"
#include "tests/support/no_more_threads.h"

namespace remit::testing {
namespace {

constexpr const char* kInitialize =
    R"({"jsonrpc":"2.0","id":"init","method":"initialize","params":)"
    R"({"protocolVersion":"2025-11-25","capabilities":{},)"
    R"("clientInfo":{"name":"c","version":"1"}}})";

std::string act(int id, const std::string& what, const std::string& text = "") {
  return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) +
         R"(,"method":"tools/call","params":{"name":"fake.act","arguments":{"do":")" + what +
         R"(","text":")" + text + R"("}}})";
}

void begin(Session& session) {
  ASSERT_TRUE(session.send(kInitialize));
  const auto answer = session.receive();
  ASSERT_TRUE(answer && answer->find("\"result\"") != std::string::npos) << answer.value_or("-");
}

// Sends `what` and waits until the server has it: it says so in a log message.
void begin_hanging_call(Session& session, int id) {
  ASSERT_TRUE(session.send(act(id, "hang")));
  const auto line = session.receive();
  ASSERT_TRUE(line && line->find("hanging") != std::string::npos) << line.value_or("-");
}

// How many events of each kind the folder's log has, and outcomes and reasons among them.
std::map<std::string, int> counts(const SessionFolder& folder) {
  std::map<std::string, int> out;
  for (const std::string& line : folder.events()) {
    ++out[member(line, "event")];
    for (const char* field : {"outcome", "reason", "error_type"}) {
      const std::string value = member(line, field);
      if (!value.empty()) ++out[value];
    }
  }
  return out;
}

void expect_verified(const SessionFolder& folder) {
  PosixFileSystem files;
  const auto verified = evidence::verify(files, folder.path("evidence"));
  ASSERT_TRUE(verified) << verified.error().to_string();
  EXPECT_TRUE(verified->intact());
}

TEST(SessionTest, AnswersManyCallsAtOnceEachWithItsOwn) {
  const SessionFolder folder({});
  Session session(folder);
  begin(session);
  constexpr int kCalls = 100;
  for (int id = 0; id < kCalls; ++id) {
    ASSERT_TRUE(session.send(act(id, "echo", "text " + std::to_string(id) + ".")));
  }
  std::set<std::int64_t> answered;
  for (int i = 0; i < kCalls; ++i) {
    const auto line = session.receive();
    ASSERT_TRUE(line);
    const auto answer = json::parse(*line);
    ASSERT_TRUE(answer);
    const std::int64_t id = *answer->find("id")->if_integer();
    EXPECT_NE(line->find("text " + std::to_string(id) + "."), std::string::npos) << *line;
    answered.insert(id);
  }
  EXPECT_EQ(answered.size(), static_cast<std::size_t>(kCalls));
  EXPECT_TRUE(session.finish().empty());
  EXPECT_EQ(counts(folder)["succeeded"], kCalls);
  expect_verified(folder);
}

TEST(SessionTest, RefusesMoreCallsInFlightThanItsBound) {
  const SessionFolder folder({.limits = "calls_per_second: 0"});
  Session session(folder);
  begin(session);
  for (int id = 0; id <= static_cast<int>(kMaxCallsInFlight); ++id) {
    ASSERT_TRUE(session.send(act(id, "hang")));
  }
  // Each of the calls that the server got is announced by it; one is refused instead.
  std::size_t hanging = 0;
  std::size_t refused = 0;
  while (hanging + refused <= kMaxCallsInFlight) {
    const auto line = session.receive();
    ASSERT_TRUE(line) << hanging << " and " << refused;
    if (line->find("hanging") != std::string::npos) ++hanging;
    if (line->find("limit_exceeded") != std::string::npos) ++refused;
  }
  EXPECT_EQ(hanging, kMaxCallsInFlight);
  EXPECT_EQ(refused, 1U);
  for (int id = 0; id <= static_cast<int>(kMaxCallsInFlight); ++id) {
    ASSERT_TRUE(session.send(
        R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)" +
        std::to_string(id) + "}}"));
  }
  EXPECT_TRUE(session.finish().empty());  // a cancelled call is owed no answer
  auto count = counts(folder);
  EXPECT_EQ(count["cancelled"], static_cast<int>(kMaxCallsInFlight));  // as error_type
  EXPECT_EQ(count["unknown"], static_cast<int>(kMaxCallsInFlight));    // the server had them
  EXPECT_EQ(count["limit_exceeded"], 1);
}

TEST(SessionTest, FinishesWhatWasSentBeforeTheInputEnded) {
  const SessionFolder folder({});
  Session session(folder);
  ASSERT_TRUE(session.send_bytes(std::string(kInitialize) + "\n" + act(1, "echo", "one") + "\n" +
                                 act(2, "echo", "two") + "\n"));
  EXPECT_EQ(session.finish().size(), 3U);
  EXPECT_EQ(counts(folder)["succeeded"], 2);
}

TEST(SessionTest, RecordsACutMessageAndServesNothingOfIt) {
  const SessionFolder folder({});
  Session session(folder);
  begin(session);
  ASSERT_TRUE(session.send_bytes(act(1, "echo")));  // without the end of its line
  const auto rest = session.finish();
  ASSERT_EQ(rest.size(), 1U);
  EXPECT_NE(rest[0].find("-32700"), std::string::npos);
  auto count = counts(folder);
  EXPECT_EQ(count["invalid_request"], 1);
  EXPECT_EQ(count["executor.start"], 0);
}

TEST(SessionTest, RecordsTheFinishOfACallWhoseClientHasLeft) {
  const SessionFolder folder({});
  Session session(folder);
  begin(session);
  for (int id = 0; id < 20; ++id) ASSERT_TRUE(session.send(act(id, "echo")));
  session.leave();
  session.finish();
  EXPECT_TRUE(session.problems().empty());
  auto count = counts(folder);
  EXPECT_EQ(count["executor.finish"], count["executor.start"]);
  EXPECT_EQ(count["run.finished"], 1);
  EXPECT_EQ(count["succeeded"], 20);
}

TEST(SessionTest, CancelsAtTheEndWhatDoesNotEnd) {
  const SessionFolder folder({});
  Session session(folder);
  begin(session);
  begin_hanging_call(session, 1);
  ::kill(::getpid(), SIGTERM);  // held back from every thread but the gateway's descriptor
  session.finish();
  EXPECT_TRUE(session.problems().empty());
  auto count = counts(folder);
  EXPECT_EQ(count["cancelled"], 1);
  EXPECT_EQ(count["unknown"], 1);
  EXPECT_EQ(count["run.finished"], 1);
  const auto tap = folder.tap();
  EXPECT_NE(tap.back().find("notifications/cancelled"), std::string::npos) << tap.back();
}

// REQ-BD-111. The client closes its end and sends no signal: what is in flight has its time, and no
// more.
TEST(SessionTest, CancelsAfterItsTimeWhatDoesNotEnd) {
  const SessionFolder folder({});
  Session session(folder, "run-1", {.drain = std::chrono::milliseconds{20}});
  begin(session);
  begin_hanging_call(session, 1);
  session.finish();
  EXPECT_TRUE(session.problems().empty());
  auto count = counts(folder);
  EXPECT_EQ(count["cancelled"], 1);
  EXPECT_EQ(count["run.finished"], 1);
}

// REQ-BD-111. A server that does not end by itself has a grace; the log is closed before it begins.
TEST(SessionTest, ClosesTheLogBeforeItWaitsForServers) {
  const SessionFolder folder({.flags = {"--stubborn"}});
  // Longer than the test looks: a log that waited for it would be seen open.
  Session session(folder, "run-1", {.server_end = 2 * kPatience});
  begin(session);
  ASSERT_TRUE(session.send(act(1, "pid")));
  const auto line = session.receive();
  ASSERT_TRUE(line);
  const pid_t server = std::atoi(line->c_str() + line->find("pid ") + 4);
  ASSERT_GT(server, 1);
  session.hang_up();
  PosixFileSystem files;
  bool is_closed = false;
  for (int look = 0; look < 3000 && !is_closed; ++look) {
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
    const auto verified = evidence::verify(files, folder.path("evidence"));
    is_closed = verified && verified->intact() && verified->writers.size() == 1 &&
                verified->writers[0].closed;
  }
  EXPECT_TRUE(is_closed);
  EXPECT_EQ(::kill(server, 0), 0);  // still within its grace
  ::kill(server, SIGKILL);
  session.finish();
  EXPECT_TRUE(session.problems().empty());
  EXPECT_EQ(counts(folder)["run.finished"], 1);
}

TEST(SessionTest, AServerThatIsKilledLeavesItsCallUnknown) {
  const SessionFolder folder({.others = {"spare"}});
  Session session(folder);
  begin(session);
  ASSERT_TRUE(session.send(act(1, "pid")));
  const auto line = session.receive();
  ASSERT_TRUE(line);
  const std::size_t at = line->find("pid ");
  ASSERT_NE(at, std::string::npos) << *line;
  begin_hanging_call(session, 2);
  ::kill(std::atoi(line->c_str() + at + 4), SIGKILL);
  const auto answer = session.receive();
  ASSERT_TRUE(answer);
  EXPECT_NE(answer->find("server_ended"), std::string::npos) << *answer;
  EXPECT_TRUE(session.finish().empty());
  EXPECT_EQ(counts(folder)["server_ended"], 1);
}

// A gateway of its own process is killed while a call of its is in flight.
void kill_in_a_call(const SessionFolder& folder) {
  auto child = process::Child::start(
      {.arguments = {"/proc/self/exe", "--gateway", folder.path("remit.yaml")},
       .environment = process::pick_environment({"PATH", "HOME", "REMIT_SOURCE_DIR"})});
  ASSERT_TRUE(child) << child.error().to_string();
  process::LineReader reader(child->output().get(), 1 << 20);
  ASSERT_TRUE(process::write_all(
      child->input().get(), std::string(kInitialize) + "\n" + act(1, "hang") + "\n", kPatience));
  ASSERT_EQ(reader.next(kPatience).event, process::LineEvent::kLine);
  const process::LineRead hanging = reader.next(kPatience);
  ASSERT_NE(hanging.line.find("hanging"), std::string_view::npos);
  ::kill(child->pid(), SIGKILL);
  ASSERT_TRUE(child->wait_for(kPatience));
}

TEST(SessionTest, AGatewayThatIsKilledLeavesAStartWithoutAFinish) {
  const SessionFolder folder({});
  kill_in_a_call(folder);
  auto count = counts(folder);
  EXPECT_EQ(count["executor.start"], 1);
  EXPECT_EQ(count["executor.finish"], 0);
  EXPECT_EQ(count["run.finished"], 0);
  // The next run recovers the log, says that its writer died, and serves.
  Session session(folder, "run-2");
  begin(session);
  ASSERT_TRUE(session.send(act(1, "echo")));
  ASSERT_TRUE(session.receive());
  EXPECT_TRUE(session.finish().empty());
  EXPECT_NE(session.notices().find("was left unclosed"), std::string::npos) << session.notices();
  EXPECT_EQ(counts(folder)["evidence.lost"], 1);
  EXPECT_EQ(counts(folder)["succeeded"], 1);
  expect_verified(folder);
}

// REQ-EL-030.
TEST(SessionTest, TellsTheDamageOfALogThatItCannotClose) {
  const SessionFolder folder({});
  kill_in_a_call(folder);
  std::string altered;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path("evidence"))) {
    if (!entry.is_regular_file()) continue;
    const std::string text = text_of_file(entry.path());
    if (text.find("policy.published") == std::string::npos) continue;
    altered = entry.path().filename().string();
    std::ofstream(entry.path(), std::ios::binary) << replaced(text, "v7", "v8");
  }
  ASSERT_FALSE(altered.empty());
  Session session(folder, "run-2");
  begin(session);
  EXPECT_TRUE(session.finish().empty());
  const std::size_t at = session.notices().find("damaged and was left as it is: ");
  ASSERT_NE(at, std::string::npos) << session.notices();
  EXPECT_NE(session.notices().find(altered, at), std::string::npos) << session.notices();
}

TEST(SessionTest, TwoGatewaysShareAnEvidenceDirectory) {
  const SessionFolder folder({});
  Session one(folder, "run-1");
  begin(one);
  ASSERT_TRUE(one.send(act(1, "echo")));
  ASSERT_TRUE(one.receive());
  auto other = process::Child::start(
      {.arguments = {"/proc/self/exe", "--gateway", folder.path("remit.yaml")},
       .environment = process::pick_environment({"PATH", "HOME", "REMIT_SOURCE_DIR"})});
  ASSERT_TRUE(other);
  process::LineReader reader(other->output().get(), 1 << 20);
  ASSERT_TRUE(process::write_all(
      other->input().get(), std::string(kInitialize) + "\n" + act(1, "echo") + "\n", kPatience));
  ASSERT_EQ(reader.next(kPatience).event, process::LineEvent::kLine);
  ASSERT_EQ(reader.next(kPatience).event, process::LineEvent::kLine);
  EXPECT_EQ(other->stop(kPatience).to_string(), "exited with status 0");
  EXPECT_TRUE(one.finish().empty());
  auto count = counts(folder);
  EXPECT_EQ(count["run.finished"], 2);
  EXPECT_EQ(count["succeeded"], 2);
  expect_verified(folder);
}

TEST(SessionTest, ASignalEndsTheWaitForAServerThatDoesNotAnswer) {
  const SessionFolder folder({.flags = {"--mute"}});
  Session session(folder);
  ASSERT_TRUE(session.send(kInitialize));
  // Until the server has the request, so that the handshake is under way.
  while (folder.tap().empty()) std::this_thread::sleep_for(std::chrono::milliseconds{5});
  ::kill(::getpid(), SIGTERM);
  const auto answer = session.receive();
  ASSERT_TRUE(answer);
  EXPECT_NE(answer->find("no server could be initialized"), std::string::npos) << *answer;
  session.finish();
  EXPECT_EQ(counts(folder)["run.finished"], 1);
}

// The server fails its first list, says that it changed, and leaves the second list open: neither a
// second listing of our own nor the client's next try may meet the first.
TEST(SessionTest, AServerWhoseFirstListFailedIsTriedAgain) {
  const SessionFolder folder({.flags = {"--late"}});
  Session session(folder);
  ASSERT_TRUE(session.send(kInitialize));
  const auto first = session.receive();
  ASSERT_TRUE(first);
  EXPECT_NE(first->find("no server could be initialized"), std::string::npos) << *first;
  ASSERT_TRUE(session.send(kInitialize));
  std::size_t lists = 0;
  while (lists < 2) {  // the second is under way
    lists = 0;
    for (const std::string& line : folder.tap()) {
      if (line.find("\"tools/list\"") != std::string::npos) ++lists;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{5});
  }
  ::kill(::getpid(), SIGTERM);
  ASSERT_TRUE(session.receive());
  session.finish();
  EXPECT_TRUE(session.problems().empty());
  EXPECT_EQ(counts(folder)["run.finished"], 1);
}

// Whatever another server does, the good one answers.
void expect_still_served(Session& session) {
  ASSERT_TRUE(session.send(act(1, "echo", "still here")));
  const auto answer = session.receive();
  ASSERT_TRUE(answer && answer->find("still here") != std::string::npos) << answer.value_or("-");
}

// One server that changes its tools all the time, and never answers without a further change.
TEST(SessionTest, AServerThatChangesWithoutEndIsLeftOut) {
  const SessionFolder folder({.others = {"restless"}, .other_flag = "--restless"});
  Session session(folder);
  begin(session);
  expect_still_served(session);
  EXPECT_TRUE(session.finish().empty());
  EXPECT_NE(session.notices().find("tools change without end"), std::string::npos);
  std::istringstream lines(text_of_file(folder.path("tap-restless")));
  std::size_t lists = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("\"tools/list\"") != std::string::npos) ++lists;
  }
  EXPECT_EQ(lists, kMaxListingsInARow);
}

// A server that never answers holds up neither the client nor the other server.
TEST(SessionTest, AMuteServerIsNotWaitedForBesideAnother) {
  const SessionFolder folder({.others = {"mute"}, .other_flag = "--mute"});
  Session session(folder, "run-1", {.slow_server = std::chrono::milliseconds{20}});
  begin(session);
  expect_still_served(session);
  EXPECT_TRUE(session.finish().empty());
  EXPECT_NE(session.notices().find("is answered before 1 of the servers"), std::string::npos);
}

// The client closes its end while no server has answered: the run ends, and within its patience.
TEST(SessionTest, TheEndOfTheInputEndsTheHandshake) {
  const SessionFolder folder({.flags = {"--mute"}});
  Session session(folder, "run-1", {.slow_server = std::chrono::milliseconds{20}});
  ASSERT_TRUE(session.send(kInitialize));
  const auto rest = session.finish();
  ASSERT_EQ(rest.size(), 1U);
  EXPECT_NE(rest[0].find("no server could be initialized"), std::string::npos) << rest[0];
  EXPECT_EQ(counts(folder)["run.finished"], 1);
}

TEST(SessionTest, AllPagesOfAListHaveOneDeadline) {
  const auto listed = gateway::list_server_tools(
      {.arguments = {"/usr/bin/env", "python3", (stdio_tests() / "fake_server.py").string(),
                     "--crawl"},
       .environment = process::pick_environment(process::harmless_variables())},
      std::chrono::milliseconds{2'000});
  ASSERT_FALSE(listed);
  EXPECT_EQ(listed.error().code, ErrorCode::kDeadlineExceeded) << listed.error().to_string();
}

TEST(SessionTest, ACommandThatSendsBackWhatItIsSentListsNothing) {
  const auto listed = gateway::list_server_tools(
      {.arguments = {"/usr/bin/env", "cat"},
       .environment = process::pick_environment(process::harmless_variables())},
      std::chrono::milliseconds{30'000});
  ASSERT_FALSE(listed);
  EXPECT_NE(listed.error().message.find("sends back what it is sent"), std::string::npos)
      << listed.error().to_string();
}

TEST(SessionTest, NoToolIsCalledByItsOldDefinitionOnceItChanged) {
  const SessionFolder folder({});
  Session session(folder);
  begin(session);
  ASSERT_TRUE(session.send(act(1, "drift_slowly")));
  const auto changed = session.receive();
  ASSERT_TRUE(changed && changed->find("changed") != std::string::npos) << changed.value_or("-");
  ASSERT_TRUE(session.send(act(2, "echo", "by the old definition")));
  std::string said;
  for (const std::string& line : session.finish()) said += line + "\n";
  EXPECT_NE(said.find("-32602"), std::string::npos) << said;
  for (const std::string& line : folder.tap()) {
    EXPECT_EQ(line.find("by the old definition"), std::string::npos) << line;
  }
  EXPECT_EQ(counts(folder)["unknown_tool"], 1);
}

/// The machine's clock, which runs a function of the test's when the wall time is next read: by a
/// call that begins to be decided.
class WatchedClock final : public Clock {
 public:
  explicit WatchedClock(std::function<void()> then) : then_(std::move(then)) {}
  void arm() { is_armed_ = true; }
  WallTime wall_now() const override {
    if (is_armed_.exchange(false)) then_();
    return clock_.wall_now();
  }
  MonotonicTime monotonic_now() const override { return clock_.monotonic_now(); }

 private:
  const std::function<void()> then_;
  const SystemClock clock_;
  mutable std::atomic<bool> is_armed_{false};
};

// REQ-BD-109. The server changes its tools between the look at its list and the record of the call.
TEST(SessionTest, NoToolIsCalledThatChangedWhileItWasDecided) {
  const SessionFolder folder({});
  const auto lists = [&] {
    std::size_t out = 0;
    for (const std::string& line : folder.tap()) {
      if (line.find("\"tools/list\"") != std::string::npos) ++out;
    }
    return out;
  };
  pid_t server = 0;
  const std::size_t first = 1;
  WatchedClock clock([&] {
    ::kill(server, SIGUSR1);
    // Asked for the new list, so the gateway knows.
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (lists() == first && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
  });
  Session session(folder, "run-1", {}, &clock);
  begin(session);
  ASSERT_TRUE(session.send(act(1, "pid")));
  const auto line = session.receive();
  ASSERT_TRUE(line);
  server = std::atoi(line->c_str() + line->find("pid ") + 4);
  ASSERT_GT(server, 1);
  clock.arm();
  ASSERT_TRUE(session.send(act(2, "echo", "never sent")));
  std::string said;
  for (const std::string& rest : session.finish()) said += rest + "\n";
  EXPECT_NE(said.find("tools_changed"), std::string::npos) << said;
  auto count = counts(folder);
  EXPECT_EQ(count["tools_changed"], 1);
  EXPECT_EQ(count["executor.start"], 2);
  for (const std::string& tapped : folder.tap()) {
    EXPECT_EQ(tapped.find("never sent"), std::string::npos) << tapped;
  }
}

// REQ-BD-072. A call that waits for a new list when it is taken back, or when the session ends, was
// not refused.
TEST(SessionTest, ACallStoppedBeforeTheNewListIsCancelled) {
  for (const bool is_taken_back : {true, false}) {
    SCOPED_TRACE(is_taken_back);
    const SessionFolder folder({});
    Session session(folder, "run-1", {.drain = std::chrono::milliseconds{20}});
    begin(session);
    ASSERT_TRUE(session.send(act(1, "drift_in_silence")));
    ASSERT_TRUE(session.receive());
    ASSERT_TRUE(session.send(act(2, "echo", "never sent")));
    if (is_taken_back) {
      ASSERT_TRUE(session.send(
          R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}})"));
    }
    std::size_t answers = 0;
    for (const std::string& line : session.finish()) {
      if (line.find("\"id\":2") != std::string::npos) ++answers;
    }
    EXPECT_EQ(answers, is_taken_back ? 0U : 1U);
    auto count = counts(folder);
    EXPECT_EQ(count["unknown_tool"], 0);
    EXPECT_EQ(count["executor.finish"], 2);
    EXPECT_EQ(count["cancelled"], 1);
    for (const std::string& line : folder.tap()) {
      EXPECT_EQ(line.find("never sent"), std::string::npos) << line;
    }
  }
}

// REQ-BD-024. What one principal may is set in the configuration.
TEST(SessionTest, BoundsTheRateOfThePrincipal) {
  const SessionFolder folder({.limits = "principal_calls_per_second: 3"});
  Session session(folder);
  begin(session);
  const MonotonicTime before = SystemClock{}.monotonic_now();
  constexpr int kCalls = 30;
  std::string flood;
  for (int id = 0; id < kCalls; ++id) flood += act(id, "echo") + "\n";
  ASSERT_TRUE(session.send_bytes(flood));
  EXPECT_EQ(session.finish().size(), static_cast<std::size_t>(kCalls));
  const Duration taken = SystemClock{}.monotonic_now() - before;
  auto count = counts(folder);
  EXPECT_GE(count["succeeded"], 3);
  EXPECT_LE(count["succeeded"], 3 + 3 * (1 + taken / std::chrono::seconds{1}));
  EXPECT_EQ(count["succeeded"] + count["limit_exceeded"], kCalls);
}

// REQ-BD-128. Of what is not there and what is another's, nothing that a model might be shown tells
// which is which.
TEST(SessionTest, SaysNoMoreOnStandardErrorThanTheAnswers) {
  const SessionFolder folder({});
  Session session(folder);
  begin(session);
  for (const char* note : {"nowhere", "foreign", "secret"}) {
    ASSERT_TRUE(session.send(
        std::string(R"({"jsonrpc":"2.0","id":")") + note +
        R"(","method":"tools/call","params":{"name":"note.read","arguments":{"note":")" + note +
        R"("}}})"));
    ASSERT_TRUE(session.receive());
  }
  session.finish();
  std::set<std::string> said;
  std::istringstream lines(session.notices());
  for (std::string line; std::getline(lines, line);) {
    const std::size_t id = line.find("call ");
    if (id == std::string::npos) continue;
    const std::size_t end = line.find(" of ", id);
    ASSERT_NE(end, std::string::npos) << line;
    said.insert(line.replace(id, end - id, "call"));
  }
  ASSERT_EQ(said.size(), 1U) << session.notices();
  EXPECT_NE(said.begin()->find("denied: not_available"), std::string::npos) << *said.begin();
  auto count = counts(folder);
  EXPECT_EQ(count["resource_not_found"], 1);
  EXPECT_EQ(count["tenant_mismatch"], 1);
}

// REQ-BD-001. Whatever a request comes to, more of them than the rate allows are not looked at.
TEST(SessionTest, EveryRecordedRefusalCostsItsPartOfTheRate) {
  constexpr int kFlood = 50;
  for (const char* rest : {R"("method":"no/such")", R"("method":"resources/templates/list")",
                           R"("method":"tools/call","params":{"name":"mcp:resources/read"})",
                           R"("method":"tools/call","params":{"name":"absent"})",
                           R"("method":"tools/call","params":{"name":"unheard.of"})"}) {
    SCOPED_TRACE(rest);
    const SessionFolder folder({.limits = "calls_per_second: 1"});
    Session session(folder);
    begin(session);
    const MonotonicTime before = SystemClock{}.monotonic_now();
    std::string flood;
    for (int id = 0; id < kFlood; ++id) {
      flood += R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + "," + rest + "}\n";
    }
    ASSERT_TRUE(session.send_bytes(flood));
    EXPECT_EQ(session.finish().size(), static_cast<std::size_t>(kFlood));
    const Duration taken = SystemClock{}.monotonic_now() - before;
    auto count = counts(folder);
    EXPECT_GE(count["unknown_tool"], 1);
    EXPECT_LE(count["unknown_tool"], 1 + taken / std::chrono::seconds{1});
    EXPECT_EQ(count["unknown_tool"] + count["limit_exceeded"], kFlood);
  }
}

// More than the outbox and the answers in flight hold together, for a client that reads late.
TEST(SessionTest, AClientThatReadsLateGetsEveryLargeAnswer) {
  const SessionFolder folder({});
  Session session(folder);
  begin(session);
  constexpr int kCalls = 12;
  constexpr std::size_t kBytes = 12'000'000;
  static_assert(kCalls * kBytes > 2 * kMaxQueuedBytes);
  for (int id = 0; id < kCalls; ++id) {
    ASSERT_TRUE(session.send(act(id, "large", std::to_string(kBytes))));
  }
  for (int id = 0; id < kCalls; ++id) {
    const auto answer = session.receive();
    ASSERT_TRUE(answer);
    EXPECT_GT(answer->size(), kBytes);
  }
  EXPECT_TRUE(session.finish().empty());
  EXPECT_EQ(counts(folder)["succeeded"], kCalls);
}

// A system that gives no more threads costs what needs one, not the session.
TEST(SessionTest, OutlivesASystemWithoutThreads) {
  const SessionFolder folder({});
  Session session(folder);
  ASSERT_TRUE(session.send(R"({"jsonrpc":"2.0","id":0,"method":"ping"})"));
  ASSERT_TRUE(session.receive());  // its own threads are there
  {
    const NoMoreThreads scarce;
    ASSERT_TRUE(session.send(kInitialize));
    const auto answer = session.receive();
    ASSERT_TRUE(answer);
    EXPECT_NE(answer->find("no server could be initialized"), std::string::npos) << *answer;
  }
  begin(session);
  {
    const NoMoreThreads scarce;  // the one that is there serves all
    ASSERT_TRUE(session.send(act(1, "echo", "one")));
    ASSERT_TRUE(session.send(act(2, "echo", "two")));
    ASSERT_TRUE(session.receive());
    ASSERT_TRUE(session.receive());
  }
  EXPECT_TRUE(session.finish().empty());
  EXPECT_NE(session.notices().find("no thread can be started for its handshake"),
            std::string::npos);
  EXPECT_EQ(counts(folder)["succeeded"], 2);
}

TEST(SessionTest, OneServerOfTwoIsEnough) {
  const SessionFolder folder({.flags = {"--die"}, .others = {"spare"}});
  Session session(folder);
  begin(session);
  ASSERT_TRUE(session.send(act(1, "echo")));
  const auto answer = session.receive();
  ASSERT_TRUE(answer);
  EXPECT_NE(answer->find("-32602"), std::string::npos) << *answer;
  EXPECT_TRUE(session.finish().empty());
  EXPECT_NE(session.notices().find("server \"fake\" cannot be used"), std::string::npos);
}

}  // namespace
}  // namespace remit::testing

// The gateway as a process of its own, for the tests that end one.
int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "--gateway") {
    remit::PosixFileSystem files;
    const remit::SystemClock clock;
    remit::SystemRandom random;
    const auto problems = remit::gateway::run_stdio({.config_file = argv[2], .run_id = "run-2"},
                                                    files, clock, random);
    return problems.empty() ? 0 : 1;
  }
  ::testing::InitGoogleTest(&argc, argv);
  // Signals for a gateway are sent to the whole process: no thread but a gateway's may take them.
  sigset_t held;
  sigemptyset(&held);
  sigaddset(&held, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &held, nullptr);
  return RUN_ALL_TESTS();
}
