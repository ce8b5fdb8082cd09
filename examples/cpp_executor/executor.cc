// The steps of a call, and what is wrong with each when it is told to be.
#include "executor.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace remit::examples {
namespace {

std::string text(const json::Value& from, std::string_view key) {
  const json::Value* value = from.find(key);
  const std::string* text = value == nullptr ? nullptr : value->if_string();
  return text == nullptr ? "" : *text;
}

std::vector<std::string> texts(const json::Value* list) {
  std::vector<std::string> out;
  if (list == nullptr || list->if_array() == nullptr) return out;
  for (const json::Value& item : *list->if_array()) {
    if (item.if_string() != nullptr) out.push_back(*item.if_string());
  }
  return out;
}

template <class Words>
bool has(const Words& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_of_kind(const json::Value& value, const std::string& kind) {
  if (kind == "string") return value.if_string() != nullptr;
  if (kind == "integer") return value.if_integer() != nullptr;
  return kind == "object" && value.if_object() != nullptr;
}

// Names of the arguments that name resources, in order.
std::vector<std::string> references(const json::Value& entry) {
  std::vector<std::string> out;
  const json::Value* list = entry.find("resources");
  if (list == nullptr || list->if_array() == nullptr) return out;
  for (const json::Value& each : *list->if_array()) out.push_back(text(each, "argument"));
  return out;
}

bool is_deferred(const std::string& route) {
  return route == "queued" || route == "retry" || route == "scheduled";
}

std::string digest(const Call& call) {
  const std::string text = json::canonical(json::Array{call.tool, call.arguments});
  return "sha256:" + std::to_string(std::hash<std::string>{}(text));
}

constexpr std::string_view kServiceAccount = "alice";

}  // namespace

const std::vector<std::string_view>& faults() {
  static const std::vector<std::string_view> all = {"handler-before-decision",
                                                    "name-only-check",
                                                    "policy-ignored",
                                                    "caches-planned-allow",
                                                    "queued-runs-with-old-allow",
                                                    "resumed-work-keeps-old-allow",
                                                    "policy-fails-open",
                                                    "resolver-fails-open",
                                                    "records-allow-runs-denied",
                                                    "missing-identity-as-service-account",
                                                    "expired-identity-accepted",
                                                    "invalid-identity-as-missing",
                                                    "trusts-principal-argument",
                                                    "caches-principal-facts",
                                                    "scope-by-substring",
                                                    "case-insensitive-names",
                                                    "unknown-tool-falls-through",
                                                    "passes-unnamed-arguments",
                                                    "trusts-tenant-argument",
                                                    "alias-not-resolved",
                                                    "second-resource-unchecked",
                                                    "second-reference-passed-on",
                                                    "handler-gets-callers-reference",
                                                    "caches-resolution",
                                                    "not-found-runs",
                                                    "leaks-existence",
                                                    "approval-not-asked-for",
                                                    "stale-approval-accepted",
                                                    "approval-not-bound-to-arguments",
                                                    "approval-not-consumed",
                                                    "approval-checked-at-plan",
                                                    "approval-never-found",
                                                    "duplicate-key-runs-twice",
                                                    "key-not-bound-to-arguments",
                                                    "unwrapped-legacy-route",
                                                    "denied-work-can-be-started",
                                                    "starts-twice-on-retry",
                                                    "retry-without-decision",
                                                    "fan-out-uncounted",
                                                    "failure-told-as-success",
                                                    "lost-reply-recorded-as-success",
                                                    "evidence-fails-open",
                                                    "records-after-running",
                                                    "drops-events",
                                                    "legacy-row-runs-as-service",
                                                    "legacy-row-blocks-queue",
                                                    "temptation-allowed"};
  return all;
}

Call make_call(std::string who, std::string tool, json::Object arguments, std::string key,
               std::string route) {
  Call call;
  call.who = std::move(who);
  call.tool = std::move(tool);
  call.arguments = std::move(arguments);
  call.key = std::move(key);
  call.route = std::move(route);
  return call;
}

Executor::Executor(Stores& stores, UseTool use_tool, std::string fault)
    : stores_(stores),
      use_tool_(std::move(use_tool)),
      fault_(std::move(fault)),
      is_resumed_(!stores.rows.empty()) {}

bool Executor::is_down(std::string_view part) const {
  return has(stores_.down, part);
}

Told Executor::invoke(Call call) {
  call.id = "i" + std::to_string(++stores_.ids);
  call.decision_id = "d" + std::to_string(stores_.ids);
  if (bad("unwrapped-legacy-route") && call.route == "legacy") return reach(call);
  if (bad("handler-before-decision")) {
    Call early = call;
    reach(early);
  }
  Refusal refusal = check(call);
  if (refusal && bad("records-allow-runs-denied")) {
    guess(call);
    refusal.reset();
  }
  if (refusal) return refuse(call, *refusal);
  if (bad("records-after-running")) {
    Told told = reach(call);
    const std::string outcome = told.saw == "result" ? "succeeded" : told.saw;
    const bool is_recorded =
        record({event("tool.request", call), decision(call, "allow", "allowed"),
                event("executor.start", call), finish(call, outcome)});
    return is_recorded ? told : tell("evidence_unavailable");
  }
  if (!record({event("tool.request", call), decision(call, "allow", "allowed"),
               event("executor.start", call)})) {
    release(call);
    return tell("evidence_unavailable");
  }
  return run(call);
}

// The order of the steps is the order of the reasons.
Executor::Refusal Executor::check(Call& call) {
  if (plan_ != nullptr && believes_plan(call)) {
    call.policy = plan_->policy;
    call.principal = plan_->principal;
    call.state = plan_->state;
    call.entry = plan_->entry;
    call.resources = plan_->resources;
    call.granted = plan_->granted;
    call.approval = plan_->approval;
    return claim(call);
  }
  if (bad("unknown-tool-falls-through") && stores_.tools.find(call.tool) == nullptr) {
    guess(call);
    return {};
  }
  using Step = Refusal (Executor::*)(Call&);
  constexpr Step kSteps[] = {
      &Executor::take_policy,  &Executor::identify,        &Executor::look_up_tool,
      &Executor::check_scopes, &Executor::check_arguments, &Executor::resolve,
      &Executor::decide,       &Executor::find_approval,   &Executor::claim};
  for (const Step step : kSteps) {
    if (Refusal refusal = (this->*step)(call)) return refusal;
  }
  return {};
}

bool Executor::believes_plan(const Call& call) const {
  return bad("caches-planned-allow") ||
         (bad("queued-runs-with-old-allow") && call.route == "queued") ||
         (bad("resumed-work-keeps-old-allow") && is_resumed_);
}

Executor::Refusal Executor::take_policy(Call& call) {
  if (is_down("policy") && !bad("policy-fails-open")) return "policy_unavailable";
  call.policy = stores_.policy;
  return {};
}

Executor::Refusal Executor::identify(Call& call) {
  if (call.who.empty() && bad("missing-identity-as-service-account")) call.who = kServiceAccount;
  if (const json::Value* named = call.arguments.find("requested_by");
      named != nullptr && bad("trusts-principal-argument")) {
    call.who = *named->if_string();
  }
  if (call.who.empty()) return "missing_identity";
  const json::Value* found = stores_.principals.find(call.who);
  call.state = found == nullptr ? "invalid" : text(*found, "state");
  if (call.state == "expired" && bad("expired-identity-accepted")) call.state = "authenticated";
  if (call.state == "invalid" && bad("invalid-identity-as-missing")) return "missing_identity";
  if (call.state != "authenticated") return call.state + "_identity";
  call.principal = *found;
  if (plan_ != nullptr && bad("caches-principal-facts")) call.principal = plan_->principal;
  return {};
}

Executor::Refusal Executor::look_up_tool(Call& call) {
  if (bad("case-insensitive-names")) {
    for (char& c : call.tool) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  const json::Value* entry = stores_.tools.find(call.tool);
  if (entry == nullptr) return "unknown_tool";
  call.entry = *entry;
  return {};
}

Executor::Refusal Executor::check_scopes(Call& call) {
  if (bad("name-only-check")) return {};
  const std::vector<std::string> held = texts(call.principal.find("scopes"));
  for (const std::string& scope : texts(call.entry.find("scopes"))) {
    const bool is_near = std::any_of(held.begin(), held.end(), [&](const std::string& each) {
      return each.find(scope) != std::string::npos;
    });
    if (!has(held, scope) && !(is_near && bad("scope-by-substring"))) return "missing_scope";
  }
  return {};
}

Executor::Refusal Executor::check_arguments(Call& call) {
  const json::Value* schema = call.entry.find("arguments");
  const json::Value* known = schema->find("properties");
  for (const json::Member& each : call.arguments.members()) {
    const json::Value* property = known->find(each.first);
    if (property == nullptr && bad("passes-unnamed-arguments")) continue;
    if (property == nullptr || !is_of_kind(each.second, text(*property, "type"))) {
      return "invalid_arguments";
    }
  }
  for (const std::string& name : texts(schema->find("required"))) {
    if (call.arguments.find(name) == nullptr) return "invalid_arguments";
  }
  return {};
}

Executor::Refusal Executor::resolve(Call& call) {
  call.granted = call.arguments;
  for (const std::string& argument : references(call.entry)) {
    json::Value found;
    if (Refusal refusal = look_up(call, *call.arguments.find(argument)->if_string(), found)) {
      return refusal;
    }
    const bool is_passed_on = bad("handler-gets-callers-reference") ||
                              (bad("second-reference-passed-on") && !call.resources.empty());
    if (!is_passed_on) call.granted.set(argument, text(found, "id"));
    call.resources.push_back(std::move(found));
  }
  return {};
}

Executor::Refusal Executor::look_up(Call& call, const std::string& reference, json::Value& out) {
  if (plan_ != nullptr && bad("caches-resolution") && !plan_->resources.empty()) {
    out = plan_->resources[call.resources.size()];
    return {};
  }
  if (is_down("resolver") && !bad("resolver-fails-open")) return "resolver_unavailable";
  const json::Value* found = stores_.resources.find(reference);
  const std::string own = text(call.principal, "tenant");
  if (found == nullptr && bad("not-found-runs")) {
    out = json::Object{{"type", "Invoice"}, {"id", reference}, {"tenant", own}, {"revision", "1"}};
    return {};
  }
  if (found == nullptr) return "resource_not_found";
  out = *found;
  const json::Value* said = call.arguments.find("tenant");
  if (said != nullptr && bad("trusts-tenant-argument")) out.if_object()->set("tenant", *said);
  if (reference.starts_with(own) && bad("alias-not-resolved")) out.if_object()->set("tenant", own);
  return {};
}

Executor::Refusal Executor::decide(Call& call) {
  if (bad("name-only-check")) return {};
  for (const json::Value& resource : call.resources) {
    if (text(resource, "tenant") != text(call.principal, "tenant")) return "tenant_mismatch";
    if (bad("second-resource-unchecked")) break;
  }
  const json::Value* permits = call.policy.find("permits");
  if (bad("policy-ignored")) return {};
  if (!has(texts(permits->find(text(call.principal, "class"))), call.tool)) return "not_permitted";
  return {};
}

Executor::Refusal Executor::find_approval(Call& call) {
  if (text(call.entry, "approval") != "required") return {};
  if (bad("temptation-allowed") && call.route == "agent") return {};
  if (plan_ != nullptr && bad("approval-checked-at-plan") && !plan_->approval.empty()) {
    call.approval = plan_->approval;
    return {};
  }
  bool any = false;
  for (const json::Member& each : stores_.approvals.members()) {
    if (text(each.second, "principal") != call.who || text(each.second, "tool") != call.tool) {
      continue;
    }
    any = true;
    if (!is_for(each.second, call)) continue;
    call.approval = each.first;
    return {};
  }
  if (!any && bad("approval-not-asked-for")) return {};
  return any ? "stale_approval" : "approval_required";
}

bool Executor::is_for(const json::Value& approval, const Call& call) const {
  if (bad("approval-never-found")) return false;
  const std::string state = text(approval, "state");
  if (state != "active" && !(state == "expired" && bad("stale-approval-accepted"))) return false;
  if (text(approval, "resource") != text(call.resources.front(), "id")) return false;
  return bad("approval-not-bound-to-arguments") ||
         json::canonical(*approval.find("arguments")) == json::canonical(call.arguments);
}

// The key and the approval are used up together, before anything runs.
Executor::Refusal Executor::claim(Call& call) {
  if (!call.key.empty() && !bad("duplicate-key-runs-twice")) {
    const auto [first, is_new] =
        stores_.keys.emplace(call.who + "\n" + call.tool + "\n" + call.key, call.id);
    if (!is_new && first->second != call.id) return "duplicate_invocation";
  }
  if (!call.approval.empty() && !bad("approval-not-consumed")) {
    stores_.approvals.find(call.approval)->if_object()->set("state", "consumed");
  }
  return {};
}

void Executor::release(const Call& call) {
  stores_.keys.erase(call.who + "\n" + call.tool + "\n" + call.key);
  if (!call.approval.empty()) {
    stores_.approvals.find(call.approval)->if_object()->set("state", "active");
  }
}

Told Executor::run(Call& call) {
  if (bad("starts-twice-on-retry") && call.route == "retry") reach(call);
  Told told{"result", "done"};
  const json::Value* parts = call.entry.find("fan_out");
  const std::int64_t count = parts == nullptr ? 1 : *parts->if_integer();
  for (std::int64_t part = 0; part < count; ++part) {
    if (part > 0 && !bad("fan-out-uncounted")) record({event("executor.start", call)});
    told = reach(call);
    const bool is_done =
        told.saw == "result" || (told.saw == "unknown" && bad("lost-reply-recorded-as-success"));
    record({finish(call, is_done ? "succeeded" : told.saw)});
  }
  if (told.saw == "failed" && bad("failure-told-as-success")) return {"result", "done"};
  return told;
}

// The tool itself, whatever came before.
Told Executor::reach(Call& call) {
  if (call.resources.empty()) guess(call);
  switch (use_tool_(call, text(call.resources.front(), "id"))) {
    case ToolResult::kDone:
      return {"result", "done"};
    case ToolResult::kFailed:
      return {"failed", "the tool failed"};
    case ToolResult::kLost:
      return {"unknown", "the outcome is not known"};
  }
  return {"unknown", "the outcome is not known"};
}

Told Executor::refuse(Call& call, const std::string& reason) {
  // What cannot be recorded is refused all the same.
  record({event("tool.request", call), decision(call, "deny", reason)});
  return tell(reason);
}

// What a caller may know. Not there, not yours and not allowed read the same.
Told Executor::tell(const std::string& reason) const {
  if (reason == "duplicate_invocation" && bad("key-not-bound-to-arguments")) {
    return {"result", "done"};
  }
  if (reason == "resource_not_found" && bad("leaks-existence"))
    return {"denied", "no such invoice"};
  if (reason.ends_with("_unavailable")) return {"denied", "try later"};
  if (reason.ends_with("_identity")) return {"denied", "authenticate"};
  if (reason.find("approval") != std::string::npos) return {"denied", "ask for an approval"};
  const std::vector<std::string_view> plain = {"missing_scope", "unknown_tool", "invalid_arguments",
                                               "duplicate_invocation"};
  return {"denied", has(plain, reason) ? reason : "not available to you"};
}

// Fills in what a careless step would, so that the rest can go on.
void Executor::guess(Call& call) const {
  if (call.principal.is_null()) {
    const json::Value* known = stores_.principals.find(call.who);
    call.principal = known == nullptr ? *stores_.principals.find(kServiceAccount) : *known;
  }
  if (call.entry.is_null()) {
    const json::Value* entry = stores_.tools.find(call.tool);
    call.entry = entry == nullptr ? *stores_.tools.find("invoice.read") : *entry;
  }
  call.state = "authenticated";
  call.resources.clear();
  call.granted = call.arguments;
  for (const std::string& argument : references(call.entry)) {
    const json::Value* named = call.arguments.find(argument);
    if (named == nullptr || named->if_string() == nullptr) continue;
    const json::Value* found = stores_.resources.find(*named->if_string());
    if (found != nullptr) call.resources.push_back(*found);
  }
  if (call.resources.empty()) {
    call.resources.emplace_back(json::Object{{"type", "Invoice"},
                                             {"id", text(call.arguments, "invoice")},
                                             {"tenant", text(call.principal, "tenant")},
                                             {"revision", "1"}});
  }
}

void Executor::submit(const std::string& name, Call call) {
  stores_.rows.insert_or_assign(name, call);
  // What only a faulty executor keeps.
  call.id = "planned";
  Call plan = call;
  plan_ = nullptr;
  const bool would_pass = !take_policy(plan) && !identify(plan) && !look_up_tool(plan) &&
                          !check_scopes(plan) && !check_arguments(plan) && !resolve(plan) &&
                          !decide(plan) && !find_approval(plan);
  if (would_pass) stores_.plans.insert_or_assign(name, std::move(plan));
}

Told Executor::run_row(const std::string& name, std::int64_t attempt) {
  Call call = stores_.rows.at(name);
  call.attempt = attempt;
  if (bad("legacy-row-blocks-queue") && is_deferred(call.route)) {
    for (const auto& [other, row] : stores_.rows) {
      if (row.who.empty()) return {"pending", "will be done"};
    }
  }
  if (bad("legacy-row-runs-as-service") && is_deferred(call.route) && call.who.empty()) {
    call.who = kServiceAccount;
  }
  const auto plan = stores_.plans.find(name);
  plan_ = plan == stores_.plans.end() ? nullptr : &plan->second;
  return invoke(std::move(call));
}

Told Executor::retry(const std::string& name) {
  if (!bad("retry-without-decision")) return run_row(name, 2);
  Call call = stores_.rows.at(name);
  call.attempt = 2;
  call.id = "i" + std::to_string(++stores_.ids);
  guess(call);
  record({event("tool.request", call), event("executor.start", call)});
  return run(call);
}

Told Executor::start_denied(const std::string& name) {
  if (!bad("denied-work-can-be-started")) return {"denied", "not available to you"};
  Call call = stores_.rows.at(name);
  call.id = "i" + std::to_string(++stores_.ids);
  guess(call);
  return run(call);
}

// All of them or none; numbered without gaps.
bool Executor::record(const std::vector<json::Object>& events) {
  if (is_down("evidence")) return bad("evidence-fails-open");
  for (json::Object numbered : events) {
    if (bad("drops-events") && text(numbered, "event") == "executor.finish") continue;
    numbered.set("writer", "executor");
    numbered.set("seq", static_cast<std::int64_t>(stores_.log.size()) + 1);
    stores_.log.push_back(json::write(numbered));
  }
  return true;
}

json::Object Executor::event(std::string_view name, const Call& call) const {
  json::Object out{{"event", name},           {"invocation_id", call.id},
                   {"tool", call.tool},       {"route", call.route},
                   {"attempt", call.attempt}, {"args_digest", digest(call)}};
  if (name == "tool.request") out.set("principal_state", call.state);
  if (name == "executor.start") out.set("decision_id", call.decision_id);
  if (name != "tool.request" && !call.resources.empty()) {
    const json::Value& first = call.resources.front();
    out.set("resource_type", text(first, "type"));
    out.set("resource_id", text(first, "id"));
    out.set("resource_tenant", text(first, "tenant"));
  }
  return out;
}

json::Object Executor::decision(const Call& call, std::string_view decision,
                                std::string_view reason) const {
  json::Object out = event("authorization.decision", call);
  out.set("decision_id", call.decision_id);
  out.set("decision", decision);
  out.set("reason", reason);
  out.set("principal_state", call.state);
  out.set("policy_version", text(stores_.policy, "version"));
  if (!call.principal.is_null()) {
    out.set("principal_ref", call.who);
    out.set("principal_class", text(call.principal, "class"));
    out.set("principal_tenant", text(call.principal, "tenant"));
    out.set("principal_revision", text(call.principal, "revision"));
  }
  if (call.resources.empty()) {
    out.set("resource_id", nullptr);
  } else {
    out.set("resolution_source", "resources");
    out.set("resolution_revision", text(call.resources.front(), "revision"));
  }
  return out;
}

json::Object Executor::finish(const Call& call, std::string outcome) const {
  json::Object out = event("executor.finish", call);
  out.set("outcome", std::move(outcome));
  return out;
}

}  // namespace remit::examples
