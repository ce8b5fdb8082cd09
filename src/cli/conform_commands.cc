// The rows of `remit conform` in the table of commands.
#include "cli/conform_commands.h"

#include "cli/commands.h"
#include "conformance/formats.h"

namespace remit::cli {
namespace {

std::vector<std::string_view> format_names() {
  std::vector<std::string_view> out;
  for (const conformance::Format& format : conformance::formats()) out.push_back(format.name);
  return out;
}

Flag pack_flag() {
  return {.name = "--pack",
          .value_name = "DIRECTORY",
          .help = "a pack of your own, remit.pack/1, instead of the one that is built in"};
}

Command run_row() {
  return {
      .path = "conform run",
      .summary = "Prove by its own answers whether an executor enforces",
      .description =
          "Runs each case of the conformance pack on each route against a subject, whatever it is "
          "written in: a driver (remit.driver/1) carries the steps out, a spy outside the "
          "executor counts what reached the tool, and the record is graded. An executor that "
          "speaks MCP or HTTP is asked as it is, where the subject file says how to start it; "
          "cases that "
          "a client cannot ask are told as not exercised, with the reason.\n\n"
          "Exit code 0: everything passed. 1: something failed, or a known failure passes. 2: "
          "the harness failed, or nothing was shown. What is missing counts as failed.",
      .flags = {{.name = "--subject", .value_name = "FILE", .help = "the subject, remit.subject/1"},
                {.name = "--routes",
                 .value_name = "ROUTE,…",
                 .help = "run these routes only, whether or not the subject claims them",
                 .repeatable = true},
                {.name = "--case",
                 .value_name = "ID",
                 .help = "run this case only, and the control of its routes",
                 .repeatable = true},
                {.name = "--known-failures",
                 .value_name = "FILE",
                 .help = "failures that are known, remit.known-failures/1; one that passes fails"},
                {.name = "--format",
                 .value_name = "FORMAT",
                 .help = "what to print",
                 .choices = format_names()},
                {.name = "--write",
                 .value_name = "FORMAT=FILE",
                 .help = "write a report to a file as well",
                 .repeatable = true},
                {.name = "--keep",
                 .value_name = "DIRECTORY",
                 .help = "keep the record and the manifest of each trial there, for remit grade; "
                         "made if it is not there, else empty"},
                pack_flag()},
      .trailing = "the driver's command, in the place of --subject",
      .examples = {{"remit conform run --subject subject.yaml --write junit=conform.xml",
                    "every case on every route that the subject has, with a report for CI"},
                   {"remit conform run --case wrong-tenant --routes direct -- python3 driver.py",
                    "one case on one route, while a driver is being written"}},
      .run = run_conform_run};
}

Command list_row() {
  return {
      .path = "conform list",
      .summary = "List requirements and cases, and what each proves and does not",
      .description =
          "Prints the requirements of the conformance pack with the cases that ask for them. The "
          "digest names the pack exactly: quote it beside a result.",
      .flags = {pack_flag()},
      .run = run_conform_list};
}

Command self_test_row() {
  return {
      .path = "conform self-test",
      .summary = "Show that the pack catches executors that are wrong on purpose",
      .description =
          "Runs the pack against a known-bad subject: once in its good form, which must pass, and "
          "once with each fault of the pack, which the case made for it must catch on every route "
          "that it affects. Exit code 0: all are caught. 1: one is not, or only by another case.",
      .flags = {{.name = "--subject",
                 .value_name = "FILE",
                 .help = "a known-bad subject, remit.subject/1",
                 .repeatable = true},
                pack_flag()},
      .trailing = "the driver's command of one more known-bad subject",
      .run = run_conform_self_test};
}

Command plan_row() {
  return {
      .path = "conform plan",
      .summary = "Let a model plan the calls, and judge the executor by its record",
      .description =
          "Puts tasks to a planner behind an endpoint that speaks OpenAI's chat completions: one "
          "that tempts, one with a foreign alias, one whose approval changes between plan and "
          "execution. The subject carries out what the planner asks for. Repetitions, retries "
          "and tokens are in the report.\n\n"
          "Exit code 0: something was called in each, and record and spy show that the executor "
          "enforced. 1: it did not. 2: something was not shown, an endpoint that is away "
          "included. What the planner asked for changes nothing of that.",
      .flags =
          {{.name = "--subject", .value_name = "FILE", .help = "the subject, remit.subject/1"},
           {.name = "--endpoint",
            .value_name = "URL",
            .help = "of the chat completions: https://HOST/v1/chat/completions",
            .required = true},
           {.name = "--model",
            .value_name = "NAME",
            .help = "the model, as the endpoint calls it",
            .required = true},
           {.name = "--key-env",
            .value_name = "NAME",
            .help = "the variable of the environment that holds the endpoint's key"},
           {.name = "--key-file",
            .value_name = "FILE",
            .help = "the file that holds it, which nobody else may read"},
           {.name = "--repetitions",
            .value_name = "N",
            .help = "how often each task is put; 3 unless it is said, 100 at most"},
           {.name = "--deadline",
            .value_name = "SECONDS",
            .help = "of one answer of the planner; 60 unless it is said, 600 at most"},
           {.name = "--route",
            .value_name = "ROUTE",
            .help = "by which the subject is called; agent unless it is said"},
           {.name = "--case", .value_name = "ID", .help = "put this task only", .repeatable = true},
           {.name = "--format",
            .value_name = "FORMAT",
            .help = "what to print",
            .choices = {"text", "json"}},
           pack_flag()},
      .trailing = "the driver's command, in the place of --subject",
      .examples = {{"remit conform plan --subject subject.yaml --endpoint "
                    "http://127.0.0.1:8000/v1/chat/completions --model local",
                    "each task three times, with a model on this machine"}},
      .run = run_conform_plan};
}

Command spy_row() {
  return {
      .path = "conform spy",
      .summary = "Be the tool behind an executor that is judged over MCP",
      .description =
          "An MCP server on standard input and output that lists the tools of the pack and tells "
          "the runner of each call. `remit conform run` writes the file for each trial; the "
          "executor under test starts this program as it would start the real tool.",
      .positionals = {{.name = "FILE", .help = "what the runner says of the trial, remit.spy/1"}},
      .run = run_conform_spy};
}

}  // namespace

std::vector<Command> conform_commands() {
  return {run_row(), list_row(), self_test_row(), plan_row(), spy_row()};
}

}  // namespace remit::cli
