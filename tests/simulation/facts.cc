// The rules of the simulated world, written down a second time and without the boundary.
#include "tests/simulation/facts.h"

#include <algorithm>

#include "tests/support/boundary_world.h"

namespace remit::simulation {

using access::ReasonCode;

std::shared_ptr<const policy::Bundle> bundle_of(std::string_view version) {
  static const auto bundles = [] {
    std::map<std::string, std::shared_ptr<const policy::Bundle>, std::less<>> out;
    for (const std::string_view each : kVersions) {
      out.emplace(each, enforcement::testing::load_test_bundle(std::string(each)));
    }
    return out;
  }();
  return bundles.find(version)->second;
}

bool permits(std::string_view version, std::string_view tool) {
  if (version == "v2") return tool != "invoice.move" && tool != "server.ping";
  if (version == "v3") return tool != "invoice.read" && tool != "note.add";
  if (version == "v4") return !tool.starts_with("refund") && tool != "invoice.trial";
  return true;
}

const std::string* Facts::find(std::string_view reference) const {
  const auto found = canonical.find(std::string(reference));
  return found == canonical.end() ? nullptr : &found->second;
}

Facts first_facts() {
  const std::set<std::string> all = {"files:read", "invoice:move", "invoice:read", "once",
                                     "report:make"};
  Facts out;
  out.people = {{"alice", {.tenant = "tenant-a", .scopes = all}},
                {"bob", {.tenant = "tenant-b", .scopes = all}},
                {"carol", {.tenant = "tenant-a", .scopes = {"invoice:read"}}},
                {"dave", {.state = access::PrincipalState::kExpired, .tenant = "tenant-a"}}};
  out.canonical = {
      {"march", "inv-3"}, {"alias-of-march", "inv-3"}, {"june", "inv-6"}, {"foreign", "inv-66"}};
  out.owner = {{"inv-3", "tenant-a"}, {"inv-6", "tenant-a"}, {"inv-66", "tenant-b"}};
  return out;
}

const std::vector<Form>& forms() {
  static const std::vector<Form> all = {
      {"invoice.read", R"({"invoice":"%"})", 1},
      {"invoice.read", R"({"amount":7,"invoice":"%"})", 1},
      {"invoice.read", R"({"invoice":"%","tenant":"tenant-b"})", 1, ReasonCode::kInvalidArguments},
      {"invoice.read", R"({"amount":"7","invoice":"%"})", 1, ReasonCode::kInvalidArguments},
      {"invoice.read", "{}", 0, ReasonCode::kResourceNotFound},
      {"invoice.read", R"({"invoice":"march","invoice":"foreign"})", 0,
       ReasonCode::kInvalidRequest},
      {"invoice.move", R"({"from":"%","to":"%"})", 2},
      {"invoice.trial", R"({"invoice":"%"})", 1},
      {"server.ping", "{}"},
      {"sums.add", R"({"a":1})"},
      {"admin.export", "{}"},
      {"Invoice.read", R"({"invoice":"march"})"},
      {"refund.create", R"({"amount":1,"invoice":"%"})", 1},
      {"refund.create", R"({"amount":2,"invoice":"%"})", 1},
      {"refund.keyed", R"({"amount":1,"invoice":"%"})", 1},
      {"note.add", R"({"amount":1,"invoice":"%"})", 1},
      {"note.add", R"({"amount":2,"invoice":"%"})", 1},
      {"note.put", R"({"amount":1,"invoice":"%"})", 1},
  };
  return all;
}

std::string filled(const Form& form, const std::vector<std::string>& names) {
  std::string out;
  auto next = names.begin();
  for (const char* at = form.arguments; *at != '\0'; ++at) {
    if (*at == '%') {
      out += *next++;
    } else {
      out += *at;
    }
  }
  return out;
}

std::string granted_arguments(const Proposal& proposal, const Facts& facts) {
  std::vector<std::string> ids;
  for (const std::string& reference : proposal.references) ids.push_back(*facts.find(reference));
  return filled(*proposal.form, ids);
}

ReasonCode truth(const Proposal& proposal, const Facts& facts, std::string_view version) {
  const Form& form = *proposal.form;
  if (form.fault == ReasonCode::kInvalidRequest) return form.fault;
  if (version.empty()) return ReasonCode::kPolicyUnavailable;
  const policy::Bundle& bundle = *bundle_of(version);
  if (bundle.find_route(proposal.call.route) == nullptr) return ReasonCode::kUnknownRoute;

  if (proposal.token.empty()) return ReasonCode::kMissingIdentity;
  const auto person = facts.people.find(proposal.token);
  if (person == facts.people.end()) return ReasonCode::kInvalidIdentity;
  const Person& caller = person->second;
  if (caller.state == access::PrincipalState::kExpired) return ReasonCode::kExpiredIdentity;
  if (caller.state != access::PrincipalState::kAuthenticated) return ReasonCode::kInvalidIdentity;

  const policy::Tool* tool = bundle.find_tool(form.tool);
  if (tool == nullptr) return ReasonCode::kUnknownTool;
  for (const std::string& scope : tool->scopes) {
    if (caller.scopes.count(scope) == 0) return ReasonCode::kMissingScope;
  }
  const bool lacks_key = tool->idempotency == policy::Idempotency::kKeyRequired &&
                         proposal.call.idempotency_key.empty();
  if (form.fault == ReasonCode::kInvalidArguments || lacks_key) {
    return ReasonCode::kInvalidArguments;
  }
  if (form.fault != ReasonCode::kAllowed) return form.fault;

  const auto& names = proposal.references;
  const auto is_missing = [&](const std::string& name) { return facts.find(name) == nullptr; };
  if (std::any_of(names.begin(), names.end(), is_missing)) return ReasonCode::kResourceNotFound;
  if (!tool->has_boundary) return ReasonCode::kAllowed;
  const auto is_foreign = [&](const std::string& name) {
    return facts.owner.at(*facts.find(name)) != caller.tenant;
  };
  if (std::any_of(names.begin(), names.end(), is_foreign)) return ReasonCode::kTenantMismatch;
  return permits(version, form.tool) ? ReasonCode::kAllowed : ReasonCode::kNotPermitted;
}

bool is_shadow(const Proposal& proposal) {
  const std::string_view tool = proposal.form->tool;
  return tool == "invoice.trial" || (proposal.call.route == "trial" && tool != "invoice.strict");
}

}  // namespace remit::simulation
