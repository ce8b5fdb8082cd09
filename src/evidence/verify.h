// Whether an evidence directory is what was written, and the head by which that can be asked later.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "base/file_system.h"
#include "base/result.h"
#include "evidence/checkpoint.h"
#include "evidence/walk.h"

namespace remit::evidence {

/// A digest over a whole evidence directory at one moment, in a form to keep elsewhere: who can
/// write the files can make them anew, roots and all, but not so that they fit a head kept by
/// someone else. The directory may grow afterwards and still fits.
///
/// Text: `remit-head-1:WRITERS:OPEN:DIGEST`, where OPEN is `-` or, for each writer whose log was
/// not closed, `NUMBER@EVENTS`, separated by commas.
struct Head {
  struct Open {
    std::uint64_t writer = 0;
    std::uint64_t events = 0;
    friend bool operator==(const Open&, const Open&) = default;
  };
  std::uint64_t writers = 0;  ///< their numbers are 1 to this
  std::vector<Open> open;     ///< by rising number
  Sha256Digest digest{};

  /// Of a writer whose log was not closed; nothing of others.
  [[nodiscard]] std::optional<std::uint64_t> events_of_open(std::uint64_t writer) const;
  [[nodiscard]] std::string to_string() const;
  /// Error: `invalid_input` for anything that `to_string` does not write.
  static Result<Head> parse(std::string_view text);
  friend bool operator==(const Head&, const Head&) = default;
};

/// A checkpoint that the evidence fits: the log begins with its events.
struct FittingCheckpoint {
  std::string directory;  ///< `writer-000001`
  std::uint64_t events = 0;
};

struct VerifyReport {
  std::vector<WriterState> writers;  ///< by number
  std::optional<Damage> damage;      ///< the first one; absent where everything is as written
  std::vector<FittingCheckpoint> checkpoints;  ///< by writer, then by events
  /// What was kept elsewhere and cannot be compared, since it ends within what retention removed:
  /// each in words.
  std::vector<std::string> unknown;
  Head head;  ///< of what is proven; meaningless where there is damage
  [[nodiscard]] bool intact() const { return !damage; }
  /// Events that retention removed, of all writers.
  [[nodiscard]] std::uint64_t removed() const;
  /// Whether the log in that folder, `writer-000001`, goes on, or would if its writer lived. Of a
  /// damaged one nobody knows, and its damage is told.
  [[nodiscard]] bool is_open(std::string_view writer) const;
};

/// What was kept elsewhere, to compare with.
struct Kept {
  std::optional<Head> head = std::nullopt;
  std::vector<Checkpoint> checkpoints = {};  ///< that are believed (`open_checkpoint`)
};

/// Reads everything beneath `directory` and compares it with its roots, and with what was kept
/// elsewhere. Finds every changed, moved, added or removed byte, line, root and segment of closed
/// logs, and of unclosed ones up to their last root, as well as a missing writer that is not the
/// last. What only `kept` shows: a log made anew throughout, the last writers removed, the end of
/// an unclosed log cut together with its roots, more removed than retention did. Whole events and
/// torn bytes behind the last root of an unclosed log are no damage: `WriterState` counts them.
/// Memory: a few lines, and a state for each writer. Errors: those of reading; damage is a result.
/// Nothing is written.
Result<VerifyReport> verify(FileSystem& files, const std::string& directory, const Kept& kept = {});

/// One writer's segments in the order in which they were written, for reading.
struct WriterSegments {
  std::string directory;              ///< `writer-000001`
  std::vector<std::string> segments;  ///< paths of the lines
};

/// The writers beneath `directory` and their segments, in order, plain files only, without what
/// retention removed and left. Says nothing of
/// their state: see `verify`. Errors: those of listing.
Result<std::vector<WriterSegments>> list_segments(FileSystem& files, const std::string& directory);

}  // namespace remit::evidence
