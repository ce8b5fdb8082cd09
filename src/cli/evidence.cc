// remit evidence verify and show: is the record as written, and what does it say.
#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/evidence_proofs.h"
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
  out += "\n";
  const evidence::Removed& removed = writer.removed;
  if (removed.segments == 0) return out;
  out += fmt::format("  of these, retention removed {} in {}, of {} to {}\n",
                     counted(removed.events, "event", "events"),
                     counted(removed.segments, "segment", "segments"), removed.first_time,
                     removed.last_time);
  if (removed.files_left > 0) {
    out += fmt::format("  {} of these still there: prune again\n",
                       counted(removed.files_left, "file is", "files are"));
  }
  return out;
}

std::string report_text(const evidence::VerifyReport& report) {
  std::string out;
  std::uint64_t events = 0;
  for (const evidence::WriterState& writer : report.writers) {
    out += writer_line(writer);
    events += writer.events;
  }
  if (report.damage) return out + fmt::format("altered: {}\n", report.damage->to_string());
  for (const evidence::FittingCheckpoint& one : report.checkpoints) {
    out += fmt::format("checkpoint of {} of {}: they are as they were signed\n",
                       counted(one.events, "event", "events"), one.directory);
  }
  for (const std::string& one : report.unknown) out += fmt::format("cannot tell: {}\n", one);
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

/// What was kept elsewhere. `exit_code` is what to end with after a complaint.
std::optional<evidence::Kept> read_kept(const Arguments& arguments, World& world, int& exit_code) {
  exit_code = kExitUsage;
  evidence::Kept kept;
  if (arguments.has("--head")) {
    Result<evidence::Head> head = evidence::Head::parse(arguments.value("--head"));
    if (!head) {
      complain(world, in_place("--head", head.error()));
      return std::nullopt;
    }
    kept.head = std::move(*head);
  }
  if (arguments.has("--checkpoint") != arguments.has("--key")) {
    complain(world, {ErrorCode::kInvalidInput,
                     "--checkpoint needs --key and --key needs --checkpoint: a checkpoint is worth "
                     "as much as the key that signed it"});
    return std::nullopt;
  }
  const auto keys = verifier_keys(arguments);
  if (!keys) {
    complain(world, in_place("--key", keys.error()));
    return std::nullopt;
  }
  for (const std::string& path : arguments.values("--checkpoint")) {
    const auto found = read_checkpoints(world, path, *keys);
    if (!found) {
      complain(world, found.error());
      exit_code = found.error().code == ErrorCode::kDataLoss ? kExitFailed : kExitBadInput;
      return std::nullopt;
    }
    kept.checkpoints.insert(kept.checkpoints.end(), found->begin(), found->end());
  }
  return kept;
}

}  // namespace

int run_evidence_verify(const Arguments& arguments, World& world) {
  int refusal = kExitOk;
  const std::optional<evidence::Kept> kept = read_kept(arguments, world, refusal);
  if (!kept) return refusal;
  const std::string& directory = arguments.positionals().front();
  if (is_no_directory(world, directory)) return kExitBadInput;
  const Result<evidence::VerifyReport> report = evidence::verify(world.files, directory, *kept);
  if (!report) {
    complain(world, report.error());
    return kExitBadInput;
  }
  if (report->writers.empty() && report->intact()) {
    complain(world, without_writers(directory));
    return kExitBadInput;
  }
  const int answer = report->unknown.empty() ? kExitOk : kExitUndetermined;
  return print(world, report_text(*report), report->intact() ? answer : kExitFailed);
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
