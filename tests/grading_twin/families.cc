// The alphabets and the criteria of each.
#include "families.h"

#include "comparison.h"

namespace remit::twin {

const Forms kCore = {
    R"({"event":"tool.request","invocation_id":"@","tool":"a","case_id":"c1"#})",
    R"({"event":"authorization.decision","invocation_id":"@","tool":"a","decision":"allow","reason":"allowed","policy_version":"v1"#})",
    R"({"event":"authorization.decision","invocation_id":"@","tool":"a","decision":"deny","reason":"forbidden","policy_version":"v1"#})",
    R"({"event":"executor.start","invocation_id":"@","tool":"a"#})",
    R"({"event":"executor.finish","invocation_id":"@","tool":"a","outcome":"succeeded"#})",
    R"({"event":"run.finished"#})",
};

const Forms kFurther = {
    R"({"event":"tool.request","invocation_id":"@","tool":"b","route":"agent","case_id":"c2","args_digest":"sha256:00"#})",
    R"({"event":"tool.request","invocation_id":"@","run_id":"r1","tool":"b"#})",
    R"({"event":"authorization.decision","invocation_id":"@","decision":"allow","policy_version":"v2","decision_id":"d1","resource_id":"x"#})",
    R"({"event":"authorization.decision","invocation_id":"@","tool":"b","decision":"allow","reason":"forbidden","policy_version":"v1","args_digest":"sha256:01"#})",
    R"({"event":"authorization.decision","invocation_id":"@","decision":"deny","reason":"allowed"#})",
    R"({"event":"authorization.decision","invocation_id":"@","decision":"maybe","reason":"nonsense","policy_version":""#})",
    R"({"event":"authorization.decision","invocation_id":"@","decision":"deny","reason":"forbidden","policy_version":"v1","mode":"shadow","enforced":false#})",
    R"({"event":"executor.start","invocation_id":"@","tool":"a","decision_id":"d1","resource_id":"y"#})",
    R"({"event":"executor.start","invocation_id":"@","decision_id":"d1"#})",
    R"({"event":"executor.start","invocation_id":"@","tool":"b","args_digest":"sha256:01"#})",
    R"({"event":"executor.finish","invocation_id":"@","outcome":"unknown"#})",
    R"({"event":"executor.finish","invocation_id":"@"#})",
    R"({"event":"permit.unspent","invocation_id":"@","decision_id":"d1"#})",
    R"({"event":"effect.observed","invocation_id":"@","source":"spy","effects":1#})",
    R"({"event":"effect.observed","invocation_id":"@","source":"spy","effects":0#})",
    R"({"event":"resource.resolved","invocation_id":"@","outcome":"found"#})",
    R"({"event":"run.finished","source":"spy","invocations":1,"events":1#})",
    R"({"event":"run.finished","run_id":"r1","events":9#})",
    R"({"event":"evidence.lost","events":-1,"cause":"test"#})",
    R"({"event":"policy.published","policy_version":"v1"#})",
    R"({"event":"policy.published","policy_version":"v2"#})",
    R"({"event":"x.other","invocation_id":"@"#})",
    R"({"event":"tool.request","invocation_id":"@","tool":7#})",
};

const Forms kRare = {
    R"({"event":"tool.request","invocation_id":"@","run_id":"r1","case_id":"c7"#})",
    R"({"event":"tool.request","invocation_id":"@","tool":"a","route":"queued","run_id":"r2","case_id":"","more":1,"policyVersion":"v1"#})",
    R"({"event":"authorization.decision","invocation_id":"@","decision":"deny","decision_id":"d1","policy_version":"v1","policy_digest":"sha256:0000000000000000000000000000000000000000000000000000000000000001"#})",
    R"({"event":"authorization.decision","invocation_id":"@","decision":"allow","decision_id":"d2","policy_version":"v1","policy_digest":"sha256:0000000000000000000000000000000000000000000000000000000000000002","resource_type":"T"#})",
    R"({"event":"authorization.decision","invocation_id":"@","policy_version":"v1"#})",
    R"({"event":"executor.start","invocation_id":"@","decision_id":"d2","resource_type":"U","resource_id":"x"#})",
    R"({"event":"executor.start","invocation_id":"@","route":"agent","run_id":"r1"#})",
    R"({"event":"executor.finish","invocation_id":"@","outcome":"cancelled"#})",
    R"({"event":"executor.finish","invocation_id":"@","outcome":"found"#})",
    R"({"event":"permit.unspent","invocation_id":"@"#})",
    R"({"event":"effect.observed","invocation_id":"@"#})",
    R"({"event":"approval.checked","invocation_id":"@","tool":"b","route":"agent","case_id":"c2"#})",
    R"({"event":"queue.enqueued","invocation_id":"@","queue":"q"#})",
    R"({"event":"run.started","run_id":"r1"#})",
    R"({"event":"run.finished","run_id":"r1","source":"spy"#})",
    R"({"event":"run.finished","run_id":"r1"#})",
    R"({"event":"run.finished","invocations":2,"events":4#})",
    R"({"event":"policy.published","policy_version":"v1","policy_digest":"sha256:0000000000000000000000000000000000000000000000000000000000000001"#})",
    R"({"event":"evidence.lost"#})",
    R"({"event":"no.such.event"#})",
    R"(not json at all)",
};

namespace {

NaiveContract extending(std::string extends) {
  NaiveContract out;
  out.extends = std::move(extends);
  return out;
}

NaiveContract with_rule(std::string extends, NaiveRule rule) {
  NaiveContract out = extending(std::move(extends));
  out.rules.push_back(std::move(rule));
  return out;
}

std::string manifest(std::string_view rest) {
  return "manifest: remit.manifest/1\n" + std::string(rest);
}

std::vector<TwinCriteria> make_common_criteria() {
  std::vector<TwinCriteria> out;
  out.push_back(criteria("nothing", {}));
  out.push_back(criteria("expected ids", {}, "", std::vector<std::string>{"i1", "i3"}));
  out.push_back(criteria("fan_out", extending("fan_out")));
  const auto add = [&](std::string name, std::string_view rest) {
    out.push_back(criteria(std::move(name), {}, manifest(rest)));
  };
  add("security by id",
      "policies: [{version: v1}]\ncases:\n"
      "  - {id: c1, kind: security, expect: [{invocation_id: i1, tool: a, decision: deny,"
      " reason: forbidden, effects: 0}]}\n");
  add("task by case",
      "policies: [{version: v1}, {version: v2}]\neffects_source: required\ncases:\n"
      "  - {id: c1, kind: task, allowed_requests: [a], forbidden_requests: [b],"
      " required_requests: [a], expect: [{tool: a, decision: allow, effects: 1}]}\n"
      "  - {id: c2, kind: security, expect: [{tool: a, route: agent}, {tool: b}]}\n");
  add("task by run", "cases:\n  - {id: c9, kind: task, run_id: r1, allowed_requests: [a, b]}\n");
  const std::string two_cases = manifest(
      "policies: [{version: v1, digest: 'sha256:"
      "0000000000000000000000000000000000000000000000000000000000000001'}]\ncases:\n"
      "  - {id: c1, kind: KIND, run_id: r1, required_requests: [b],"
      " expect: [{invocation_id: i1, tool: a, reason: forbidden}, {invocation_id: i9, tool: a}]}\n"
      "  - {id: c2, kind: task, run_id: r1, expect: [{tool: b, route: agent, effects: 0}]}\n");
  const auto of_kind = [&](const std::string& kind) {
    std::string text = two_cases;
    return text.replace(text.find("KIND"), 4, kind);
  };
  const std::vector<std::string> ids = {"i1", "i9", "i10"};
  out.push_back(criteria("digests, and two cases of one run", {}, of_kind("task")));
  out.push_back(criteria("expected ids beside cases", {}, of_kind("task"), ids));
  out.push_back(criteria("expected ids beside a security case", {}, of_kind("security"), ids));
  return out;
}

// ---- Attempts: which decision is for which try, and numbers of everything.

const Forms kAttempts = {
    R"({"event":"tool.request","invocation_id":"@","tool":"a","route":"queued"#})",
    R"({"event":"tool.request","invocation_id":"@","tool":"a","attempt":2#})",
    R"({"event":"authorization.decision","invocation_id":"@","decision":"allow","policy_version":"v1","decision_id":"d1","attempt":1#})",
    R"({"event":"authorization.decision","invocation_id":"@","decision":"allow","policy_version":"v1","decision_id":"d2","attempt":2#})",
    R"({"event":"authorization.decision","invocation_id":"@","decision":"deny","reason":"forbidden","policy_version":"v1","attempt":2#})",
    R"({"event":"authorization.decision","invocation_id":"@","decision":"allow","policy_version":"v1","attempt":2,"writer":"z"})",
    R"({"event":"executor.start","invocation_id":"@"#})",
    R"({"event":"executor.start","invocation_id":"@","attempt":2#})",
    R"({"event":"executor.start","invocation_id":"@","decision_id":"d1","attempt":2#})",
    R"({"event":"executor.finish","invocation_id":"@","outcome":"succeeded"#})",
    R"({"event":"permit.unspent","invocation_id":"@","decision_id":"d1"#})",
    R"({"event":"queue.denied","invocation_id":"@","queue":"q"#})",
};

std::vector<TwinCriteria> attempts_criteria() {
  std::vector<TwinCriteria> out;
  out.push_back(criteria("queued", extending("queued")));
  out.push_back(criteria("fan_out", extending("fan_out")));
  out.push_back(criteria("sequential", {}));
  NaiveRule numbers;
  numbers.request = NaiveBounds{0, 2, false};
  numbers.decision = NaiveBounds{2, 3, false};
  numbers.start_on_allow = NaiveBounds{2, 2, false};
  numbers.start_on_deny = NaiveBounds{0, 1, false};
  numbers.finish_on_deny = NaiveBounds{0, std::nullopt, true};
  out.push_back(criteria("own numbers", with_rule("queued", numbers)));
  numbers.finish_on_allow = NaiveBounds{1, 2, false};
  numbers.start_on_allow = NaiveBounds{0, 2, false};
  out.push_back(criteria("numbers alone", with_rule("none", numbers)));
  NaiveRule routed;
  routed.routes = {{"queued"}};
  routed.decision_per_attempt = true;
  routed.decision = NaiveBounds{0, 1, false};
  out.push_back(criteria("attempts by route", with_rule("fan_out", routed)));
  NaiveRule ordered;
  ordered.order = {{"decision < start"}};
  out.push_back(criteria("one order alone", with_rule("none", ordered)));
  ordered.order = std::set<std::string>{"request < decision", "start < finish"};
  ordered.is_governed = true;
  out.push_back(criteria("governed, without its order", with_rule("none", ordered)));
  return out;
}

// ---- Approvals, of two writers.

const Forms kApprovals = {
    R"({"event":"tool.request","invocation_id":"@","tool":"a"#})",
    R"({"event":"approval.changed","approval_id":"ap1","approval_state":"active"#})",
    R"({"event":"approval.changed","approval_id":"ap1","approval_state":"revoked"#})",
    R"({"event":"approval.changed","approval_id":"ap1","approval_state":"consumed","writer":"z"})",
    R"({"event":"approval.changed","approval_id":"ap1","approval_state":"active","writer":"z"})",
    R"({"event":"approval.changed","approval_id":"ap1"#})",
    R"({"event":"approval.changed","approval_id":"ap1","writer":"z"})",
    R"({"event":"approval.checked","invocation_id":"@","approval_id":"ap1","approval_state":"active"#})",
    R"({"event":"approval.checked","invocation_id":"@","approval_id":"ap1","approval_state":"expired"#})",
    R"({"event":"approval.checked","invocation_id":"@","approval_id":"ap1"#})",
    R"({"event":"approval.checked","invocation_id":"@","approval_state":"revoked"#})",
    R"({"event":"authorization.decision","invocation_id":"@","decision":"allow","policy_version":"v1","approval_id":"ap1","approval_state":"active"#})",
    R"({"event":"authorization.decision","invocation_id":"@","decision":"allow","policy_version":"v1","approval_id":"ap1"#})",
    R"({"event":"authorization.decision","invocation_id":"@","decision":"allow","policy_version":"v1","approval_state":"absent"#})",
    R"({"event":"authorization.decision","invocation_id":"@","decision":"allow","policy_version":"v1","approval_state":"revoked"#})",
    R"({"event":"authorization.decision","invocation_id":"@","decision":"deny","policy_version":"v1","reason":"stale_approval","approval_id":"ap1","approval_state":"revoked"#})",
};

std::vector<TwinCriteria> approvals_criteria() {
  std::vector<TwinCriteria> out;
  out.push_back(criteria("no manifest", {}));
  out.push_back(criteria("active", {}, manifest("approvals: [{id: ap1, state: active}]\n")));
  out.push_back(criteria("revoked", extending("fan_out"),
                         manifest("approvals: [{id: ap1, state: revoked}]\n")));
  out.push_back(criteria("another", extending("fan_out"),
                         manifest("approvals: [{id: ap2, state: active}]\n")));
  return out;
}

// ---- Pinned facts of principals, resources, policies and the environment.

const Forms kFacts = {
    R"({"event":"tool.request","invocation_id":"@","tool":"a"#})",
    R"({"event":"run.started","environment":"test"#})",
    R"({"event":"run.started","environment":"live","manifest_digest":"sha256:00"#})",
    R"({"event":"run.started","manifest_digest":"sha256:00"#})",
    R"({"event":"authorization.decision","invocation_id":"@","tool":"a","decision":"deny","reason":"forbidden","policy_version":"v1","policy_digest":"sha256:0000000000000000000000000000000000000000000000000000000000000001","principal_ref":"p1","principal_state":"authenticated","principal_class":"agent","principal_tenant":"t1","principal_revision":"1","resource_type":"T","resource_id":"x","resource_tenant":"t1","resolution_source":"db","resolution_revision":"1"#})",
    R"({"event":"authorization.decision","invocation_id":"@","decision":"deny","reason":"forbidden","policy_version":"v1","principal_ref":"p2","principal_tenant":"t1","resource_id":"y","resource_tenant":"t1","resolution_source":"cache"#})",
    R"({"event":"authorization.decision","invocation_id":"@","decision":"allow","reason":"allowed","policy_version":"v2","principal_class":"admin","principal_state":"expired","resource_id":"x","resolution_revision":"2"#})",
    R"({"event":"authorization.decision","invocation_id":"@","decision":"allow","policy_version":"v1","principal_ref":"p1","resource_type":"U","resource_id":"x"#})",
    R"({"event":"authorization.decision","invocation_id":"@","decision":"deny","reason":"resource_not_found","policy_version":"v2","resource_id":null,"principal_ref":"p9"#})",
    R"({"event":"resource.resolved","invocation_id":"@","outcome":"found","resource_type":"T","resource_id":"x","resource_tenant":"t2","resolution_source":"db","resolution_revision":"1"#})",
    R"({"event":"resource.resolved","invocation_id":"@","resource_id":"x","resource_tenant":"t1","resolution_source":"cache","resolution_revision":"2"#})",
    R"({"event":"resource.resolved","invocation_id":"@","outcome":"found","resource_type":"U","resource_id":"x"#})",
    R"({"event":"resource.resolved","invocation_id":"@","outcome":"not_found","resource_id":"y","resource_tenant":"t9"#})",
    R"({"event":"executor.start","invocation_id":"@","resource_type":"T","resource_id":"x","resource_tenant":"t9"#})",
};

std::vector<TwinCriteria> facts_criteria() {
  const std::string digest =
      "'sha256:0000000000000000000000000000000000000000000000000000000000000001'";
  const std::string pinned =
      "environment: test\npolicies: [{version: v1, digest: " + digest +
      "}, {version: v2}]\n"
      "principals: [{ref: p1, state: authenticated, class: agent, tenant: t1, revision: '1'},"
      " {ref: p2, tenant: t2}]\n";
  const std::string expect =
      "cases: [{id: c1, kind: security, expect: [{invocation_id: i1, tool: a";
  std::vector<TwinCriteria> out;
  const auto add = [&](std::string name, const std::string& rest) {
    out.push_back(criteria(std::move(name), extending("fan_out"), manifest(rest)));
  };
  add("all of the entry",
      pinned + "resources: [{type: T, id: x, tenant: t1, source: db, revision: '1'}]\n" + expect +
          ", principal: p1, resource: x}]}]\n");
  add("two of one id",
      pinned +
          "resources: [{type: T, id: x, tenant: t1, source: db}, {type: U, id: x, tenant: t3},"
          " {type: T, id: y, revision: '2', source: db}]\n");
  add("of the entry alone", expect + ", principal: p1, resource: x, decision: deny}]}]\n");
  add("a resource of one fact", "resources: [{type: T, id: x}, {type: T, id: y, source: db}]\n" +
                                    expect + ", resource: y}]}]\n");
  out.push_back(criteria("nothing", {}));
  return out;
}

// ---- Shadow.

const Forms kShadow = {
    R"({"event":"tool.request","invocation_id":"@","tool":"a"#})",
    R"({"event":"authorization.decision","invocation_id":"@","tool":"a","decision":"deny","reason":"forbidden","policy_version":"v1","mode":"shadow","enforced":false,"decision_id":"d1"#})",
    R"({"event":"authorization.decision","invocation_id":"@","decision":"allow","policy_version":"v1","mode":"shadow","enforced":false#})",
    R"({"event":"authorization.decision","invocation_id":"@","decision":"maybe","policy_version":"v1","mode":"shadow","enforced":false,"writer":"z"})",
    R"({"event":"authorization.decision","invocation_id":"@","decision":"deny","policy_version":"v1","mode":"shadow","enforced":true#})",
    R"({"event":"authorization.decision","invocation_id":"@","decision":"deny","reason":"forbidden","policy_version":"v1","resource_id":"y","mode":"enforce","enforced":false#})",
    R"({"event":"authorization.decision","invocation_id":"@","decision":"allow","policy_version":"v1","mode":"shadow"#})",
    R"({"event":"executor.start","invocation_id":"@","tool":"a"#})",
    R"({"event":"executor.start","invocation_id":"@","decision_id":"d1","resource_id":"x"#})",
    R"({"event":"executor.start","invocation_id":"@","tool":"b"#})",
    R"({"event":"executor.finish","invocation_id":"@","outcome":"succeeded"#})",
    R"({"event":"permit.unspent","invocation_id":"@"#})",
    R"({"event":"queue.denied","invocation_id":"@"#})",
};

std::vector<TwinCriteria> shadow_criteria() {
  std::vector<TwinCriteria> out;
  NaiveRule shadow;
  shadow.shadow = true;
  out.push_back(criteria("shadow", with_rule("sequential", shadow)));
  shadow.decision = NaiveBounds{1, std::nullopt, false};
  shadow.tools = {{"a"}};
  out.push_back(criteria("shadow by tool", with_rule("sequential", shadow)));
  shadow.tools = std::nullopt;
  out.push_back(criteria("shadow of fan_out", with_rule("queued", shadow),
                         manifest("cases: [{id: c1, kind: task, expect: [{invocation_id: i1,"
                                  " tool: a, decision: deny, effects: 1}]}]\n")));
  out.push_back(criteria("no shadow", {}));
  return out;
}

// ---- Records that contradict themselves.

const Forms kContradictions = {
    R"({"event":"tool.request","invocation_id":"@"#})",
    R"({"event":"tool.request","invocation_id":"@","tool":"a","action":"run"#})",
    R"({"event":"authorization.decision","invocation_id":"@","decision":"deny","policy_version":"v1"#})",
    R"({"event":"authorization.decision","invocation_id":"@","decision":"allow","policy_version":"v1","principal_state":"invalid"#})",
    R"({"event":"authorization.decision","invocation_id":"@","tool":"a","action":"run","decision":"allow","policy_version":"v1","further_resources":["T:x","T:y"],"resource_tenant":"t1"#})",
    R"({"event":"authorization.decision","invocation_id":"@","decision":"allow","policy_version":"v1","resource_id":"x","resource_type":"T","resource_tenant":"t2","further_resources":[]#})",
    R"({"event":"resource.resolved","invocation_id":"@","outcome":"not_found"#})",
    R"({"event":"resource.resolved","invocation_id":"@","resource_id":"x","resource_type":"T","resource_tenant":"t1","resolution_revision":"3"#})",
    R"({"event":"resource.resolved","invocation_id":"@","outcome":"found","resource_id":"y","writer":"z"})",
    R"({"event":"queue.denied","invocation_id":"@","queue":"q"#})",
    R"({"event":"executor.start","invocation_id":"@","action":"run","resource_tenant":"t1","further_resources":["T:y","T:x"]#})",
    R"({"event":"executor.start","invocation_id":"@","resource_id":"x","further_resources":[]#})",
    R"({"event":"executor.finish","invocation_id":"@","outcome":"succeeded","action":"stop"#})",
    R"({"event":"executor.finish","invocation_id":"@","outcome":"failed","resource_tenant":"t2","resource_id":"x"#})",
};

std::vector<TwinCriteria> contradictions_criteria() {
  std::vector<TwinCriteria> out;
  out.push_back(criteria("sequential", {}));
  out.push_back(criteria("fan_out", extending("fan_out")));
  NaiveRule fields;
  fields.required_fields = {
      {"authorization.decision", {"resource_id", "reason", "policy_version", "further_resources"}},
      {"executor.start", {"tool"}},
      {"tool.request", {"action", "attempt"}}};
  fields.reasons = {{"allowed", "missing_scope"}};
  out.push_back(criteria("fields", with_rule("none", fields)));
  return out;
}

std::vector<Family> make_families() {
  Forms most = kCore;
  most.insert(most.end(), kFurther.begin(), kFurther.end());
  Forms all = most;
  all.insert(all.end(), kRare.begin(), kRare.end());
  std::vector<Family> out;
  out.push_back({"core", kCore, common_criteria(), 4, 5, 4, 9});
  out.push_back({"most", most, common_criteria(), 2, 3, 5, 3});
  out.push_back({"all", all, common_criteria(), 2, 3, 3, 1});
  out.push_back({"attempts", kAttempts, attempts_criteria(), 3, 4, 4, 4});
  out.push_back({"approvals", kApprovals, approvals_criteria(), 3, 4, 1, 2});
  out.push_back({"facts", kFacts, facts_criteria(), 3, 4, 1, 2});
  out.push_back({"shadow", kShadow, shadow_criteria(), 3, 4, 2, 4});
  out.push_back({"contradictions", kContradictions, contradictions_criteria(), 3, 4, 2, 3});
  return out;
}

}  // namespace

std::size_t Family::length() const {
  if (size() == Size::kNightly) return nightly_length;
  return size() == Size::kDaily ? daily_length : daily_length - 1;
}

std::size_t Family::criteria_each() const {
  return size() == Size::kNightly ? nightly_criteria_each : daily_criteria_each;
}

const std::vector<TwinCriteria>& common_criteria() {
  static const std::vector<TwinCriteria> kAll = make_common_criteria();
  return kAll;
}

const std::vector<Family>& families() {
  static const std::vector<Family> kAll = make_families();
  return kAll;
}

std::string line_of(std::string_view form, std::string_view id, std::string_view fields) {
  std::string out(form);
  if (const std::size_t at = out.find('@'); at != std::string::npos) out.replace(at, 1, id);
  if (const std::size_t at = out.find('#'); at != std::string::npos) out.replace(at, 1, fields);
  return out + "\n";
}

}  // namespace remit::twin
