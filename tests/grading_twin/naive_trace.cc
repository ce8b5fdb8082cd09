// Reading: spec/events.md and REQ-GR-030.
#include "naive_trace.h"

#include <algorithm>
#include <sstream>

#include "naive_grader.h"

namespace remit::twin {
namespace {

NaiveEvent owned(const event::Event& event, const std::string& line) {
  NaiveEvent out;
  out.kind = event.kind;
  out.resource_id_is_null = event.resource_id_is_null;
  out.enforced = event.enforced;
  out.line = line;
  for (std::size_t i = 0; i < event::kTextFieldCount; ++i) {
    const auto field = static_cast<Field>(i);
    if (event.has(field)) out.text[field] = std::string(event.text(field));
  }
  for (std::size_t i = 0; i < event::kIntegerFieldCount; ++i) {
    const auto field = static_cast<Field>(event::kTextFieldCount + i);
    if (event.has(field)) out.integers[field] = event.integer(field);
  }
  return out;
}

// Whether the trace has an event of that writer and seq already; says whether its bytes are the
// same.
const NaiveEvent* earlier_twin(const NaiveTrace& trace, const NaiveEvent& event) {
  if (!event.has(Field::kSeq)) return nullptr;
  for (const NaiveEvent& other : trace.events) {
    if (other.writer == event.writer && other.has(Field::kSeq) &&
        other.integers.at(Field::kSeq) == event.integers.at(Field::kSeq)) {
      return &other;
    }
  }
  return nullptr;
}

}  // namespace

NaiveTrace read_trace(std::vector<NaiveInput> inputs) {
  std::sort(inputs.begin(), inputs.end(),
            [](const NaiveInput& left, const NaiveInput& right) { return left.name < right.name; });
  NaiveTrace trace;
  event::Decoder decoder;
  for (const NaiveInput& input : inputs) {
    std::istringstream lines(input.bytes);
    std::string line;
    for (std::int64_t place = 0; std::getline(lines, line); ++place) {
      if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
      const std::string padded = line + std::string(event::Decoder::kPadding, '\0');
      event::Event decoded;
      if (!decoder.decode(std::string_view(padded).substr(0, line.size()), decoded)) {
        ++trace.malformed;
        continue;
      }
      trace.ignored_fields += decoded.ignored_fields;
      NaiveEvent event = owned(decoded, line);
      event.writer =
          event.has(Field::kWriter) ? "writer " + event.get(Field::kWriter) : "input " + input.name;
      event.order = event.has(Field::kSeq) ? event.integers.at(Field::kSeq) : place;
      if (const NaiveEvent* twin = earlier_twin(trace, event)) {
        if (twin->line == event.line) {
          ++trace.repeats;
        } else {
          ++trace.conflicts;
          trace.conflicting_invocations.insert(twin->get(Field::kInvocationId));
        }
        continue;
      }
      if (event.kind == EventKind::kExtension) ++trace.extensions;
      trace.events.push_back(std::move(event));
    }
  }
  return trace;
}

}  // namespace remit::twin
