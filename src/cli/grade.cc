// remit grade: events in, four verdicts out.
#include <poll.h>

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "base/file_replacement.h"
#include "cli/commands.h"
#include "cli/grade_request.h"
#include "cli/progress.h"
#include "cli/report_places.h"
#include "cli/watch.h"
#include "grading/sightings.h"
#include "process/file_descriptor.h"
#include "report/formats.h"
#include "report/handoff.h"

namespace remit::cli {
namespace {

/// The report as printed.
class PrintedReport final : public report::Sink {
 public:
  explicit PrintedReport(Output& out) : out_(out) {}
  Status write(std::string_view piece) override { return out_.write(piece); }

 private:
  Output& out_;
};

/// The report in a file, in place only once it is whole.
class WrittenReport final : public report::Sink {
 public:
  explicit WrittenReport(FileReplacement& file) : file_(file) {}
  Status write(std::string_view piece) override { return file_.append(piece); }

 private:
  FileReplacement& file_;
};

Status write_file(World& world, const ReportFile& file, const grading::Grade& grade) {
  REMIT_TRY_ASSIGN(FileReplacement replacement,
                   FileReplacement::open(world.files, world.random, file.path));
  WrittenReport sink(replacement);
  REMIT_TRY(report::write_report(*file.format, grade, {.version = REMIT_VERSION}, sink));
  return replacement.commit();
}

Status write_files(const Arguments& arguments, World& world, const std::vector<ReportFile>& reports,
                   const grading::Grade& grade) {
  for (const ReportFile& file : reports) REMIT_TRY(write_file(world, file, grade));
  if (!arguments.has("--handoff")) return {};
  return report::write_handoff(world.files, world.random, arguments.value("--handoff"), grade,
                               REMIT_VERSION);
}

/// Whether something that is asked for tells what was recorded, event by event.
bool tells_records(const Arguments& arguments, const std::vector<ReportFile>& reports) {
  return arguments.has("--handoff") || arguments.value("--format", "text") == "html" ||
         std::any_of(reports.begin(), reports.end(),
                     [](const ReportFile& file) { return file.format->name == "html"; });
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

/// Grades the inputs once, and says meanwhile how far it is where that can be seen (REQ-GR-115).
Result<grading::Grade> graded(const Arguments& arguments, World& world,
                              const GradeRequest& request) {
  constexpr int kUnknownColumns = 80;
  const std::string wish = arguments.value("--progress", "auto");
  const bool is_told = wish == "auto" ? world.err_columns > 0 : wish == "always";
  if (!is_told) return grade_inputs(world, arguments.positionals(), request);
  Progress progress(world.clock, world.err,
                    world.err_columns > 0 ? world.err_columns : kUnknownColumns);
  return grade_inputs(world, arguments.positionals(), request, &progress);
}

// What cannot be followed, or not be told piece by piece; nothing where all is well.
std::optional<Error> unwatchable(const Arguments& arguments, const World& world) {
  const std::string format = arguments.value("--format", "text");
  if (format != "text" && format != "json") {
    return Error{ErrorCode::kInvalidInput,
                 "--watch prints text or json; other reports are written at the end by --write"};
  }
  if (arguments.value("--progress") == "always") {
    return Error{ErrorCode::kInvalidInput,
                 "--watch has no end to be on the way to; --progress always is for one grade"};
  }
  for (const std::string& input : arguments.positionals()) {
    if (input == "-") {
      return Error{ErrorCode::kInvalidInput,
                   "--watch follows files and directories; standard input can be read only once"};
    }
    const Result<FileInfo> info = world.files.info(input);
    if (!info || info->target_kind != FileInfo::Kind::kOther) continue;
    return Error{ErrorCode::kInvalidInput,
                 "is a pipe, a socket or a device, which can be read only once: --watch follows "
                 "files and directories",
                 input};
  }
  return std::nullopt;
}

}  // namespace

int run_grade(const Arguments& arguments, World& world) {
  const Result<std::vector<ReportFile>> reports = report_files(arguments);
  if (!reports) return refuse(world, {reports.error()});
  GradeRequestParse parsed = read_grade_request(arguments, world);
  if (!parsed.request) return refuse(world, parsed.errors);
  parsed.request->criteria.keep_records = tells_records(arguments, *reports);
  const redaction::Redaction* redaction = parsed.request->criteria.redaction.get();
  if (auto error = misplaced_report(arguments, world, *parsed.request, *reports)) {
    return refuse(world, {grading::without_canaries(*std::move(error), redaction)});
  }
  if (const Status writable = can_write(arguments, world, *reports); !writable) {
    complain(world, grading::without_canaries(writable.error(), redaction));
    return kExitCannotWrite;
  }
  const bool is_watch = arguments.has("--watch");
  if (is_watch) {
    if (const std::optional<Error> error = unwatchable(arguments, world))
      return refuse(world, {*error});
  }
  const Result<grading::Grade> grade = is_watch ? watched(arguments, world, *parsed.request)
                                                : graded(arguments, world, *parsed.request);
  if (!grade) {
    complain(world, grade.error());
    return exit_code_of_failure(grade.error());
  }
  const Status written = write_files(arguments, world, *reports, *grade);
  if (!written) {
    complain(world, grading::without_canaries(written.error(), redaction));
    return kExitCannotWrite;
  }
  if (is_watch && arguments.value("--format") == "json") {
    return print(world, watch_json_end(report::report_text("json", *grade)), grade->exit_code);
  }
  report::Style style{.version = REMIT_VERSION};
  if (world.out_is_terminal && !arguments.has("--format")) style.colour = report::Colour::kAnsi;
  PrintedReport sink(world.out);
  const report::Format* format = report::find_format(arguments.value("--format", "text"));
  const Status printed = report::write_report(*format, *grade, style, sink);
  if (printed) return grade->exit_code;
  complain(world, printed.error());
  return kExitCannotWrite;
}

}  // namespace remit::cli
