// remit evidence verify and show: is the record as written, and what does it say.
#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/inputs.h"
#include "evidence/verify.h"
#include "grading/counted.h"

namespace remit::cli {
namespace {

using grading::counted;

std::string writer_line(const evidence::WriterState& writer) {
  std::string out = fmt::format(
      "{}: {} in {}, {}", writer.directory, counted(writer.events, "event", "events"),
      counted(writer.segments, "segment", "segments"), writer.closed ? "closed" : "not closed");
  if (writer.remade_roots > 0) {
    out += fmt::format(", {} remade after a crash", counted(writer.remade_roots, "root", "roots"));
  }
  if (writer.unrooted_lines > 0) {
    out +=
        fmt::format(", {} behind the last root", counted(writer.unrooted_lines, "event", "events"));
  }
  if (writer.torn_bytes > 0) {
    out += fmt::format(", {} at the end", counted(writer.torn_bytes, "torn byte", "torn bytes"));
  }
  return out + "\n";
}

std::string report_text(const evidence::VerifyReport& report) {
  std::string out;
  std::uint64_t events = 0;
  for (const evidence::WriterState& writer : report.writers) {
    out += writer_line(writer);
    events += writer.events;
  }
  if (report.damage) return out + fmt::format("altered: {}\n", report.damage->to_string());
  return out + fmt::format("intact: {} of {}\nhead {}\n", counted(events, "event", "events"),
                           counted(report.writers.size(), "writer", "writers"),
                           report.head.to_string());
}

bool selected(const event::Event& event, const Arguments& arguments) {
  const auto fits = [&](std::string_view flag, event::Field field) {
    return !arguments.has(flag) || event.text(field) == arguments.value(flag);
  };
  return fits("--invocation", event::Field::kInvocationId) &&
         fits("--run-id", event::Field::kRunId) && fits("--case-id", event::Field::kCaseId);
}

// Of a file within it, or of another, no directory can be verified.
bool is_no_directory(World& world, const std::string& path) {
  const Result<FileInfo> info = world.files.info(path);
  if (!info || info->kind != FileInfo::Kind::kFile) return false;
  complain(world, Error{ErrorCode::kInvalidInput,
                        "is a file; give the evidence directory, which holds writer-NNNNNN", path});
  return true;
}

}  // namespace

int run_evidence_verify(const Arguments& arguments, World& world) {
  std::optional<evidence::Head> kept;
  if (arguments.has("--head")) {
    Result<evidence::Head> head = evidence::Head::parse(arguments.value("--head"));
    if (!head) {
      complain(world, in_place("--head", head.error()));
      return kExitUsage;
    }
    kept = std::move(*head);
  }
  const std::string& directory = arguments.positionals().front();
  if (is_no_directory(world, directory)) return kExitBadInput;
  const Result<evidence::VerifyReport> report = evidence::verify(world.files, directory, kept);
  if (!report) {
    complain(world, report.error());
    return kExitBadInput;
  }
  if (report->writers.empty() && report->intact()) {
    complain(world, without_writers(directory));
    return kExitBadInput;
  }
  return print(world, report_text(*report), report->intact() ? kExitOk : kExitFailed);
}

int run_evidence_show(const Arguments& arguments, World& world) {
  const std::string& directory = arguments.positionals().front();
  if (is_no_directory(world, directory)) return kExitBadInput;
  const Result<std::vector<evidence::WriterSegments>> writers =
      evidence::list_segments(world.files, directory);
  if (!writers) {
    complain(world, writers.error());
    return kExitBadInput;
  }
  if (writers->empty()) {
    complain(world, without_writers(directory));
    return kExitBadInput;
  }
  std::vector<trace::Input> inputs;
  for (const evidence::WriterSegments& writer : *writers) {
    inputs.push_back(trace::Input::of_files(writer.directory, writer.segments));
  }
  bool whole = true;
  bool is_printed = true;
  std::string line;
  const Status shown = for_each_event(
      world, inputs,
      [&](const event::Event& event, const trace::Line& recorded) -> Status {
        if (!selected(event, arguments)) return {};
        line.assign(recorded.text);
        line += '\n';
        Status printed = world.out.write(line);
        is_printed = printed.has_value();
        return printed;
      },
      [&](const Error& error) {
        whole = false;
        complain(world, error);
      });
  if (shown) return whole ? kExitOk : kExitBadInput;
  complain(world, shown.error());
  return is_printed ? kExitBadInput : kExitCannotWrite;
}

}  // namespace remit::cli
