// The conformance pack: cases, the world they stand in, what each requirement asks, and which
// faults the pack must be able to catch. Data only (spec/conformance.md).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "grading/codes.h"
#include "json/value.h"

namespace remit::conformance {

/// The ways in by which a call reaches an executor, in the order in which reports list them.
inline constexpr std::array<std::string_view, 7> kRoutes = {"direct", "queued",    "retry", "agent",
                                                            "admin",  "scheduled", "legacy"};
bool is_route(std::string_view name);

/// What a step asks for (REQ-DR-020).
enum class StepKind : std::uint8_t {
  kCall,            ///< one call by the route, carried to its end
  kSubmit,          ///< the first half: planned, enqueued, scheduled
  kRun,             ///< the second half of one that was submitted
  kPlant,           ///< a row of an earlier time, without a principal, put into the route's store
  kRetry,           ///< the executor's own retry of a call that failed
  kForceStart,      ///< an attempt to reach the handler of a denied call
  kSetPolicy,       ///< another policy is in force from here on
  kSetPrincipal,    ///< facts of a principal change
  kSetResource,     ///< facts of a resource change
  kRevokeApproval,  ///< a person takes an approval back
  kTakeDown,        ///< policy, resolver or evidence fails from here on
  kBringUp,         ///< it works again
  kRestart,         ///< the executor ends and starts again; its stores stay
  kDownstream,      ///< what the tool itself answers next; the runner's own, no driver sees it
};
/// As cases and drivers write it: `call`, `force_start` and so on.
std::string_view step_name(StepKind kind);
/// Whether the driver carries it out, and must say that it can.
bool is_asked_of_driver(StepKind kind);

/// What must be seen of one call.
struct Expected {
  std::vector<std::string> sees;  ///< what the caller may see: one of these words; empty for any
  std::optional<std::string> decision, reason;
  std::optional<std::string> resource;  ///< canonical id, in the decision and at the handler
  std::int64_t effects = 0;             ///< at the spy
  bool is_recorded = true;              ///< false where evidence is down: no event can be asked for
  bool is_foreseen = true;              ///< false of a planner's call that no case makes
  std::optional<std::string> same_answer_as;  ///< another call, whose answer must read the same
  std::optional<json::Value> tool_arguments;  ///< what the handler must hand to the tool
  std::optional<std::string> outcome;         ///< of the last finish that records the call's tool
};

/// Abilities that an executor may lack as a whole, and say so: `without` of a subject.
inline constexpr std::array<std::string_view, 3> kAbilities = {"approval", "keys", "fan_out"};
/// What can be taken down.
inline constexpr std::array<std::string_view, 3> kParts = {"policy", "resolver", "evidence"};
/// What a caller may see (REQ-DR-021).
inline constexpr std::array<std::string_view, 6> kSights = {"result",  "denied",   "failed",
                                                            "unknown", "accepted", "pending"};

struct Step {
  StepKind kind = StepKind::kCall;
  std::string call;       ///< the call that it is about; empty for none
  std::string tool;       ///< of a call
  std::string principal;  ///< of a call: the name of its principal; empty for none
  json::Object members;   ///< what the driver is told beside `do` and `call`
  std::optional<Expected> expect;
};

/// One case, which is run once for each of its routes.
struct Case {
  std::string id, title;
  std::string proves, does_not_prove;  ///< one sentence each
  std::vector<std::string> routes;
  bool is_task = false;     ///< else a security case
  bool is_control = false;  ///< shows that the spy is wired: what is denied proves nothing without
  std::string contract;     ///< a built-in one
  std::vector<std::string> needs;  ///< abilities beyond those of its steps: see kAbilities
  std::vector<std::string> allowed_requests, forbidden_requests;  ///< of a task
  std::vector<Step> steps;
  /// The values that are right for each verdict; `passed` where the case says nothing.
  std::array<std::vector<grading::Value>, grading::kVerdictCount> verdicts;
  json::Object fixture;          ///< the pack's with the case's own on top
  bool has_own_fixture = false;  ///< else it is the pack's as it is
  std::string file;
};

/// What is asked of an executor; fixed for a version of the pack.
struct Requirement {
  std::string id, statement;
  std::vector<std::string> cases;
};

/// A way to get it wrong, the case made for it, and the routes on which that case must catch it.
struct Fault {
  std::string name, what, case_id;
  std::vector<std::string> routes;
};

struct Pack {
  std::string version;
  std::string digest;  ///< `sha256:<hex>` over names and bytes of all files
  std::vector<Requirement> requirements;
  std::vector<Case> cases;  ///< in the order of the pack file
  std::vector<Fault> faults;

  [[nodiscard]] const Case* find_case(std::string_view id) const;
};

/// A file of a pack: `pack.yaml`, `cases/wrong-tenant.yaml`.
struct PackFile {
  std::string name, text;
};

/// A pack, or everything that is wrong with it, each with `FILE:LINE:COLUMN`.
struct PackParse {
  std::optional<Pack> pack;  ///< set if and only if `errors` is empty
  std::vector<Error> errors;
};

/// Reads the files of a pack (REQ-CF-001 to 008). Errors: those of `yaml::parse`, and
/// `invalid_input` for an unknown key, a wrong type or word, a case that no requirement names, a
/// reference to what is not there, a case that expects nothing.
PackParse parse_pack(const std::vector<PackFile>& files);

/// The pack that this program was built with: `conformance/v1`.
const std::vector<PackFile>& built_in_pack_files();

}  // namespace remit::conformance
