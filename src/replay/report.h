// What a replay came to: every call with its decision, and counts of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "event/event.h"
#include "replay/replay.h"

namespace remit::replay {

/// Decisions as evidence has them, by invocation. Events are given to `take` in any order; what is
/// no decision is passed over.
class RecordedDecisions {
 public:
  void take(const event::Event& event);
  /// Puts into `calls` which policies decided, and what shadow mode let through. Returns how many
  /// of them have no decision in the record, or another one than they were told. One whose handler
  /// was not entered although it was allowed (`permit_expired` say) names no invocation, and is
  /// passed over.
  std::size_t join(std::vector<ReplayedCall>& calls) const;

 private:
  struct Decision {
    bool is_allow = false;
    bool is_binding = true;
    std::string reason;
    std::vector<std::string> policies;
  };
  /// Whether the record says of the call what its caller was told.
  static bool is_same(const Decision& decision, const ReplayedCall& call);

  std::map<std::string, Decision, std::less<>> by_invocation_;
};

struct Counts {
  std::uint64_t calls = 0;
  std::uint64_t allowed = 0;
  std::uint64_t denied = 0;
  std::uint64_t succeeded = 0;  ///< of those allowed
  std::uint64_t failed = 0;
  std::uint64_t unknown = 0;     ///< or cancelled: nobody knows, or nothing was done
  std::uint64_t would_deny = 0;  ///< of those allowed: by shadow mode alone
};

/// Runs of one label, those without one together.
struct LabelCounts {
  std::uint64_t runs = 0;
  std::uint64_t runs_denied = 0;  ///< in which at least one call was denied
  Counts calls;
};

/// Denials of one kind.
struct DenialKind {
  std::string reason;
  std::string policies;  ///< joined by commas; empty where no policy decided
  std::string tool;
  friend auto operator<=>(const DenialKind&, const DenialKind&) = default;
};

struct Report {
  std::string at;              ///< when each run began; empty: when it was replayed
  std::string evidence;        ///< the directory
  std::size_t unrecorded = 0;  ///< calls whose decision is not in the record as they were told
  std::vector<ReplayedRun> runs;
};

/// `{"schema":"remit.replay/1",…}`, a line for each run.
std::string report_json(const Report& report);

/// For people. With `all`, every call of every run; else the denied ones of runs that have any.
std::string report_text(const Report& report, bool all);

/// How many calls there are in all.
std::uint64_t calls_of(const Report& report);

}  // namespace remit::replay
