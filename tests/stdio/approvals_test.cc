// A client, a person and a gateway: what is refused, granted, run once and remembered.
#include <algorithm>

#include "ledger/desk.h"
#include "tests/stdio/session.h"

namespace remit::testing {
namespace {

constexpr const char* kInitialize =
    R"({"jsonrpc":"2.0","id":"init","method":"initialize","params":)"
    R"({"protocolVersion":"2025-11-25","capabilities":{},)"
    R"("clientInfo":{"name":"c","version":"1"}}})";

std::string act(int id, const std::string& text, const std::string& key = "") {
  const std::string meta =
      key.empty() ? "" : R"(,"_meta":{"io.remit/idempotency-key":")" + key + R"("})";
  return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) +
         R"(,"method":"tools/call","params":{"name":"fake.act","arguments":{"do":"echo","text":")" +
         text + R"("})" + meta + "}}";
}

/// The usual world, in which `fake.act` needs an approval and takes keys.
class ApprovalsTest : public ::testing::Test {
 protected:
  ApprovalsTest() {
    catalogue("approval: required, idempotency: key_optional, ");
    folder_.put("remit.yaml",
                text_of_file(folder_.path("remit.yaml")) + "state: {sqlite: state.db}\n");
  }
  void catalogue(const std::string& keys) const {
    const std::string text = text_of_file(stdio_tests() / "world" / "bundle" / "catalogue.yaml");
    const std::string tool = "{name: fake.act, ";
    folder_.put("bundle/catalogue.yaml", replaced(text, tool, tool + keys));
  }
  std::unique_ptr<ledger::Desk> desk() {
    return ledger::Desk::open({ledger::Location::Kind::kSqlite, folder_.path("state.db")}, clock_,
                              random_)
        .value();
  }
  /// The answer to a call.
  static std::string answer(Session& session, const std::string& line) {
    EXPECT_TRUE(session.send(line));
    return session.receive().value_or("nothing");
  }
  static void begin(Session& session) {
    EXPECT_NE(answer(session, kInitialize).find("\"result\""), std::string::npos);
  }
  [[nodiscard]] std::size_t calls_at_server() const {
    const auto tap = folder_.tap();
    return static_cast<std::size_t>(std::count_if(
        tap.begin(), tap.end(),
        [](const std::string& line) { return line.find("\"tools/call\"") != std::string::npos; }));
  }

  SessionFolder folder_{{}};
  SystemClock clock_;
  SystemRandom random_;
};

// REQ-BD-046, REQ-BD-055, REQ-RS-014, REQ-LG-010
TEST_F(ApprovalsTest, APersonGrantsBetweenTwoCalls) {
  {
    Session session(folder_);
    begin(session);
    const std::string denied = answer(session, act(1, "a", "k"));
    const std::string request = member(denied, "request");
    ASSERT_EQ(request.size(), 32U) << denied;
    EXPECT_EQ(member(denied, "code"), "approval_required");
    EXPECT_EQ(calls_at_server(), 0U);
    const auto pending = desk()->pending().value();
    ASSERT_EQ(pending.size(), 1U);
    EXPECT_EQ(pending[0].asked.request, request);
    EXPECT_EQ(pending[0].asked.subject, "ana");
    EXPECT_EQ(pending[0].asked.arguments, R"({"do":"echo","text":"a"})");
    ASSERT_TRUE(desk()->grant({request, "carol", "it is due", std::chrono::minutes{10}}));

    EXPECT_EQ(member(answer(session, act(2, "b")), "code"), "approval_required")
        << "other arguments are another call";
    EXPECT_EQ(answer(session, act(3, "a", "k")).find("denied"), std::string::npos);
    EXPECT_EQ(calls_at_server(), 1U);
    const std::string repeated = answer(session, act(4, "a", "k"));
    EXPECT_EQ(member(repeated, "code"), "repeated");
    EXPECT_EQ(member(repeated, "state"), "succeeded");
    EXPECT_EQ(member(answer(session, act(5, "a", "k2")), "code"), "approval_required");
    session.finish();
    EXPECT_TRUE(session.problems().empty());
  }
  // Another process remembers.
  Session later(folder_, "run-2");
  begin(later);
  EXPECT_EQ(member(answer(later, act(6, "a", "k")), "state"), "succeeded");
  EXPECT_EQ(member(answer(later, act(7, "a")), "code"), "approval_required");
  later.finish();
  EXPECT_EQ(calls_at_server(), 1U);
  int started = 0;
  std::string reasons;
  for (const std::string& line : folder_.events()) {
    if (member(line, "event") == "executor.start") ++started;
    if (member(line, "event") == "authorization.decision") reasons += member(line, "reason") + " ";
  }
  EXPECT_EQ(started, 1);
  EXPECT_EQ(reasons,
            "approval_required stale_approval allowed duplicate_invocation stale_approval "
            "duplicate_invocation stale_approval ");
}

// REQ-LG-030
TEST_F(ApprovalsTest, ALedgerThatVanishesIsADenial) {
  Session session(folder_);
  begin(session);
  EXPECT_EQ(member(answer(session, act(1, "a")), "code"), "approval_required");
  for (const char* suffix : {"", "-wal", "-shm"}) {
    std::filesystem::remove(folder_.path("state.db") + suffix);
  }
  const std::string denied = answer(session, act(2, "a"));
  EXPECT_EQ(member(denied, "code"), "unavailable");
  EXPECT_EQ(member(denied, "retry"), "later");
  session.finish();
  EXPECT_EQ(calls_at_server(), 0U);
  EXPECT_FALSE(std::filesystem::exists(folder_.path("state.db")));
}

// REQ-BN-014
TEST_F(ApprovalsTest, WithoutStateABundleThatNeedsItIsRefused) {
  folder_.put("remit.yaml", replaced(text_of_file(folder_.path("remit.yaml")),
                                     "state: {sqlite: state.db}\n", ""));
  for (const char* keys : {"approval: required, ", "idempotency: key_required, "}) {
    catalogue(keys);
    Session session(folder_);
    session.finish();
    ASSERT_EQ(session.problems().size(), 1U);
    const std::string said = session.problems().front().to_string();
    EXPECT_NE(said.find("the tool \"fake.act\" needs approvals or takes idempotency keys, which "
                        "are kept in the \"state\""),
              std::string::npos)
        << said;
  }
  EXPECT_TRUE(folder_.events().empty());
}

// REQ-LG-020
TEST_F(ApprovalsTest, AnotherDigestKeyIsRefused) {
  {
    Session session(folder_);
    begin(session);
    session.finish();
  }
  folder_.put("digest.key", "another key of this length of 32");
  Session session(folder_);
  session.finish();
  ASSERT_EQ(session.problems().size(), 1U);
  EXPECT_NE(session.problems().front().to_string().find("another digest key"), std::string::npos);
}

}  // namespace
}  // namespace remit::testing
