// remit explain: the story of invocations, from the record.
#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/inputs.h"
#include "report/narrative.h"

namespace remit::cli {

int run_explain(const Arguments& arguments, World& world) {
  Result<grading::Evidence> opened =
      open_inputs(world, arguments.values("--from"), form_of(arguments));
  if (!opened) {
    complain(world, opened.error());
    return kExitBadInput;
  }
  report::NarrativeFilter filter;
  filter.invocation_ids.insert(arguments.positionals().begin(), arguments.positionals().end());
  filter.run_id = arguments.value("--run-id");
  filter.case_id = arguments.value("--case-id");
  report::Narrative narrative(std::move(filter));
  bool whole = opened->alterations.empty();
  for (const grading::Alteration& alteration : opened->alterations) {
    complain(world, Error{alteration.error.code,
                          "the evidence is altered, what follows is what it says now: " +
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
        complain(world, error);
      });
  if (!read) {
    complain(world, read.error());
    return kExitBadInput;
  }
  for (const std::string& id : narrative.missing()) {
    whole = false;
    complain(world, Error{ErrorCode::kNotFound,
                          fmt::format("nothing is recorded of invocation {}", quoted(id))});
  }
  if (narrative.empty() && arguments.positionals().empty()) {
    whole = false;
    complain(world, Error{ErrorCode::kNotFound, "no invocation is recorded that fits"});
  }
  return print(world, narrative.text(), whole ? kExitOk : kExitFailed);
}

}  // namespace remit::cli
