// The baseline `remit.baseline/1`: findings that are known and do not fail the gate for a time
// (spec/baseline.md).
//
//     BaselineParse parsed = parse_baseline(text, "baseline.yaml");
//     if (!parsed.baseline) return complain(parsed.errors);
//     grade = apply(*parsed.baseline, day_of(clock.wall_now()), std::move(grade));
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/result.h"
#include "grading/grade.h"

namespace remit::grading {

/// A day in UTC: days since 1970-01-01.
using Day = std::int64_t;
Day day_of(WallTime time);
/// `YYYY-MM-DD` of the calendar; nothing for any other text.
std::optional<Day> parse_day(std::string_view text);

struct Baseline {
  std::string file;
  std::vector<KnownFinding> known;
};

/// A baseline, or everything that is wrong with it, each with `FILE:LINE:COLUMN`.
struct BaselineParse {
  std::optional<Baseline> baseline;  ///< set if and only if `errors` is empty
  std::vector<Error> errors;
};

/// Parses YAML or JSON. Errors: those of `yaml::parse`, and `invalid_input` for an unknown key or
/// code, a blank, no owner, reason or day of expiry, an entry that says what another says, and a
/// code whose findings cannot be let stand (REQ-BL-004).
BaselineParse parse_baseline(std::string_view text, const std::string& file);

/// The grade with `baseline` in force on `today`: findings that an entry covers are marked, and the
/// gate and exit code are made of the rest. Nothing else changes. Pure.
Grade apply(const Baseline& baseline, Day today, Grade grade);

struct Criteria;

/// Whether a run that was judged by `criteria` could have shown what `entry` names: a call or case
/// that it fits was judged for its verdict, and by something that yields its code (REQ-BL-012).
/// `grade` lists all invocations.
bool could_show(const KnownFinding& entry, const Grade& grade, const Criteria& criteria);

/// How many findings each entry of the grade's baseline is left with: for an expired one zero, for
/// one of which nothing was found, and which the run could not have shown, all of them, and for any
/// other what it covered. Never more than it has. `grade` lists all invocations.
std::vector<std::uint64_t> needed_counts(const Grade& grade, const Criteria& criteria);

/// `text` of a baseline file with each count lowered to `counts`, one for each entry in order; an
/// entry whose count is 0 goes, with the comment lines right above it. All other bytes stay.
/// Errors: `failed_precondition` where the file is not written one key a line, so that this cannot
/// be done without writing it anew; `invalid_input` if it does not parse.
Result<std::string> shrink(std::string_view text, const std::string& file,
                           const std::vector<std::uint64_t>& counts);

/// Entries for the findings of `grade` that fail a verdict and are not known, for a person to
/// paste: owner, reason and expiry are blanks. Empty where there is none.
std::string suggest_baseline(const Grade& grade);

}  // namespace remit::grading
