// What every decision point must do, as a table of questions that a test of an implementation runs.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "access/reason.h"
#include "decision/decision_point.h"

namespace remit::decision {

/// The policies under which the contract's questions are asked: tenant isolation, an approval, an
/// age check that overflows, and permits by scope, owner and amount. One tool for each action.
inline policy::Bundle contract_bundle() {
  policy::Bundle bundle;
  bundle.version = "contract-1";
  bundle.environment = "test";
  bundle.schema = {"schema.cedarschema", R"(
entity Principal { tenant: String, class: String, scopes: Set<String>, on_behalf_of?: String };
entity Invoice { tenant?: String, amount: Long, open: Bool, owner?: String, tags?: Set<String> };
entity Server { tenant: String };
type Context = {
  route: String, environment: String, now: datetime, approval: { state: String, id?: String },
  arguments: { limit?: Long, note?: String, labels?: Set<String>, nested?: { deep: Bool },
               price?: decimal }
};
action "invoice.read" appliesTo { principal: [Principal], resource: [Invoice], context: Context };
action "invoice.age" appliesTo { principal: [Principal], resource: [Invoice], context: Context };
action "refund.create" appliesTo { principal: [Principal], resource: [Invoice], context: Context };
action "server.ping" appliesTo { principal: [Principal], resource: [Server], context: Context };
)"};
  bundle.policies = {{"policies/isolation.cedar", R"(
@id("tenant-isolation") @reason("tenant_mismatch")
forbid(principal, action, resource)
unless { resource has tenant && principal.tenant == resource.tenant };
)"},
                     {"policies/permits.cedar", R"(
@id("read-by-scope")
permit(principal, action == Action::"invoice.read", resource)
when { principal.scopes.contains("invoice:read") };
@id("read-by-owner")
permit(principal, action == Action::"invoice.read", resource)
when { resource has owner && principal has on_behalf_of && resource.owner == principal.on_behalf_of };
@id("read-limit") @reason("forbidden")
forbid(principal, action == Action::"invoice.read", resource)
when { context.arguments has limit && context.arguments.limit > 100 };
@id("read-night")
forbid(principal, action == Action::"invoice.read", resource)
when { context.now.toTime() < duration("6h") };
@id("age") permit(principal, action == Action::"invoice.age", resource);
@id("age-overflow")
forbid(principal, action == Action::"invoice.age", resource)
when { resource.amount + 9223372036854775807 < 0 };
@id("refund-small")
permit(principal, action == Action::"refund.create", resource)
when { principal.scopes.contains("refund:create") && resource.amount < 1000 };
@id("refund-approval") @reason("approval_required")
forbid(principal, action == Action::"refund.create", resource)
unless { context.approval.state != "absent" };
@id("refund-stale") @reason("stale_approval")
forbid(principal, action == Action::"refund.create", resource)
when { context.approval.state == "expired" };
@id("ping") permit(principal, action == Action::"server.ping", resource == Server::"desk");
)"}};
  for (const std::string_view action : {"invoice.read", "invoice.age", "refund.create"}) {
    policy::Tool tool;
    tool.name = tool.action = action;
    tool.argument_names = {"invoice", "labels", "limit", "nested", "note", "price"};
    tool.resources = {{"/invoice", "Invoice"}};
    bundle.tools.push_back(std::move(tool));
  }
  policy::Tool ping;
  ping.name = ping.action = "server.ping";
  ping.open_arguments = true;
  bundle.tools.push_back(std::move(ping));
  return bundle;
}

/// A question with everything that it points at, good until a case changes it: the reading of an
/// own invoice at noon.
struct ContractQuestion {
  access::Principal principal{.subject = "agent-7",
                              .tenant = "acme",
                              .class_name = "support",
                              .scopes = {"invoice:read", "refund:create"},
                              .revision = "p1"};
  std::string action = "invoice.read";
  access::Resource resource{
      .type = "Invoice",
      .id = "inv-1",
      .tenant = "acme",
      .source = "test",
      .revision = "r1",
      .attributes = {{"amount", std::int64_t{120}}, {"open", true}, {"owner", "ann"}}};
  std::string route = "agent";
  std::string environment = "test";
  WallTime now{1'785'758'400'000'000'000};  // 2026-08-03T12:00:00Z
  ApprovalFacts approval;
  json::Value arguments = json::Object{};

  [[nodiscard]] DecisionRequest request() const {
    return {principal, action, resource, route, environment, now, approval, arguments};
  }
};

/// One case: how its question differs from the good one, and what must be decided.
struct ContractCase {
  std::string_view name;
  std::function<void(ContractQuestion&)> change;
  access::ReasonCode reason;
  std::vector<std::string> determining;
};

inline std::vector<ContractCase> contract_cases() {
  using Q = ContractQuestion;
  using R = access::ReasonCode;
  const auto attribute = [](std::string_view name, access::AttributeValue value) {
    return [name = std::string(name), value = std::move(value)](Q& q) {
      for (auto& [key, held] : q.resource.attributes) {
        if (key == name) {
          held = value;
          return;
        }
      }
      q.resource.attributes.emplace_back(name, value);
    };
  };
  const auto argument = [](std::string name, json::Value value) {
    return [name = std::move(name), value = std::move(value)](Q& q) {
      q.arguments = json::Object{{name, value}};
    };
  };
  const auto refund = [](std::string_view state) {
    return [state](Q& q) {
      q.action = "refund.create";
      q.approval = {.state = state};
    };
  };
  return {
      {"a permit allows", [](Q&) {}, R::kAllowed, {"read-by-scope"}},
      {"all satisfied permits determine",
       [](Q& q) { q.principal.on_behalf_of = "ann"; },
       R::kAllowed,
       {"read-by-owner", "read-by-scope"}},
      {"an argument the schema does not name is not seen",
       argument("other", json::Object{}),
       R::kAllowed,
       {"read-by-scope"}},
      {"arguments of every type",
       [](Q& q) {
         q.arguments = json::Object{{"limit", 100},
                                    {"note", "n"},
                                    {"labels", json::Array{"a", "b"}},
                                    {"nested", json::Object{{"deep", true}, {"more", 1}}},
                                    {"price", 12.5}};
       },
       R::kAllowed,
       {"read-by-scope"}},
      {"a whole number however it is written",
       [](Q& q) {
         q.arguments = json::Object{{"limit", 100.0},
                                    {"nested", json::Object{{"deep", true}, {"more", 1.0}}},
                                    {"price", 12.0}};
       },
       R::kAllowed,
       {"read-by-scope"}},
      {"a whole number is compared as one",
       argument("limit", 101.0),
       R::kForbidden,
       {"read-limit"}},
      {"a number that is not whole", argument("limit", 100.5), R::kPolicyError, {}},
      {"a number that no integer holds", argument("limit", 1e300), R::kPolicyError, {}},
      {"a set of strings from the store",
       attribute("tags", std::vector<std::string>{"x", "y"}),
       R::kAllowed,
       {"read-by-scope"}},
      {"no permit", [](Q& q) { q.principal.scopes = {}; }, R::kNotPermitted, {}},
      {"another tenant",
       [](Q& q) { q.resource.tenant = "bolt"; },
       R::kTenantMismatch,
       {"tenant-isolation"}},
      {"a resource without a tenant",
       [](Q& q) { q.resource.tenant = ""; },
       R::kTenantMismatch,
       {"tenant-isolation"}},
      {"two empty tenants are not one",
       [](Q& q) { q.principal.tenant = q.resource.tenant = ""; },
       R::kPolicyError,
       {}},
      {"a forbid with its own reason", argument("limit", 101), R::kForbidden, {"read-limit"}},
      {"a forbid without a reason",
       [](Q& q) { q.now = WallTime{1'785'728'000'000'000'000}; },
       R::kForbidden,
       {"read-night"}},
      {"the first reason of several wins",
       [](Q& q) {
         q.resource.tenant = "bolt";
         q.arguments = json::Object{{"limit", 101}};
       },
       R::kTenantMismatch,
       {"read-limit", "tenant-isolation"}},
      {"an approval is asked for", refund("absent"), R::kApprovalRequired, {"refund-approval"}},
      {"an approval is enough", refund("active"), R::kAllowed, {"refund-small"}},
      {"an approval is stale", refund("expired"), R::kStaleApproval, {"refund-stale"}},
      {"an approval that would not help is not asked for",
       [refund](Q& q) {
         refund("absent")(q);
         q.principal.scopes = {};
       },
       R::kNotPermitted,
       {"refund-approval"}},
      {"an evaluation error",
       [](Q& q) { q.action = "invoice.age"; },
       R::kPolicyError,
       {"age-overflow"}},
      {"an evaluation error beats a forbid",
       [](Q& q) {
         q.action = "invoice.age";
         q.resource.tenant = "bolt";
       },
       R::kPolicyError,
       {"age-overflow"}},
      {"no principal", [](Q& q) { q.principal = {}; }, R::kPolicyError, {}},
      {"a principal without an id", [](Q& q) { q.principal.subject = ""; }, R::kPolicyError, {}},
      {"no resource", [](Q& q) { q.resource = {}; }, R::kPolicyError, {}},
      {"a resource without an id", [](Q& q) { q.resource.id = ""; }, R::kPolicyError, {}},
      {"an action the schema lacks", [](Q& q) { q.action = "invoice.burn"; }, R::kPolicyError, {}},
      {"a type the schema lacks", [](Q& q) { q.resource.type = "Cow"; }, R::kPolicyError, {}},
      {"a type the action does not apply to",
       [](Q& q) { q.action = "server.ping"; },
       R::kPolicyError,
       {}},
      {"an attribute of another type", attribute("amount", "many"), R::kPolicyError, {}},
      {"an attribute the schema lacks", attribute("colour", "red"), R::kPolicyError, {}},
      {"a missing attribute", [](Q& q) { q.resource.attributes.clear(); }, R::kPolicyError, {}},
      {"an argument of another type", argument("limit", "100"), R::kPolicyError, {}},
      {"an argument that is null", argument("note", nullptr), R::kPolicyError, {}},
      {"an element of another type", argument("labels", json::Array{"a", 1}), R::kPolicyError, {}},
      {"a nested argument of another type",
       argument("nested", json::Object{{"deep", 1}}),
       R::kPolicyError,
       {}},
      {"arguments that are no object",
       [](Q& q) { q.arguments = json::Value(1); },
       R::kPolicyError,
       {}},
      {"a server as resource",
       [](Q& q) {
         q.action = "server.ping";
         q.resource = {
             .type = "Server", .id = "desk", .tenant = "acme", .source = {}, .revision = {}};
       },
       R::kAllowed,
       {"ping"}},
      {"another server",
       [](Q& q) {
         q.action = "server.ping";
         q.resource = {
             .type = "Server", .id = "other", .tenant = "acme", .source = {}, .revision = {}};
       },
       R::kNotPermitted,
       {}},
  };
}

/// How one decision differs from what its case demands; empty where it does not.
inline std::string contract_breach(const ContractCase& expected, const DecisionPoint& point) {
  ContractQuestion question;
  expected.change(question);
  const Result<access::Decision> decision = point.decide(question.request());
  if (!decision) return std::string(expected.name) + ": " + decision.error().to_string();
  std::string breach;
  if (decision->reason() != expected.reason) {
    breach += " gives " + std::string(access::reason_name(decision->reason()));
    breach += " for " + std::string(access::reason_name(expected.reason));
  }
  if (decision->determining_policies() != expected.determining) {
    breach += " names";
    for (const std::string& id : decision->determining_policies()) breach += " " + id;
  }
  if (breach.empty()) return breach;
  return std::string(expected.name) + ":" + breach + " (" + decision->detail() + ")";
}

/// Runs the contract against what `factory` makes: every case, the same from several threads, and a
/// second decision point of another bundle beside the first. Returns every breach.
inline std::vector<std::string> contract_breaches(const DecisionPointFactory& factory) {
  const policy::Bundle bundle = contract_bundle();
  const DecisionPointOutcome outcome = factory.create(bundle);
  if (outcome.decision_point == nullptr) {
    std::vector<std::string> problems{"the contract's bundle is refused"};
    for (const Error& problem : outcome.problems) problems.push_back(problem.to_string());
    return problems;
  }
  policy::Bundle other = contract_bundle();
  other.version = "contract-2";
  other.policies = {{"policies/open.cedar", R"(@id("open") permit(principal, action, resource);)"}};
  const DecisionPointOutcome open = factory.create(other);
  std::vector<std::string> breaches;
  if (open.decision_point == nullptr) return {"a second bundle is refused"};

  const std::vector<ContractCase> cases = contract_cases();
  const auto run = [&](std::vector<std::string>& out) {
    for (const ContractCase& each : cases) {
      std::string breach = contract_breach(each, *outcome.decision_point);
      if (!breach.empty()) out.push_back(std::move(breach));
    }
    const ContractCase changed{"a snapshot never changes",
                               [](ContractQuestion& q) { q.resource.tenant = "bolt"; },
                               access::ReasonCode::kAllowed,
                               {"open"}};
    std::string breach = contract_breach(changed, *open.decision_point);
    if (!breach.empty()) out.push_back(std::move(breach));
  };
  run(breaches);
  std::vector<std::vector<std::string>> found(4);
  std::vector<std::thread> threads;
  for (std::vector<std::string>& out : found) {
    threads.emplace_back([&] {
      for (int round = 0; round < 5; ++round) run(out);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<std::string>& out : found) {
    if (!out.empty() && breaches.empty()) breaches.push_back("several threads: " + out.front());
  }
  return breaches;
}

}  // namespace remit::decision
