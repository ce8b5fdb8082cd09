// Making random runs.
#include "random_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/digest.h"
#include "families.h"
#include "random_criteria.h"

namespace remit::twin {
namespace {

std::string_view one_of(SeededRandom& random, const Forms& forms) {
  return forms[random.number(forms.size())];
}

// A core form more often than not, and seldom the end of a run.
std::string_view random_form(SeededRandom& random) {
  const std::uint64_t kind = random.number(12);
  if (kind == 0) return one_of(random, kRare);
  if (kind < 4) return one_of(random, kFurther);
  return kCore[random.number(kCore.size() - (random.number(8) != 0 ? 1 : 0))];
}

// ---- Told calls.

/// A line's fields, of which values are JSON.
using Fields = std::vector<std::pair<std::string, std::string>>;

std::string quoted_value(std::string_view text) {
  return fmt::format("\"{}\"", text);
}

/// Other values that a field may have by mistake.
const std::map<std::string, std::vector<std::string>>& other_values() {
  static const std::map<std::string, std::vector<std::string>> kValues = {
      {"tool", {"\"pay\"", "\"read\"", "\"read.all\"", "\"\""}},
      {"route", {"\"agent\"", "\"queued\"", "\"direct\""}},
      {"action", {"\"pay\"", "\"write\""}},
      {"args_digest", {"\"sha256:aa\"", "\"sha256:bb\""}},
      {"attempt", {"1", "2", "3"}},
      {"case_id", {"\"c1\"", "\"c2\"", "\"c3\""}},
      {"run_id", {"\"r1\"", "\"r2\""}},
      {"resource_type", {"\"T\"", "\"U\""}},
      {"resource_id", {"\"x\"", "\"y\"", "\"z\"", "null"}},
      {"resource_tenant", {"\"t1\"", "\"t2\"", "\"t3\""}},
      {"resolution_source", {"\"db\"", "\"file\""}},
      {"resolution_revision", {"\"1\"", "\"2\""}},
      {"further_resources", {"[]", "[\"T:y\"]", "[\"T:y\",\"U:x\"]"}},
      {"principal_ref", {"\"p1\"", "\"p2\"", "\"p3\""}},
      {"principal_state", {"\"authenticated\"", "\"missing\"", "\"invalid\"", "\"expired\""}},
      {"principal_class", {"\"agent\"", "\"bot\""}},
      {"principal_tenant", {"\"t1\"", "\"t2\""}},
      {"principal_revision", {"\"1\"", "\"2\"", "\"7\""}},
      {"approval_id", {"\"ap1\"", "\"ap2\"", "\"ap3\""}},
      {"approval_state", {"\"active\"", "\"absent\"", "\"revoked\"", "\"consumed\""}},
      {"decision", {"\"allow\"", "\"deny\"", "\"maybe\""}},
      {"reason", {"\"allowed\"", "\"tenant_mismatch\"", "\"forbidden\"", "\"because\""}},
      {"policy_version", {"\"v1\"", "\"v2\"", "\"v3\"", "\"\""}},
      {"policy_digest", {"\"sha256:00\""}},
      {"mode", {"\"shadow\"", "\"enforce\""}},
      {"enforced", {"false", "true"}},
      {"decision_id", {"\"d1\"", "\"d2\"", "\"d3\""}},
      {"outcome", {"\"succeeded\"", "\"unknown\"", "\"not_found\"", "\"failed\""}},
      {"effects", {"0", "1", "2"}},
      {"environment", {"\"test\"", "\"live\""}},
      {"manifest_digest", {"\"sha256:00\""}},
  };
  return kValues;
}

/// Tells one run, with one mistake in so many fields.
class Teller {
 public:
  Teller(SeededRandom& random, std::uint64_t mistake_in) : random_(random), in_(mistake_in) {}

  bool once_in(std::uint64_t times) { return random_.number(times) == 0; }
  std::uint64_t number(std::uint64_t below) { return random_.number(below); }

  Planned line(std::size_t writer, std::string_view event, const std::string& id, Fields fields) {
    std::string form = fmt::format(R"({{"event":"{}")", event);
    if (!id.empty()) form += R"(,"invocation_id":"@")";
    if (once_in(in_)) {
      const auto& [name, values] = *std::next(
          other_values().begin(), static_cast<std::ptrdiff_t>(number(other_values().size())));
      const bool is_there = std::any_of(fields.begin(), fields.end(),
                                        [&](const auto& field) { return field.first == name; });
      if (!is_there) fields.emplace_back(name, values[number(values.size())]);
    }
    for (const auto& [name, value] : fields) {
      if (once_in(in_)) continue;
      const auto others = other_values().find(name);
      const bool is_other = others != other_values().end() && once_in(in_);
      form += fmt::format(R"(,"{}":{})", name,
                          is_other ? others->second[number(others->second.size())] : value);
    }
    return {writer, form + "#}", id};
  }

 private:
  SeededRandom& random_;
  std::uint64_t in_;
};

/// What is true of one call.
struct Call {
  std::string id;
  Fields common;     // what most of its events record
  Fields principal;  // what its decisions record besides
  Fields resource;
  std::size_t executor = 0;
  bool is_cited = false;
  bool is_shadow = false;
  bool is_on_approval = false;
};

Fields joined(std::initializer_list<Fields> parts) {
  Fields out;
  for (const Fields& part : parts) out.insert(out.end(), part.begin(), part.end());
  return out;
}

Call true_call(Teller& teller, std::size_t number) {
  Call out;
  out.id = fmt::format("i{}", number);
  const bool is_read = !teller.once_in(3);
  const TruePrincipal& principal = kPrincipals[teller.number(std::size(kPrincipals))];
  const TrueResource& resource = kResources[teller.number(std::size(kResources))];
  out.common = {{"tool", quoted_value(is_read ? "read" : "pay")}};
  if (teller.once_in(2)) out.common.emplace_back("args_digest", R"("sha256:aa")");
  if (teller.once_in(4)) out.common.emplace_back("action", quoted_value("pay"));
  if (teller.once_in(2)) {
    out.principal = {{"principal_ref", quoted_value(principal.ref)},
                     {"principal_state", R"("authenticated")"},
                     {"principal_class", quoted_value(principal.principal_class)},
                     {"principal_tenant", quoted_value(principal.tenant)},
                     {"principal_revision", quoted_value(principal.revision)}};
  }
  if (teller.once_in(2)) {
    out.resource = {{"resource_type", quoted_value(resource.type)},
                    {"resource_id", quoted_value(resource.id)},
                    {"resource_tenant", quoted_value(resource.tenant)}};
    if (teller.once_in(3)) {
      out.resource.emplace_back("resolution_source", quoted_value(resource.source));
      out.resource.emplace_back("resolution_revision", quoted_value(resource.revision));
    }
  }
  out.executor = teller.number(2);
  out.is_cited = out.executor == 1 || teller.once_in(3);
  out.is_shadow = teller.once_in(6);
  out.is_on_approval = teller.once_in(5);
  return out;
}

// One decision and what runs under it.
void tell_attempt(Teller& teller, const Call& call, std::size_t attempt,
                  std::vector<Planned>& out) {
  const Fields tried = {{"attempt", std::to_string(attempt)}};
  const Fields own = attempt == 1 && teller.once_in(2) ? Fields{} : tried;
  const Fields cited = {{"decision_id", fmt::format("\"d{}\"", attempt)}};
  const bool is_denied = teller.once_in(4);
  Fields approval;
  if (call.is_on_approval) {
    approval = {{"approval_id", R"("ap1")"}, {"approval_state", R"("active")"}};
    out.push_back(teller.line(0, "approval.checked", call.id, approval));
  }
  if (!call.resource.empty() && teller.once_in(2)) {
    out.push_back(teller.line(0, "resource.resolved", call.id,
                              joined({call.resource, {{"outcome", R"("found")"}}})));
  }
  Fields decided = {{"decision", is_denied ? R"("deny")" : R"("allow")"},
                    {"reason", is_denied ? R"("tenant_mismatch")" : R"("allowed")"},
                    {"policy_version", R"("v1")"},
                    {"policy_digest", quoted_value(kPolicyDigest)}};
  if (call.is_shadow) decided = joined({decided, {{"mode", R"("shadow")"}, {"enforced", "false"}}});
  out.push_back(teller.line(
      0, "authorization.decision", call.id,
      joined({call.common, call.principal, call.resource, approval, decided, cited, own})));
  if (is_denied && !call.is_shadow && !teller.once_in(12)) return;
  if (teller.once_in(8)) {
    return out.push_back(teller.line(0, "permit.unspent", call.id, cited));
  }
  if (teller.once_in(12)) out.push_back(teller.line(call.executor, "queue.denied", call.id, {}));
  const Fields run = joined({call.common, call.resource, own, call.is_cited ? cited : Fields{}});
  out.push_back(teller.line(call.executor, "executor.start", call.id, run));
  out.push_back(teller.line(call.executor, "executor.finish", call.id,
                            joined({call.common, {{"outcome", R"("succeeded")"}}})));
  if (teller.once_in(4)) {
    out.push_back(teller.line(2, "effect.observed", call.id, {{"effects", "1"}}));
  }
}

std::vector<Planned> told_call(Teller& teller, std::size_t number) {
  const Call call = true_call(teller, number);
  std::vector<Planned> out;
  Fields asked = call.common;
  if (teller.once_in(2))
    asked.emplace_back("route", teller.once_in(2) ? R"("agent")" : R"("queued")");
  if (teller.once_in(2)) asked.emplace_back("case_id", teller.once_in(3) ? R"("c2")" : R"("c1")");
  if (teller.once_in(3)) asked.emplace_back("run_id", R"("r1")");
  out.push_back(teller.line(0, "tool.request", call.id, asked));
  const std::size_t attempts = teller.once_in(5) ? 2 : 1;
  for (std::size_t attempt = 1; attempt <= attempts; ++attempt) {
    tell_attempt(teller, call, attempt, out);
  }
  if (teller.once_in(16)) {  // the whole once more
    const std::vector<Planned> again = out;
    out.insert(out.end(), again.begin(), again.end());
  }
  return out;
}

/// Takes the next line of any of the calls until none is left.
std::vector<Planned> interleaved(std::vector<std::vector<Planned>> calls, SeededRandom& random) {
  std::vector<Planned> out;
  while (!calls.empty()) {
    const std::size_t call = random.number(calls.size());
    out.push_back(calls[call].front());
    calls[call].erase(calls[call].begin());
    if (calls[call].empty()) calls.erase(calls.begin() + static_cast<std::ptrdiff_t>(call));
  }
  return out;
}

}  // namespace

std::vector<Planned> plan_of_forms(SeededRandom& random, std::size_t count,
                                   std::size_t invocations) {
  const std::size_t writers = 1 + random.number(3);
  std::vector<Planned> out;
  while (out.size() < count) {
    const std::size_t writer = random.number(writers);
    const std::string id = fmt::format("i{}", 1 + random.number(invocations));
    out.push_back({writer, std::string(random_form(random)), id});
  }
  return out;
}

std::vector<Planned> told_plan(SeededRandom& random, std::size_t invocations,
                               const std::string& manifest_text) {
  const std::uint64_t kMistakes[] = {12, 40, 400};
  Teller teller(random, kMistakes[random.number(std::size(kMistakes))]);
  std::vector<std::vector<Planned>> calls;
  for (std::size_t i = 1; i <= invocations; ++i) calls.push_back(told_call(teller, i));
  std::vector<Planned> out = interleaved(std::move(calls), random);
  const auto anywhere = [&](const Planned& line) {
    out.insert(out.begin() + static_cast<std::ptrdiff_t>(random.number(out.size() + 1)), line);
  };
  if (teller.once_in(2)) {
    out.insert(
        out.begin(),
        teller.line(0, "run.started", "",
                    {{"environment", R"("test")"},
                     {"manifest_digest", quoted_value(digest_text(sha256(manifest_text)))}}));
  }
  if (teller.once_in(4)) {
    anywhere(teller.line(0, "policy.published", "", {{"policy_version", R"("v1")"}}));
  }
  for (std::uint64_t changes = random.number(3); changes > 0 && teller.once_in(2); --changes) {
    anywhere(teller.line(random.number(2), "approval.changed", "",
                         {{"approval_id", R"("ap1")"},
                          {"approval_state", teller.once_in(2) ? R"("active")" : R"("revoked")"}}));
  }
  if (teller.once_in(4)) out.push_back(teller.line(0, "run.finished", "", {}));
  if (teller.once_in(4))
    out.push_back(teller.line(2, "run.finished", "", {{"source", R"("spy")"}}));
  if (teller.once_in(20)) anywhere(teller.line(random.number(2), "evidence.lost", "", {}));
  return out;
}

std::vector<Planned> healthy_plan(SeededRandom& random, std::size_t invocations) {
  std::vector<std::vector<Planned>> calls;
  for (std::size_t i = 1; i <= invocations; ++i) {
    const std::string id = fmt::format("i{}", i);
    const std::size_t executor = random.number(2);
    std::vector<Planned>& call = calls.emplace_back();
    const auto say = [&](std::size_t writer, std::string_view form) {
      call.push_back({writer, std::string(form), id});
    };
    say(0, kCore[0]);
    const std::uint64_t fate = random.number(4);
    if (fate == 0) {
      say(0, kCore[2]);
      continue;
    }
    say(0,
        R"({"event":"authorization.decision","invocation_id":"@","tool":"a","decision":"allow","reason":"allowed","policy_version":"v1","decision_id":"d1"#})");
    if (fate == 1) {
      say(0, R"({"event":"permit.unspent","invocation_id":"@","decision_id":"d1"#})");
      continue;
    }
    say(executor, R"({"event":"executor.start","invocation_id":"@","decision_id":"d1"#})");
    say(executor, kCore[4]);
  }
  std::vector<Planned> out = interleaved(std::move(calls), random);
  std::size_t said = 0;
  for (const Planned& line : out) said += line.writer == 0 ? 1 : 0;
  out.push_back({0,
                 fmt::format(R"({{"event":"run.finished","events":{},"invocations":{}#}})", said,
                             invocations),
                 ""});
  return out;
}

std::vector<std::string> numbered(const std::vector<Planned>& plan) {
  std::vector<std::string> out;
  std::map<std::size_t, std::size_t> next;
  for (const Planned& line : plan) {
    out.push_back(
        line_of(line.form, line.id,
                fmt::format(R"(,"writer":"w{}","seq":{})", line.writer, ++next[line.writer])));
  }
  return out;
}

std::vector<std::string> with_accidents(const std::vector<Planned>& plan, SeededRandom& random,
                                        Numbering numbering) {
  std::vector<std::string> out;
  std::map<std::size_t, std::size_t> next;
  for (const Planned& line : plan) {
    const bool is_numbered =
        numbering == Numbering::kAll || (numbering == Numbering::kSome && random.number(2) == 0);
    const bool is_named =
        numbering == Numbering::kAll || (numbering == Numbering::kSome && random.number(3) != 0);
    if (random.number(80) == 0) ++next[line.writer];  // a hole
    std::string fields;
    if (is_named) fields += fmt::format(R"(,"writer":"w{}")", line.writer);
    if (is_numbered) fields += fmt::format(R"(,"seq":{})", ++next[line.writer]);
    out.push_back(line_of(line.form, line.id, fields));
    const std::uint64_t accident = random.number(120);
    if (accident < 2) out.push_back(out.back());                                      // said twice
    if (accident == 2) out.push_back(line_of(random_form(random), line.id, fields));  // otherwise
    if (accident == 3) out.push_back(out.back().substr(0, out.back().size() / 2) + "\n");  // cut
    if (accident == 4) out.back().insert(out.back().size() - 1, "\r");
  }
  return out;
}

std::vector<NaiveInput> dealt_to_files(const std::vector<std::string>& lines,
                                       SeededRandom& random) {
  std::vector<NaiveInput> out(1 + random.number(4));
  for (std::size_t i = 0; i < out.size(); ++i) out[i].name = fmt::format("f{}", i);
  for (const std::string& line : lines) out[random.number(out.size())].bytes += line;
  return out;
}

}  // namespace remit::twin
