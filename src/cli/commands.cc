// The command table: every command and flag of the program, once.
#include "cli/commands.h"

#include <algorithm>
#include <iterator>

#include "cli/approvals.h"
#include "cli/conform_commands.h"
#include "cli/evidence_proofs.h"
#include "cli/ledger.h"
#include "cli/queue.h"
#include "cli/replay.h"
#include "cli/rollout_commands.h"
#include "report/formats.h"

namespace remit::cli {
namespace {

Command stdio_command() {
  return {
      .path = "stdio",
      .summary = "Put the boundary in front of stdio MCP servers",
      .description =
          "Speaks MCP on standard input and output to one client, starts the servers that the "
          "configuration names, and lets through what policy allows. Every request, decision, "
          "start "
          "and finish is in the evidence directory before it has an effect.\n\n"
          "It ends when the client closes its end: calls in flight are finished and recorded "
          "first.",
      .flags = {{.name = "--config",
                 .value_name = "FILE",
                 .help = "the configuration, remit.config/1",
                 .required = true},
                {.name = "--run-id",
                 .value_name = "ID",
                 .help = "the evaluation run these calls belong to"},
                {.name = "--case-id", .value_name = "ID", .help = "the case of the run"},
                {.name = "--manifest",
                 .value_name = "FILE",
                 .help =
                     "the manifest that the run will be graded against; its digest is recorded"},
                {.name = "--environment",
                 .value_name = "NAME",
                 .help = "the environment to record, where it is not the bundle's"}},
      .examples = {{"remit stdio --config remit.yaml",
                    "what an MCP client's configuration names as the server's command"}},
      .run = run_stdio};
}

std::vector<std::string_view> report_names() {
  std::vector<std::string_view> out;
  for (const report::Format& format : report::formats()) out.push_back(format.name);
  return out;
}

Flag baseline_flag() {
  return {.name = "--baseline",
          .value_name = "FILE",
          .help = "findings that are known and do not fail the gate for a time, remit.baseline/1"};
}

Flag input_format_flag() {
  return {.name = "--input-format",
          .value_name = "FORM",
          .help = "what the files hold, where their beginning does not tell",
          .choices = {"auto", "jsonl", "otlp", "openai-chat", "agentdojo", "tau-bench"}};
}

Command grade_command() {
  return {
      .path = "grade",
      .summary = "Grade recorded events: planning, enforcement, execution, completeness",
      .description =
          "Reads events, and says what they support. The four verdicts are kept apart, each "
          "failure names "
          "the owner of the first contradicted fact, and what cannot be known is undetermined, "
          "which never "
          "passes. The same inputs give the same bytes.\n\n"
          "An input is a file, an evidence directory, which is verified first, another directory, "
          "of which every .json and .jsonl file is read, or - for standard input; each may be "
          "packed by gzip or zstd. Each file is a writer of its own unless its events name "
          "theirs. A file holds events (remit.event/1), OpenTelemetry as JSON or recorded agent "
          "runs; of what records no decisions only planning can be judged.\n\n"
          "What memory has no room for waits in a scratch file without a name in $TMPDIR, or where "
          "that is not set in /var/tmp or /tmp.",
      .flags = {{.name = "--manifest",
                 .value_name = "FILE",
                 .help = "what the run is judged against, remit.manifest/1"},
                {.name = "--contract",
                 .value_name = "NAME|FILE",
                 .help = "the relations that must hold: a built-in contract, or remit.contract/1"},
                {.name = "--expect",
                 .value_name = "ID",
                 .help = "an invocation that must be there",
                 .repeatable = true},
                {.name = "--expect-file",
                 .value_name = "FILE",
                 .help = "invocations that must be there, one id a line"},
                {.name = "--format",
                 .value_name = "FORMAT",
                 .help = "what to print",
                 .choices = report_names()},
                {.name = "--write",
                 .value_name = "FORMAT=FILE",
                 .help = "write a report to a file as well, whole or not at all, and never over an "
                         "input",
                 .repeatable = true},
                {.name = "--handoff",
                 .value_name = "DIRECTORY",
                 .help =
                     "write a document and a page for each invocation that is not in order, for "
                     "its owner; the directory must be new or empty"},
                baseline_flag(),
                input_format_flag(),
                {.name = "--head",
                 .value_name = "DIGEST",
                 .help = "the head that an evidence directory must have, kept elsewhere"},
                {.name = "--watch",
                 .help =
                     "follow inputs that still grow, tell what fails as it comes, and print the "
                     "grade once every run has finished or a signal asks for it; each look "
                     "reads everything again, and rests four times as long as that took"},
                {.name = "--all", .help = "list every invocation, not only those with a finding"},
                {.name = "--advisory",
                 .help = "exit 0 whatever the gate says, and say what it would have been"},
                {.name = "--progress",
                 .value_name = "WHEN",
                 .help = "say on the error output how much was read, how fast, and how long the "
                         "rest takes; auto, the default, does so on a terminal",
                 .choices = {"auto", "always", "never"}},
                {.name = "--threads",
                 .value_name = "N",
                 .help = "threads that decode lines, by default one for each processor up to "
                         "four; the grade is the same for every number"}},
      .positionals = {{.name = "INPUT", .help = "events to read", .repeatable = true}},
      .examples = {{"remit grade trace.jsonl", "the four verdicts over one file"},
                   {"remit grade evidence --manifest manifest.yaml --write junit=grade.xml",
                    "a run, verified and judged against its manifest, with a report for CI"}},
      .run = run_grade};
}

/// The options of `remit grade` that say what a run is judged by, behind `own`.
std::vector<Flag> flags_of_grade(std::vector<Flag> own) {
  const std::vector<Flag> all = grade_command().flags;
  for (const std::string_view name :
       {"--manifest", "--contract", "--expect", "--expect-file", "--input-format", "--head"}) {
    const auto flag =
        std::find_if(all.begin(), all.end(), [&](const Flag& each) { return each.name == name; });
    own.push_back(*flag);
  }
  return own;
}

Command baseline_check_command() {
  return {
      .path = "baseline check",
      .summary = "Check a file of known findings",
      .description =
          "Reads remit.baseline/1 and tells everything that is wrong with it, and which entries "
          "have expired. It exits with 1 where there is either.",
      .positionals = {{.name = "FILE", .help = "the baseline"}},
      .run = run_baseline_check};
}

Command baseline_shrink_command() {
  Flag baseline = baseline_flag();
  baseline.required = true;
  return {.path = "baseline shrink",
          .summary = "Take out of a baseline what a run no longer shows",
          .description =
              "Grades the inputs and writes the baseline anew with fewer entries and lower counts: "
              "without those that expired, and without what was not found though the run could "
              "have shown it. It never adds anything. A run whose record is empty or not whole "
              "changes nothing.",
          .flags = flags_of_grade({baseline}),
          .positionals = {{.name = "INPUT", .help = "events to read", .repeatable = true}},
          .examples = {{"remit baseline shrink --baseline known.yaml evidence",
                        "after a mend, so that what is gone cannot come back unseen"}},
          .run = run_baseline_shrink};
}

Command baseline_suggest_command() {
  return {.path = "baseline suggest",
          .summary = "Print entries for findings that no baseline has",
          .description =
              "Grades the inputs and prints an entry for each failure that is not known. Owner, "
              "reason and day of expiry are blanks, and a file with a blank is refused: a person "
              "who answers for the finding fills them in.",
          .flags = flags_of_grade({baseline_flag()}),
          .positionals = {{.name = "INPUT", .help = "events to read", .repeatable = true}},
          .run = run_baseline_suggest};
}

Command case_from_trace_command() {
  return {.path = "case from-trace",
          .summary = "Turn recorded calls into cases of a manifest",
          .description =
              "Prints a manifest with the facts that the trace records: policies, principals, "
              "resources, approvals, and an entry for each call. What should have been decided is "
              "left blank, and so is every fact on which the trace contradicts itself. A person "
              "fills in the blanks; until then remit grade refuses the file.\n\n"
              "What was decided is not copied: an expectation that is made from the answer tests "
              "nothing. Read it with remit explain.",
          .flags = {{.name = "--invocation",
                     .value_name = "ID",
                     .help = "only this invocation; all of them by default"},
                    {.name = "--run-id", .value_name = "ID", .help = "all invocations of this run"},
                    input_format_flag(),
                    {.name = "--out",
                     .value_name = "FILE",
                     .help = "write to a file, which must not be there yet"},
                    {.name = "--into",
                     .value_name = "MANIFEST",
                     .help = "add to this manifest, of which every byte stays; its cases must have "
                             "other ids"}},
          .positionals = {{.name = "INPUT", .help = "events to read", .repeatable = true}},
          .examples = {{"remit case from-trace evidence --invocation kq3… --out incident.yaml",
                        "a test that keeps an incident from coming back"},
                       {"remit case from-trace evidence --invocation kq3… --into manifest.yaml",
                        "the same beside the cases that are there"}},
          .run = run_case_from_trace};
}

Command contract_check_command() {
  return {
      .path = "contract check",
      .summary = "Say in words what a contract requires",
      .description =
          "Reads remit.contract/1, or one of the built-in contracts (sequential, fan_out, "
          "queued), and says what must hold: first for every invocation, then what differs by "
          "rule. Of a contract that is refused it tells everything that is wrong, each with its "
          "line and column, and exits with 1.",
      .flags = {{.name = "--format",
                 .value_name = "FORMAT",
                 .help = "what to print",
                 .choices = {"text", "json"}}},
      .positionals = {{.name = "NAME|FILE", .help = "the contract"}},
      .examples = {{"remit contract check contract.yaml", "before a run is judged by it"},
                   {"remit contract check sequential", "what holds where nothing else is said"}},
      .run = run_contract_check};
}

Command manifest_check_command() {
  return {.path = "manifest check",
          .summary = "Check a manifest",
          .description =
              "Reads remit.manifest/1 and tells everything that is wrong with it, blanks that are "
              "not filled in among it, each with its line and column, and exits with 1; or its "
              "digest, its cases and what it pins.",
          .positionals = {{.name = "FILE", .help = "the manifest"}},
          .examples = {{"remit manifest check manifest.yaml", "before a run is judged by it"}},
          .run = run_manifest_check};
}

Command policy_check_command() {
  return {.path = "policy check",
          .summary = "Check a policy bundle",
          .description =
              "Loads the bundle as the boundary would, whole or not at all: catalogue, argument "
              "schemas, "
              "Cedar schema and policies. Prints its version and digest, or everything that is "
              "wrong with "
              "it, each with its file, line and column. Warned of are policies that can never "
              "apply, a bundle that permits nothing, and tools whose effect, scopes and policies "
              "do not go together.",
          .positionals = {{.name = "BUNDLE", .help = "the bundle's directory"}},
          .examples = {{"remit policy check ./bundle", "before a new version is published"}},
          .run = run_policy_check};
}

Command evidence_verify_command() {
  return {
      .path = "evidence verify",
      .summary = "Prove that an evidence directory is as it was written",
      .description =
          "Recomputes every root of every writer and says where the first difference is: an edited "
          "byte, "
          "a line swapped, added or removed, a segment missing. Prints the head, a digest over all "
          "writers.\n\nWhoever can rewrite the files can rewrite an unsigned chain: keep the head "
          "elsewhere and give it with --head, and a rewritten or rolled back directory shows as "
          "well. A checkpoint that was signed (`remit evidence checkpoint`) does the same by "
          "itself, with --checkpoint and --key.\n\n"
          "Exit code 0: as written. 1: not. 2: what was kept ends within what retention removed.",
      .flags = {{.name = "--head",
                 .value_name = "DIGEST",
                 .help = "the head that it must have or extend"},
                {.name = "--checkpoint",
                 .value_name = "PATH",
                 .help = "a signed checkpoint that a log must extend, or a folder of them",
                 .repeatable = true},
                {.name = "--key",
                 .value_name = "VKEY",
                 .help = "a verifier key whose signatures are believed",
                 .repeatable = true}},
      .positionals = {{.name = "DIRECTORY", .help = "the evidence directory"}},
      .run = run_evidence_verify};
}

Command evidence_show_command() {
  return {.path = "evidence show",
          .summary = "Print the events of an evidence directory",
          .description =
              "Prints the recorded lines in their exact bytes, writer by writer, without verifying "
              "them.",
          .flags = {{.name = "--invocation",
                     .value_name = "ID",
                     .help = "only events of this invocation"},
                    {.name = "--run-id", .value_name = "ID", .help = "only events of this run"},
                    {.name = "--case-id", .value_name = "ID", .help = "only events of this case"}},
          .positionals = {{.name = "DIRECTORY", .help = "the evidence directory"}},
          .run = run_evidence_show};
}

Command init_command() {
  return {
      .path = "init",
      .summary = "Write a working configuration and policy bundle for a server",
      .description =
          "Asks an MCP server for its tools, or reads a tool list, and writes a bundle (default "
          "deny, "
          "tenant isolation, scopes by effect), a configuration and a digest key. The principal "
          "that it writes may read: tools that read can be used at once, and it says of each "
          "whether it is one. A tool of which the server says nothing counts as destructive, until "
          "you say more. What it writes is meant to be edited. It never overwrites a file.",
      .flags = {{.name = "--directory",
                 .value_name = "DIR",
                 .help = "where to write; made if absent; the current directory by default"},
                {.name = "--server",
                 .value_name = "NAME",
                 .help = "the server's name in the configuration; `server` by default"},
                {.name = "--tools",
                 .value_name = "FILE",
                 .help = "a tools/list result as JSON, in place of asking the server"},
                {.name = "--effect",
                 .value_name = "TOOL=EFFECT",
                 .help = "what a tool does, read, write or destructive, where the server does not "
                         "say or is not believed",
                 .repeatable = true},
                {.name = "--tenant",
                 .value_name = "NAME",
                 .help = "the tenant of the pinned principal; `local` by default"}},
      .trailing =
          "the server's command, as a client would start it; with --tools it is only written down",
      .examples = {{"remit init --server files -- npx -y "
                    "@modelcontextprotocol/server-filesystem /srv/data",
                    "a bundle for a live server"},
                   {"remit init --effect read_file=read -- ./my-server",
                    "a server that says nothing of its tools"},
                   {"remit init --tools tools.json -- ./my-server",
                    "a bundle from a list, without starting anything"}},
      .run = run_init};
}

Command explain_command() {
  return {
      .path = "explain",
      .summary = "Tell what happened to an invocation, from the record",
      .description =
          "Prints, in order, what is recorded of each invocation: request, resolution, decision "
          "with its "
          "reason and policies, start, finish and observed effects; and what is not recorded. It "
          "judges "
          "nothing: that is `remit grade`.",
      .flags = {{.name = "--from",
                 .value_name = "INPUT",
                 .help = "evidence directory, file or folder of events, or - for standard input; "
                         "at least one is needed",
                 .repeatable = true},
                input_format_flag(),
                {.name = "--run-id", .value_name = "ID", .help = "all invocations of this run"},
                {.name = "--case-id", .value_name = "ID", .help = "all invocations of this case"},
                {.name = "--contract",
                 .value_name = "FILE",
                 .help = "a contract, whose canaries are not shown"}},
      .positionals = {{.name = "INVOCATION",
                       .help = "ids of invocations; none: all that the options select",
                       .required = false,
                       .repeatable = true}},
      .examples = {{"remit explain --from evidence kq3…", "why a call was refused"}},
      .run = run_explain};
}

Command explain_code_command() {
  return {.path = "explain-code",
          .summary = "Tell what a finding code or a reason means, who owns it and what to do",
          .description =
              "Prints when a finding of this code is made, what it makes of which verdict, its "
              "owner, the usual cause, and what to do about it; or of a reason, who gives it and "
              "when. Without a word it lists all of them.",
          .flags = {{.name = "--format",
                     .value_name = "FORMAT",
                     .help = "what to print",
                     .choices = {"text", "json"}}},
          .positionals = {{.name = "CODE",
                           .help = "a finding's code, such as start_after_deny, or the reason of a "
                                   "decision, such as tenant_mismatch",
                           .required = false}},
          .examples = {{"remit explain-code start_after_deny", "after a grade that failed"}},
          .run = run_explain_code};
}

Command generate_command() {
  return {.path = "generate",
          .summary = "Print the man page or a shell completion script",
          .description = "All of them are made of the same table as the parser.",
          .positionals = {{.name = "WHAT",
                           .help = "man, complete-bash, complete-zsh or complete-fish"}},
          .examples = {{"remit generate complete-bash > /etc/bash_completion.d/remit",
                        "for all users"}},
          .run = run_generate};
}

Command version_command() {
  return {.path = "version",
          .summary = "Print the version",
          .description = "The program's version and the formats it speaks.",
          .run = run_version};
}

/// `more` in front of the command `path`.
std::vector<Command> with(std::vector<Command> commands, std::string_view path,
                          std::vector<Command> more) {
  const auto place = std::find_if(commands.begin(), commands.end(),
                                  [&](const Command& each) { return each.path == path; });
  commands.insert(place, std::make_move_iterator(more.begin()),
                  std::make_move_iterator(more.end()));
  return commands;
}

// `remit conform` stands behind the commands that grade and check, `remit rollout` behind those of
// policies, `remit queue`, `remit approvals` and `remit ledger` beside the gateway.
std::vector<Command> with_groups(std::vector<Command> commands) {
  commands = with(std::move(commands), "policy check", conform_commands());
  commands = with(std::move(commands), "evidence verify", rollout_commands());
  commands = with(std::move(commands), "init", evidence_commands());
  commands = with(std::move(commands), "grade", replay_commands());
  commands = with(std::move(commands), "grade", queue_commands());
  commands = with(std::move(commands), "grade", approval_commands());
  return with(std::move(commands), "grade", ledger_commands());
}

}  // namespace

const std::vector<Command>& all_commands() {
  static const std::vector<Command> commands = with_groups({
      stdio_command(),
      grade_command(),
      baseline_check_command(),
      baseline_shrink_command(),
      baseline_suggest_command(),
      case_from_trace_command(),
      contract_check_command(),
      manifest_check_command(),
      policy_check_command(),
      evidence_verify_command(),
      evidence_show_command(),
      init_command(),
      explain_command(),
      explain_code_command(),
      generate_command(),
      version_command(),
  });
  return commands;
}

}  // namespace remit::cli
