// remit ledger: list, resolve.
#include "cli/ledger.h"

#include <fmt/format.h>

#include "base/limits.h"
#include "base/rfc3339.h"
#include "cli/desk.h"
#include "json/value.h"

namespace remit::cli {
namespace {

using ledger::ClaimEntry;

std::string claim_text(const ClaimEntry& entry) {
  std::string out = fmt::format("claim {}  {}, {}, attempt {} by the invocation {}\n", entry.claim,
                                entry.state, entry.tool, entry.attempt, entry.invocation);
  out += fmt::format("  claimed {}, {}\n", format_rfc3339(entry.claimed),
                     entry.was_started ? "and started" : "and not started");
  if (entry.finished) out += fmt::format("  finished {}\n", format_rfc3339(*entry.finished));
  if (!entry.approval.empty()) out += fmt::format("  used up the approval {}\n", entry.approval);
  if (!entry.settled_by.empty()) {
    out +=
        fmt::format("  settled by {}: {}\n", in_full(entry.settled_by), in_full(entry.settled_why));
  } else if (entry.state == "unknown") {
    out += "  it may have had its effect; look, then say so with `remit ledger resolve`\n";
  }
  return out;
}

json::Object claim_json(const ClaimEntry& entry) {
  json::Object out{{"claim", entry.claim},
                   {"state", entry.state},
                   {"tool", entry.tool},
                   {"invocation", entry.invocation},
                   {"attempt", entry.attempt},
                   {"started", entry.was_started},
                   {"claimed", format_rfc3339(entry.claimed)}};
  if (entry.finished) out.set("finished", format_rfc3339(*entry.finished));
  if (!entry.approval.empty()) out.set("approval", entry.approval);
  if (!entry.settled_by.empty()) {
    out.set("settled_by", entry.settled_by);
    out.set("settled_why", entry.settled_why);
  }
  return out;
}

int run_list(const Arguments& arguments, World& world) {
  int exit_code = kExitOk;
  const auto desk = open_desk(arguments, world, exit_code);
  if (desk == nullptr) return exit_code;
  const auto claims = desk->claims(arguments.has("--all"));
  if (!claims) return refuse(world, claims.error());
  if (arguments.value("--format") == "json") {
    json::Array all;
    for (const ClaimEntry& entry : *claims) all.emplace_back(claim_json(entry));
    return print(world, json::write(json::Value{std::move(all)}) + "\n", kExitOk);
  }
  std::string out;
  for (const ClaimEntry& entry : *claims) out += claim_text(entry);
  if (claims->empty()) out = "nothing is under way, and nothing is unknown\n";
  if (claims->size() == kMaxLedgerRows) {
    out += fmt::format("only the newest {} are shown\n", kMaxLedgerRows);
  }
  return print(world, out, kExitOk);
}

int run_resolve(const Arguments& arguments, World& world) {
  int exit_code = kExitOk;
  const auto desk = open_desk(arguments, world, exit_code);
  if (desk == nullptr) return exit_code;
  const std::string as = arguments.value("--as");
  ledger::Settlement settlement = ledger::Settlement::kFailed;
  if (as == "succeeded") settlement = ledger::Settlement::kSucceeded;
  if (as == "not-run") settlement = ledger::Settlement::kNotRun;
  const std::string& claim = arguments.positionals().front();
  const Status resolved = desk->resolve({.claim = claim,
                                         .as = settlement,
                                         .by = arguments.value("--by"),
                                         .reason = arguments.value("--reason")});
  if (!resolved) return refuse(world, resolved.error());
  return print(world, fmt::format("resolved {} as {}\n", claim, as), kExitOk);
}

}  // namespace

std::vector<Command> ledger_commands() {
  return {
      {.path = "ledger list",
       .summary = "List what was claimed and has no known end",
       .description =
           "Prints the invocation keys whose calls are under way, and those whose end nobody "
           "knows: their process died, or their tool did not say. Such a key is not used again "
           "until a person has looked.",
       .flags = {config_flag(),
                 {.name = "--all", .help = "those that ended too"},
                 list_format_flag()},
       .examples = {{"remit ledger list --config remit.yaml", "after a crash"}},
       .run = run_list},
      {.path = "ledger resolve",
       .summary = "Say what became of a call whose end nobody knows",
       .description =
           "Look at the tool first: in its own records, or at what it should have changed. What "
           "is resolved as succeeded or failed is told to whoever repeats the key; not-run frees "
           "the key. An approval that it used up stays used up.",
       .flags = {config_flag(),
                 {.name = "--as",
                  .value_name = "WHAT",
                  .help = "what you found",
                  .required = true,
                  .choices = {"succeeded", "failed", "not-run"}},
                 by_flag(),
                 reason_flag()},
       .positionals = {{.name = "CLAIM", .help = "the claim's id, as list has it"}},
       .examples = {{"remit ledger resolve --config remit.yaml 9c41… --as succeeded --by carol "
                     "--reason \"the bank shows the refund\"",
                     "after the tool's own records were looked at"}},
       .run = run_resolve},
  };
}

}  // namespace remit::cli
