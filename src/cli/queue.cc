// remit queue: work, enqueue, list, show, requeue.
#include "cli/queue.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>

#include "base/limits.h"
#include "base/nearest_word.h"
#include "base/rfc3339.h"
#include "cli/commands.h"
#include "cli/desk.h"
#include "gateway/run_queue.h"
#include "json/value.h"
#include "policy/bundle.h"

namespace remit::cli {
namespace {

using queue::Row;
using queue::State;

/// Names as they are; whatever else somebody wrote into a row, quoted.
std::string shown(std::string_view text) {
  if (text.empty()) return "-";
  for (const char c : text) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') ||
                          std::string_view("_./:@-").find(c) != std::string_view::npos;
    if (!is_plain) return quoted(text);
  }
  return text.size() <= kMaxIdBytes ? std::string(text) : quoted(text);
}

std::string due_text(const Row& row) {
  if (row.state == State::kWaiting) return ", due " + format_rfc3339(row.due);
  if (row.state == State::kClaimed || row.state == State::kStarted) {
    return fmt::format(", with {} until {}", shown(row.worker), format_rfc3339(row.due));
  }
  return "";
}

std::string row_line(const Row& row) {
  std::string why = row.reason.empty() ? row.error_type : row.reason;
  if (!why.empty()) why = " (" + shown(why) + ")";
  return fmt::format("{}  {}{}  {} for {}, attempt {} of {}{}\n", shown(row.id),
                     queue::state_name(row.state), why, shown(row.tool), shown(row.principal),
                     row.attempt, row.max_attempts, due_text(row));
}

/// What a person can do about a row.
std::string_view advice(const Row& row) {
  if (row.state == State::kDenied &&
      (row.reason == "approval_required" || row.reason == "stale_approval")) {
    return "It waits for an approval: `remit approvals list --pending` has it. Grant it, then "
           "requeue the "
           "row, unchanged.";
  }
  switch (row.state) {
    case State::kUnknown:
      return "It may have had its effect. Look at the tool; then requeue it with --settled, or "
             "leave it.";
    case State::kDenied:
      return "Remove the cause that the reason names, then requeue it: it is decided anew.";
    case State::kFailed:
      return "The tool said so, or it never came to a start. Requeue it to try again.";
    case State::kWaiting:
    case State::kClaimed:
    case State::kStarted:
    case State::kSucceeded:
      return "";
  }
  return "";
}

json::Object row_json(const Row& row, bool with_arguments) {
  json::Object out{{"id", row.id},
                   {"queue", row.queue},
                   {"lane", row.lane},
                   {"state", queue::state_name(row.state)},
                   {"tool", row.tool},
                   {"principal", row.principal},
                   {"route", row.route},
                   {"attempt", row.attempt},
                   {"max_attempts", row.max_attempts},
                   {"enqueued", format_rfc3339(row.enqueued)},
                   {"changed", format_rfc3339(row.changed)}};
  const auto set = [&](const char* name, const std::string& text) {
    if (!text.empty()) out.set(name, text);
  };
  if (row.state == State::kWaiting) out.set("due", format_rfc3339(row.due));
  set("reason", row.reason);
  set("error_type", row.error_type);
  set("worker", row.worker);
  set("last_invocation", row.last_invocation);
  set("enqueued_by", row.enqueued_by);
  set("enqueued_policy_version", row.enqueued_policy_version);
  set("run_id", row.run_id);
  set("case_id", row.case_id);
  if (row.repeat_ms > 0) out.set("repeat_ms", row.repeat_ms);
  if (with_arguments) out.set("arguments", row.arguments_json);
  return out;
}

std::string row_text(const Row& row, const std::vector<queue::Note>& notes, bool with_arguments) {
  std::string out = row_line(row);
  const auto line = [&](std::string_view name, const std::string& text) {
    if (!text.empty()) out += fmt::format("  {}: {}\n", name, shown(text));
  };
  line("queue", row.queue);
  line("lane", row.lane);
  line("enqueued", format_rfc3339(row.enqueued));
  line("enqueued by", row.enqueued_by);
  line("policy then", row.enqueued_policy_version);
  line("run", row.run_id);
  line("case", row.case_id);
  line("last invocation", row.last_invocation);
  if (row.repeat_ms > 0) out += fmt::format("  every: {} s\n", row.repeat_ms / 1000);
  if (with_arguments)
    out += "  arguments: " + quoted(row.arguments_json, kMaxQueuedCallBytes) + "\n";
  for (const queue::Note& note : notes) {
    out +=
        fmt::format("  requeued from {} by {} at {}: {}\n", shown(note.from_state), shown(note.by),
                    format_rfc3339(note.at), quoted(note.reason, kMaxRequeueReasonBytes));
  }
  if (const std::string_view what = advice(row); !what.empty()) {
    out += fmt::format("  {}\n", what);
  }
  return out;
}

int refuse(World& world, const std::vector<Error>& problems) {
  for (const Error& problem : problems) complain(world, problem);
  return kExitBadInput;
}

/// An integer option within bounds, or `otherwise` where it is not given.
Result<std::int64_t> number(const Arguments& arguments, std::string_view flag,
                            std::int64_t otherwise, std::int64_t least, std::int64_t most) {
  if (!arguments.has(flag)) return otherwise;
  const std::string text = arguments.value(flag);
  std::int64_t out = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (fault != std::errc{} || end != text.data() + text.size() || out < least || out > most) {
    return Error{ErrorCode::kInvalidInput,
                 fmt::format("want a number from {} to {}, not {}", least, most, quoted(text)),
                 std::string(flag)};
  }
  return out;
}

struct Opened {
  gateway::Config config;
  gateway::QueueStore store;
};

/// The queue of `--config`, which must be there already.
Result<Opened> open(const Arguments& arguments, World& world, std::vector<Error>& problems) {
  gateway::ConfigOutcome read = gateway::read_config(world.files, arguments.value("--config"));
  if (!read.config) {
    problems = std::move(read.problems);
    return Error{ErrorCode::kUnavailable, "the configuration cannot be used"};
  }
  Opened out{.config = *std::move(read.config), .store = {}};
  REMIT_TRY_ASSIGN(out.store, gateway::open_queue(out.config, gateway::QueueCreation::kNever,
                                                  world.files, world.clock, world.random));
  return out;
}

std::string queue_name(const Arguments& arguments) {
  return arguments.value("--queue", queue::kDefaultQueue);
}

std::string host_and_process() {
  char host[64] = "worker";
  if (::gethostname(host, sizeof host) != 0) return "worker";
  host[sizeof host - 1] = '\0';
  return fmt::format("{:.40}/{}", host, ::getpid());
}

int run_work(const Arguments& arguments, World& world) {
  const auto threads = number(arguments, "--threads", 1, 1, kMaxQueueThreads);
  if (!threads) return refuse(world, threads.error());
  const gateway::QueueRun run{
      .config_file = arguments.value("--config"),
      .launch = {.run_id = arguments.value("--run-id"),
                 .manifest_file = arguments.value("--manifest"),
                 .environment = arguments.value("--environment")},
      .worker = {.name = arguments.value("--name", host_and_process()),
                 .queue = queue_name(arguments),
                 .threads = static_cast<std::size_t>(*threads)},
      .until = arguments.has("--until-idle") ? queue::Until::kIdle : queue::Until::kStopped};
  const std::vector<Error> problems =
      gateway::run_queue(run, world.files, world.clock, world.random);
  return problems.empty() ? kExitOk : refuse(world, problems);
}

Result<queue::Work> work_of(const Arguments& arguments) {
  queue::Work work;
  work.queue = queue_name(arguments);
  work.principal = arguments.value("--principal");
  work.tool = arguments.value("--tool");
  work.key = arguments.value("--key");
  if (arguments.has("--not-before")) {
    auto time = parse_rfc3339(arguments.value("--not-before"));
    if (!time) return in_place("--not-before", time.error());
    work.not_before = *time;
  }
  constexpr std::int64_t kMostMinutes = std::chrono::minutes(kLongestRepeat).count();
  REMIT_TRY_ASSIGN(const std::int64_t minutes, number(arguments, "--every", 0, 1, kMostMinutes));
  work.repeat = std::chrono::minutes{minutes};
  REMIT_TRY_ASSIGN(work.max_attempts,
                   number(arguments, "--attempts", work.max_attempts, 1, kMaxAttempts));
  return work;
}

// The file of `--arguments`, which is an input like any other.
Result<std::string> read_arguments(World& world, const std::string& file) {
  REMIT_TRY_ASSIGN(std::string text, world.files.read(file, kMaxQueuedCallBytes));
  const Result<json::Value> value = json::parse(text);
  if (!value) return in_place(file, value.error());
  if (value->if_object() == nullptr) {
    return Error{ErrorCode::kInvalidInput, "is no JSON object, as the arguments of a call are",
                 file};
  }
  return text;
}

// What would keep the row from running if nothing changed. Nothing is decided now and all of it may
// change, so that these are warnings.
std::vector<std::string> obstacles(const queue::Work& work, const policy::Bundle& bundle) {
  std::vector<std::string> out;
  for (const std::string_view route :
       {queue::kQueuedRoute, queue::kScheduledRoute, queue::kRetryRoute}) {
    if (bundle.find_route(route) == nullptr) {
      out.push_back(fmt::format("the bundle has no route {}, and no worker starts without", route));
    }
  }
  const policy::Tool* tool = bundle.find_tool(work.tool);
  if (tool == nullptr) {
    std::vector<std::string_view> known;
    for (const policy::Tool& each : bundle.tools) known.push_back(each.name);
    out.push_back(fmt::format("the catalogue has no tool {}{}", quoted(work.tool),
                              suggestion(work.tool, known)));
    return out;
  }
  const Result<json::Value> given =
      work.arguments_json.empty() ? json::Object{} : json::parse(work.arguments_json);
  if (!given || !tool->arguments) return out;
  const auto mismatches = tool->arguments->validate(*given);
  if (!mismatches || mismatches->empty()) return out;
  const json::SchemaMismatch& first = mismatches->front();
  out.push_back(
      fmt::format("the arguments do not fit the schema of {}: {}{}{}", tool->name, first.keyword,
                  first.property.empty() ? "" : " " + quoted(first.property),
                  first.instance_pointer.empty() ? "" : " at " + quoted(first.instance_pointer)));
  return out;
}

void warn(const queue::Work& work, const gateway::Config& config, World& world) {
  const policy::BundleOutcome loaded = policy::load_bundle(world.files, config.bundle);
  const std::vector<std::string> found =
      loaded.bundle == nullptr
          ? std::vector<std::string>{fmt::format("the bundle cannot be loaded, and no worker "
                                                 "starts without; see remit policy check {}",
                                                 config.bundle)}
          : obstacles(work, *loaded.bundle);
  for (const std::string& each : found) {
    complain(world, Error{ErrorCode::kInvalidInput, "warning: " + each});
  }
}

int run_enqueue(const Arguments& arguments, World& world) {
  auto work = work_of(arguments);
  if (!work) return refuse(world, work.error());
  if (arguments.has("--arguments")) {
    auto text = read_arguments(world, arguments.value("--arguments"));
    if (!text) return refuse(world, std::vector<Error>{text.error()});
    work->arguments_json = *std::move(text);
  }
  const gateway::ConfigOutcome read =
      gateway::read_config(world.files, arguments.value("--config"));
  if (!read.config) return refuse(world, read.problems);
  const auto enqueued =
      gateway::enqueue_for(*read.config, *work, world.files, world.clock, world.random);
  if (!enqueued) return refuse(world, enqueued.error());
  warn(*work, *read.config, world);
  return print(world, enqueued->id + (enqueued->is_new ? "\n" : " was enqueued before\n"), kExitOk);
}

int run_list(const Arguments& arguments, World& world) {
  std::vector<Error> problems;
  const auto opened = open(arguments, world, problems);
  if (!problems.empty()) return refuse(world, problems);
  if (!opened) return refuse(world, opened.error());
  queue::Listing listing{.queue = queue_name(arguments)};
  for (const std::string& name : arguments.values("--state")) {
    listing.states.push_back(*queue::parse_state(name));  // the set is closed
  }
  const auto rows = opened->store.queue->list(listing);
  if (!rows) return refuse(world, rows.error());
  const bool with_arguments = arguments.has("--arguments");
  if (arguments.value("--format") == "json") {
    json::Array all;
    for (const Row& row : *rows) all.emplace_back(row_json(row, with_arguments));
    return print(world, json::write(json::Object{{"rows", std::move(all)}}) + "\n", kExitOk);
  }
  std::string out;
  for (const Row& row : *rows) out += row_line(row);
  if (rows->size() == kMaxListedQueueRows) out += "and perhaps more: ask for one state\n";
  return print(world, out.empty() ? "no rows\n" : out, kExitOk);
}

int run_show(const Arguments& arguments, World& world) {
  std::vector<Error> problems;
  const auto opened = open(arguments, world, problems);
  if (!problems.empty()) return refuse(world, problems);
  if (!opened) return refuse(world, opened.error());
  const std::string& id = arguments.positionals().front();
  const auto row = opened->store.queue->find(id);
  if (!row) return refuse(world, row.error());
  const auto notes = opened->store.queue->notes(id);
  if (!notes) return refuse(world, notes.error());
  const bool with_arguments = arguments.has("--arguments");
  if (arguments.value("--format") != "json") {
    return print(world, row_text(*row, *notes, with_arguments), kExitOk);
  }
  json::Object out = row_json(*row, with_arguments);
  json::Array said;
  for (const queue::Note& note : *notes) {
    said.emplace_back(json::Object{{"by", note.by},
                                   {"reason", note.reason},
                                   {"from", note.from_state},
                                   {"at", format_rfc3339(note.at)}});
  }
  out.set("requeued", std::move(said));
  return print(world, json::write(json::Value{std::move(out)}) + "\n", kExitOk);
}

int run_requeue(const Arguments& arguments, World& world) {
  std::vector<Error> problems;
  const auto opened = open(arguments, world, problems);
  if (!problems.empty()) return refuse(world, problems);
  if (!opened) return refuse(world, opened.error());
  const Status done =
      opened->store.queue->requeue({.id = arguments.positionals().front(),
                                    .by = arguments.value("--by"),
                                    .reason = arguments.value("--reason"),
                                    .may_have_run_is_settled = arguments.has("--settled")});
  if (!done) return refuse(world, done.error());
  return print(world, "it waits, and will be decided anew\n", kExitOk);
}

Flag queue_flag() {
  return {.name = "--queue",
          .value_name = "NAME",
          .help = "the queue; `default` by default",
          .is_filled = true};
}

Flag arguments_shown_flag() {
  return {.name = "--arguments", .help = "show arguments too, which may be anybody's data"};
}

Command work_command() {
  return {
      .path = "queue work",
      .summary = "Run deferred work, each piece decided anew",
      .description =
          "Takes up the rows of a queue one by one and asks the boundary for each with everything "
          "current: principal, policy, resources, approvals. What is allowed is run on the servers "
          "of the configuration. What is denied ends as `denied`, and a person may requeue it; "
          "what could not be decided just now is tried again within a bound.\n\n"
          "Several workers may share one database. A worker ends at SIGTERM, once what it started "
          "has ended, or when one of its servers ends.",
      .flags = {config_flag(),
                queue_flag(),
                {.name = "--threads",
                 .value_name = "N",
                 .help = "rows that are worked on at a time; 1 by default"},
                {.name = "--name",
                 .value_name = "NAME",
                 .help = "what rows and events call this worker; host and process by default"},
                {.name = "--until-idle", .help = "end as soon as nothing is due"},
                {.name = "--run-id",
                 .value_name = "ID",
                 .help = "the evaluation run that is begun and closed in evidence"},
                {.name = "--manifest",
                 .value_name = "FILE",
                 .help =
                     "the manifest that the run will be graded against; its digest is recorded"},
                {.name = "--environment",
                 .value_name = "NAME",
                 .help = "the environment to record, where it is not the bundle's"}},
      .examples = {{"remit queue work --config remit.yaml",
                    "a worker, beside or without a gateway"},
                   {"remit queue work --config remit.yaml --until-idle",
                    "what a scheduler of the system starts"}},
      .run = run_work};
}

Command enqueue_command() {
  return {
      .path = "queue enqueue",
      .summary = "Put work off, or schedule it",
      .description =
          "Enqueues a call of a tool for a principal, named by a reference that the worker "
          "resolves "
          "when the work is run. Nothing is decided now. Prints the row's id.",
      .flags = {config_flag(),
                queue_flag(),
                {.name = "--tool",
                 .value_name = "NAME",
                 .help = "the tool, as the catalogue names it",
                 .required = true,
                 .is_filled = true},
                {.name = "--arguments",
                 .value_name = "FILE",
                 .help = "its arguments, a JSON object, with references as a caller would write "
                         "them; none by default"},
                {.name = "--principal",
                 .value_name = "REFERENCE",
                 .help = "for whom; the pinned principal by default",
                 .is_filled = true},
                {.name = "--not-before",
                 .value_name = "TIME",
                 .help = "not before that time, RFC 3339 in UTC"},
                {.name = "--every",
                 .value_name = "MINUTES",
                 .help = "again and again, by whole periods from its time"},
                {.name = "--attempts", .value_name = "N", .help = "attempts at most; 5 by default"},
                {.name = "--key",
                 .value_name = "TEXT",
                 .help = "a key of yours: the same work under it is enqueued once",
                 .is_filled = true}},
      .examples = {{"remit queue enqueue --config remit.yaml --tool report.make --arguments "
                    "report.json --not-before 2026-12-24T06:00:00Z --every 1440",
                    "a report each morning"}},
      .run = run_enqueue};
}

Command list_command() {
  return {.path = "queue list",
          .summary = "List deferred work, the newest first",
          .description = "At most 1000 rows, from the database alone.",
          .flags = {config_flag(),
                    queue_flag(),
                    {.name = "--state",
                     .value_name = "STATE",
                     .help = "only rows in this state",
                     .repeatable = true,
                     .choices = {"waiting", "claimed", "started", "succeeded", "failed", "denied",
                                 "unknown"}},
                    list_format_flag(),
                    arguments_shown_flag()},
          .examples = {{"remit queue list --config remit.yaml --state denied --state unknown",
                        "what waits for a person"}},
          .run = run_list};
}

Command show_command() {
  return {.path = "queue show",
          .summary = "Show a row, what became of it and what can be done",
          .description =
              "From the database alone; `remit explain` tells what is on record of its "
              "last invocation.",
          .flags = {config_flag(), list_format_flag(), arguments_shown_flag()},
          .positionals = {{.name = "ID", .help = "the row"}},
          .run = run_show};
}

Command requeue_command() {
  return {.path = "queue requeue",
          .summary = "Let a row that was denied, failed or is unknown be decided anew",
          .description =
              "The row waits again, under a new invocation key; nothing of an earlier decision "
              "counts. Who said so and why is kept. A row is requeued at most ten times.",
          .flags = {config_flag(),
                    by_flag(),
                    reason_flag(),
                    {.name = "--settled",
                     .help = "for an unknown row: you looked, and it may run (again)"}},
          .positionals = {{.name = "ID", .help = "the row"}},
          .examples = {{"remit queue requeue --config remit.yaml ID --by carol --reason \"scope "
                        "was granted\"",
                        "after its cause is gone"}},
          .run = run_requeue};
}

}  // namespace

std::vector<Command> queue_commands() {
  return {work_command(), enqueue_command(), list_command(), show_command(), requeue_command()};
}

}  // namespace remit::cli
