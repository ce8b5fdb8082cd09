// The decision table: each way in which a call can go, with its reason and its events.
#include <gtest/gtest.h>

#include <stdexcept>

#include "enforcement/enforcement_point.h"
#include "tests/support/boundary_world.h"

namespace remit::enforcement::testing {
namespace {

constexpr char kRequestDecision[] = "tool.request authorization.decision";
constexpr char kUpToResolution[] = "tool.request resource.resolved authorization.decision";
constexpr char kWholeCall[] =
    "tool.request resource.resolved authorization.decision executor.start executor.finish";

struct Row {
  std::string name;
  std::string tool;
  std::string arguments;
  std::string reason;  // `allowed` or the denial's
  std::string code;    // what the caller hears; empty when allowed
  std::string events;
  std::function<void(World&, access::ProposedCall&)> prepare = [](World&, access::ProposedCall&) {};
};

std::vector<Row> table() {
  using access::Decision;
  using access::ReasonCode;
  const auto decide = [](Result<Decision> answer) {
    return [answer](World& world, access::ProposedCall&) {
      world.decision_point->behave = [answer](const decision::DecisionRequest&) { return answer; };
    };
  };
  const auto identify = [](access::PrincipalState state) {
    return [state](World& world, access::ProposedCall&) {
      world.authenticator.behave = [state](const access::Credential&) {
        return identity::Identity{.state = state};
      };
    };
  };
  const auto name = [](std::function<void(access::Principal&)> change) {
    return [change](World& world, access::ProposedCall&) {
      world.authenticator.behave = [change](const access::Credential&) {
        identity::Identity out{.state = access::PrincipalState::kAuthenticated};
        out.principal = FakeAuthenticator::alice();
        change(*out.principal);
        return out;
      };
    };
  };
  const auto answer = [](std::function<void(access::Resource&)> lie) {
    return [lie](World& world, access::ProposedCall&) {
      world.invoices.behave = [lie](const attributes::ResourceQuery& query) {
        Result<access::Resource> out = World::find(query);
        lie(*out);
        return out;
      };
    };
  };
  const auto fail = [](ErrorCode code) {
    return [code](World& world, access::ProposedCall&) {
      world.invoices.behave = [code](const attributes::ResourceQuery&) {
        return Result<access::Resource>{Error{code, "a fault"}};
      };
    };
  };
  const std::string invoice = R"({"invoice":"march"})";
  const std::string read = "invoice.read";
  return {
      {"allowed", read, invoice, "allowed", "", kWholeCall},
      {"allowed on the server", "server.ping", "{}", "allowed", "",
       "tool.request authorization.decision executor.start executor.finish"},
      {"no arguments at all", "server.ping", "", "allowed", "",
       "tool.request authorization.decision executor.start executor.finish"},
      {"several resources", "invoice.move", R"({"from":"march","to":"april"})", "allowed", "",
       "tool.request resource.resolved resource.resolved authorization.decision executor.start "
       "executor.finish"},
      {"a list of resources", "files.read", R"({"paths":["a","b"]})", "allowed", "",
       "tool.request resource.resolved resource.resolved authorization.decision executor.start "
       "executor.finish"},
      {"an optional resource left out", "report.make", R"({"options":{"pages":2}})", "allowed", "",
       "tool.request authorization.decision executor.start executor.finish"},
      {"an optional resource that is null", "report.make", R"({"options":{"invoice":null}})",
       "allowed", "", "tool.request authorization.decision executor.start executor.finish"},
      {"an optional resource given", "report.make", R"({"options":{"invoice":"march"}})", "allowed",
       "", kWholeCall},
      {"open arguments", "anything.goes", R"({"x":[1,2,{"y":null}]})", "allowed", "",
       "tool.request authorization.decision executor.start executor.finish"},
      {"pure computation", "sums.add", R"({"a":1})", "allowed", "",
       "tool.request authorization.decision executor.start executor.finish"},

      {"too large", read, std::string(kMaxCallBytes + 1, ' '), "limit_exceeded", "limit_exceeded",
       kRequestDecision},
      {"too large by its name", std::string(kMaxCallBytes + 1, 'x'), "{}", "limit_exceeded",
       "limit_exceeded", kRequestDecision},
      {"too large by what stands beside the arguments", read, invoice, "limit_exceeded",
       "limit_exceeded", kRequestDecision,
       [](World&, access::ProposedCall& call) { call.idempotency_key.assign(kMaxCallBytes, 'k'); }},
      {"too large by the planner's version", read, invoice, "limit_exceeded", "limit_exceeded",
       kRequestDecision,
       [](World&, access::ProposedCall& call) {
         call.planner_policy_version.assign(kMaxCallBytes, 'v');
       }},
      {"too deep", "anything.goes",
       R"({"x":)" + std::string(200, '[') + std::string(200, ']') + "}", "limit_exceeded",
       "limit_exceeded", kRequestDecision},
      {"cut short", read, R"({"invoice":"mar)", "invalid_request", "invalid_request",
       kRequestDecision},
      {"a key twice", read, R"({"invoice":"march","invoice":"april"})", "invalid_request",
       "invalid_request", kRequestDecision},
      {"a key twice, deep", "anything.goes", R"({"x":{"y":1,"\u0079":2}})", "invalid_request",
       "invalid_request", kRequestDecision},
      {"not utf-8", read, "{\"invoice\":\"\xff\"}", "invalid_request", "invalid_request",
       kRequestDecision},
      {"a lone surrogate", read, R"({"invoice":"\ud800"})", "invalid_request", "invalid_request",
       kRequestDecision},
      {"a number that others would change", "anything.goes", R"({"x":9007199254740993})",
       "invalid_request", "invalid_request", kRequestDecision},
      {"not an object", read, R"(["march"])", "invalid_request", "invalid_request",
       kRequestDecision},
      {"no policy in force", read, invoice, "policy_unavailable", "unavailable", "",
       [](World& world, access::ProposedCall&) {
         // A boundary whose publisher has not come yet; its own test looks at the events.
         static const decision::CurrentPolicy kNone;
         world.boundary.emplace(world.surroundings(kNone, world.evidence));
       }},
      {"an unknown route", read, invoice, "unknown_route", "unknown_route", kRequestDecision,
       [](World&, access::ProposedCall& call) { call.route = "backdoor"; }},
      {"no identity", read, invoice, "missing_identity", "unauthenticated", kRequestDecision,
       [](World&, access::ProposedCall& call) { call.credential = {}; }},
      {"an invalid identity", read, invoice, "invalid_identity", "unauthenticated",
       kRequestDecision, identify(access::PrincipalState::kInvalid)},
      {"an expired identity", read, invoice, "expired_identity", "unauthenticated",
       kRequestDecision, identify(access::PrincipalState::kExpired)},
      {"authenticated, but nobody", read, invoice, "invalid_identity", "unauthenticated",
       kRequestDecision, identify(access::PrincipalState::kAuthenticated)},
      {"authenticated, but without a subject", read, invoice, "invalid_identity", "unauthenticated",
       kRequestDecision, name([](access::Principal& out) { out.subject.clear(); })},
      {"pure computation for nobody", "sums.add", R"({"a":1})", "invalid_identity",
       "unauthenticated", kRequestDecision,
       name([](access::Principal& out) { out.subject.clear(); })},
      {"a tenant that is too long", "server.ping", "{}", "invalid_identity", "unauthenticated",
       kRequestDecision,
       name([](access::Principal& out) { out.tenant = std::string(kMaxIdBytes + 1, 't'); })},
      {"a tenant that no record can carry", "server.ping", "{}", "invalid_identity",
       "unauthenticated", kRequestDecision,
       name([](access::Principal& out) { out.tenant = "tenant\na"; })},
      {"an authenticator that throws", read, invoice, "invalid_identity", "unauthenticated",
       kRequestDecision,
       [](World& world, access::ProposedCall&) {
         world.authenticator.behave = [](const access::Credential&) -> identity::Identity {
           throw std::runtime_error("fault");
         };
       }},
      {"an unknown tool", "invoice.shred", "{}", "unknown_tool", "unknown_tool", kRequestDecision},
      {"a tool in other letters", "Invoice.Read", invoice, "unknown_tool", "unknown_tool",
       kRequestDecision},
      {"a look-alike letter", "inv\xd0\xbeice.read", invoice, "unknown_tool", "unknown_tool",
       kRequestDecision},
      {"a tool with a byte behind", std::string("invoice.read\0", 13), invoice, "unknown_tool",
       "unknown_tool", kRequestDecision},
      {"no tool", "", invoice, "unknown_tool", "unknown_tool", kRequestDecision},
      {"a scope that is not held", "admin.export", "{}", "missing_scope", "missing_scope",
       kRequestDecision},
      {"an argument of another type", read, R"({"invoice":"march","amount":"much"})",
       "invalid_arguments", "invalid_arguments", kRequestDecision},
      {"an argument without a name in the schema", read, R"({"invoice":"march","tenant":"b"})",
       "invalid_arguments", "invalid_arguments", kRequestDecision},
      {"a required argument left out", "sums.add", R"({"b":1})", "invalid_arguments",
       "invalid_arguments", kRequestDecision},
      {"a reference that is no text", read, R"({"invoice":7})", "invalid_arguments",
       "invalid_arguments", kRequestDecision},
      {"a list with something else in it", "files.read", R"({"paths":["a",{"b":1}]})",
       "invalid_arguments", "invalid_arguments", kRequestDecision},
      {"a reference that is too long", read,
       R"({"invoice":")" + std::string(kMaxReferenceBytes + 1, 'x') + R"("})", "limit_exceeded",
       "limit_exceeded", kRequestDecision},
      {"too many references", "files.read",
       R"({"paths":["1","2","3","4","5","6","7","8","9","10","11","12","13","14","15","16","17"]})",
       "limit_exceeded", "limit_exceeded", kRequestDecision},
      {"no resource named", read, "{}", "resource_not_found", "not_available", kRequestDecision},
      {"an empty list of resources", "files.read", R"({"paths":[]})", "resource_not_found",
       "not_available", kRequestDecision},
      {"a resource that does not exist", read, R"({"invoice":"missing"})", "resource_not_found",
       "not_available", kUpToResolution},
      {"the second of two does not exist", "invoice.move", R"({"from":"march","to":"missing"})",
       "resource_not_found", "not_available",
       "tool.request resource.resolved resource.resolved authorization.decision"},
      {"no store for the type", "ghost.read", R"({"ghost":"x"})", "resolver_unavailable",
       "unavailable", kUpToResolution},
      {"a store that is down", read, invoice, "resolver_unavailable", "unavailable",
       kUpToResolution, fail(ErrorCode::kUnavailable)},
      {"a store that is too slow and says so", read, invoice, "resolver_unavailable", "unavailable",
       kUpToResolution, fail(ErrorCode::kDeadlineExceeded)},
      {"a store with two rows", read, invoice, "resolver_unavailable", "unavailable",
       kUpToResolution, fail(ErrorCode::kDataLoss)},
      {"a store with a defect", read, invoice, "resolver_unavailable", "unavailable",
       kUpToResolution, fail(ErrorCode::kInternal)},
      {"a store that throws", read, invoice, "resolver_unavailable", "unavailable", kUpToResolution,
       [](World& world, access::ProposedCall&) {
         world.invoices.behave = [](const attributes::ResourceQuery&) -> Result<access::Resource> {
           throw 7;
         };
       }},
      {"a store that is late", read, invoice, "resolver_unavailable", "unavailable",
       kUpToResolution,
       [](World& world, access::ProposedCall&) {
         world.invoices.behave = [&world](const attributes::ResourceQuery& query) {
           world.clock.advance(kResolveDeadline + std::chrono::nanoseconds{1});
           return World::find(query);
         };
       }},
      {"two references late together", "invoice.move", R"({"from":"march","to":"april"})",
       "resolver_unavailable", "unavailable",
       "tool.request resource.resolved resource.resolved authorization.decision",
       [](World& world, access::ProposedCall&) {
         world.invoices.behave = [&world](const attributes::ResourceQuery& query) {
           world.clock.advance(kResolveDeadline * 2 / 3);
           return World::find(query);
         };
       }},
      {"a store that answers for another type", read, invoice, "resolver_unavailable",
       "unavailable", kUpToResolution, answer([](access::Resource& out) { out.type = "File"; })},
      {"a store without an id", read, invoice, "resolver_unavailable", "unavailable",
       kUpToResolution, answer([](access::Resource& out) { out.id.clear(); })},
      {"an id that no record can carry", read, invoice, "resolver_unavailable", "unavailable",
       kUpToResolution, answer([](access::Resource& out) { out.id = "a\nb"; })},
      {"an id that is too long", read, invoice, "resolver_unavailable", "unavailable",
       kUpToResolution,
       answer([](access::Resource& out) { out.id = std::string(kMaxIdBytes + 1, 'x'); })},
      {"a tenant of a resource that no record can carry", read, invoice, "resolver_unavailable",
       "unavailable", kUpToResolution,
       answer([](access::Resource& out) { out.tenant = "tenant-a\n"; })},
      {"a source that no record can carry", read, invoice, "resolver_unavailable", "unavailable",
       kUpToResolution,
       answer([](access::Resource& out) { out.source = std::string(kMaxIdBytes + 1, 's'); })},
      {"a revision that no record can carry", read, invoice, "resolver_unavailable", "unavailable",
       kUpToResolution, answer([](access::Resource& out) { out.revision = "1\n2"; })},
      {"a second tenant among the attributes", read, invoice, "resolver_unavailable", "unavailable",
       kUpToResolution,
       answer([](access::Resource& out) { out.attributes = {{"tenant", std::string("a")}}; })},
      {"an attribute twice", read, invoice, "resolver_unavailable", "unavailable", kUpToResolution,
       answer([](access::Resource& out) { out.attributes = {{"a", true}, {"a", false}}; })},
      {"a resource of another tenant", read, R"({"invoice":"foreign"})", "tenant_mismatch",
       "not_available", kUpToResolution},
      {"a resource without a tenant", read, invoice, "tenant_mismatch", "not_available",
       kUpToResolution, answer([](access::Resource& out) { out.tenant.clear(); })},
      {"one of two is foreign", "invoice.move", R"({"from":"march","to":"foreign"})",
       "tenant_mismatch", "not_available",
       "tool.request resource.resolved resource.resolved authorization.decision"},
      {"forbidden", read, invoice, "forbidden", "not_available", kUpToResolution,
       decide(Decision::deny(ReasonCode::kForbidden, {"no-refunds"}))},
      {"not permitted", read, invoice, "not_permitted", "not_available", kUpToResolution,
       decide(Decision::deny(ReasonCode::kNotPermitted))},
      {"approval required", read, invoice, "approval_required", "approval_required",
       kUpToResolution, decide(Decision::deny(ReasonCode::kApprovalRequired, {"four-eyes"}))},
      {"stale approval", read, invoice, "stale_approval", "approval_required", kUpToResolution,
       decide(Decision::deny(ReasonCode::kStaleApproval, {"four-eyes"}))},
      {"a policy that errs", read, invoice, "policy_error", "unavailable", kUpToResolution,
       decide(Decision::deny(ReasonCode::kPolicyError, {"broken"}))},
      {"an allow without a permit", read, invoice, "policy_error", "unavailable", kUpToResolution,
       decide(Decision::allow({}))},
      {"a decision point with a defect", read, invoice, "policy_error", "unavailable",
       kUpToResolution, decide(Error{ErrorCode::kInternal, "a defect"})},
      {"a decision point that is down", read, invoice, "policy_unavailable", "unavailable",
       kUpToResolution, decide(Error{ErrorCode::kUnavailable, "down"})},
      {"a decision point that gives up", read, invoice, "policy_unavailable", "unavailable",
       kUpToResolution, decide(Error{ErrorCode::kDeadlineExceeded, "slow"})},
      {"a decision point that is late", read, invoice, "policy_unavailable", "unavailable",
       kUpToResolution,
       [](World& world, access::ProposedCall&) {
         world.decision_point->behave =
             [&world](const decision::DecisionRequest&) -> Result<Decision> {
           world.clock.advance(kDecideDeadline + std::chrono::nanoseconds{1});
           return Decision::allow({"permit-all"});
         };
       }},
      {"a decision point that throws", read, invoice, "policy_error", "unavailable",
       kUpToResolution,
       [](World& world, access::ProposedCall&) {
         world.decision_point->behave = [](const decision::DecisionRequest&) -> Result<Decision> {
           throw std::bad_alloc();
         };
       }},
      {"a log that fails", read, invoice, "evidence_unavailable", "unavailable", "",
       [](World& world, access::ProposedCall&) {
         world.evidence.on_commit = [](const evidence::EventBatch&) {
           return Status{Error{ErrorCode::kUnavailable, "no space"}};
         };
       }},
      {"a log that throws", read, invoice, "evidence_unavailable", "unavailable", "",
       [](World& world, access::ProposedCall&) {
         world.evidence.on_commit = [](const evidence::EventBatch&) -> Status {
           throw std::runtime_error("fault");
         };
       }},
      {"a log that fails for a denial", "invoice.shred", "{}", "evidence_unavailable",
       "unavailable", "",
       [](World& world, access::ProposedCall&) {
         world.evidence.on_commit = [](const evidence::EventBatch&) {
           return Status{Error{ErrorCode::kDataLoss, "short write"}};
         };
       }},
  };
}

// REQ-BD-001, REQ-BD-002, REQ-BD-010, REQ-BD-023, REQ-BD-030, REQ-BD-032, REQ-BD-053, REQ-BD-070,
// REQ-RS-001, REQ-RS-002, REQ-RS-005.
TEST(DecisionTable, Holds) {
  std::vector<bool> seen(access::kReasonCount, false);
  for (const Row& row : table()) {
    SCOPED_TRACE(row.name);
    World world;
    access::ProposedCall call = World::call(row.tool, row.arguments);
    row.prepare(world, call);
    const CallOutcome outcome = world.boundary->invoke(call, world.handler);
    const Denial* denial = std::get_if<Denial>(&outcome);
    const bool allowed = row.reason == "allowed";
    EXPECT_EQ(denial == nullptr, allowed);
    EXPECT_EQ(world.handler.runs(), allowed ? 1U : 0U);
    if (denial != nullptr) {
      EXPECT_EQ(access::reason_name(denial->reason), row.reason);
      EXPECT_EQ(denial->code, row.code);
      EXPECT_FALSE(denial->invocation_id.empty());
    }
    const std::vector<json::Value> events = world.evidence.events();
    if (!row.events.empty()) {
      EXPECT_EQ(names_of(events), row.events);
    }
    if (!events.empty()) {
      const json::Value decision = first_of(events, "authorization.decision");
      EXPECT_EQ(text_of(decision, "decision"), allowed ? "allow" : "deny");
      EXPECT_EQ(text_of(decision, "reason"), row.reason);
      for (const json::Value& one : events) {
        EXPECT_EQ(text_of(one, "invocation_id"), text_of(decision, "invocation_id"));
      }
    }
    const auto reason = access::parse_reason(row.reason);
    ASSERT_TRUE(reason.has_value());
    seen[static_cast<std::size_t>(*reason)] = true;
  }
  for (int i = 0; i < access::kReasonCount; ++i) {
    const auto reason = static_cast<access::ReasonCode>(i);
    // The ledger's two come with the ledger (REQ-RS-006).
    const bool is_ledgers = reason == access::ReasonCode::kDuplicateInvocation ||
                            reason == access::ReasonCode::kOutcomeUnknown;
    EXPECT_EQ(seen[static_cast<std::size_t>(i)], !is_ledgers) << access::reason_name(reason);
  }
}

// REQ-BD-001, REQ-BD-031.
TEST(DecisionTable, NothingIsAskedAfterTheStepThatFails) {
  for (const char* tool : {"admin.export", "invoice.shred"}) {
    World world;
    world.boundary->invoke(World::call(tool, R"({"invoice":"march"})"), world.handler);
    EXPECT_EQ(world.invoices.asked + world.files.asked, 0) << tool;
    EXPECT_EQ(world.decision_point->asked, 0) << tool;
  }
  // Invariant *coarse before look-up*: a caller without the scope learns nothing of resources.
  World world;
  world.authenticator.behave = [](const access::Credential&) {
    identity::Identity out{.state = access::PrincipalState::kAuthenticated};
    out.principal = FakeAuthenticator::alice();
    out.principal->scopes.clear();
    return out;
  };
  const auto outcome = world.boundary->invoke(
      World::call("invoice.read", R"({"invoice":"missing"})"), world.handler);
  EXPECT_EQ(std::get<Denial>(outcome).reason, access::ReasonCode::kMissingScope);
  EXPECT_EQ(std::get<Denial>(outcome).scopes_needed, std::vector<std::string>{"invoice:read"});
  EXPECT_EQ(world.invoices.asked, 0);
}

}  // namespace
}  // namespace remit::enforcement::testing
