// The naive twin's trace: every event owned, with its writer and its place in that writer's order.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "event/event.h"

namespace remit::twin {

using event::EventKind;
using event::Field;

struct NaiveInput;

/// A named writer sorts before one without a name, whose name is that of its input.
struct NaiveWriter {
  bool is_anonymous = false;
  std::string name;
  friend auto operator<=>(const NaiveWriter&, const NaiveWriter&) = default;
};

/// REQ-GR-030: `seq`, and for an event without one the last `seq` read before it and its place.
using NaiveOrder = std::pair<std::int64_t, std::int64_t>;

struct NaiveEvent {
  EventKind kind = EventKind::kExtension;
  std::map<Field, std::string> text;  // without empty ones: REQ-GR-015
  std::map<Field, std::int64_t> integers;
  std::set<std::string> further_resources;
  bool is_enforced = false;
  bool resource_is_null = false;
  std::set<Field> lists_and_flags;  // those recorded, an empty list too: REQ-CT-026
  std::string line;
  NaiveWriter writer;
  NaiveOrder order;   // within the writer
  std::string place;  // what `place_text` says of it

  [[nodiscard]] bool has(Field field) const {
    return text.contains(field) || integers.contains(field) || lists_and_flags.contains(field);
  }
  [[nodiscard]] std::string get(Field field) const {
    const auto found = text.find(field);
    return found == text.end() ? std::string{} : found->second;
  }
  /// Which try of its call this is: 1 where none is recorded.
  [[nodiscard]] std::int64_t attempt() const {
    const auto found = integers.find(Field::kAttempt);
    return found == integers.end() ? 1 : found->second;
  }
};

/// A line under a `(writer, seq)` that was used before.
struct NaiveRepeat {
  bool is_verified = false;  // else the first is too long ago to compare
  std::string invocation;    // of the first line, or of this one where that is too long ago
  std::string place;         // of this one
};

/// A malformed line.
struct NaiveMistake {
  std::string place;
  std::string what;
};

/// A line as it was written, an event or not, or a document of another form.
struct NaiveLook {
  std::string text;
  bool is_document = false;
  std::string invocation;                       // what it names
  std::tuple<std::string, std::int64_t> order;  // of positions
  std::tuple<std::string, std::uint64_t> file;  // where it was read
  std::string place;
};

struct NaiveTrace {
  std::vector<NaiveEvent> events;  // in input order, repeats left out
  std::vector<NaiveMistake> malformed;
  std::size_t same_repeats = 0;
  std::vector<NaiveRepeat> repeats;  // with other bytes, or not compared
  std::vector<NaiveLook> looks;      // of every line that is not blank
  std::size_t extensions = 0;
  std::string first_file;
  std::size_t files_of_requests = 0;
  std::size_t ignored_fields = 0;
  std::size_t events_with_ignored_fields = 0;  // repeats among them
  std::set<std::string> fields_meant;          // by keys that are no fields
};

/// Where an event stands: in a log by writer and number, or in its input by the byte; and the line
/// of the file, whose text begins at the byte `offset` or has its mistake there.
std::string place_text(const std::string& source, std::uint64_t at, bool by_sequence,
                       const std::string& file, std::uint64_t line, std::uint64_t offset,
                       std::uint64_t bytes);

NaiveTrace read_trace(std::vector<NaiveInput> inputs);

}  // namespace remit::twin
