// remit grade: events in, four verdicts out.
#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/grade_request.h"
#include "report/grade_json.h"
#include "report/grade_junit.h"
#include "report/grade_text.h"

namespace remit::cli {
namespace {

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

}  // namespace

int run_grade(const Arguments& arguments, World& world) {
  const Result<std::vector<ReportFile>> reports = report_files(arguments);
  if (!reports) return refuse(world, {reports.error()});
  const GradeRequestParse parsed = read_grade_request(arguments, world);
  if (!parsed.request) return refuse(world, parsed.errors);
  const Result<grading::Grade> grade =
      grade_inputs(world, arguments.positionals(), *parsed.request);
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
