// remit grade: events in, four verdicts out.
#include <span>

#include <fmt/format.h>

#include "base/limits.h"
#include "cli/commands.h"
#include "cli/inputs.h"
#include "grading/grading.h"
#include "report/grade_json.h"
#include "report/grade_junit.h"
#include "report/grade_text.h"

namespace remit::cli {
namespace {

/// Says every error and returns the exit code for a refused command line, contract, manifest or
/// expect file.
int refuse(World& world, const std::vector<Error>& errors) {
  for (const Error& error : errors) complain(world, error);
  return kExitUsage;
}

std::string rendered(std::string_view format, const grading::Grade& grade, report::Colour colour) {
  if (format == "json") return report::grade_json(grade);
  if (format == "junit") return report::grade_junit(grade);
  return report::grade_text(grade, colour);
}

/// A report to write beside what is printed: `FORMAT=FILE`.
struct ReportFile {
  std::string format;
  std::string path;
};

Result<std::vector<ReportFile>> report_files(const Arguments& arguments) {
  std::vector<ReportFile> out;
  for (const std::string& word : arguments.values("--write")) {
    const std::size_t equals = word.find('=');
    ReportFile file{word.substr(0, equals),
                    equals == std::string::npos ? "" : word.substr(equals + 1)};
    const bool known = file.format == "text" || file.format == "json" || file.format == "junit";
    if (!known || file.path.empty()) {
      return Error{
          ErrorCode::kInvalidInput,
          fmt::format("--write takes text=FILE, json=FILE or junit=FILE, not {}", quoted(word))};
    }
    out.push_back(std::move(file));
  }
  return out;
}

// Reads what the grade is judged by; everything that is wrong with it is returned.
std::vector<Error> read_criteria(const Arguments& arguments, World& world,
                                 grading::Criteria& criteria) {
  const std::string contract = arguments.value("--contract", "sequential");
  if (contract != "sequential") {
    return {
        Error{ErrorCode::kUnsupported,
              fmt::format("no contract {} in this version; the one that is built in is sequential",
                          quoted(contract)),
              "--contract"}};
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
  world.random.fill(std::as_writable_bytes(std::span{&criteria.hash_seed, 1}));
  return {};
}

}  // namespace

int run_grade(const Arguments& arguments, World& world) {
  const Result<std::vector<ReportFile>> reports = report_files(arguments);
  if (!reports) return refuse(world, {reports.error()});
  grading::Criteria criteria;
  const std::vector<Error> refused = read_criteria(arguments, world, criteria);
  if (!refused.empty()) return refuse(world, refused);
  std::optional<evidence::Head> head;
  if (arguments.has("--head")) {
    Result<evidence::Head> parsed = evidence::Head::parse(arguments.value("--head"));
    if (!parsed) return refuse(world, {in_place("--head", parsed.error())});
    head = std::move(*parsed);
  }
  Result<grading::Evidence> opened = open_inputs(world, arguments.positionals(), head);
  if (!opened) {
    complain(world, opened.error());
    return kExitBadInput;
  }
  const Result<grading::Grade> grade =
      grading::grade(world.files, std::move(*opened), std::move(criteria));
  if (!grade) {
    complain(world, grade.error());
    return kExitBadInput;
  }
  for (const ReportFile& file : *reports) {
    const Status written =
        world.files.replace(file.path, rendered(file.format, *grade, report::Colour::kNone));
    if (written) continue;
    complain(world, written.error());
    return kExitInternal;
  }
  const bool colours = world.out_is_terminal && !arguments.has("--format");
  return print(world,
               rendered(arguments.value("--format", "text"), *grade,
                        colours ? report::Colour::kAnsi : report::Colour::kNone),
               grade->exit_code);
}

}  // namespace remit::cli
