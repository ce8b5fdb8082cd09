// Making random contracts and manifests.
#include "random_criteria.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "comparison.h"

namespace remit::twin {
namespace {

using grading::Verdict;

class Chooser {
 public:
  explicit Chooser(SeededRandom& random) : random_(random) {}

  bool once_in(std::uint64_t times) { return random_.number(times) == 0; }
  template <class List>
  auto of(const List& list) {
    return std::data(list)[random_.number(std::size(list))];
  }
  template <class T>
  T of(std::initializer_list<T> list) {
    return std::data(list)[random_.number(list.size())];
  }
  /// Each item with one chance in `times`.
  template <class T>
  std::set<T> some(std::initializer_list<T> list, std::uint64_t times = 3) {
    std::set<T> out;
    for (const T& item : list) {
      if (once_in(times)) out.insert(item);
    }
    return out;
  }

 private:
  SeededRandom& random_;
};

// ---- Contracts.

NaiveBounds random_bounds(Chooser& choose) {
  return choose.of<NaiveBounds>({{0, 0, false},
                                 {0, 1, false},
                                 {1, 1, false},
                                 {1, std::nullopt, false},
                                 {1, 2, false},
                                 {2, 2, false},
                                 {2, std::nullopt, false},
                                 {0, 3, false}});
}

NaiveBounds random_upper_bound(Chooser& choose) {
  return choose.of<NaiveBounds>({{0, 0, false}, {0, 1, false}, {0, 2, false}});
}

NaiveBounds random_finishes(Chooser& choose, NaiveBounds other) {
  return choose.once_in(2) ? NaiveBounds{0, std::nullopt, true} : other;
}

std::map<Verdict, bool> random_blocking(Chooser& choose) {
  std::map<Verdict, bool> out;
  for (const Verdict verdict : grading::kVerdicts) {
    if (choose.once_in(3)) out[verdict] = choose.once_in(2);
  }
  return out;
}

void add_numbers(Chooser& choose, NaiveRule& rule) {
  if (choose.once_in(4)) rule.request = random_bounds(choose);
  if (choose.once_in(3)) rule.decision = random_bounds(choose);
  if (choose.once_in(3)) rule.start_on_allow = random_bounds(choose);
  if (choose.once_in(4)) rule.start_on_deny = random_upper_bound(choose);
  if (choose.once_in(3)) rule.finish_on_allow = random_finishes(choose, random_bounds(choose));
  if (choose.once_in(4)) rule.finish_on_deny = random_finishes(choose, random_upper_bound(choose));
}

void add_fields(Chooser& choose, NaiveRule& rule) {
  if (choose.once_in(4)) {
    auto fields =
        choose.some<std::string>({"resource_id", "args_digest", "policy_version", "reason",
                                  "further_resources", "enforced", "decision_id"});
    fields.insert("policy_digest");
    rule.required_fields["authorization.decision"] = fields;
  }
  if (choose.once_in(6)) rule.required_fields["executor.start"] = {"decision_id", "attempt"};
  if (choose.once_in(6)) rule.required_fields["tool.request"] = {"route"};
  if (choose.once_in(5)) {
    rule.reasons = choose.some<std::string>({"allowed", "tenant_mismatch", "missing_scope"}, 2);
    rule.reasons->insert("forbidden");
  }
}

NaiveRule random_rule(Chooser& choose) {
  using Names = std::vector<std::string>;
  NaiveRule rule;
  if (choose.once_in(2)) {
    rule.tools = choose.of<Names>({{"pay"}, {"re*"}, {"read", "pay"}, {"*"}, {"read.*", "read"}});
  }
  if (choose.once_in(3)) {
    rule.routes = choose.of<Names>({{"agent"}, {"queue*"}, {"*"}, {"queued", "agent"}});
  }
  add_numbers(choose, rule);
  add_fields(choose, rule);
  if (choose.once_in(4)) {
    rule.order =
        choose.some<std::string>({"request < decision", "decision < start", "start < finish"}, 2);
  }
  rule.is_governed = choose.once_in(3);
  if (choose.once_in(4)) rule.decision_per_attempt = choose.once_in(2);
  if (choose.once_in(3)) rule.shadow = !choose.once_in(4);
  if (choose.once_in(4)) rule.blocking = random_blocking(choose);
  return rule;
}

// Where none of the rule's invocations came, the gate asks for nothing (REQ-GR-005).
void block_by_rules_alone(Chooser& choose, NaiveContract& out) {
  for (const Verdict verdict : grading::kVerdicts) out.blocking[verdict] = false;
  NaiveRule rule = random_rule(choose);
  rule.blocking[choose.of(grading::kVerdicts)] = true;
  out.rules.push_back(std::move(rule));
}

NaiveContract any_contract(Chooser& choose) {
  NaiveContract out;
  out.extends = choose.of<std::string>({"sequential", "fan_out", "queued", "none"});
  if (choose.once_in(3)) out.blocking = random_blocking(choose);
  for (auto rules = choose.of({0, 1, 1, 2, 3}); rules > 0; --rules) {
    out.rules.push_back(random_rule(choose));
  }
  if (choose.once_in(5)) block_by_rules_alone(choose, out);
  return out;
}

NaiveRule careless_rule(Chooser& choose) {
  NaiveRule rule = choose.once_in(3) ? NaiveRule{} : random_rule(choose);
  const NaiveBounds none_meets = {3, 2, false};
  const NaiveBounds any = {};
  if (choose.once_in(8)) rule.tools = std::vector<std::string>{};
  if (choose.once_in(8)) rule.routes = choose.of<std::vector<std::string>>({{}, {"a*b"}, {"**"}});
  if (choose.once_in(6)) rule.request = choose.once_in(2) ? none_meets : any;
  if (choose.once_in(6)) rule.finish_on_deny = choose.once_in(2) ? NaiveBounds{1, 1, false} : any;
  if (choose.once_in(6)) rule.order = std::set<std::string>{};
  if (choose.once_in(6)) rule.required_fields["executor.start"] = {};
  if (choose.once_in(10)) rule.reasons = std::set<std::string>{};
  if (choose.once_in(6)) rule.shadow = true;
  return rule;
}

// ---- Manifests.

std::string braced(const std::vector<std::string>& members) {
  return fmt::format("{{{}}}", fmt::join(members, ", "));
}

/// A fact that is mostly written, and mostly as it is.
void maybe_pin(Chooser& choose, std::vector<std::string>& members, const char* name,
               const std::string& fact, const char* other) {
  if (choose.once_in(4)) return;
  members.push_back(fmt::format("{}: \"{}\"", name, choose.once_in(10) ? other : fact));
}

std::string principals_text(Chooser& choose) {
  std::vector<std::string> out;
  for (const TruePrincipal& principal : kPrincipals) {
    std::vector<std::string> members = {fmt::format("ref: {}", principal.ref)};
    maybe_pin(choose, members, "state", "authenticated", "expired");
    maybe_pin(choose, members, "class", principal.principal_class, "bot");
    maybe_pin(choose, members, "tenant", principal.tenant, "t3");
    maybe_pin(choose, members, "revision", principal.revision, "9");
    out.push_back(braced(members));
  }
  return fmt::format("principals: [{}]\n", fmt::join(out, ", "));
}

std::string resources_text(Chooser& choose) {
  std::vector<std::string> out;
  for (const TrueResource& resource : kResources) {
    if (choose.once_in(4)) continue;
    std::vector<std::string> members = {
        fmt::format("type: {}, id: {}", resource.type, resource.id)};
    maybe_pin(choose, members, "tenant", resource.tenant, "t3");
    maybe_pin(choose, members, "source", resource.source, "file");
    maybe_pin(choose, members, "revision", resource.revision, "9");
    out.push_back(braced(members));
  }
  return out.empty() ? "" : fmt::format("resources: [{}]\n", fmt::join(out, ", "));
}

std::string policies_text(Chooser& choose) {
  std::string first = "version: v1";
  if (choose.once_in(2)) first += fmt::format(", digest: \"{}\"", kPolicyDigest);
  return fmt::format("policies: [{{{}}}{}]\n", first, choose.once_in(2) ? ", {version: v2}" : "");
}

std::string entry_text(Chooser& choose) {
  std::vector<std::string> members;
  if (choose.once_in(2)) {
    members.push_back("invocation_id: " + choose.of<std::string>({"i1", "i2", "i3"}));
  }
  members.push_back("tool: " + choose.of<std::string>({"pay", "read", "read"}));
  if (choose.once_in(4)) members.push_back("route: " + choose.of<std::string>({"agent", "queued"}));
  if (choose.once_in(3)) members.push_back("principal: " + choose.of<std::string>({"p1", "p2"}));
  if (choose.once_in(3)) members.push_back("resource: " + choose.of<std::string>({"x", "y"}));
  if (choose.once_in(3))
    members.push_back("decision: " + choose.of<std::string>({"allow", "deny"}));
  if (choose.once_in(4)) {
    members.push_back("reason: " + choose.of<std::string>({"allowed", "tenant_mismatch"}));
  }
  if (choose.once_in(4)) members.push_back("effects: " + choose.of<std::string>({"0", "1"}));
  return braced(members);
}

std::string case_text(Chooser& choose, const char* id) {
  std::vector<std::string> entries;
  for (auto count = choose.of({0, 1, 1, 2}); count > 0; --count) {
    entries.push_back(entry_text(choose));
  }
  std::vector<std::string> members = {
      fmt::format("id: {}, kind: {}", id, choose.of<std::string>({"security", "task"}))};
  if (!entries.empty()) members.push_back(fmt::format("expect: [{}]", fmt::join(entries, ", ")));
  if (choose.once_in(3)) members.emplace_back("run_id: r1");
  if (choose.once_in(3)) members.emplace_back("allowed_requests: [read, pay]");
  if (choose.once_in(4)) members.emplace_back("forbidden_requests: [pay]");
  if (choose.once_in(4)) members.emplace_back("required_requests: [read]");
  return braced(members);
}

std::string any_manifest(Chooser& choose) {
  std::string out = "manifest: remit.manifest/1\n";
  if (choose.once_in(2)) out += "environment: test\n";
  if (choose.once_in(5)) out += "effects_source: required\n";
  if (choose.once_in(2)) out += policies_text(choose);
  if (choose.once_in(2)) out += principals_text(choose);
  if (choose.once_in(2)) out += resources_text(choose);
  if (choose.once_in(2)) {
    out += fmt::format("approvals: [{{id: ap1, state: {}}}, {{id: ap2, state: revoked}}]\n",
                       choose.once_in(4) ? "expired" : "active");
  }
  std::vector<std::string> cases;
  for (const char* id : {"c1", "c2"}) {
    if (choose.once_in(2)) cases.push_back(case_text(choose, id));
  }
  if (!cases.empty()) out += fmt::format("cases: [{}]\n", fmt::join(cases, ", "));
  return out;
}

}  // namespace

NaiveContract random_contract(SeededRandom& random) {
  Chooser choose(random);
  while (true) {
    NaiveContract out = any_contract(choose);
    if (grading::parse_contract(contract_text(out), "contract.yaml").errors.empty()) return out;
  }
}

NaiveContract careless_contract(SeededRandom& random) {
  Chooser choose(random);
  NaiveContract out = any_contract(choose);
  if (choose.once_in(3)) out.rules.clear();
  for (auto rules = choose.of({0, 1, 1, 2}); rules > 0; --rules) {
    out.rules.push_back(careless_rule(choose));
  }
  if (choose.once_in(8) && !out.rules.empty()) out.rules.push_back(out.rules.front());
  if (choose.once_in(8)) {
    for (const Verdict verdict : grading::kVerdicts) out.blocking[verdict] = false;
  }
  return out;
}

std::string random_manifest(SeededRandom& random) {
  Chooser choose(random);
  while (true) {
    std::string out = any_manifest(choose);
    if (grading::parse_manifest(out, "manifest.yaml").errors.empty()) return out;
  }
}

TwinCriteria random_criteria(SeededRandom& random) {
  Chooser choose(random);
  NaiveContract contract = random_contract(random);
  std::string manifest = choose.once_in(4) ? "" : random_manifest(random);
  std::optional<std::vector<std::string>> ids;
  if (choose.once_in(6)) ids = std::vector<std::string>{"i1", "i2", "i99"};
  return criteria("random criteria", std::move(contract), std::move(manifest), std::move(ids));
}

}  // namespace remit::twin
