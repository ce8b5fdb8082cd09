// What a grade consists of: verdicts, findings, owners and populations, as pure values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "event/event.h"
#include "grading/codes.h"

namespace remit::grading {

/// The worse of two in the order failed, undetermined, not_exercised, passed (REQ-GR-003).
Value worse(Value left, Value right);

/// Whether the run may go on (REQ-GR-004).
enum class Gate : std::uint8_t { kUndetermined, kFailed, kPassed };
std::string_view gate_name(Gate gate);

/// Where an event stands: its writer's id and `seq`, which no splitting of files changes, or else
/// the name of the input it was read from and the byte offset of its line. Where its line was found
/// is told besides, for people and their editors; positions are compared without it.
struct Position {
  std::string source;
  std::uint64_t at = 0;
  bool by_sequence = false;  ///< `at` is a `seq` and `source` a writer
  std::uint32_t file = 0;    ///< index into `Grade::files`
  std::uint64_t offset = 0;  ///< of the line, or of the mistake in it, in bytes
  std::uint64_t line = 0;    ///< 1 for the first line of the file; 0 where no line is meant
  std::uint32_t bytes = 0;   ///< from `offset` to the end of the line

  friend auto operator<=>(const Position& left, const Position& right) {
    return std::tie(left.source, left.at, left.by_sequence) <=>
           std::tie(right.source, right.at, right.by_sequence);
  }
  friend bool operator==(const Position& left, const Position& right) {
    return (left <=> right) == 0;
  }
};

/// One violated relation (REQ-GR-010). `expected` and `recorded` are facts as they stand in the
/// manifest and the evidence: outside text, unquoted; absent where there is no such fact.
struct Finding {
  Code code = Code::kMalformedEvent;
  std::optional<std::string> invocation_id;
  std::optional<std::string> case_id;
  Verdict verdict = Verdict::kCompleteness;
  Owner owner = Owner::kObservability;
  /// What it makes of its verdict: failed, or undetermined if the code is soft or its evidence
  /// incomplete (REQ-GR-011, REQ-GR-071); `vacuous_case` leaves not_exercised.
  Value value = Value::kUndetermined;
  bool consequence = false;  ///< another owner's fact was contradicted first (REQ-GR-012)
  std::optional<std::string> expected;
  std::optional<std::string> recorded;
  std::vector<Position> events;
  std::string message;  ///< one sentence; lower case, outside text quoted and cut
  /// Lines that it stands for: one, or all that are not told one by one (REQ-GR-087).
  std::uint64_t lines = 1;
  /// It only says that a file's form has no room for what is missing (REQ-IN-033): reports for
  /// people tell all of these together.
  bool is_of_form = false;
  /// It only says that a log is not closed (REQ-IN-010): what it misses may still be written.
  bool is_of_open_log = false;
  /// The entry of `Grade::baseline` by which it is known: it is told and does not fail the gate.
  std::optional<std::size_t> known;
};

/// A value and the number of invocations that it speaks of.
struct VerdictResult {
  Value value = Value::kNotExercised;
  std::uint64_t population = 0;

  friend bool operator==(const VerdictResult&, const VerdictResult&) = default;
};

/// One of something for each verdict.
template <class T>
struct ByVerdict {
  std::array<T, kVerdictCount> items{};

  T& operator[](Verdict verdict) { return items[static_cast<std::size_t>(verdict)]; }
  const T& operator[](Verdict verdict) const { return items[static_cast<std::size_t>(verdict)]; }
  friend bool operator==(const ByVerdict&, const ByVerdict&) = default;
};

/// A field of a recorded event, by its name in the event contract.
struct RecordedFact {
  std::string_view name;
  std::string text;  ///< as it was written: outside text
};

struct RecordedEvent {
  event::EventKind kind = event::EventKind::kExtension;
  Position position;
  std::vector<RecordedFact> facts;
};

/// What was recorded of one invocation, in the order in which it is judged.
struct InvocationRecord {
  std::vector<RecordedEvent> events;  ///< the first kMaxRecordedEvents
  std::uint64_t event_count = 0;      ///< all of them
  std::uint64_t requests = 0, decisions = 0, starts = 0, finishes = 0;
  std::uint64_t effects = 0;  ///< as observed by others than the executor
  bool is_observed = false;   ///< else `effects` says nothing
};
inline constexpr std::size_t kMaxRecordedEvents = 100;

struct InvocationGrade {
  std::string invocation_id;
  std::optional<std::string> case_id;  ///< the manifest's case, else what the events say
  std::optional<std::string> tool;     ///< as REQ-MF-017; none where none is recorded
  std::optional<std::string> route;
  std::optional<Owner> owner;  ///< of the first contradicted fact; none without findings
  ByVerdict<Value> verdicts;
  ByVerdict<bool> blocking;           ///< whether they block, by the contract's rules
  std::vector<std::size_t> findings;  ///< indices into `Grade::findings`
  /// Where records were asked for: then of every invocation listed here.
  std::optional<InvocationRecord> record;
};

struct CaseGrade {
  std::string case_id;
  bool is_security = false;
  ByVerdict<VerdictResult> verdicts;
  std::vector<std::string> invocation_ids;  ///< in order of their requests
  std::vector<std::size_t> findings;        ///< indices of all findings of the case
};

struct Population {
  std::uint64_t events = 0;          ///< well-formed, repeats and extensions not counted
  std::uint64_t invocations = 0;     ///< with at least one event
  std::uint64_t allowed = 0;         ///< invocations with an allow
  std::uint64_t denied = 0;          ///< invocations with a deny and no allow
  std::uint64_t started = 0;         ///< invocations with an `executor.start`
  std::uint64_t finished = 0;        ///< invocations with an `executor.finish`
  std::uint64_t ignored_fields = 0;  ///< unknown fields that were passed over
  std::uint64_t ignored_events = 0;  ///< events whose name starts with `x.`
  std::uint64_t would_deny = 0;      ///< invocations with a deny that was only tried (REQ-GR-062)
  std::uint64_t repeats = 0;         ///< lines that came again with the same bytes

  friend bool operator==(const Population&, const Population&) = default;
};

/// A finding that people know of and let stand for a time (spec/baseline.md). What is absent fits
/// anything.
struct KnownFinding {
  Code code = Code::kMalformedEvent;
  std::optional<std::string> case_id, tool, route, invocation_id;
  std::string owner;          ///< who answers for it
  std::string reason;         ///< why it may stand
  std::string expires;        ///< `YYYY-MM-DD`, the last day on which it counts, in UTC
  std::uint64_t count = 1;    ///< findings that it covers at most
  std::uint32_t line = 0;     ///< in the file
  bool is_expired = false;    ///< on the day of grading; it then covers nothing
  std::uint64_t matched = 0;  ///< findings that it covers, one of many lines as that many
};

/// What a baseline made of a grade.
struct BaselineUse {
  std::string file;
  std::vector<KnownFinding> entries;    ///< in the order of the file
  std::uint64_t known = 0;              ///< findings that an entry covers
  ByVerdict<Value> verdicts;            ///< of the run without them; the gate is made of these
  std::vector<ByVerdict<Value>> cases;  ///< of each case without them, in the order of the cases
};

/// The grade of one run. Findings are sorted: those of no invocation first, then by invocation,
/// owner, code and position, so that equal inputs give equal bytes.
struct Grade {
  Gate gate = Gate::kUndetermined;
  int exit_code = 2;  ///< 0, 1 or 2 (REQ-GR-083); 0 if advisory
  bool advisory = false;
  ByVerdict<VerdictResult> verdicts;
  ByVerdict<bool> blocking;    ///< for some invocations at least (REQ-GR-005)
  ByVerdict<bool> blocks_run;  ///< where no rule says otherwise, and for the run as a whole
  /// Of what blocks: the gate is made of these. Nothing for a verdict that is not asked for.
  ByVerdict<std::optional<Value>> blocking_values;
  std::vector<InvocationGrade> invocations;  ///< by id; those with findings, or all if asked for
  std::vector<CaseGrade> cases;              ///< in the order of the manifest
  std::vector<Finding> findings;
  std::vector<std::string> files;  ///< what was read, in the order of reading; see `Position::file`
  Population population;
  bool has_ended = false;  ///< a `run.finished` was read, and as many as of `run.started`
  /// What the manifest says of itself, where there is one.
  std::optional<std::string> manifest_digest, environment, fixture_revision;
  std::optional<BaselineUse> baseline;  ///< where one was given
  std::vector<std::string> scope;       ///< sentences: what was and was not judged
};

/// What the values of all that blocks make of the gate (REQ-GR-004): where none is asked for, it is
/// undetermined (REQ-GR-005).
Gate gate_of(const ByVerdict<std::optional<Value>>& values);

/// 0 passed, 1 failed, 2 undetermined (REQ-GR-083).
int exit_code_of(Gate gate);

}  // namespace remit::grading
