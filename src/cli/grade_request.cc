// From a command line to what a run is graded by.
#include "cli/grade_request.h"

#include <algorithm>
#include <charconv>
#include <span>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/limits.h"
#include "cli/contracts.h"
#include "cli/inputs.h"
#include "grading/counted.h"
#include "grading/redaction_file.h"
#include "grading/sightings.h"

namespace remit::cli {
namespace {

/// Threads that decode lines: with more of them they wait for the one that grades.
constexpr unsigned kMostUseful = 4;
constexpr unsigned kMostThreads = 64;

// Reads what the grade is judged by; everything that is wrong with it is returned.
std::vector<Error> read_criteria(const Arguments& arguments, World& world,
                                 grading::Criteria& criteria) {
  if (arguments.has("--contract")) {
    std::vector<Error> errors;
    std::optional<grading::Contract> contract =
        find_contract(world, arguments.value("--contract"), errors);
    if (!contract) return errors;
    grading::RedactionLoad loaded =
        grading::load_redaction(world.files, contract->redaction.canaries,
                                contract->redaction.forbid_fields, arguments.value("--contract"));
    if (!loaded.errors.empty()) return loaded.errors;
    criteria.redaction = std::move(loaded.redaction);
    criteria.contract = std::move(*contract);
  }
  if (arguments.has("--manifest")) {
    const std::string file = arguments.value("--manifest");
    const Result<std::string> text = world.files.read(file, kMaxConfigBytes);
    if (!text) return {text.error()};
    grading::ManifestParse parsed = grading::parse_manifest(*text, file);
    if (!parsed.manifest) return parsed.errors;
    criteria.manifest = std::move(parsed.manifest);
  }
  if (arguments.has("--expect") || arguments.has("--expect-file")) {
    criteria.expected_ids = arguments.values("--expect");
  }
  if (arguments.has("--expect-file")) {
    const std::string file = arguments.value("--expect-file");
    const Result<std::string> text = world.files.read(file, kMaxConfigBytes);
    if (!text) return {text.error()};
    const Result<std::vector<std::string>> ids = grading::parse_expected_ids(*text, file);
    if (!ids) return {ids.error()};
    criteria.expected_ids->insert(criteria.expected_ids->end(), ids->begin(), ids->end());
  }
  criteria.list_all = arguments.has("--all");
  criteria.advisory = arguments.has("--advisory");
  if (!world.scratch_directory.empty()) criteria.scratch_directories = {world.scratch_directory};
  criteria.threads = std::clamp(std::thread::hardware_concurrency(), 1U, kMostUseful);
  if (arguments.has("--threads")) {
    const std::string word = arguments.value("--threads");
    const auto [end, error] =
        std::from_chars(word.data(), word.data() + word.size(), criteria.threads);
    const bool is_number = error == std::errc{} && end == word.data() + word.size();
    if (!is_number || criteria.threads < 1 || criteria.threads > kMostThreads) {
      return {Error{ErrorCode::kInvalidInput,
                    fmt::format("takes a number from 1 to {}, not {}", kMostThreads, quoted(word)),
                    "--threads"}};
    }
  }
  world.random.fill(std::as_writable_bytes(std::span{&criteria.hash_seed, 1}));
  return {};
}

// Reads the head, the form of the inputs and the baseline.
std::vector<Error> read_rest(const Arguments& arguments, World& world, GradeRequest& request) {
  if (arguments.has("--head")) {
    Result<evidence::Head> parsed = evidence::Head::parse(arguments.value("--head"));
    if (!parsed) return {in_place("--head", parsed.error())};
    request.head = std::move(*parsed);
  }
  request.form = form_of(arguments);
  if (!arguments.has("--baseline")) return {};
  const std::string file = arguments.value("--baseline");
  const Result<std::string> text = world.files.read(file, kMaxConfigBytes);
  if (!text) return {text.error()};
  grading::BaselineParse parsed = grading::parse_baseline(*text, file);
  if (parsed.baseline) request.criteria.known = {std::move(*parsed.baseline), 0};
  return parsed.errors;
}

/// REQ-IN-008; empty where nothing was passed over.
std::string passed_over_text(const PassedOver& passed_over) {
  std::string what;
  if (passed_over.folders > 0) {
    what = grading::counted(passed_over.folders, "folder", "folders");
  }
  if (passed_over.files > 0) {
    what += fmt::format("{}{}", what.empty() ? "" : " and ",
                        grading::counted(passed_over.files, "file", "files"));
  }
  if (what.empty()) return what;
  const bool is_one = passed_over.folders + passed_over.files == 1;
  return fmt::format(
      "{} in directories of events {} not read: folders within are not entered, and "
      "a file counts by the ending of its name",
      what, is_one ? "was" : "were");
}

// What it returns may show canaries where it is an error.
Result<grading::Grade> grade_openly(World& world, const std::vector<std::string>& inputs,
                                    const GradeRequest& request, Progress* progress) {
  if (progress != nullptr) meter_verification(world, inputs, *progress);
  PassedOver passed_over;
  REMIT_TRY_ASSIGN(grading::Evidence opened,
                   open_inputs(world, inputs, request.form, request.head, &passed_over));
  if (progress != nullptr) meter_inputs(world, opened.inputs, *progress);
  grading::Criteria criteria = request.criteria;
  if (progress != nullptr) criteria.events_read = &progress->count_events();
  if (criteria.known) criteria.known->today = grading::day_of(world.clock.wall_now());
  REMIT_TRY_ASSIGN(grading::Grade grade,
                   grading::grade(world.files, std::move(opened), std::move(criteria)));
  if (std::string said = passed_over_text(passed_over); !said.empty()) {
    grade.scope.push_back(std::move(said));
  }
  if (passed_over.is_without_head) {
    grade.scope.emplace_back(
        "no head of the evidence was given (--head): writers removed since, and a log made anew, "
        "would not be missed");
  }
  return grade;
}

}  // namespace

GradeRequestParse read_grade_request(const Arguments& arguments, World& world) {
  GradeRequestParse out;
  GradeRequest request;
  out.errors = read_criteria(arguments, world, request.criteria);
  if (out.errors.empty()) out.errors = read_rest(arguments, world, request);
  for (Error& error : out.errors) {
    error = grading::without_canaries(std::move(error), request.criteria.redaction.get());
  }
  if (out.errors.empty()) out.request = std::move(request);
  return out;
}

Result<grading::Grade> grade_inputs(World& world, const std::vector<std::string>& inputs,
                                    const GradeRequest& request, Progress* progress) {
  const auto openly = [&] {
    if (progress == nullptr) return grade_openly(world, inputs, request, progress);
    MeteredFiles metered(world.files, *progress);
    World view = world.with(metered);
    return grade_openly(view, inputs, request, progress);
  };
  Result<grading::Grade> grade = openly();
  if (grade) return grade;
  return grading::without_canaries(std::move(grade).error(), request.criteria.redaction.get());
}

int exit_code_of_failure(const Error& error) {
  return error.code == ErrorCode::kInternal ? kExitInternal : kExitBadInput;
}

int refuse(World& world, const std::vector<Error>& errors) {
  for (const Error& error : errors) complain(world, error);
  return kExitUsage;
}

}  // namespace remit::cli
