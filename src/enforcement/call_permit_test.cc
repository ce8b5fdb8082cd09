// Permits: good for one call, once, in time, at the point that gave them; their end is on record.
#include <atomic>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "tests/support/boundary_world.h"

namespace remit::enforcement::testing {
namespace {

constexpr char kTool[] = "invoice.read";
constexpr char kArguments[] = R"({"invoice":"march","amount":5})";
constexpr char kDecided[] = "tool.request resource.resolved authorization.decision";
constexpr char kUnspent[] = "tool.request resource.resolved authorization.decision permit.unspent";

CallPermit authorized(EnforcementPoint& boundary) {
  AuthorizeOutcome outcome = boundary.authorize(World::call(kTool, kArguments));
  CallPermit* permit = std::get_if<CallPermit>(&outcome);
  EXPECT_NE(permit, nullptr);
  return std::move(*permit);
}

// REQ-BD-061, REQ-BD-063.
TEST(CallPermit, IsSpentOnce) {
  World world;
  CallPermit permit = authorized(*world.boundary);
  EXPECT_EQ(names_of(world.evidence.events()), kDecided);
  const std::string id{permit.invocation_id()};
  world.clock.advance(std::chrono::milliseconds{10});
  const CallOutcome outcome = world.boundary->spend(
      std::move(permit), kTool, R"({"amount":5, "invoice":"march"})", world.handler);
  EXPECT_NE(std::get_if<HandlerResult>(&outcome), nullptr);
  const std::vector<json::Value> events = world.evidence.events();
  EXPECT_EQ(names_of(events), std::string{kDecided} + " executor.start executor.finish");
  EXPECT_EQ(text_of(events[3], "invocation_id"), id);
  EXPECT_EQ(text_of(events[3], "decision_id"), text_of(events[2], "decision_id"));
  EXPECT_EQ(text_of(events[3], "args_digest"), text_of(events[2], "args_digest"));
  EXPECT_EQ(text_of(events[3], "time"), "2026-11-30T12:00:00.010000000Z");
  EXPECT_EQ(world.handler.arguments, R"({"amount":5,"invoice":"canonical-march"})");

  // A permit that was spent is an empty shell.
  EXPECT_TRUE(permit.invocation_id().empty());  // NOLINT(bugprone-use-after-move): the point
  const CallOutcome again =
      world.boundary->spend(std::move(permit), kTool, kArguments, world.handler);
  EXPECT_EQ(std::get<Denial>(again).code, "permit_refused");
  EXPECT_EQ(world.handler.runs(), 1U);
  EXPECT_EQ(world.evidence.events().size(), 5U);
}

// Each row is a spending that must not reach the handler and must leave `permit.unspent`.
// REQ-BD-061.
// The same references and remaining arguments are another call if they stand in other places.
TEST(CallPermit, IsRefusedForReferencesInOtherPlaces) {
  struct Row {
    const char* tool;
    const char* decided;
    const char* spent;
  };
  const Row rows[] = {
      {"invoice.move", R"({"from":["march"],"to":["april","may"]})",
       R"({"from":["march","april"],"to":["may"]})"},
      {"invoice.move", R"({"from":"march","to":"april"})", R"({"from":["march"],"to":"april"})"},
      {"invoice.move", R"({"from":["march"],"to":"april"})", R"({"from":"march","to":["april"]})"},
      {"report.make", R"({"options":{"invoice":[]}})", R"({"options":{}})"},
      {"report.make", R"({"options":{"invoice":["march"]}})", R"({"options":{"invoice":"march"}})"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.spent);
    World world;
    AuthorizeOutcome outcome = world.boundary->authorize(World::call(row.tool, row.decided));
    ASSERT_NE(std::get_if<CallPermit>(&outcome), nullptr) << std::get<Denial>(outcome).detail;
    const CallOutcome spent = world.boundary->spend(std::move(std::get<CallPermit>(outcome)),
                                                    row.tool, row.spent, world.handler);
    ASSERT_NE(std::get_if<Denial>(&spent), nullptr);
    EXPECT_EQ(std::get<Denial>(spent).code, "permit_refused");
    EXPECT_EQ(world.handler.runs(), 0);
    world.boundary->authorize(World::call(row.tool, row.spent));
    const std::vector<json::Value> events = world.evidence.events();
    std::set<std::string> digests;
    for (const json::Value& event : events) {
      if (text_of(event, "event") == "tool.request") digests.insert(text_of(event, "args_digest"));
    }
    EXPECT_EQ(digests.size(), 2U);
  }
}

TEST(CallPermit, IsRefusedForAnythingElse) {
  struct Row {
    const char* name;
    const char* tool;
    std::string arguments;
    Retry retry = Retry::kNever;
    std::function<void(World&)> prepare = [](World&) {};
  };
  const std::vector<Row> rows = {
      {"another tool", "invoice.trial", kArguments},
      {"other arguments", kTool, R"({"invoice":"march","amount":6})"},
      {"another reference", kTool, R"({"invoice":"april","amount":5})"},
      {"the canonical id for the reference", kTool, R"({"invoice":"canonical-march","amount":5})"},
      {"an argument more", kTool, R"({"invoice":"march","amount":5,"x":1})"},
      {"no arguments", kTool, ""},
      {"no JSON", kTool, "{"},
      {"a key twice", kTool, R"({"invoice":"march","amount":5,"amount":5})"},
      {"too much", kTool, std::string(kMaxCallBytes + 1, ' ')},
      {"late", kTool, kArguments, Retry::kLater,
       [](World& world) { world.clock.advance(kPermitLifetime + std::chrono::nanoseconds{1}); }},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    World world;
    CallPermit permit = authorized(*world.boundary);
    row.prepare(world);
    const CallOutcome outcome =
        world.boundary->spend(std::move(permit), row.tool, row.arguments, world.handler);
    ASSERT_NE(std::get_if<Denial>(&outcome), nullptr);
    EXPECT_EQ(std::get<Denial>(outcome).code, "permit_refused");
    EXPECT_EQ(std::get<Denial>(outcome).retry, row.retry);
    EXPECT_EQ(world.handler.runs(), 0U);
    EXPECT_EQ(names_of(world.evidence.events()), kUnspent);
  }
}

// REQ-BD-062.
TEST(CallPermit, OnTheLastMomentIsNotLate) {
  World world;
  CallPermit permit = authorized(*world.boundary);
  world.clock.advance(kPermitLifetime);
  world.boundary->spend(std::move(permit), kTool, kArguments, world.handler);
  EXPECT_EQ(world.handler.runs(), 1U);
}

// REQ-BD-062. The log is slow: what was resolved is too old by the time that the start is durable.
TEST(CallPermit, MadeLateByTheLogDoesNotRun) {
  struct Row {
    const char* name;
    Duration taken;
    std::size_t runs;
    const char* outcome;
    const char* error_type;
  };
  constexpr Duration kLifetime = kPermitLifetime;
  for (const Row& row : {Row{"in time", kLifetime, 1, "succeeded", ""},
                         Row{"late", kLifetime + Duration{1}, 0, "failed", "permit_expired"}}) {
    for (const bool at_once : {false, true}) {
      SCOPED_TRACE(std::string(row.name) + (at_once ? ", invoke" : ", spend"));
      World world;
      std::optional<CallPermit> permit;
      if (!at_once) permit.emplace(authorized(*world.boundary));
      world.evidence.on_commit = [&](const evidence::EventBatch&) {
        world.clock.advance(row.taken);
        return Status{};
      };
      const CallOutcome outcome =
          at_once ? world.boundary->invoke(World::call(kTool, kArguments), world.handler)
                  : world.boundary->spend(*std::move(permit), kTool, kArguments, world.handler);
      ASSERT_NE(std::get_if<HandlerResult>(&outcome), nullptr);
      EXPECT_EQ(world.handler.runs(), row.runs);
      const std::vector<json::Value> events = world.evidence.events();
      EXPECT_FALSE(first_of(events, "executor.start").is_null());
      const json::Value finish = first_of(events, "executor.finish");
      EXPECT_EQ(text_of(finish, "outcome"), row.outcome);
      EXPECT_EQ(text_of(finish, "error_type"), row.error_type);
      EXPECT_TRUE(first_of(events, "permit.unspent").is_null());
    }
  }
}

TEST(CallPermit, IsRefusedByAnotherPoint) {
  World mine;
  World other;
  const CallOutcome outcome =
      other.boundary->spend(authorized(*mine.boundary), kTool, kArguments, other.handler);
  EXPECT_EQ(std::get<Denial>(outcome).code, "permit_refused");
  EXPECT_EQ(other.handler.runs(), 0U);
  EXPECT_TRUE(other.evidence.events().empty());
  EXPECT_EQ(names_of(mine.evidence.events()), kUnspent);
}

// REQ-BD-064.
TEST(CallPermit, DestroyedUnspentSaysSo) {
  World world;
  {
    CallPermit first = authorized(*world.boundary);
    CallPermit second = std::move(first);
    EXPECT_EQ(names_of(world.evidence.events()), kDecided);
    second = authorized(*world.boundary);
    EXPECT_EQ(names_of(world.evidence.events()), std::string{kDecided} + " " + kUnspent);
  }
  const std::vector<json::Value> events = world.evidence.events();
  EXPECT_EQ(text_of(events.back(), "event"), "permit.unspent");
  EXPECT_EQ(text_of(events.back(), "decision_id"), text_of(events[5], "decision_id"));
}

// REQ-BD-064. A point that goes away lets a permit's last word into the log be finished: the log
// may be gone right behind it.
TEST(CallPermit, HasItsLastWordBeforeItsPointIsGone) {
  World world;
  std::optional<CallPermit> permit;
  permit.emplace(authorized(*world.boundary));
  std::atomic<bool> is_writing{false};
  std::atomic<bool> may_write{false};
  world.evidence.on_append = [&](const evidence::EventBatch&) {
    is_writing = true;
    while (!may_write) std::this_thread::yield();
    return Status{};
  };
  std::thread holder([&] { permit.reset(); });
  while (!is_writing) std::this_thread::yield();
  std::atomic<bool> is_gone{false};
  std::thread owner([&] {
    world.boundary.reset();
    is_gone = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds{20});
  EXPECT_FALSE(is_gone);
  may_write = true;
  holder.join();
  owner.join();
  EXPECT_EQ(names_of(world.evidence.events()), kUnspent);
}

TEST(CallPermit, OutlivesItsPointHarmlessly) {
  std::optional<CallPermit> permit;
  {
    World world;
    permit.emplace(authorized(*world.boundary));
    world.boundary.reset();
    EXPECT_EQ(names_of(world.evidence.events()), kUnspent);
  }
  EXPECT_FALSE(permit->invocation_id().empty());
  World other;
  const CallOutcome outcome =
      other.boundary->spend(*std::move(permit), kTool, kArguments, other.handler);
  EXPECT_EQ(std::get<Denial>(outcome).code, "permit_refused");
}

// A revocation counts on the next call, and a spending is one.
TEST(CallPermit, IsWorthNothingAfterANewerPolicy) {
  World world;
  CallPermit permit = authorized(*world.boundary);
  world.publish();
  ASSERT_TRUE(world.boundary->record_publication(*world.policy.get()));
  const CallOutcome outcome =
      world.boundary->spend(std::move(permit), kTool, kArguments, world.handler);
  EXPECT_EQ(std::get<Denial>(outcome).reason, access::ReasonCode::kPolicyUnavailable);
  EXPECT_EQ(std::get<Denial>(outcome).retry, Retry::kLater);
  EXPECT_EQ(world.handler.runs(), 0U);
  EXPECT_EQ(names_of(world.evidence.events()),
            std::string{kDecided} + " policy.published permit.unspent");
}

// REQ-BD-070.
TEST(CallPermit, AStartThatCannotBeRecordedDoesNotRun) {
  World world;
  CallPermit permit = authorized(*world.boundary);
  world.evidence.on_commit = [](const evidence::EventBatch&) {
    return Status{Error{ErrorCode::kUnavailable, "no space"}};
  };
  const CallOutcome outcome =
      world.boundary->spend(std::move(permit), kTool, kArguments, world.handler);
  EXPECT_EQ(std::get<Denial>(outcome).reason, access::ReasonCode::kEvidenceUnavailable);
  EXPECT_EQ(world.handler.runs(), 0U);
}

TEST(CallPermit, ADenialGivesNone) {
  World world;
  AuthorizeOutcome outcome =
      world.boundary->authorize(World::call(kTool, R"({"invoice":"foreign"})"));
  ASSERT_NE(std::get_if<Denial>(&outcome), nullptr);
  EXPECT_EQ(std::get<Denial>(outcome).reason, access::ReasonCode::kTenantMismatch);
  EXPECT_EQ(names_of(world.evidence.events()), kDecided);
}

TEST(CallPermit, ShadowGivesOneForADeny) {
  World world;
  access::ProposedCall call = World::call(kTool, R"({"invoice":"foreign"})");
  call.route = "trial";
  AuthorizeOutcome outcome = world.boundary->authorize(call);
  ASSERT_NE(std::get_if<CallPermit>(&outcome), nullptr);
  world.boundary->spend(std::move(std::get<CallPermit>(outcome)), kTool, call.arguments_json,
                        world.handler);
  EXPECT_EQ(world.handler.runs(), 1U);
}

TEST(CallPermit, TooManyOutAreRefused) {
  World world;
  std::vector<CallPermit> out;
  for (std::size_t i = 0; i < kMaxOutstandingPermits; ++i) {
    AuthorizeOutcome outcome = world.boundary->authorize(World::call("server.ping", "{}"));
    out.push_back(std::move(std::get<CallPermit>(outcome)));
  }
  world.evidence.clear();
  AuthorizeOutcome outcome = world.boundary->authorize(World::call("server.ping", "{}"));
  EXPECT_EQ(std::get<Denial>(outcome).reason, access::ReasonCode::kLimitExceeded);
  EXPECT_EQ(names_of(world.evidence.events()), "tool.request authorization.decision");
  out.pop_back();
  outcome = world.boundary->authorize(World::call("server.ping", "{}"));
  EXPECT_NE(std::get_if<CallPermit>(&outcome), nullptr);
}

}  // namespace
}  // namespace remit::enforcement::testing
