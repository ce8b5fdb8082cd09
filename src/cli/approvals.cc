// remit approvals: list, show, grant, revoke.
#include "cli/approvals.h"

#include <fmt/format.h>

#include <charconv>

#include "base/limits.h"
#include "base/rfc3339.h"
#include "cli/desk.h"
#include "json/value.h"

namespace remit::cli {
namespace {

using ledger::Approval;
using ledger::ApprovalRequest;
using ledger::PendingRequest;

/// What is to be done, for whom: what a person answers for.
std::string asked_text(const ApprovalRequest& asked) {
  std::string out = fmt::format("  tool: {}\n", asked.tool);
  out += fmt::format("  principal: {} of {}\n", in_full(asked.subject), in_full(asked.tenant));
  if (!asked.on_behalf_of.empty()) {
    out += fmt::format("  on behalf of: {}\n", in_full(asked.on_behalf_of));
  }
  out += fmt::format("  resources: {}\n", as_it_is(asked.resources));
  out += asked.arguments.empty()
             ? fmt::format("  arguments: more than {} bytes, not kept\n", kMaxRequestArgumentBytes)
             : fmt::format("  arguments: {}\n", as_it_is(asked.arguments));
  return out + fmt::format("  policy version: {}\n", in_full(asked.policy_version));
}

json::Object asked_json(const ApprovalRequest& asked) {
  json::Object out{{"request", asked.request},
                   {"tool", asked.tool},
                   {"subject", asked.subject},
                   {"tenant", asked.tenant}};
  if (!asked.on_behalf_of.empty()) out.set("on_behalf_of", asked.on_behalf_of);
  out.set("resources", asked.resources);
  out.set("arguments", asked.arguments);
  out.set("policy_version", asked.policy_version);
  return out;
}

std::string pending_text(const PendingRequest& request) {
  return fmt::format("request {}  asked {}, last {}\n", request.asked.request,
                     request.times == 1 ? "once" : fmt::format("{} times", request.times),
                     format_rfc3339(request.last)) +
         asked_text(request.asked);
}

json::Object pending_json(const PendingRequest& request) {
  json::Object out = asked_json(request.asked);
  out.set("times", request.times);
  out.set("first", format_rfc3339(request.first));
  out.set("last", format_rfc3339(request.last));
  return out;
}

std::string approval_text(const Approval& approval) {
  std::string out =
      fmt::format("approval {}  {}, expires {}\n", approval.id,
                  ledger::approval_state_name(approval.state), format_rfc3339(approval.expires));
  out += fmt::format("  granted: {} by {}: {}\n", format_rfc3339(approval.granted),
                     in_full(approval.granted_by), in_full(approval.reason));
  if (!approval.invocation.empty()) {
    out += fmt::format("  used up: {} by the invocation {}\n", time_text(approval.changed),
                       approval.invocation);
  }
  if (!approval.changed_by.empty()) {
    out += fmt::format("  revoked: {} by {}: {}\n", time_text(approval.changed),
                       in_full(approval.changed_by), in_full(approval.changed_why));
  }
  return out + asked_text(approval.asked);
}

json::Object approval_json(const Approval& approval) {
  json::Object out{{"approval", approval.id},
                   {"state", ledger::approval_state_name(approval.state)},
                   {"granted", format_rfc3339(approval.granted)},
                   {"granted_by", approval.granted_by},
                   {"reason", approval.reason},
                   {"expires", format_rfc3339(approval.expires)}};
  if (!approval.invocation.empty()) out.set("invocation", approval.invocation);
  if (!approval.changed_by.empty()) {
    out.set("revoked_by", approval.changed_by);
    out.set("revoked_why", approval.changed_why);
  }
  if (approval.changed) out.set("changed", format_rfc3339(*approval.changed));
  out.set("asked", asked_json(approval.asked));
  return out;
}

/// `90s`, `10m`, `2h` or `7d`.
Result<std::chrono::seconds> parse_span(const std::string& text) {
  std::int64_t count = 0;
  const char* const end_of_text = text.data() + text.size();
  const auto [end, fault] = std::from_chars(text.data(), end_of_text, count);
  const std::string_view unit(end, static_cast<std::size_t>(end_of_text - end));
  std::int64_t seconds = 0;
  if (unit == "s") seconds = 1;
  if (unit == "m") seconds = 60;
  if (unit == "h") seconds = 3600;
  if (unit == "d") seconds = 24 * 3600;
  constexpr std::int64_t kMost = std::chrono::seconds(kMaxApprovalLifetime).count();
  if (fault != std::errc{} || seconds == 0 || count < 1 || count > kMost / seconds) {
    return Error{
        ErrorCode::kInvalidInput,
        fmt::format("want a time of at most 30 days as 90s, 10m, 2h or 7d, not {}", quoted(text)),
        "--expires"};
  }
  return std::chrono::seconds{count * seconds};
}

template <class Entry>
int print_list(World& world, const Arguments& arguments, const std::vector<Entry>& entries,
               std::string (*text)(const Entry&), json::Object (*object)(const Entry&),
               std::string_view none) {
  if (arguments.value("--format") == "json") {
    json::Array all;
    for (const Entry& entry : entries) all.emplace_back(object(entry));
    return print(world, json::write(json::Value{std::move(all)}) + "\n", kExitOk);
  }
  std::string out;
  for (const Entry& entry : entries) out += text(entry);
  if (entries.empty()) out = none;
  if (entries.size() == kMaxLedgerRows) {
    out += fmt::format("only the newest {} are shown\n", kMaxLedgerRows);
  }
  return print(world, out, kExitOk);
}

int run_list(const Arguments& arguments, World& world) {
  int exit_code = kExitOk;
  const auto desk = open_desk(arguments, world, exit_code);
  if (desk == nullptr) return exit_code;
  if (arguments.has("--pending")) {
    const auto pending = desk->pending();
    if (!pending) return refuse(world, pending.error());
    return print_list(world, arguments, *pending, pending_text, pending_json,
                      "nothing waits for an approval\n");
  }
  const auto approvals = desk->approvals(arguments.has("--all"));
  if (!approvals) return refuse(world, approvals.error());
  return print_list(world, arguments, *approvals, approval_text, approval_json,
                    arguments.has("--all") ? "no approvals\n" : "no active approvals\n");
}

/// What the beginning of an id stands for, among what waits and what was granted: ids are long, and
/// people copy their first letters. An error is for whoever asks next.
std::string meant_id(ledger::Desk& desk, const std::string& given) {
  std::vector<std::string> ids;
  if (const auto pending = desk.pending()) {
    for (const PendingRequest& each : *pending) ids.push_back(each.asked.request);
  }
  if (const auto approvals = desk.approvals(true)) {
    for (const Approval& each : *approvals) ids.push_back(each.id);
  }
  return full_id(given, ids);
}

int run_show(const Arguments& arguments, World& world) {
  int exit_code = kExitOk;
  const auto desk = open_desk(arguments, world, exit_code);
  if (desk == nullptr) return exit_code;
  const std::string id = meant_id(*desk, arguments.positionals().front());
  const bool is_json = arguments.value("--format") == "json";
  const auto approval = desk->find(id);
  if (approval) {
    return print(world,
                 is_json ? json::write(json::Value{approval_json(*approval)}) + "\n"
                         : approval_text(*approval),
                 kExitOk);
  }
  if (approval.error().code != ErrorCode::kNotFound) return refuse(world, approval.error());
  const auto request = desk->find_request(id);
  if (request) {
    return print(
        world,
        is_json ? json::write(json::Value{pending_json(*request)}) + "\n" : pending_text(*request),
        kExitOk);
  }
  if (request.error().code != ErrorCode::kNotFound) return refuse(world, request.error());
  return refuse(world, {ErrorCode::kNotFound,
                        fmt::format("there is no approval and no request {}", quoted(id))});
}

int run_grant(const Arguments& arguments, World& world) {
  const auto lifetime = parse_span(arguments.value("--expires", "15m"));
  if (!lifetime) return refuse(world, lifetime.error());
  int exit_code = kExitOk;
  const auto desk = open_desk(arguments, world, exit_code);
  if (desk == nullptr) return exit_code;
  const auto granted = desk->grant({.request = meant_id(*desk, arguments.positionals().front()),
                                    .by = arguments.value("--by"),
                                    .reason = arguments.value("--reason"),
                                    .lifetime = *lifetime});
  if (!granted) return refuse(world, granted.error());
  const auto approval = desk->find(*granted);
  if (!approval) return refuse(world, approval.error());
  return print(world, approval_text(*approval), kExitOk);
}

int run_revoke(const Arguments& arguments, World& world) {
  int exit_code = kExitOk;
  const auto desk = open_desk(arguments, world, exit_code);
  if (desk == nullptr) return exit_code;
  const std::string id = meant_id(*desk, arguments.positionals().front());
  const Status revoked = desk->revoke(id, arguments.value("--by"), arguments.value("--reason"));
  if (!revoked) return refuse(world, revoked.error());
  return print(world, fmt::format("revoked {}\n", id), kExitOk);
}

}  // namespace

std::vector<Command> approval_commands() {
  return {
      {.path = "approvals list",
       .summary = "List approvals, or the calls that wait for one",
       .description =
           "Prints the approvals that are active. With --pending it prints the calls that were "
           "denied for want of an approval: who asked, for which tool, on which resources, with "
           "which arguments. A request that was not made again for a day is gone.",
       .flags = {config_flag(),
                 {.name = "--pending", .help = "what waits to be granted"},
                 {.name = "--all", .help = "approvals that are used up, revoked or expired too"},
                 list_format_flag()},
       .examples = {{"remit approvals list --config remit.yaml --pending",
                     "what somebody is asked to answer for"}},
       .run = run_list},
      {.path = "approvals show",
       .summary = "Show one approval, or one request for one",
       .description = "Prints what it is for, who granted it and why, and what became of it.",
       .flags = {config_flag(), list_format_flag()},
       .positionals = {{.name = "ID",
                        .help = "an approval's id, or a request's, or how one begins"}},
       .run = run_show},
      {.path = "approvals grant",
       .summary = "Approve one call that waits for it",
       .description =
           "The approval is good once, for the same principal, tool, resources and arguments under "
           "the same policy, until it expires. It permits nothing by itself: policy decides the "
           "call again. The agent repeats the call unchanged.",
       .flags = {config_flag(),
                 by_flag(),
                 reason_flag(),
                 {.name = "--expires",
                  .value_name = "TIME",
                  .help = "how long it is good, as 90s, 10m, 2h or 7d; 15m by default"}},
       .positionals = {{.name = "REQUEST",
                        .help = "the request's id, as list --pending has it, or how it begins"}},
       .examples = {{"remit approvals grant --config remit.yaml 3f2a… --by carol --reason \"ticket "
                     "812\" --expires 10m",
                     "let the agent refund this invoice by this amount, once"}},
       .run = run_grant},
      {.path = "approvals revoke",
       .summary = "Take back an approval that was not used",
       .description = "It counts for every call that has not started yet.",
       .flags = {config_flag(), by_flag(), reason_flag()},
       .positionals = {{.name = "APPROVAL", .help = "the approval's id, or how it begins"}},
       .run = run_revoke},
  };
}

}  // namespace remit::cli
