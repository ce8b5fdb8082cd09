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

// Other commands take inputs where this one takes ids.
std::string meant_input(const Arguments& arguments, World& world) {
  for (const std::string& word : arguments.positionals()) {
    if (world.files.info(word)) return fmt::format("; did you mean --from {}?", quoted(word));
  }
  return "";
}

// The first of the ids that the record has.
std::string known_ids(const report::Narrative& narrative) {
  constexpr std::size_t kMost = 5;
  const std::vector<std::string> ids = narrative.first_ids(kMost);
  if (ids.empty()) return "; the record holds no invocation";
  std::string out;
  for (const std::string& id : ids) out += (out.empty() ? "" : ", ") + quoted(id);
  return fmt::format("; the record holds {}{}", out,
                     ids.size() == kMost ? " and perhaps more" : "");
}

}  // namespace

int run_explain(const Arguments& arguments, World& world) {
  if (!arguments.has("--from")) {
    complain(world, Error{ErrorCode::kInvalidInput,
                          "remit explain needs --from INPUT" + meant_input(arguments, world)});
    return kExitUsage;
  }
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
    say(Error{ErrorCode::kNotFound, fmt::format("nothing is recorded of invocation {}{}",
                                                quoted(id), known_ids(narrative))});
  }
  if (narrative.empty() && arguments.positionals().empty()) {
    whole = false;
    const bool is_selected = arguments.has("--run-id") || arguments.has("--case-id");
    say(Error{ErrorCode::kNotFound,
              is_selected ? "no invocation is recorded that fits" + known_ids(narrative)
                          : std::string("the record holds no invocation")});
  }
  return print(world, grading::without_canaries(narrative.text(), redaction.get()),
               whole ? kExitOk : kExitFailed);
}

}  // namespace remit::cli
