// What redaction found in the lines of a run, until the invocations are judged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "event/event.h"
#include "grading/grade.h"
#include "grading/record_store.h"
#include "redaction/inspector.h"
#include "trace/event_reader.h"

namespace remit::grading {

/// So many lines of one invocation, or of none, are told one by one of each canary and each entry
/// of `forbid_fields` (REQ-RD-022).
inline constexpr std::size_t kToldSightings = 100;

/// A canary or a forbidden field in one line, or in all lines that are not told one by one.
struct Sighting {
  Code code = Code::kCanaryLeak;
  bool is_of_call = false;    ///< of an invocation that was seen
  std::string invocation_id;  ///< empty where the line has none
  std::string subject;        ///< which canary or field
  std::string what;           ///< and how; holds nothing of the line
  std::string where;
  Position position;
  std::uint64_t lines = 1;  ///< as they were read: one that came again counts again
  bool is_rest = false;     ///< stands for all that are not told one by one

  /// What its finding stands for.
  [[nodiscard]] std::uint64_t told_lines() const { return is_rest ? lines : 1; }
  [[nodiscard]] std::string detail() const { return what + " " + where; }
};

/// Not thread-safe. Memory grows with the invocations in which something is found, not with the
/// lines.
class Sightings {
 public:
  /// `event` is null for a line that is none. The store has read what stands before the line.
  void add(std::span<const redaction::Observation> observations, const event::Event* event,
           const trace::Line& line, const RecordStore& store);

  /// Orders by ids of invocations. Call once, behind the last `add`.
  void settle();

  [[nodiscard]] bool empty() const { return all_.empty(); }
  /// Those of one invocation, which was seen.
  [[nodiscard]] std::span<const Sighting> claim(std::string_view id);
  /// Those that no invocation claimed.
  [[nodiscard]] std::vector<Sighting> unclaimed() const;

 private:
  using Subject = std::tuple<std::string, Code, std::string>;  // with the invocation's id
  /// The first kToldSightings in the order of positions, and one more.
  struct Group {
    std::vector<Sighting> first;
    std::uint64_t lines = 0;  // of all
  };

  std::map<Subject, Group> groups_;
  std::vector<Sighting> all_;
};

/// Says in the scope of `grade` what the run was searched for, null for nothing, over how many
/// bytes (REQ-RD-041), and masks every text of it that shows a canary (REQ-RD-050, REQ-RD-051).
/// Call once, when its texts are compared with nothing any more. Errors: those of Masks::make; the
/// grade is then to be thrown away.
Status redact(Grade& grade, const redaction::Redaction* redaction, std::uint64_t bytes);

/// `text` with a line of ours in place of each of its lines that shows a canary.
std::string without_canaries(const std::string& text, const redaction::Redaction* redaction);

/// `error`, or where its text shows a canary one that says only that.
Error without_canaries(Error error, const redaction::Redaction* redaction);

}  // namespace remit::grading
