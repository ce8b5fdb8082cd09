// remit grade: events in, four verdicts out.
#include <poll.h>

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/grade_request.h"
#include "cli/watch.h"
#include "process/file_descriptor.h"
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

/// Follows the inputs until they end or a signal comes, and grades what is there then.
Result<grading::Grade> watched(const Arguments& arguments, World& world,
                               const GradeRequest& request) {
  REMIT_TRY_ASSIGN(const process::TerminationSignals signals, process::TerminationSignals::take());
  const bool wants_json = arguments.value("--format") == "json";
  Watch watch(world, arguments.positionals(), request);
  return watch.run(
      [&](Duration rest) {
        pollfd asked{signals.fd(), POLLIN, 0};
        const auto rest_ms = std::chrono::ceil<std::chrono::milliseconds>(rest).count();
        ::poll(&asked, 1, static_cast<int>(std::min<std::int64_t>(rest_ms, 60'000)));
        return signals.read_one();
      },
      [&](const WatchNews& news) {
        return world.out.write(wants_json ? watch_json(news) : watch_text(news));
      });
}

// What cannot be followed, or not be told piece by piece; nothing where all is well.
std::optional<Error> unwatchable(const Arguments& arguments) {
  const std::string format = arguments.value("--format", "text");
  if (format != "text" && format != "json") {
    return Error{ErrorCode::kInvalidInput,
                 "--watch prints text or json; other reports are written at the end by --write"};
  }
  for (const std::string& input : arguments.positionals()) {
    if (input != "-") continue;
    return Error{ErrorCode::kInvalidInput,
                 "--watch follows files and directories; standard input can be read only once"};
  }
  return std::nullopt;
}

}  // namespace

int run_grade(const Arguments& arguments, World& world) {
  const Result<std::vector<ReportFile>> reports = report_files(arguments);
  if (!reports) return refuse(world, {reports.error()});
  const GradeRequestParse parsed = read_grade_request(arguments, world);
  if (!parsed.request) return refuse(world, parsed.errors);
  const bool is_watch = arguments.has("--watch");
  if (is_watch) {
    if (const std::optional<Error> error = unwatchable(arguments)) return refuse(world, {*error});
  }
  const Result<grading::Grade> grade =
      is_watch ? watched(arguments, world, *parsed.request)
               : grade_inputs(world, arguments.positionals(), *parsed.request);
  if (!grade) {
    complain(world, grade.error());
    return exit_code_of_failure(grade.error());
  }
  for (const ReportFile& file : *reports) {
    const Status written =
        world.files.replace(file.path, rendered(file.format, *grade, report::Colour::kNone));
    if (written) continue;
    complain(world, written.error());
    return kExitInternal;
  }
  if (is_watch && arguments.value("--format") == "json") {
    return print(world, watch_json_end(report::grade_json(*grade)), grade->exit_code);
  }
  const bool colours = world.out_is_terminal && !arguments.has("--format");
  return print(world,
               rendered(arguments.value("--format", "text"), *grade,
                        colours ? report::Colour::kAnsi : report::Colour::kNone),
               grade->exit_code);
}

}  // namespace remit::cli
