// remit conform plan: the lane in which a model plans.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "base/nearest_word.h"
#include "cli/commands.h"
#include "cli/conform_inputs.h"
#include "conformance/planner.h"
#include "conformance/words.h"
#include "process/child.h"

namespace remit::cli {
namespace {

constexpr int kRepetitions = 3;
constexpr int kDeadlineSeconds = 60;
constexpr int kMaxDeadlineSeconds = 600;

Error mistake(std::string message) {
  return Error{ErrorCode::kInvalidInput, std::move(message)};
}

Result<int> number(const Arguments& arguments, std::string_view flag, int otherwise, int most) {
  if (!arguments.has(flag)) return otherwise;
  const std::string text = arguments.value(flag);
  int out = 0;
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, out);
  if (error == std::errc{} && last == end && out >= 1 && out <= most) return out;
  return mistake(fmt::format("{}: want a number from 1 to {}, not {}", flag, most, quoted(text)));
}

// The key of the endpoint; empty where none is named. What it is stands in no message.
Result<std::string> read_key(const Arguments& arguments, World& world) {
  if (arguments.has("--key-env") && arguments.has("--key-file")) {
    return mistake("the key is in a variable or in a file, not in both");
  }
  if (arguments.has("--key-env")) {
    const std::string name = arguments.value("--key-env");
    const std::vector<std::string> found = process::pick_environment({name});
    if (found.empty() || found.front().size() == name.size() + 1) {
      return mistake(fmt::format("the variable {} is not set", quoted(name)));
    }
    return found.front().substr(name.size() + 1);
  }
  if (!arguments.has("--key-file")) return std::string();
  const std::string file = arguments.value("--key-file");
  REMIT_TRY_ASSIGN(const FileInfo info, world.files.info(file));
  if (info.readable_by_others || info.writable_by_others) {
    return Error{ErrorCode::kFailedPrecondition, "holds a key and others may read or write it",
                 file};
  }
  REMIT_TRY_ASSIGN(std::string text, world.files.read(file, kMaxConfigBytes));
  return conformance::without_line_end(std::move(text));
}

// Words that name no task are refused: a misspelt one would run nothing.
Status check_cases(const std::vector<std::string>& cases) {
  std::vector<std::string_view> known;
  for (const auto& task : conformance::planner_tasks()) known.push_back(task.case_id);
  for (const std::string& word : cases) {
    if (std::find(known.begin(), known.end(), word) != known.end()) continue;
    return mistake(
        fmt::format("no task is made of a case {}{}", quoted(word), suggestion(word, known)));
  }
  return {};
}

Result<conformance::PlannerOptions> read_options(const Arguments& arguments, World& world) {
  conformance::PlannerOptions out;
  REMIT_TRY_ASSIGN(out.chat.url, http::Url::parse(arguments.value("--endpoint")));
  out.chat.model = arguments.value("--model");
  REMIT_TRY_ASSIGN(out.chat.key, read_key(arguments, world));
  REMIT_TRY_ASSIGN(const int seconds,
                   number(arguments, "--deadline", kDeadlineSeconds, kMaxDeadlineSeconds));
  out.chat.deadline = std::chrono::seconds{seconds};
  out.chat.rest = [](std::chrono::milliseconds span) { std::this_thread::sleep_for(span); };
  REMIT_TRY_ASSIGN(out.repetitions,
                   number(arguments, "--repetitions", kRepetitions, kMaxPlannerRepetitions));
  out.route = arguments.value("--route", "agent");
  if (!conformance::is_route(out.route)) {
    return mistake(fmt::format("{} is no route; there are {}", quoted(out.route),
                               fmt::join(conformance::kRoutes, ", ")));
  }
  out.cases = arguments.values("--case");
  REMIT_TRY(check_cases(out.cases));
  return out;
}

}  // namespace

int run_conform_plan(const Arguments& arguments, World& world) {
  const std::optional<conformance::Pack> pack = find_pack(arguments, world);
  if (!pack) return kExitUsage;
  const std::optional<conformance::Subject> subject = find_subject(arguments, world, *pack);
  if (!subject) return kExitUsage;
  Result<conformance::PlannerOptions> options = read_options(arguments, world);
  if (!options) {
    complain(world, options.error());
    return kExitUsage;
  }
  options->tell = [&world](const std::string& line) {
    static_cast<void>(world.err.write(fmt::format("remit: plan: {}\n", line)));
  };
  const conformance::RunWorld run_world{world.files, world.clock, world.random, scratch_of(world),
                                        own_program()};
  const Result<conformance::PlannerRun> run =
      conformance::run_planner(*pack, *subject, *options, run_world);
  if (!run) {
    complain(world, run.error());
    return run.error().code == ErrorCode::kInvalidInput ? kExitUsage : kExitInternal;
  }
  const bool is_json = arguments.value("--format", "text") == "json";
  return print(world, is_json ? conformance::planner_json(*run) : conformance::planner_text(*run),
               run->exit_code);
}

}  // namespace remit::cli
