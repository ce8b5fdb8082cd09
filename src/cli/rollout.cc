// remit rollout report and remit routes check: shadow evidence and inventory against what happened.
#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <span>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/limits.h"
#include "cli/commands.h"
#include "cli/grade_request.h"
#include "cli/inputs.h"
#include "policy/bundle.h"
#include "report/outlet.h"
#include "rollout/collect.h"
#include "rollout/readiness.h"
#include "rollout/report_forms.h"
#include "rollout/routes.h"

namespace remit::cli {
namespace {

constexpr unsigned kMostUsefulThreads = 4;

Result<std::uint64_t> number_of(const Arguments& arguments, std::string_view flag,
                                std::uint64_t least, std::uint64_t most, std::uint64_t otherwise) {
  if (!arguments.has(flag)) return otherwise;
  const std::string word = arguments.value(flag);
  std::uint64_t out = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), out);
  const bool is_number = error == std::errc{} && end == word.data() + word.size();
  if (is_number && out >= least && out <= most) return out;
  return Error{ErrorCode::kInvalidInput,
               fmt::format("takes a number from {} to {}, not {}", least, most, quoted(word)),
               std::string(flag)};
}

/// What both commands are asked for.
struct Request {
  rollout::Criteria criteria;
  rollout::Reading reading;
  std::optional<evidence::Head> head;
  std::shared_ptr<const policy::Bundle> bundle;
};

/// Everything that is wrong with criteria and flags.
std::vector<Error> read_criteria(const Arguments& arguments, World& world,
                                 rollout::Criteria& criteria) {
  if (arguments.has("--criteria")) {
    const std::string file = arguments.value("--criteria");
    const Result<std::string> text = world.files.read(file, kMaxConfigBytes);
    if (!text) return {text.error()};
    rollout::CriteriaParse parsed = rollout::parse_criteria(*text, file);
    if (!parsed.criteria) return parsed.errors;
    criteria = *std::move(parsed.criteria);
  }
  if (arguments.has("--policy-version")) {
    criteria.policies.clear();
    for (std::string& version : arguments.values("--policy-version")) {
      criteria.policies.push_back({std::move(version)});
    }
  }
  constexpr std::uint64_t kMostCalls = 1'000'000'000;
  const Result<std::uint64_t> calls =
      number_of(arguments, "--min-calls", 1, kMostCalls, criteria.needs.calls);
  if (!calls) return {calls.error()};
  const Result<std::uint64_t> denials =
      number_of(arguments, "--max-would-deny", 0, kMostCalls, criteria.needs.would_deny);
  if (!denials) return {denials.error()};
  criteria.needs.calls = *calls;
  criteria.needs.would_deny = *denials;
  return {};
}

std::vector<Error> read_request(const Arguments& arguments, World& world, Request& out) {
  if (arguments.has("--head")) {
    Result<evidence::Head> parsed = evidence::Head::parse(arguments.value("--head"));
    if (!parsed) return {in_place("--head", parsed.error())};
    out.head = *std::move(parsed);
  }
  const Result<std::uint64_t> examples =
      number_of(arguments, "--examples", 0, rollout::kMaxExamples, out.reading.examples);
  if (!examples) return {examples.error()};
  out.reading.examples = *examples;
  world.random.fill(std::as_writable_bytes(std::span{&out.reading.hash_seed, 1}));
  out.reading.threads = std::clamp(std::thread::hardware_concurrency(), 1U, kMostUsefulThreads);
  if (!world.scratch_directory.empty()) {
    out.reading.scratch_directories = {world.scratch_directory};
  }
  if (!arguments.has("--bundle")) return {};
  policy::BundleOutcome loaded = policy::load_bundle(world.files, arguments.value("--bundle"));
  out.bundle = std::move(loaded.bundle);
  return std::move(loaded.problems);
}

/// What the inputs show, or the exit code where they cannot be read.
struct Collected {
  std::optional<rollout::Seen> seen;
  int exit_code = kExitOk;
};

Collected collect(const Arguments& arguments, World& world, const Request& request) {
  const Result<grading::Evidence> opened =
      open_inputs(world, arguments.positionals(), form_of(arguments), request.head);
  if (!opened) {
    complain(world, opened.error());
    return {{}, exit_code_of_failure(opened.error())};
  }
  Result<rollout::Seen> seen =
      rollout::collect(world.files, *opened, request.criteria, request.reading);
  if (seen) return {*std::move(seen), kExitOk};
  complain(world, seen.error());
  return {{}, exit_code_of_failure(seen.error())};
}

rollout::RowsBy rows_by(const Arguments& arguments) {
  const std::string by = arguments.value("--by", "pair");
  if (by == "route") return rollout::RowsBy::kRoute;
  return by == "tool" ? rollout::RowsBy::kTool : rollout::RowsBy::kPair;
}

template <class Write>
int print_report(World& world, int exit_code, const Write& write) {
  report::StringSink sink;
  report::Outlet outlet(sink);
  write(outlet);
  if (const Status written = outlet.finish(); !written) {
    complain(world, written.error());
    return kExitInternal;
  }
  return print(world, sink.text, exit_code);
}

}  // namespace

int run_rollout_report(const Arguments& arguments, World& world) {
  Request request;
  std::vector<Error> errors = read_criteria(arguments, world, request.criteria);
  if (errors.empty()) errors = read_request(arguments, world, request);
  if (!errors.empty()) return refuse(world, errors);
  // REQ-RO-025: the bundle at hand is the one asked about, unless the criteria name another.
  if (request.bundle != nullptr && request.criteria.policies.empty()) {
    request.criteria.policies.push_back({request.bundle->version, request.bundle->digest});
  }
  Collected collected = collect(arguments, world, request);
  if (!collected.seen) return collected.exit_code;
  const rollout::Report report = rollout::assess(*std::move(collected.seen), request.criteria,
                                                 {.bundle = request.bundle,
                                                  .today = grading::day_of(world.clock.wall_now()),
                                                  .examples = request.reading.examples});
  const std::string format = arguments.value("--format", "text");
  const rollout::RowsBy by = rows_by(arguments);
  return print_report(world, rollout::exit_code_of(report.verdict), [&](report::Outlet& outlet) {
    if (format == "json") return rollout::write_json(report, by, outlet);
    if (format == "junit") return rollout::write_junit(report, by, outlet);
    rollout::write_text(report, by, outlet);
  });
}

int run_routes_check(const Arguments& arguments, World& world) {
  Request request;
  const std::vector<Error> errors = read_request(arguments, world, request);
  if (!errors.empty()) return refuse(world, errors);
  Collected collected = collect(arguments, world, request);
  if (!collected.seen) return collected.exit_code;
  const rollout::RoutesReport report =
      rollout::check_routes(*std::move(collected.seen), *request.bundle,
                            arguments.has("--require-observer") ? rollout::Observer::kRequired
                                                                : rollout::Observer::kOptional,
                            request.reading.examples);
  const bool wants_json = arguments.value("--format", "text") == "json";
  return print_report(world, rollout::exit_code_of(report.verdict), [&](report::Outlet& outlet) {
    wants_json ? rollout::write_json(report, outlet) : rollout::write_text(report, outlet);
  });
}

}  // namespace remit::cli
