// What is so in the simulated world, and what a boundary that makes no mistake would answer.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "access/principal.h"
#include "access/proposed_call.h"
#include "access/reason.h"
#include "policy/bundle.h"

namespace remit::simulation {

/// The bundles that are in force by turns, and whether each permits a tool.
inline constexpr std::array<std::string_view, 4> kVersions = {"v1", "v2", "v3", "v4"};
std::shared_ptr<const policy::Bundle> bundle_of(std::string_view version);
bool permits(std::string_view version, std::string_view tool);

struct Person {
  access::PrincipalState state = access::PrincipalState::kAuthenticated;
  std::string tenant;
  std::set<std::string> scopes = {};
};

/// Who there is, by their tokens, and which resources, by what callers call them.
struct Facts {
  std::map<std::string, Person> people;
  std::map<std::string, std::string> canonical;  ///< id, by reference
  std::map<std::string, std::string> owner;      ///< tenant, by id

  /// The id that a reference means; null where there is none.
  [[nodiscard]] const std::string* find(std::string_view reference) const;
};

/// Two tenants, four people, and a few invoices.
Facts first_facts();

/// A way to call a tool. `arguments` is in canonical form, with a `%` for each reference.
struct Form {
  const char* tool;
  const char* arguments;
  int references = 0;
  access::ReasonCode fault = access::ReasonCode::kAllowed;  ///< what is wrong with it as such
};
const std::vector<Form>& forms();

/// One call as it is proposed, with what the judge knows of it.
struct Proposal {
  const Form* form = nullptr;
  std::string token;
  std::vector<std::string> references;
  access::ProposedCall call;
};

/// The arguments of a form with these names in the places of its references.
std::string filled(const Form& form, const std::vector<std::string>& names);

/// The arguments as the handler has to get them. Every reference must mean something.
std::string granted_arguments(const Proposal& proposal, const Facts& facts);

/// What a faultless boundary answers under that version (empty: no policy), but for the ledger: the
/// approval that a tool needs is taken to be there, and the key to be new.
access::ReasonCode truth(const Proposal& proposal, const Facts& facts, std::string_view version);

/// Whether a denial of step 10 binds.
bool is_shadow(const Proposal& proposal);

}  // namespace remit::simulation
