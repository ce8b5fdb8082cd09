// remit baseline: check, shrink, suggest. What is known may become less by itself, and more only by
// a person's hand.
#include <fmt/format.h>

#include "base/limits.h"
#include "cli/commands.h"
#include "cli/grade_request.h"
#include "grading/counted.h"
#include "grading/sightings.h"

namespace remit::cli {
namespace {

using grading::KnownFinding;

std::string listed(const KnownFinding& entry) {
  return fmt::format("  line {}: {}, owner {}", entry.line, grading::code_info(entry.code).name,
                     quoted(entry.owner));
}

// What a grade says of findings that are gone, it says only of a run that shows something.
bool shows_what_is_gone(const grading::Grade& grade) {
  const grading::Value record = grade.baseline->verdicts[grading::Verdict::kCompleteness];
  return grade.population.invocations > 0 && record == grading::Value::kPassed;
}

// Entries that stay though nothing was found of them, since this run could not show it.
std::string unshown(const grading::BaselineUse& use, const std::vector<std::uint64_t>& counts) {
  std::string out;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const KnownFinding& entry = use.entries[i];
    if (entry.matched > 0 || counts[i] == 0) continue;
    out += listed(entry) + ": stays, since this run could not have shown it\n";
  }
  return out;
}

}  // namespace

int run_baseline_check(const Arguments& arguments, World& world) {
  const std::string& file = arguments.positionals().front();
  const Result<std::string> text = world.files.read(file, kMaxConfigBytes);
  if (!text) {
    complain(world, text.error());
    return kExitBadInput;
  }
  const grading::BaselineParse parsed = grading::parse_baseline(*text, file);
  if (!parsed.baseline) {
    for (const Error& error : parsed.errors) complain(world, error);
    return kExitFailed;
  }
  const grading::Day today = grading::day_of(world.clock.wall_now());
  std::string expired;
  std::uint64_t findings = 0;
  for (const KnownFinding& entry : parsed.baseline->known) {
    if (*grading::parse_day(entry.expires) < today) {
      expired += fmt::format("{}, expired on {}\n", listed(entry), entry.expires);
    } else {
      findings += entry.count;
    }
  }
  std::string out =
      fmt::format("{}: {} at most {}\n", quoted(file),
                  grading::counted(parsed.baseline->known.size(), "entry covers", "entries cover"),
                  grading::counted(findings, "finding", "findings"));
  if (!expired.empty()) out += "these count no more:\n" + expired;
  return print(world, out, expired.empty() ? kExitOk : kExitFailed);
}

int run_baseline_shrink(const Arguments& arguments, World& world) {
  GradeRequestParse parsed = read_grade_request(arguments, world);
  if (!parsed.request) return refuse(world, parsed.errors);
  parsed.request->criteria.list_all = true;  // calls without a finding show what is gone
  const std::string& file = parsed.request->criteria.known->baseline.file;
  const redaction::Redaction* const redaction = parsed.request->criteria.redaction.get();
  const auto openly = [&](const Error& error) {
    return grading::without_canaries(error, redaction);
  };
  const Result<grading::Grade> grade =
      grade_inputs(world, arguments.positionals(), *parsed.request);
  if (!grade) {
    complain(world, grade.error());
    return exit_code_of_failure(grade.error());
  }
  if (!shows_what_is_gone(*grade)) {
    complain(world, Error{ErrorCode::kFailedPrecondition,
                          "the record of this run is empty or not whole, so it cannot show that a "
                          "finding is gone; the baseline stays as it is"});
    return kExitUndetermined;
  }
  const Result<std::string> text = world.files.read(file, kMaxConfigBytes);
  if (!text) return refuse(world, {openly(text.error())});
  const std::vector<std::uint64_t> counts =
      grading::needed_counts(*grade, parsed.request->criteria);
  const Result<std::string> smaller = grading::shrink(*text, file, counts);
  if (!smaller) return refuse(world, {openly(smaller.error())});
  const std::string kept = unshown(*grade->baseline, counts);
  if (*smaller == *text) return print(world, "nothing to remove\n" + kept, kExitOk);
  if (const Status written = world.files.replace(file, *smaller); !written) {
    complain(world, openly(written.error()));
    return kExitCannotWrite;
  }
  std::string out;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const KnownFinding& entry = grade->baseline->entries[i];
    if (counts[i] == 0) {
      out += listed(entry) + (entry.is_expired ? ": removed, it expired\n" : ": removed\n");
    } else if (counts[i] < entry.count) {
      out += fmt::format("{}: {} instead of {}\n", listed(entry), counts[i], entry.count);
    }
  }
  return print(world,
               fmt::format("{} is smaller now\n{}{}", quoted(grade->baseline->file), out, kept),
               kExitOk);
}

int run_baseline_suggest(const Arguments& arguments, World& world) {
  const GradeRequestParse parsed = read_grade_request(arguments, world);
  if (!parsed.request) return refuse(world, parsed.errors);
  const Result<grading::Grade> grade =
      grade_inputs(world, arguments.positionals(), *parsed.request);
  if (!grade) {
    complain(world, grade.error());
    return exit_code_of_failure(grade.error());
  }
  const std::string entries = grading::suggest_baseline(*grade);
  if (entries.empty() && grade->population.invocations == 0) {
    complain(world, Error{ErrorCode::kFailedPrecondition,
                          "no invocation was read, so that nothing can be said of what is known"});
    return kExitUndetermined;
  }
  return print(world, entries.empty() ? "# No finding fails a verdict.\n" : entries, kExitOk);
}

}  // namespace remit::cli
