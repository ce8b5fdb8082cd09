// The decision table: each way in which a call can go, with its reason, its events and what the
// caller hears.
#include "enforcement/enforcement_point.h"

#include <gtest/gtest.h>

#include <stdexcept>

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
       [](World&, access::ProposedCall& call) { call.route = "legacy"; }},
      {"no identity", read, invoice, "missing_identity", "unauthenticated", kRequestDecision,
       [](World&, access::ProposedCall& call) { call.credential = {}; }},
      {"an invalid identity", read, invoice, "invalid_identity", "unauthenticated",
       kRequestDecision, identify(access::PrincipalState::kInvalid)},
      {"an expired identity", read, invoice, "expired_identity", "unauthenticated",
       kRequestDecision, identify(access::PrincipalState::kExpired)},
      {"authenticated, but nobody", read, invoice, "invalid_identity", "unauthenticated",
       kRequestDecision, identify(access::PrincipalState::kAuthenticated)},
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

// An array that names nothing is not left out: "none of them" must not become "not said".
TEST(EnforcementPoint, GivesTheHandlerAnEmptyListOfReferences) {
  World world;
  world.boundary->invoke(World::call("report.make", R"({"options":{"invoice":[],"pages":2}})"),
                         world.handler);
  EXPECT_EQ(world.handler.runs(), 1);
  EXPECT_EQ(world.handler.arguments, R"({"options":{"invoice":[],"pages":2}})");
}

// REQ-BD-001, REQ-BD-002, REQ-BD-010, REQ-BD-030, REQ-BD-032, REQ-BD-053, REQ-BD-070, REQ-RS-001,
// REQ-RS-002, REQ-RS-005.
TEST(EnforcementPoint, DecisionTable) {
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
TEST(EnforcementPoint, NothingIsAskedAfterTheStepThatFails) {
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

// REQ-RS-011: four reasons, one answer, to the byte.
TEST(EnforcementPoint, WhatIsNotAvailableIsToldAlike) {
  std::vector<std::string> told;
  const auto tell = [&](World& world, const char* arguments) {
    const auto outcome =
        world.boundary->invoke(World::call("invoice.read", arguments), world.handler);
    told.push_back(json::write(denial_json(std::get<Denial>(outcome))));
  };
  for (const char* arguments : {R"({"invoice":"missing"})", R"({"invoice":"foreign"})", "{}"}) {
    World world;
    tell(world, arguments);
  }
  for (const auto reason : {access::ReasonCode::kForbidden, access::ReasonCode::kNotPermitted}) {
    World world;
    world.decision_point->behave = [&](const decision::DecisionRequest&) {
      return Result<access::Decision>{access::Decision::deny(reason, {"p"}, "secret detail")};
    };
    tell(world, R"({"invoice":"march"})");
  }
  for (const std::string& one : told) EXPECT_EQ(one, told.front());
  EXPECT_EQ(told.front(), R"({"status":"denied","code":"not_available","retry":"never",)"
                          R"("advice":"This is not available to you. Choose another way."})");
}

// REQ-RS-012.
TEST(EnforcementPoint, WrongArgumentsAreToldByPlaceAndNeverByValue) {
  World world;
  const auto outcome = world.boundary->invoke(
      World::call("invoice.read", R"({"invoice":"march","amount":"canary-value","a/b":1})"),
      world.handler);
  EXPECT_EQ(std::get<Denial>(outcome).arguments, std::vector<std::string>{"/a~1b"});
  const auto typed = world.boundary->invoke(
      World::call("invoice.read", R"({"invoice":"march","amount":"canary-value"})"), world.handler);
  EXPECT_EQ(std::get<Denial>(typed).arguments, std::vector<std::string>{"/amount"});
  EXPECT_EQ(json::write(denial_json(std::get<Denial>(typed))).find("canary"), std::string::npos);
}

// REQ-BD-011, REQ-BD-033, REQ-BD-034.
TEST(EnforcementPoint, TheHandlerGetsCanonicalIdsInPlaceOfReferences) {
  struct Case {
    const char* tool;
    const char* arguments;
    const char* granted;
  };
  for (const Case& one : {
           Case{"invoice.read", R"({ "invoice":"march", "amount": 1 })",
                R"({"amount":1,"invoice":"canonical-march"})"},
           Case{"invoice.move", R"({"to":"b","note":"x","from":"a"})",
                R"({"from":"canonical-a","note":"x","to":"canonical-b"})"},
           Case{"files.read", R"({"paths":["b","a"]})",
                R"({"paths":["canonical-b","canonical-a"]})"},
           Case{"report.make", R"({"options":{"pages":2,"invoice":"m"}})",
                R"({"options":{"invoice":"canonical-m","pages":2}})"},
           Case{"report.make", R"({"options":{"invoice":null}})",
                R"({"options":{"invoice":null}})"},
           Case{"server.ping", "", "{}"},
       }) {
    World world;
    std::string ids;
    world.handler.behave = [&](const GrantedCall& call) {
      EXPECT_EQ(json::canonical(call.arguments()), call.arguments_json());
      for (const access::Resource& resource : call.resources()) {
        ids += resource.type + ":" + resource.id + "@" + resource.revision + " ";
      }
      return HandlerResult{.outcome = HandlerOutcome::kSucceeded};
    };
    world.boundary->invoke(World::call(one.tool, one.arguments), world.handler);
    EXPECT_EQ(world.handler.arguments, one.granted);
    EXPECT_FALSE(ids.empty());
  }
}

// REQ-BD-020, REQ-BD-033.
TEST(EnforcementPoint, PolicySeesArgumentsWithoutReferencesAndNothingElseOfThePlanner) {
  World world;
  world.decision_point->behave = [](const decision::DecisionRequest& request) {
    EXPECT_EQ(json::canonical(request.arguments), R"({"amount":5})");
    EXPECT_EQ(request.resource.id, "canonical-march");
    EXPECT_EQ(request.principal.tenant, "tenant-a");
    EXPECT_EQ(request.action, "invoice.read");
    EXPECT_EQ(request.route, "agent");
    EXPECT_EQ(request.environment, "test");
    EXPECT_EQ(request.now.unix_ns, FakeClock::kStartUnixNs);
    return Result<access::Decision>{access::Decision::allow({"p"})};
  };
  world.boundary->invoke(World::call("invoice.read", R"({"invoice":"march","amount":5})"),
                         world.handler);
  EXPECT_EQ(world.handler.runs(), 1U);
}

// REQ-BD-043: a tool without a resource acts on its server, which serves each tenant as its own.
TEST(EnforcementPoint, AToolWithoutResourceActsOnItsServer) {
  for (const auto& [tool, id] :
       {std::pair{"server.ping", "remit"}, std::pair{"report.make", "desk"}}) {
    World world;
    world.boundary->invoke(World::call(tool, "{}"), world.handler);
    const json::Value decision = first_of(world.evidence.events(), "authorization.decision");
    EXPECT_EQ(text_of(decision, "resource_type"), "Server");
    EXPECT_EQ(text_of(decision, "resource_id"), id);
    EXPECT_EQ(text_of(decision, "resource_tenant"), "tenant-a");
    EXPECT_EQ(text_of(decision, "resolution_source"), "boundary");
  }
}

// REQ-EV-031, REQ-EV-034.
TEST(EnforcementPoint, EventsCarryTheFactsOfTheDecision) {
  World world;
  access::ProposedCall call =
      World::call("invoice.move", R"({"from":"march","to":"april","note":"n"})");
  call.run_id = "run-1";
  call.case_id = "case-1";
  call.planner_policy_version = "v0";
  call.idempotency_key = "once";
  call.trace_id = std::string(32, 'a');
  call.span_id = std::string(16, 'b');
  world.handler.behave = [&](const GrantedCall& granted) {
    EXPECT_EQ(granted.run_id(), "run-1");
    EXPECT_EQ(granted.case_id(), "case-1");
    world.clock.advance(std::chrono::microseconds{1500});
    return HandlerResult{.outcome = HandlerOutcome::kFailed, .error_type = "HttpError"};
  };
  world.boundary->invoke(call, world.handler);
  const std::vector<json::Value> events = world.evidence.events();
  ASSERT_EQ(events.size(), 6U);
  const std::string digest = world.key.digest("{\"note\":\"n\"}\n/from\n/to");
  const std::string time = "2026-11-30T12:00:00.000000000Z";

  const json::Value& request = events[0];
  EXPECT_EQ(text_of(request, "time"), time);
  EXPECT_EQ(text_of(request, "run_id"), "run-1");
  EXPECT_EQ(text_of(request, "case_id"), "case-1");
  EXPECT_EQ(text_of(request, "route"), "agent");
  EXPECT_EQ(text_of(request, "principal_state"), "authenticated");
  EXPECT_EQ(text_of(request, "args_digest"), digest);
  EXPECT_EQ(text_of(request, "requested_ref"), world.key.digest("march"));
  EXPECT_EQ(text_of(request, "planner_policy_version"), "v0");
  EXPECT_EQ(text_of(request, "idempotency_key_digest"), world.key.digest("once"));
  EXPECT_EQ(text_of(request, "trace_id"), call.trace_id);
  EXPECT_EQ(text_of(request, "span_id"), call.span_id);

  EXPECT_EQ(text_of(events[2], "resource_id"), "canonical-april");
  EXPECT_EQ(text_of(events[2], "requested_ref"), world.key.digest("april"));
  EXPECT_EQ(text_of(events[2], "outcome"), "found");
  EXPECT_EQ(text_of(events[2], "resolution_revision"), "12");

  const json::Value& decision = events[3];
  EXPECT_EQ(text_of(decision, "action"), "invoice.move");
  EXPECT_EQ(text_of(decision, "resource_id"), "canonical-march");
  EXPECT_EQ(json::write(*decision.find("further_resources")), R"(["Invoice:canonical-april"])");
  EXPECT_EQ(text_of(decision, "policy_version"), "v1");
  EXPECT_TRUE(text_of(decision, "policy_digest").starts_with("sha256:"));
  EXPECT_EQ(json::write(*decision.find("determining_policies")), R"(["permit-all"])");
  EXPECT_EQ(text_of(decision, "principal_ref"), world.key.digest("alice"));
  EXPECT_EQ(text_of(decision, "principal_class"), "support_agent");
  EXPECT_EQ(text_of(decision, "principal_tenant"), "tenant-a");
  EXPECT_EQ(text_of(decision, "principal_revision"), "7");
  EXPECT_EQ(text_of(decision, "resolution_source"), "invoices");
  EXPECT_EQ(text_of(decision, "args_digest"), digest);
  EXPECT_EQ(text_of(decision, "mode"), "enforce");
  EXPECT_EQ(*decision.find("enforced")->if_bool(), true);
  EXPECT_EQ(text_of(decision, "decision_point"), "fake");

  EXPECT_EQ(text_of(events[4], "decision_id"), text_of(decision, "decision_id"));
  EXPECT_EQ(text_of(events[4], "args_digest"), digest);
  EXPECT_EQ(text_of(events[5], "outcome"), "failed");
  EXPECT_EQ(text_of(events[5], "error_type"), "HttpError");
  EXPECT_EQ(*events[5].find("duration_us")->if_integer(), 1500);
  for (const json::Value& one : events) EXPECT_EQ(text_of(one, "tool"), "invoice.move");
}

// REQ-EV-030, REQ-EV-035: what a planner writes reaches the log as plain names and digests only.
TEST(EnforcementPoint, HostileTextIsNeverRecorded) {
  const std::string canary = "canary \"\n</script>\xff";
  World world;
  std::vector<access::ProposedCall> calls;
  for (const char* tool : {"invoice.read", "admin.export", "files.read"}) {
    access::ProposedCall call =
        World::call(tool, R"({"invoice":"canary-reference","amount":4711})");
    call.planner_policy_version = canary;
    call.idempotency_key = canary;
    call.trace_id = canary;
    call.span_id = canary;
    call.run_id = canary;
    call.case_id = canary;
    calls.push_back(call);
    call.tool = canary;
    calls.push_back(call);
    call.route = canary;
    calls.push_back(call);
    call.arguments_json = canary;
    calls.push_back(call);
    call.credential = access::Credential::bearer(canary);
    calls.push_back(call);
  }
  world.authenticator.behave = [&](const access::Credential&) {
    identity::Identity out{.state = access::PrincipalState::kAuthenticated};
    out.principal = FakeAuthenticator::alice();
    out.principal->subject = canary;
    out.principal->class_name = canary;
    out.principal->revision = canary;
    return out;
  };
  world.handler.behave = [&](const GrantedCall&) {
    return HandlerResult{
        .outcome = HandlerOutcome::kFailed, .payload = canary, .error_type = canary};
  };
  for (const access::ProposedCall& call : calls) world.boundary->invoke(call, world.handler);
  EXPECT_EQ(world.handler.runs(), 1U);
  const std::string text = world.evidence.text();
  for (const char* secret :
       {"canary \\", "script", "\\ufffd", "4711", "\"canary-reference\"", "alice"}) {
    EXPECT_EQ(text.find(secret), std::string::npos) << secret;
  }
  EXPECT_NE(text.find("canonical-canary-reference"), std::string::npos);
  EXPECT_EQ(text_of(first_of(world.evidence.events(), "executor.finish"), "error_type"), "unnamed");
}

TEST(EnforcementPoint, ASafeReferenceIsRecordedInClear) {
  World world;
  world.boundary->invoke(World::call("files.read", R"({"paths":["a.txt"]})"), world.handler);
  EXPECT_EQ(text_of(world.evidence.events()[0], "requested_ref"), "a.txt");
}

TEST(EnforcementPoint, ARefusalBeforeResolutionHasNoResource) {
  World world;
  world.boundary->invoke(World::call("invoice.read", R"({"invoice":"missing"})"), world.handler);
  const std::vector<json::Value> events = world.evidence.events();
  EXPECT_EQ(text_of(events[1], "outcome"), "not_found");
  EXPECT_EQ(text_of(events[1], "resource_type"), "Invoice");
  ASSERT_NE(events[2].find("resource_id"), nullptr);
  EXPECT_TRUE(events[2].find("resource_id")->is_null());
}

// REQ-BD-044, REQ-RS-004: all must be allowed, and the first reason wins.
TEST(EnforcementPoint, SeveralResourcesMakeOneDecision) {
  using access::Decision;
  using access::ReasonCode;
  struct Case {
    Decision from;
    Decision to;
    const char* reason;
    const char* policies;
  };
  const std::vector<Case> cases = {
      {Decision::allow({"b"}), Decision::allow({"a", "b"}), "allowed", R"(["a","b"])"},
      {Decision::deny(ReasonCode::kForbidden, {"f"}), Decision::allow({"a"}), "forbidden",
       R"(["f"])"},
      {Decision::deny(ReasonCode::kNotPermitted), Decision::deny(ReasonCode::kForbidden, {"f"}),
       "forbidden", R"(["f"])"},
      {Decision::deny(ReasonCode::kForbidden, {"f"}),
       Decision::deny(ReasonCode::kTenantMismatch, {"t"}), "tenant_mismatch", R"(["f","t"])"},
      {Decision::deny(ReasonCode::kTenantMismatch, {"t"}),
       Decision::deny(ReasonCode::kPolicyError, {"e"}), "policy_error", R"(["e","t"])"},
  };
  for (const Case& one : cases) {
    World world;
    world.decision_point->behave = [&](const decision::DecisionRequest& request) {
      return Result<Decision>{request.resource.id == "canonical-a" ? one.from : one.to};
    };
    world.boundary->invoke(World::call("invoice.move", R"({"from":"a","to":"b"})"), world.handler);
    const json::Value decision = first_of(world.evidence.events(), "authorization.decision");
    EXPECT_EQ(text_of(decision, "reason"), one.reason);
    EXPECT_EQ(json::write(*decision.find("determining_policies")), one.policies);
    EXPECT_EQ(world.handler.runs(), std::string_view{one.reason} == "allowed" ? 1U : 0U);
  }
}

// REQ-BD-054: shadow relaxes the decision and nothing else.
TEST(EnforcementPoint, ShadowRelaxesTheDecisionOnly) {
  struct Case {
    const char* name;
    const char* route;
    const char* tool;
    const char* arguments;
    const char* reason;
    bool enforced;
    bool runs;
  };
  const std::vector<Case> cases = {
      {"foreign, by route", "trial", "invoice.read", R"({"invoice":"foreign"})", "tenant_mismatch",
       false, true},
      {"foreign, by tool", "agent", "invoice.trial", R"({"invoice":"foreign"})", "tenant_mismatch",
       false, true},
      {"allowed", "trial", "invoice.read", R"({"invoice":"march"})", "allowed", false, true},
      {"not found", "trial", "invoice.read", R"({"invoice":"missing"})", "resource_not_found", true,
       false},
      {"unknown tool", "trial", "invoice.shred", "{}", "unknown_tool", true, false},
      {"missing scope", "trial", "admin.export", "{}", "missing_scope", true, false},
      {"invalid arguments", "agent", "invoice.trial", R"({"x":1})", "invalid_arguments", true,
       false},
      {"enforced elsewhere", "agent", "invoice.read", R"({"invoice":"foreign"})", "tenant_mismatch",
       true, false},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.name);
    World world;
    access::ProposedCall call = World::call(one.tool, one.arguments);
    call.route = one.route;
    world.boundary->invoke(call, world.handler);
    const json::Value decision = first_of(world.evidence.events(), "authorization.decision");
    EXPECT_EQ(text_of(decision, "reason"), one.reason);
    EXPECT_EQ(text_of(decision, "decision"),
              std::string_view{one.reason} == "allowed" ? "allow" : "deny");
    EXPECT_EQ(*decision.find("enforced")->if_bool(), one.enforced);
    EXPECT_EQ(world.handler.runs(), one.runs ? 1U : 0U);
    if (one.runs) {
      const json::Value start = first_of(world.evidence.events(), "executor.start");
      EXPECT_EQ(text_of(start, "decision_id"), text_of(decision, "decision_id"));
    }
  }
  // Evidence stays: what cannot be recorded does not run, in shadow as well.
  World world;
  world.evidence.on_commit = [](const evidence::EventBatch&) {
    return Status{Error{ErrorCode::kUnavailable, "no space"}};
  };
  access::ProposedCall call = World::call("invoice.read", R"({"invoice":"march"})");
  call.route = "trial";
  world.boundary->invoke(call, world.handler);
  EXPECT_EQ(world.handler.runs(), 0U);
}

// REQ-BD-021: what changed about the principal counts on the next call.
TEST(EnforcementPoint, APrincipalIsAskedAnewForEachCall) {
  World world;
  const access::ProposedCall call = World::call("invoice.read", R"({"invoice":"march"})");
  world.boundary->invoke(call, world.handler);
  EXPECT_EQ(world.handler.runs(), 1U);
  world.authenticator.behave = [](const access::Credential&) {
    identity::Identity out{.state = access::PrincipalState::kAuthenticated};
    out.principal = FakeAuthenticator::alice();
    out.principal->tenant = "tenant-b";
    return out;
  };
  const auto outcome = world.boundary->invoke(call, world.handler);
  EXPECT_EQ(std::get<Denial>(outcome).reason, access::ReasonCode::kTenantMismatch);
  EXPECT_EQ(world.handler.runs(), 1U);
}

// REQ-BD-080.
TEST(EnforcementPoint, PureComputationAsksNoPolicyAndIsRecorded) {
  World world;
  world.boundary->invoke(World::call("sums.add", R"({"a":1,"b":2})"), world.handler);
  EXPECT_EQ(world.decision_point->asked, 0);
  EXPECT_EQ(world.handler.runs(), 1U);
  const json::Value decision = first_of(world.evidence.events(), "authorization.decision");
  EXPECT_EQ(text_of(decision, "decision_point"), "catalogue");
  EXPECT_EQ(json::write(*decision.find("determining_policies")), R"(["boundary:none"])");
  // Who calls is still asked.
  access::ProposedCall call = World::call("sums.add", R"({"a":1})");
  call.credential = {};
  world.boundary->invoke(call, world.handler);
  EXPECT_EQ(world.handler.runs(), 1U);
}

// REQ-BD-071, REQ-BD-072.
TEST(EnforcementPoint, WhatBecomesOfTheRun) {
  struct Case {
    const char* name;
    FakeHandler::Behave behave;
    const char* outcome;
    const char* error_type;
  };
  const std::vector<Case> cases = {
      {"nothing said", [](const GrantedCall&) { return HandlerResult{}; }, "unknown", ""},
      {"cancelled",
       [](const GrantedCall&) { return HandlerResult{.outcome = HandlerOutcome::kCancelled}; },
       "cancelled", ""},
      {"throws", [](const GrantedCall&) -> HandlerResult { throw std::runtime_error("canary"); },
       "unknown", "exception"},
      {"throws anything", [](const GrantedCall&) -> HandlerResult { throw 1; }, "unknown",
       "exception"},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.name);
    World world;
    world.handler.behave = one.behave;
    world.boundary->invoke(World::call("server.ping", "{}"), world.handler);
    const json::Value finish = first_of(world.evidence.events(), "executor.finish");
    EXPECT_EQ(text_of(finish, "outcome"), one.outcome);
    EXPECT_EQ(text_of(finish, "error_type"), one.error_type);
  }
  World world;
  std::stop_source gone;
  gone.request_stop();
  const auto outcome =
      world.boundary->invoke(World::call("server.ping", "{}"), world.handler, gone.get_token());
  EXPECT_EQ(std::get<HandlerResult>(outcome).outcome, HandlerOutcome::kCancelled);
  EXPECT_EQ(world.handler.runs(), 0U);
  EXPECT_EQ(text_of(first_of(world.evidence.events(), "executor.finish"), "outcome"), "cancelled");
}

TEST(EnforcementPoint, AFinishThatCannotBeRecordedChangesNothingForTheCaller) {
  World world;
  world.evidence.on_append = [](const evidence::EventBatch&) {
    return Status{Error{ErrorCode::kUnavailable, "no space"}};
  };
  const auto outcome = world.boundary->invoke(World::call("server.ping", "{}"), world.handler);
  EXPECT_EQ(std::get<HandlerResult>(outcome).outcome, HandlerOutcome::kSucceeded);
  EXPECT_EQ(names_of(world.evidence.events()),
            "tool.request authorization.decision executor.start");
}

// REQ-BD-050, REQ-BD-051.
TEST(EnforcementPoint, ANewerPolicyMakesTheDecisionAnew) {
  World world;
  int asked = 0;
  world.decision_point->behave = [&](const decision::DecisionRequest&) {
    if (++asked == 1) {
      // Between the decision and its record somebody publishes a policy that forbids.
      world.publish();
      static_cast<void>(world.boundary->record_publication(*world.policy.get()));
      return Result<access::Decision>{access::Decision::allow({"old"})};
    }
    return Result<access::Decision>{
        access::Decision::deny(access::ReasonCode::kForbidden, {"new"})};
  };
  world.boundary->invoke(World::call("invoice.read", R"({"invoice":"march"})"), world.handler);
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(world.handler.runs(), 0U);
  EXPECT_EQ(names_of(world.evidence.events()),
            "policy.published tool.request resource.resolved authorization.decision");
  EXPECT_EQ(text_of(world.evidence.events()[3], "reason"), "forbidden");
}

// REQ-BD-051.
TEST(EnforcementPoint, APolicyThatNeverSettlesDenies) {
  World world;
  world.decision_point->behave = [&](const decision::DecisionRequest&) {
    world.publish();
    static_cast<void>(world.boundary->record_publication(*world.policy.get()));
    return Result<access::Decision>{access::Decision::allow({"p"})};
  };
  const auto outcome =
      world.boundary->invoke(World::call("invoice.read", R"({"invoice":"march"})"), world.handler);
  EXPECT_EQ(std::get<Denial>(outcome).reason, access::ReasonCode::kPolicyUnavailable);
  EXPECT_EQ(world.decision_point->asked, kMaxRemakesAfterPublication + 1);
  EXPECT_EQ(world.handler.runs(), 0U);
  const json::Value decision = first_of(world.evidence.events(), "authorization.decision");
  EXPECT_EQ(text_of(decision, "reason"), "policy_unavailable");
  EXPECT_EQ(decision.find("determining_policies"), nullptr);
  EXPECT_EQ(*decision.find("enforced")->if_bool(), true);
}

// A snapshot may come into force before anybody has told the log: the first call does.
TEST(EnforcementPoint, NoDecisionStandsBeforeItsPolicy) {
  World world;
  world.publish();
  world.boundary->invoke(World::call("server.ping", "{}"), world.handler);
  world.boundary->invoke(World::call("server.ping", "{}"), world.handler);
  const std::string names = names_of(world.evidence.events());
  EXPECT_EQ(names,
            "policy.published tool.request authorization.decision executor.start executor.finish "
            "tool.request authorization.decision executor.start executor.finish");
  World other;
  other.publish();
  other.evidence.on_publish = [] { return Status{Error{ErrorCode::kUnavailable, "no space"}}; };
  const auto outcome = other.boundary->invoke(World::call("server.ping", "{}"), other.handler);
  EXPECT_EQ(std::get<Denial>(outcome).reason, access::ReasonCode::kEvidenceUnavailable);
  EXPECT_EQ(other.handler.runs(), 0U);
}

TEST(EnforcementPoint, WithoutAPolicyNobodyIsAsked) {
  World world;
  const decision::CurrentPolicy none;
  EnforcementPoint boundary(world.surroundings(none, world.evidence));
  boundary.invoke(World::call("invoice.read", R"({"invoice":"march"})"), world.handler);
  const std::vector<json::Value> events = world.evidence.events();
  EXPECT_EQ(names_of(events), kRequestDecision);
  EXPECT_EQ(text_of(events[1], "reason"), "policy_unavailable");
  EXPECT_EQ(events[1].find("principal_state"), nullptr);
  std::shared_ptr<const decision::PolicySnapshot> snapshot;
  EXPECT_TRUE(boundary.visible_tools(access::Credential::local(), snapshot).empty());
}

// REQ-BD-065.
TEST(EnforcementPoint, AdviceRecordsAndRunsNothing) {
  World world;
  EXPECT_TRUE(
      world.boundary->would_allow(World::call("invoice.read", R"({"invoice":"march"})")).allowed());
  EXPECT_EQ(
      world.boundary->would_allow(World::call("invoice.read", R"({"invoice":"foreign"})")).reason(),
      access::ReasonCode::kTenantMismatch);
  EXPECT_TRUE(world.evidence.events().empty());
}

TEST(EnforcementPoint, VisibleToolsAreThoseWhoseScopesAreHeld) {
  World world;
  std::shared_ptr<const decision::PolicySnapshot> snapshot;
  const auto names = [&](const access::Credential& credential) {
    std::string out;
    for (const policy::Tool* tool : world.boundary->visible_tools(credential, snapshot)) {
      out += tool->name + " ";
    }
    return out;
  };
  EXPECT_EQ(names(access::Credential::local()),
            "invoice.read invoice.move files.read report.make server.ping anything.goes sums.add "
            "invoice.trial ghost.read ");
  EXPECT_EQ(names({}), "");
}

// REQ-BD-002.
TEST(EnforcementPoint, ATransportsRefusalIsRecorded) {
  using access::ReasonCode;
  struct Case {
    TransportRefusal refusal;
    const char* reason;
    const char* principal_state;
  };
  const std::vector<Case> cases = {
      {{.reason = ReasonCode::kInvalidRequest, .route = "agent"}, "invalid_request", ""},
      {{.reason = ReasonCode::kLimitExceeded, .route = "agent", .tool = "invoice.read"},
       "limit_exceeded",
       ""},
      {{.reason = ReasonCode::kUnknownRoute, .route = "nowhere"}, "unknown_route", ""},
      {{.reason = ReasonCode::kUnknownTool,
        .route = "agent",
        .tool = "mcp:sampling/createMessage",
        .credential = access::Credential::local()},
       "unknown_tool",
       "authenticated"},
      {{.reason = ReasonCode::kUnknownTool, .route = "agent", .tool = "invoice.read"},
       "missing_identity",
       "missing"},
      {{.reason = ReasonCode::kUnknownTool, .route = "nowhere"}, "unknown_route", ""},
      {{.reason = ReasonCode::kAllowed, .route = "agent"}, "invalid_request", ""},
  };
  for (const Case& one : cases) {
    World world;
    const Denial denial = world.boundary->refuse(one.refusal);
    EXPECT_EQ(access::reason_name(denial.reason), one.reason);
    const std::vector<json::Value> events = world.evidence.events();
    ASSERT_EQ(names_of(events), kRequestDecision);
    EXPECT_EQ(text_of(events[1], "reason"), one.reason);
    EXPECT_EQ(text_of(events[0], "principal_state"), one.principal_state);
    EXPECT_EQ(text_of(events[1], "policy_version"), "v1");
  }
}

// Strangers cannot fill the disk; what they said is counted from the first loss on.
TEST(EnforcementPoint, AFloodOfRefusalsIsCounted) {
  World world;
  access::ProposedCall call = World::call("invoice.read", "{}");
  call.credential = {};
  constexpr int kFlood = 1000;
  for (int i = 0; i < kFlood; ++i) {
    const auto outcome = world.boundary->invoke(call, world.handler);
    ASSERT_EQ(std::get<Denial>(outcome).reason, access::ReasonCode::kMissingIdentity);
  }
  const auto count = [&](std::string_view name) {
    std::int64_t out = 0;
    for (const json::Value& one : world.evidence.events()) out += text_of(one, "event") == name;
    return out;
  };
  EXPECT_EQ(count("authorization.decision"), kRefusalBurst);
  EXPECT_EQ(count("evidence.lost"), 1);
  EXPECT_EQ(text_of(first_of(world.evidence.events(), "evidence.lost"), "cause"), "refusal_flood");

  // Others are heard meanwhile.
  world.boundary->invoke(World::call("server.ping", "{}"), world.handler);
  world.boundary->invoke(World::call("admin.export", "{}"), world.handler);
  EXPECT_EQ(world.handler.runs(), 1U);
  EXPECT_EQ(count("authorization.decision"), kRefusalBurst + 2);

  world.clock.advance(std::chrono::seconds{1});
  for (int i = 0; i < kFlood; ++i) world.boundary->invoke(call, world.handler);
  EXPECT_EQ(count("authorization.decision"), kRefusalBurst + 2 + kRefusalsPerSecond);
  ASSERT_TRUE(world.boundary->end_run());
  std::int64_t lost = 0;
  for (const json::Value& one : world.evidence.events()) {
    if (text_of(one, "event") == "evidence.lost") lost += *one.find("events")->if_integer();
  }
  EXPECT_EQ(lost, 2 * (2 * kFlood - kRefusalBurst - kRefusalsPerSecond));
}

// An argument that the schema does not name is refused whatever its name looks like: one too long
// to be told to the caller once passed for none.
TEST(EnforcementPoint, RefusesEveryUnnamedArgumentHoweverItIsNamed) {
  std::vector<std::string> names = {"", "~", "/", "a/b", "\xc3\xbc", "__proto__", "Invoice"};
  for (const std::size_t size : {1UL, 254UL, 255UL, 256UL, 257UL, 5000UL}) {
    names.emplace_back(size, 'z');
    names.push_back(std::string(size, '~'));  // grows when it is escaped
  }
  for (const std::string& name : names) {
    World world;
    json::Object arguments{{"invoice", "march"}, {name, "evil"}};
    const CallOutcome outcome =
        world.boundary->invoke(World::call("invoice.read", json::write(arguments)), world.handler);
    const auto* denial = std::get_if<Denial>(&outcome);
    ASSERT_NE(denial, nullptr) << name.size();
    EXPECT_EQ(denial->reason, access::ReasonCode::kInvalidArguments);
    EXPECT_EQ(world.handler.runs(), 0U);
  }
  World world;
  json::Object many{{"invoice", "march"}};
  for (std::size_t i = 0; i <= 2 * kMaxReportedArguments; ++i) {
    many.set(std::string(300, 'y') + std::to_string(i), 1);
  }
  world.boundary->invoke(World::call("invoice.read", json::write(many)), world.handler);
  EXPECT_EQ(world.handler.runs(), 0U);
}

TEST(EnforcementPoint, ARunIsOpenedAndClosedWithItsCount) {
  World world;
  ASSERT_TRUE(world.boundary->begin_run({.run_id = "run-1",
                                         .manifest_digest = "sha256:00",
                                         .environment = "test",
                                         .contract = "sequential"}));
  world.boundary->invoke(World::call("server.ping", "{}"), world.handler);
  world.boundary->invoke(World::call("invoice.shred", "{}"), world.handler);
  ASSERT_TRUE(world.boundary->end_run());
  const std::vector<json::Value> events = world.evidence.events();
  EXPECT_EQ(text_of(events.front(), "event"), "run.started");
  EXPECT_EQ(text_of(events.front(), "run_id"), "run-1");
  EXPECT_EQ(text_of(events.front(), "manifest_digest"), "sha256:00");
  EXPECT_EQ(text_of(events.front(), "environment"), "test");
  EXPECT_EQ(text_of(events.front(), "contract"), "sequential");
  EXPECT_EQ(text_of(events.back(), "event"), "run.finished");
  EXPECT_EQ(text_of(events.back(), "run_id"), "run-1");
  EXPECT_EQ(*events.back().find("invocations")->if_integer(), 2);
}

}  // namespace
}  // namespace remit::enforcement::testing
