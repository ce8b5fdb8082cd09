// Gathering the facts of recorded calls, and writing them as a manifest with blanks.
#include "grading/case_draft.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/limits.h"
#include "grading/blank.h"
#include "grading/manifest_text.h"
#include "yaml/scalar.h"

namespace remit::grading {

using event::Event;
using event::EventKind;
using event::Field;

namespace {

/// Values that a comment names of a fact that the trace contradicts itself on.
constexpr std::size_t kToldValues = 4;
/// Observations of one call up to which looking at each is no work.
constexpr std::size_t kFewObservations = 32;

// Beyond those that are told, one more is enough to know that there are more.
void note(std::vector<std::string>& fact, std::string_view value) {
  if (value.empty() || fact.size() > kToldValues) return;
  if (std::find(fact.begin(), fact.end(), value) == fact.end()) fact.emplace_back(value);
}

// What is recorded before and after differs where the request comes late: requests count first.
void note_first(std::vector<std::string>& fact, std::string_view value, bool is_first_request) {
  if (value.empty()) return;
  if (is_first_request || fact.empty()) fact.assign(1, std::string(value));
}

}  // namespace

Status CaseDraft::add(const Event& event) {
  if (event.kind == EventKind::kPolicyPublished) {
    const std::string version(event.text(Field::kPolicyVersion));
    if (!version.empty() && is_published_.insert(version).second) published_.push_back(version);
  } else if (event.kind == EventKind::kRunStarted) {
    const std::string_view run = event.text(Field::kRunId);
    if (!selection_.run_id || run.empty() || run == *selection_.run_id) {
      note(environment_, event.text(Field::kEnvironment));
    }
  }
  if (!event::is_call_event(event.kind)) return {};
  const std::string id(event.text(Field::kInvocationId));
  if (selection_.invocation_id && *selection_.invocation_id != id) return {};
  const auto [found, is_new] = index_.try_emplace(id, calls_.size());
  if (is_new) {
    if (calls_.size() == kMaxDraftInvocations) {
      return Error{ErrorCode::kLimitExceeded,
                   fmt::format("more than {} invocations; name one of them", kMaxDraftInvocations)};
    }
    calls_.emplace_back().id = id;
  }
  Call& call = calls_[found->second];
  take_names(event, call);
  take_facts(event, call);
  return {};
}

void CaseDraft::take_names(const Event& event, Call& call) {
  const bool is_first_request = event.kind == EventKind::kToolRequest && !call.has_request;
  call.has_request = call.has_request || is_first_request;
  note_first(call.run_id, event.text(Field::kRunId), is_first_request);
  note_first(call.case_id, event.text(Field::kCaseId), is_first_request);
  note_first(call.tool, event.text(Field::kTool), is_first_request);
  note_first(call.route, event.text(Field::kRoute), is_first_request);
  note(call.environment, event.text(Field::kEnvironment));
}

void CaseDraft::take_facts(const Event& event, Call& call) {
  const std::string_view principal = event.text(Field::kPrincipalRef);
  note(call.principal, principal);
  observe(call, Section::kPrincipal, principal, "state", event.text(Field::kPrincipalState));
  observe(call, Section::kPrincipal, principal, "class", event.text(Field::kPrincipalClass));
  observe(call, Section::kPrincipal, principal, "tenant", event.text(Field::kPrincipalTenant));
  observe(call, Section::kPrincipal, principal, "revision", event.text(Field::kPrincipalRevision));
  const bool resolves =
      event.kind == EventKind::kResourceResolved || event.kind == EventKind::kAuthorizationDecision;
  if (resolves && !event.resource_id_is_null) {
    const std::string_view resource = event.text(Field::kResourceId);
    note(call.resource, resource);
    observe(call, Section::kResource, resource, "type", event.text(Field::kResourceType));
    observe(call, Section::kResource, resource, "tenant", event.text(Field::kResourceTenant));
    observe(call, Section::kResource, resource, "source", event.text(Field::kResolutionSource));
    observe(call, Section::kResource, resource, "revision", event.text(Field::kResolutionRevision));
  }
  observe(call, Section::kApproval, event.text(Field::kApprovalId), "state",
          event.text(Field::kApprovalState));
  if (event.kind != EventKind::kAuthorizationDecision) return;
  observe(call, Section::kPolicy, event.text(Field::kPolicyVersion), "digest",
          event.text(Field::kPolicyDigest));
}

void CaseDraft::observe(Call& call, Section section, std::string_view name,
                        std::string_view attribute, std::string_view value) {
  if (name.empty()) return;
  if (value.empty()) attribute = {};
  Observation one{section, std::string(name), attribute, std::string(value)};
  std::vector<Observation>& all = call.observations;
  if (all.size() < kFewObservations) {
    if (std::find(all.begin(), all.end(), one) != all.end()) return;
  } else {
    if (call.sorted.empty()) call.sorted.insert(all.begin(), all.end());
    if (!call.sorted.insert(one).second) return;
  }
  all.push_back(std::move(one));
}

bool CaseDraft::is_selected(const Call& call) const {
  if (!selection_.run_id) return true;
  return !call.run_id.empty() && call.run_id.front() == *selection_.run_id;
}

std::vector<CaseDraft::Thing> CaseDraft::things(const std::vector<const Call*>& calls,
                                                Section section) const {
  std::vector<Thing> out;
  std::unordered_map<std::string_view, std::size_t> index;
  for (const Call* call : calls) {
    for (const Observation& one : call->observations) {
      if (one.section != section) continue;
      const auto [found, is_new] = index.try_emplace(one.name, out.size());
      if (is_new) out.push_back({one.name, {}});
      if (one.attribute.empty()) continue;
      auto& attributes = out[found->second].attributes;
      auto attribute = std::find_if(attributes.begin(), attributes.end(),
                                    [&](const auto& each) { return each.first == one.attribute; });
      if (attribute == attributes.end()) {
        attributes.emplace_back(one.attribute, Fact{});
        attribute = std::prev(attributes.end());
      }
      note(attribute->second, one.value);
    }
  }
  if (section != Section::kPolicy) return out;
  std::vector<Thing> in_order;  // of publication; those never published stand last
  for (const std::string& version : published_) {
    const auto found = index.find(version);
    if (found != index.end()) in_order.push_back(std::move(out[found->second]));
  }
  for (Thing& thing : out) {
    const bool is_told = thing.name.empty() || is_published_.contains(thing.name);
    if (!is_told) in_order.push_back(std::move(thing));
  }
  return in_order;
}

/// Writes the file, section by section.
class CaseDraft::Text {
 public:
  explicit Text(std::string& out) : out_(out) {}

  void key(std::string_view indent, std::string_view name, std::string_view value) {
    out_ += fmt::format("{}{}: {}\n", indent, name, yaml::scalar(value));
  }
  void blank(std::string_view indent, std::string_view name, std::string_view why) {
    out_ += fmt::format("{}{}: {}  # {}\n", indent, name, kBlank, why);
  }
  /// A fact that the trace agrees on, a blank where it does not, nothing where it says nothing.
  void fact(std::string_view indent, std::string_view name, const Fact& values) {
    if (values.size() == 1) key(indent, name, values.front());
    if (values.size() < 2) return;
    std::string said;
    for (std::size_t i = 0; i < values.size() && i < kToldValues; ++i) {
      said += fmt::format("{}{}", i == 0 ? "" : ", ", quoted(values[i]));
    }
    blank(indent, name,
          fmt::format("the trace says {}{}", said, values.size() > kToldValues ? " and more" : ""));
  }

 private:
  std::string& out_;
};

const std::array<CaseDraft::SectionForm, 4> CaseDraft::kSectionForms = {{
    {Section::kPolicy, "policies", "version", ""},
    {Section::kPrincipal, "principals", "ref", ""},
    {Section::kResource, "resources", "id", "type"},
    {Section::kApproval, "approvals", "id", "state"},
}};

std::string CaseDraft::things_text(const SectionForm& form, const std::vector<Thing>& things) {
  std::string out;
  Text text(out);
  for (const Thing& thing : things) {
    text.key("  - ", form.key, thing.name);
    bool has_required = form.required.empty();
    for (const auto& [attribute, values] : thing.attributes) {
      text.fact("    ", attribute, values);
      has_required = has_required || attribute == form.required;
    }
    if (!has_required) text.blank("    ", form.required, "not recorded");
  }
  return out;
}

std::string CaseDraft::case_text(const std::string& id, const std::vector<const Call*>& members) {
  std::string out;
  Text text(out);
  text.key("  - ", "id", id);
  text.blank("    ", "kind",
             "security: a control is tested and its request must come; task: an agent's requests "
             "are judged");
  out += "    expect:\n";
  for (const Call* call : members) {
    text.key("      - ", "invocation_id", call->id);
    text.fact("        ", "tool", call->tool);
    if (call->tool.empty()) text.blank("        ", "tool", "not recorded");
    text.fact("        ", "route", call->route);
    text.fact("        ", "principal", call->principal);
    text.fact("        ", "resource", call->resource);
    text.blank("        ", "decision", "allow or deny");
    text.blank("        ", "reason", "allowed, or why it must be denied: spec/reasons.md");
    text.blank("        ", "effects", "how many it should have; 0 where it must be denied");
  }
  return out;
}

// REQ-MF-034.
std::string CaseDraft::case_id_of(const Call& call) const {
  if (!call.case_id.empty()) return call.case_id.front();
  if (selection_.run_id) return *selection_.run_id;
  if (selection_.invocation_id) return "invocation-" + *selection_.invocation_id;
  return call.run_id.empty() ? "trace" : call.run_id.front();
}

Result<CaseDraft::Parts> CaseDraft::parts() const {
  Parts out;
  std::unordered_map<std::string, std::size_t> case_index;
  out.environment = environment_;
  for (const Call& call : calls_) {
    if (!is_selected(call)) continue;
    out.calls.push_back(&call);
    for (const std::string& one : call.environment) note(out.environment, one);
    const std::string id = case_id_of(call);
    const auto [of_case, is_new] = case_index.try_emplace(id, out.cases.size());
    if (is_new) out.cases.emplace_back(id, std::vector<const Call*>{});
    out.cases[of_case->second].second.push_back(&call);
  }
  if (out.calls.empty()) return Error{ErrorCode::kNotFound, "no invocation is recorded that fits"};
  return out;
}

Result<std::string> CaseDraft::text() const {
  REMIT_TRY_ASSIGN(const Parts selected, parts());
  std::string out = fmt::format(
      "# Made of recorded events by remit case from-trace; remit grade refuses it while a {0} is\n"
      "# left. Facts are what the trace recorded: check them against the fixture, since a wrong\n"
      "# fact that was recorded is a wrong fact here. What should have been decided is for a\n"
      "# person to write, from what the policy ought to do and not from what it did. A run that\n"
      "# mints new ids needs the lines with invocation_id taken out: entries then match by case,\n"
      "# tool, route and order.\n"
      "manifest: remit.manifest/1\n",
      kBlank);
  Text(out).fact("", "environment", selected.environment);
  for (const SectionForm& form : kSectionForms) {
    const std::string items = things_text(form, things(selected.calls, form.section));
    if (!items.empty()) out += fmt::format("{}:\n{}", form.list, items);
  }
  out += "cases:\n";
  for (const auto& [id, members] : selected.cases) out += case_text(id, members);
  return out;
}

Result<std::string> CaseDraft::text_into(std::string_view manifest, const std::string& file) const {
  REMIT_TRY_ASSIGN(const Parts selected, parts());
  REMIT_TRY_ASSIGN(ManifestText text, ManifestText::open(manifest, file));
  for (const auto& [id, members] : selected.cases) {
    if (const std::uint32_t line = text.line_of("cases", "id", id); line > 0) {
      return Error{
          ErrorCode::kAlreadyExists,
          fmt::format("has a case {} already: rename it, or take other invocations", quoted(id)),
          fmt::format("{}:{}", file, line)};
    }
  }
  for (const SectionForm& form : kSectionForms) {
    if (form.section == Section::kPolicy) continue;  // who may decide is for a person to say
    std::vector<Thing> added = things(selected.calls, form.section);
    std::erase_if(
        added, [&](const Thing& one) { return text.line_of(form.list, form.key, one.name) > 0; });
    // A list that is not there pins nothing, and one that begins here would have to name what the
    // other cases name as well (REQ-MF-004).
    if (text.has(form.list)) REMIT_TRY(text.append(form.list, things_text(form, added)));
  }
  std::string cases;
  for (const auto& [id, members] : selected.cases) cases += case_text(id, members);
  REMIT_TRY(text.append("cases", cases));
  return text.take();
}

}  // namespace remit::grading
