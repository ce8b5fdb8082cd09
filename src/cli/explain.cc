// remit explain: the story of invocations, from the record.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/contracts.h"
#include "cli/inputs.h"
#include "grading/redaction_file.h"
#include "grading/sightings.h"
#include "report/narrative.h"

namespace remit::cli {

namespace {

// What the contract says that may not be shown; null without one.
std::shared_ptr<const redaction::Redaction> redaction_of(const Arguments& arguments, World& world,
                                                         std::vector<Error>& errors) {
  if (!arguments.has("--contract")) return nullptr;
  const std::string path = arguments.value("--contract");
  const std::optional<grading::Contract> contract = find_contract(world, path, errors);
  if (!contract) return nullptr;
  grading::RedactionLoad loaded = grading::load_redaction(world.files, contract->redaction.canaries,
                                                          contract->redaction.forbid_fields, path);
  errors = std::move(loaded.errors);
  return std::move(loaded.redaction);
}

}  // namespace

int run_explain(const Arguments& arguments, World& world) {
  std::vector<Error> refused;
  const std::shared_ptr<const redaction::Redaction> redaction =
      redaction_of(arguments, world, refused);
  const auto say = [&](Error error) {
    complain(world, grading::without_canaries(std::move(error), redaction.get()));
  };
  if (!refused.empty()) {
    for (const Error& error : refused) say(error);
    return kExitUsage;
  }
  Result<grading::Evidence> opened =
      open_inputs(world, arguments.values("--from"), form_of(arguments));
  if (!opened) {
    say(opened.error());
    return kExitBadInput;
  }
  report::NarrativeFilter filter;
  filter.invocation_ids.insert(arguments.positionals().begin(), arguments.positionals().end());
  filter.run_id = arguments.value("--run-id");
  filter.case_id = arguments.value("--case-id");
  report::Narrative narrative(std::move(filter));
  bool whole = opened->alterations.empty();
  for (const grading::Alteration& alteration : opened->alterations) {
    say(Error{alteration.error.code, "the evidence is altered, what follows is what it says now: " +
                                         alteration.error.to_string()});
  }
  const Status read = for_each_event(
      world, opened->inputs,
      [&](const event::Event& event, const trace::Line& /*line*/) -> Status {
        narrative.add(event);
        return {};
      },
      [&](const Error& error) {
        whole = false;
        say(error);
      });
  if (!read) {
    say(read.error());
    return kExitBadInput;
  }
  for (const std::string& id : narrative.missing()) {
    whole = false;
    say(Error{ErrorCode::kNotFound,
              fmt::format("nothing is recorded of invocation {}", quoted(id))});
  }
  if (narrative.empty() && arguments.positionals().empty()) {
    whole = false;
    say(Error{ErrorCode::kNotFound, "no invocation is recorded that fits"});
  }
  return print(world, grading::without_canaries(narrative.text(), redaction.get()),
               whole ? kExitOk : kExitFailed);
}

}  // namespace remit::cli
