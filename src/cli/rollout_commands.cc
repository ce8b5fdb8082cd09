// The rows of `remit rollout` and `remit routes` in the table of commands.
#include "cli/rollout_commands.h"

#include "cli/commands.h"

namespace remit::cli {
namespace {

/// What both commands take beside their own.
std::vector<Flag> with_inputs(std::vector<Flag> own) {
  own.push_back({.name = "--input-format",
                 .value_name = "FORM",
                 .help = "what the files hold, where their beginning does not tell",
                 .choices = {"auto", "jsonl", "otlp", "openai-chat", "agentdojo", "tau-bench"}});
  own.push_back({.name = "--head",
                 .value_name = "DIGEST",
                 .help = "the head that an evidence directory must have, kept elsewhere"});
  own.push_back(
      {.name = "--examples",
       .value_name = "N",
       .help = "ids of invocations to name for each finding, from 0 to 100; 3 by default"});
  return own;
}

}  // namespace

std::vector<Command> rollout_commands() {
  return {
      {.path = "rollout report",
       .summary = "Say from shadow evidence which routes and tools are ready to enforce",
       .description =
           "Reads what was recorded while routes or tools were in shadow mode, and sets policy's "
           "word beside what happened, for each route and tool: what agreed, what policy would "
           "deny, what it would allow that was refused, what ran without a decision, and effects "
           "that no decision explains. Then it says what is ready to enforce, and what is not and "
           "why. What was not seen, or not seen often enough, is never ready.\n\n"
           "With --bundle the decisions of that bundle count and no others, and what it puts in "
           "shadow mode and nobody called is not exercised.\n\n"
           "Exit code 0: everything in shadow mode is ready. 1: something is not. 2: the evidence "
           "does not say.",
       .flags = with_inputs(
           {{.name = "--bundle",
             .value_name = "DIR",
             .help = "the bundle that is in shadow mode: its inventory, its version and digest"},
            {.name = "--criteria",
             .value_name = "FILE",
             .help = "what is needed to be ready, and which denials are wanted, remit.rollout/1"},
            {.name = "--policy-version",
             .value_name = "VERSION",
             .help = "compare the decisions of this policy only, or of several that decide alike",
             .repeatable = true},
            {.name = "--min-calls",
             .value_name = "N",
             .help = "compared calls that a route and tool need, at least 1; 100 by default"},
            {.name = "--max-would-deny",
             .value_name = "N",
             .help = "denials to come, beside expected ones, that may be let stand; 0 by default"},
            {.name = "--by",
             .value_name = "WHAT",
             .help = "a row for each route, or each tool, instead of each pair of them",
             .choices = {"pair", "route", "tool"}},
            {.name = "--format",
             .value_name = "FORMAT",
             .help = "what to print",
             .choices = {"text", "json", "junit"}}}),
       .positionals = {{.name = "INPUT", .help = "evidence to read", .repeatable = true}},
       .examples = {{"remit rollout report evidence --bundle bundle",
                     "what keeps each route and tool of the bundle from enforcing"},
                    {"remit rollout report evidence --by route --min-calls 1000",
                     "one line for each route"}},
       .run = run_rollout_report},
      {.path = "routes check",
       .summary = "Compare the routes that a bundle declares with those that evidence shows",
       .description =
           "Sets the inventory of routes and tools beside what was seen: routes that are declared "
           "and never seen, seen and not declared, tools that were never called by a route, calls "
           "that ran without a decision, and effects that no decision explains.\n\n"
           "Exit code 0: every route and tool was seen, and nothing else. 1: something was seen "
           "that is not declared or not explained. 2: something was not seen, or the record does "
           "not say.",
       .flags = with_inputs({{.name = "--bundle",
                              .value_name = "DIR",
                              .help = "the bundle whose routes are the inventory",
                              .required = true},
                             {.name = "--require-observer",
                              .help = "the record of somebody who watches the tools must be there"},
                             {.name = "--format",
                              .value_name = "FORMAT",
                              .help = "what to print",
                              .choices = {"text", "json"}}}),
       .positionals = {{.name = "INPUT", .help = "evidence to read", .repeatable = true}},
       .examples = {{"remit routes check --bundle bundle evidence audit.jsonl",
                     "evidence, and what the tools' own audit trail saw"}},
       .run = run_routes_check}};
}

}  // namespace remit::cli
