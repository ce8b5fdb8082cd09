// Reading: spec/events.md, REQ-GR-030 and REQ-EV-040.
#include "naive_trace.h"

#include <algorithm>
#include <sstream>

#include "base/limits.h"
#include "naive_grader.h"

namespace remit::twin {
namespace {

NaiveEvent owned(const event::Event& event, const std::string& line) {
  NaiveEvent out;
  out.kind = event.kind;
  out.line = line;
  for (std::size_t i = 0; i < event::kTextFieldCount; ++i) {
    const auto field = static_cast<Field>(i);
    if (!event.text(field).empty()) out.text[field] = std::string(event.text(field));
  }
  for (std::size_t i = 0; i < event::kIntegerFieldCount; ++i) {
    const auto field = static_cast<Field>(event::kTextFieldCount + i);
    if (event.has(field)) out.integers[field] = event.integer(field);
  }
  return out;
}

std::string invocation_of(const NaiveEvent& event) {
  return event::is_call_event(event.kind) ? event.get(Field::kInvocationId) : "";
}

/// What was read so far of each writer.
struct Reading {
  std::map<NaiveWriter, std::int64_t> last_seq, highest_seq;
  std::map<std::pair<NaiveWriter, std::int64_t>, std::size_t> by_number;  // index in the trace
};

// Whether the number came before; takes note of what the line is worth then (REQ-EV-040).
bool is_repeat(const NaiveEvent& event, const Reading& reading, NaiveTrace& trace) {
  const std::int64_t seq = event.integers.at(Field::kSeq);
  const auto first = reading.by_number.find({event.writer, seq});
  if (first == reading.by_number.end()) return false;
  const NaiveEvent& original = trace.events[first->second];
  if (seq <= reading.highest_seq.at(event.writer) - kRepeatWindow) {
    trace.repeats.push_back({false, invocation_of(event)});
  } else if (original.line != event.line) {
    trace.repeats.push_back({true, invocation_of(original)});
  } else {
    ++trace.same_repeats;
  }
  return true;
}

void read_event(NaiveEvent event, std::uint32_t ignored_fields, Reading& reading,
                NaiveTrace& trace) {
  if (event.has(Field::kSeq)) {
    if (is_repeat(event, reading, trace)) return;
    const std::int64_t seq = event.integers.at(Field::kSeq);
    reading.by_number[{event.writer, seq}] = trace.events.size();
    reading.last_seq[event.writer] = seq;
    reading.highest_seq[event.writer] = std::max(reading.highest_seq[event.writer], seq);
    event.order = {seq, 0};
  } else {
    const auto place = static_cast<std::int64_t>(trace.events.size()) + 1;
    event.order = {reading.last_seq[event.writer], place};
  }
  if (event.kind == EventKind::kExtension) ++trace.extensions;
  trace.ignored_fields += ignored_fields;
  trace.events.push_back(std::move(event));
}

}  // namespace

NaiveTrace read_trace(std::vector<NaiveInput> inputs) {
  std::sort(inputs.begin(), inputs.end(),
            [](const NaiveInput& left, const NaiveInput& right) { return left.name < right.name; });
  NaiveTrace trace;
  Reading reading;
  event::Decoder decoder;
  for (const NaiveInput& input : inputs) {
    std::istringstream lines(input.bytes);
    std::string line;
    while (std::getline(lines, line)) {
      if (!line.empty() && line.back() == '\r') line.pop_back();
      if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
      const std::string padded = line + std::string(event::Decoder::kPadding, '\0');
      event::Event decoded;
      if (!decoder.decode(std::string_view(padded).substr(0, line.size()), decoded)) {
        ++trace.malformed;
        continue;
      }
      NaiveEvent event = owned(decoded, line);
      event.writer = event.has(Field::kWriter) ? NaiveWriter{false, event.get(Field::kWriter)}
                                               : NaiveWriter{true, input.name};
      read_event(std::move(event), decoded.ignored_fields, reading, trace);
    }
  }
  return trace;
}

}  // namespace remit::twin
