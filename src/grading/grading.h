// Grading: reads events once and says what they support.
//
//     Criteria criteria;
//     criteria.manifest = std::move(manifest);
//     Evidence evidence;
//     evidence.inputs.push_back(trace::Input::of_file("trace.jsonl"));
//     Result<Grade> grade = grading::grade(files, std::move(evidence), std::move(criteria));
//     if (!grade) return complain(grade.error());  // an input cannot be read: exit 65
//     return grade->exit_code;
//
// The rules are spec/grades.md. A grade is a pure function of its inputs (invariant *same inputs,
// same grade, same bytes*); nothing unknown passes (invariant *unknown never passes*).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.h"
#include "base/limits.h"
#include "base/result.h"
#include "event/event.h"
#include "grading/baseline.h"
#include "grading/contract.h"
#include "grading/grade.h"
#include "grading/manifest.h"
#include "redaction/inspector.h"
#include "trace/event_reader.h"

namespace remit::grading {

/// Malformed lines that are findings of their own: of one file, and of a run in the order of
/// reading. Those of a file beyond them are one finding together (REQ-GR-087).
inline constexpr std::uint64_t kMalformedLinesOfSource = 1000;
inline constexpr std::uint64_t kMalformedLinesOfRun = 10'000;

/// A baseline and the day of grading.
struct DatedBaseline {
  Baseline baseline;
  Day today = 0;
};

/// What a run is judged by.
struct Criteria {
  Contract contract = sequential_contract();
  std::optional<Manifest> manifest;
  /// Ids that were expected (`--expect`, `--expect-file`). Without a manifest they judge planning;
  /// beside one only their absence is judged.
  std::optional<std::vector<std::string>> expected_ids;
  /// Findings that are known and do not fail the gate: see `apply`.
  std::optional<DatedBaseline> known;
  /// What must not stand in any line, null for nothing; its canaries are masked in the grade.
  std::shared_ptr<const redaction::Redaction> redaction;
  bool list_all = false;      ///< `Grade::invocations` has every invocation, not only those with
                              ///< findings
  bool keep_records = false;  ///< `InvocationGrade::record` is filled, for forms that tell it
  bool advisory = false;      ///< the gate is told and not enforced (REQ-GR-084)
  /// Filled from a Random by programs, so that nobody can choose ids that collide in our tables.
  /// Every value gives the same grade.
  std::uint64_t hash_seed = 0;
  /// What is kept in memory of invocations, in bytes; what is more waits in a scratch file. Every
  /// value gives the same grade.
  std::size_t memory_bytes = kGraderMemoryBytes;
  /// Where that file may be: the first of them that takes it.
  std::vector<std::string> scratch_directories = {"/var/tmp", "/tmp"};
  /// Threads that decode lines, the caller among them. Every number gives the same grade.
  unsigned threads = 1;
  /// Counted up with each event that is graded; null for nobody who looks. Outlives the grade.
  std::uint64_t* events_read = nullptr;
};

/// Judges events as they come. Memory is bounded by `Criteria::memory_bytes`, what is known of
/// writers, the events of the largest single invocation, and the result: its findings and the
/// invocations that it lists. In the steady state nothing is allocated per event. Not thread-safe;
/// movable; one per run.
class Grader {
 public:
  /// `files` outlives the grader.
  Grader(FileSystem& files, Criteria criteria);
  ~Grader();
  Grader(Grader&&) noexcept;
  Grader& operator=(Grader&&) noexcept;

  /// What follows was read from the file `source` of the input `input`: events without a writer
  /// belong to the anonymous writer of `input`. `limit_exceeded` beyond kMaxTraceSources.
  Status begin_source(std::string_view input, std::string_view source);

  /// One event and the line that it was decoded from. `limit_exceeded` where what belongs together
  /// does not fit into kMaxGraderBytes; `unavailable` where a scratch file is needed and cannot be
  /// made or written. The grader is then of no further use.
  /// The hashes of `line` are by the seed of the criteria, or absent.
  Status add(const event::Event& event, const trace::Line& line);
  /// A hint: an event of the invocation with this `trace::LineHashes::id` comes soon.
  void expect(std::uint64_t id_hash) const;

  /// A file of another form in which no event was recognised.
  void note_silent(const trace::SilentFile& file);
  /// The current file records requests and could record nothing else.
  void note_file_of_requests();

  /// A `line` that is no event; `offset` is the place of the mistake in the source.
  void add_malformed(const Error& error, std::uint64_t offset, const trace::Line& line);

  /// What redaction found in the line of the event or mistake that was added last, or in a document
  /// that `line` is; `event` is null for what is none.
  void add_observations(std::span<const redaction::Observation> observations,
                        const event::Event* event, const trace::Line& line);

  /// Evidence that does not verify, with the first place as the error's.
  void add_altered(std::string_view input, const Error& error);

  /// Judges everything that was added. Call once. Texts are not masked yet, see `redact`, and no
  /// baseline is applied. Errors: as `add`, and those of reading the scratch file.
  Result<Grade> finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// An evidence directory that did not verify, and where.
struct Alteration {
  std::string input;
  Error error;
};

/// What there is to judge.
struct Evidence {
  std::vector<trace::Input> inputs;
  std::vector<Alteration> alterations;
};

/// Reads every input in the order of their names, so that the order in which they are given changes
/// nothing, and grades them. Errors: those of opening and reading a file, and of `Grader` (exit
/// 65), and `internal` where the control of the redaction fails (REQ-RD-040).
Result<Grade> grade(FileSystem& files, Evidence evidence, Criteria criteria);

}  // namespace remit::grading
