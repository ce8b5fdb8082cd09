// Expectations of steps as entries of a manifest, with the facts that the fixture pins.
#include "conformance/case_manifest.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "json/value.h"
#include "report/json_writer.h"

namespace remit::conformance {
namespace {

// A refusal for one of these may come before anybody is known.
constexpr std::array<std::string_view, 7> kBeforeIdentity = {
    "missing_identity",     "invalid_identity", "expired_identity", "policy_unavailable",
    "evidence_unavailable", "invalid_request",  "limit_exceeded"};

std::optional<std::string> text(const json::Value& from, std::string_view key) {
  const json::Value* value = from.find(key);
  if (value == nullptr || value->if_string() == nullptr) return std::nullopt;
  return *value->if_string();
}

class ManifestMaker {
 public:
  ManifestMaker(const Case& of, std::string_view route, const Observation& seen)
      : of_(of), route_(route), seen_(seen) {}

  grading::Manifest make() {
    for (const std::string& version : seen_.policy_versions) {
      out_.policies.push_back({version, std::nullopt});
    }
    out_.effects_required = true;
    grading::Case one;
    one.id = of_.id;
    one.is_security = !of_.is_task;
    if (!of_.allowed_requests.empty()) one.allowed_requests = of_.allowed_requests;
    one.forbidden_requests = of_.forbidden_requests;
    for (const Step& step : of_.steps) {
      if (step.kind != StepKind::kForceStart && !step.call.empty()) add(step, one);
    }
    drop_unrecorded(one);
    out_.cases.push_back(std::move(one));
    return std::move(out_);
  }

 private:
  // The entry of a call stands where the call is first made, and says what its last step expects.
  void add(const Step& step, grading::Case& one) {
    std::size_t place = 0;
    if (step.kind == StepKind::kRun) {
      while (place < names_.size() && names_[place] != step.call) ++place;
    } else if (step.kind == StepKind::kRetry && is_same_invocation(step)) {
      place = names_.size() - 1;
    } else {
      place = names_.size();
      names_.push_back(step.call);
      one.expect.emplace_back();
    }
    if (step.expect && !step.expect->is_recorded) {
      unrecorded_.insert(place);
    } else if (step.expect) {
      fill(step, one.expect[place]);
    }
  }

  // What nobody can ask the record for has no entry.
  void drop_unrecorded(grading::Case& one) const {
    for (auto place = unrecorded_.rbegin(); place != unrecorded_.rend(); ++place) {
      one.expect.erase(one.expect.begin() + static_cast<std::ptrdiff_t>(*place));
    }
  }

  // An executor's retry may be the next attempt of one invocation, or another invocation.
  [[nodiscard]] bool is_same_invocation(const Step& step) const {
    std::set<std::string> ids;
    for (const json::Value& record : seen_.records) {
      if (text(record, "tool") == step.tool) ids.insert(text(record, "invocation_id").value_or(""));
    }
    return ids.size() < names_.size() + 1;
  }

  void fill(const Step& step, grading::Expectation& out) {
    const Expected& expected = *step.expect;
    out.tool = step.tool;
    out.route = std::string(route_);
    out.decision = expected.decision;
    out.reason = expected.reason;
    out.effects = out.effects.value_or(0) + expected.effects;
    if (!step.principal.empty() && is_known(expected))
      out.principal = pin_principal(step.principal);
    if (expected.resource) {
      pin_resource(*expected.resource);
      out.resource = expected.resource;
    }
  }

  static bool is_known(const Expected& expected) {
    return !expected.reason || std::find(kBeforeIdentity.begin(), kBeforeIdentity.end(),
                                         *expected.reason) == kBeforeIdentity.end();
  }

  std::string pin_principal(const std::string& name) {
    const auto given = seen_.principal_refs.find(name);
    grading::PinnedPrincipal pinned;
    pinned.ref = given == seen_.principal_refs.end() ? name : given->second;
    const bool is_new = std::none_of(out_.principals.begin(), out_.principals.end(),
                                     [&](const auto& each) { return each.ref == pinned.ref; });
    const json::Value* facts = seen_.principals.find(name);
    std::string ref = pinned.ref;
    if (is_new && facts != nullptr) {
      pinned.state = text(*facts, "state");
      pinned.principal_class = text(*facts, "class");
      pinned.tenant = text(*facts, "tenant");
      pinned.revision = text(*facts, "revision");
      out_.principals.push_back(std::move(pinned));
    }
    return ref;
  }

  void pin_resource(const std::string& id) {
    for (const grading::PinnedResource& each : out_.resources) {
      if (each.id == id) return;
    }
    for (const json::Member& each : seen_.resources.members()) {
      if (text(each.second, "id") != id) continue;
      grading::PinnedResource pinned;
      pinned.type = text(each.second, "type").value_or("");
      pinned.id = id;
      pinned.tenant = text(each.second, "tenant");
      pinned.revision = text(each.second, "revision");
      out_.resources.push_back(std::move(pinned));
      return;
    }
  }

  const Case& of_;
  std::string_view route_;
  const Observation& seen_;
  grading::Manifest out_;
  std::vector<std::string> names_;  // of the calls that have an entry, in the order of entries
  std::set<std::size_t> unrecorded_;
};

using report::JsonWriter;

void write_optional(std::string_view name, const std::optional<std::string>& value,
                    JsonWriter& out) {
  if (value) out.member(name, *value);
}

void write_words(std::string_view name, const std::vector<std::string>& words, JsonWriter& out) {
  out.open_member(name, '[');
  for (const std::string& word : words) {
    out.item();
    out.text(word);
  }
  out.close(']');
}

// The items of a list, each on a line of its own.
template <class Item, class Write>
void write_items(std::string_view name, const std::vector<Item>& items, JsonWriter& out,
                 const Write& write) {
  if (items.empty()) return;
  out.break_line();
  out.open_member(name, '[');
  for (const Item& item : items) {
    out.item_on_line("  ");
    out.open('{');
    write(item);
    out.close('}');
  }
  out.close(']');
}

void write_case(const grading::Case& one, JsonWriter& out) {
  out.member("id", one.id);
  out.member("kind", one.is_security ? "security" : "task");
  write_items("expect", one.expect, out, [&](const grading::Expectation& entry) {
    out.member("tool", entry.tool);
    write_optional("route", entry.route, out);
    write_optional("principal", entry.principal, out);
    write_optional("resource", entry.resource, out);
    write_optional("decision", entry.decision, out);
    write_optional("reason", entry.reason, out);
    if (entry.effects) out.plain_member("effects", *entry.effects);
  });
  if (one.allowed_requests) write_words("allowed_requests", *one.allowed_requests, out);
  if (!one.forbidden_requests.empty()) {
    write_words("forbidden_requests", one.forbidden_requests, out);
  }
}

}  // namespace

grading::Manifest case_manifest(const Case& of, std::string_view route, const Observation& seen) {
  return ManifestMaker(of, route, seen).make();
}

std::string manifest_json(const grading::Manifest& manifest) {
  std::string text;
  JsonWriter out(text);
  out.open('{');
  out.member("manifest", "remit.manifest/1");
  out.member("effects_source", manifest.effects_required ? "required" : "optional");
  write_items("policies", manifest.policies, out,
              [&](const auto& each) { out.member("version", each.version); });
  write_items("principals", manifest.principals, out, [&](const auto& each) {
    out.member("ref", each.ref);
    write_optional("state", each.state, out);
    write_optional("class", each.principal_class, out);
    write_optional("tenant", each.tenant, out);
    write_optional("revision", each.revision, out);
  });
  write_items("resources", manifest.resources, out, [&](const auto& each) {
    out.member("type", each.type);
    out.member("id", each.id);
    write_optional("tenant", each.tenant, out);
    write_optional("revision", each.revision, out);
  });
  write_items("cases", manifest.cases, out, [&](const auto& each) { write_case(each, out); });
  out.close('}');
  text += "\n";
  return text;
}

}  // namespace remit::conformance
