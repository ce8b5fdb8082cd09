// The naive twin's trace: every event owned, with its writer and its place in that writer's order.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "event/event.h"

namespace remit::twin {

using event::EventKind;
using event::Field;

struct NaiveInput;

struct NaiveEvent {
  EventKind kind = EventKind::kExtension;
  std::map<Field, std::string> text;
  std::map<Field, std::int64_t> integers;
  bool resource_id_is_null = false;
  bool enforced = false;
  std::string line;
  std::string writer;      // its own, or one made of the input's name
  std::int64_t order = 0;  // within the writer: `seq`, else the place in the input

  [[nodiscard]] bool has(Field field) const {
    return text.contains(field) || integers.contains(field);
  }
  [[nodiscard]] std::string get(Field field) const {
    const auto found = text.find(field);
    return found == text.end() ? std::string{} : found->second;
  }
};

/// A place in a writer's order at which events are missing.
struct Loss {
  std::string writer;
  std::int64_t order = 0;  // events of a lower order came before
};

struct NaiveTrace {
  std::vector<NaiveEvent> events;  // in input order, repeats left out
  std::size_t malformed = 0;
  std::size_t repeats = 0;
  std::size_t conflicts = 0;
  std::set<std::string> conflicting_invocations;
  std::size_t extensions = 0;
  std::size_t ignored_fields = 0;
};

NaiveTrace read_trace(std::vector<NaiveInput> inputs);

}  // namespace remit::twin
