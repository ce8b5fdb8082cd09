// Reading: spec/events.md, REQ-GR-030 and REQ-EV-040.
#include "naive_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <sstream>

#include "base/limits.h"
#include "base/nearest_word.h"
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
  for (const Field field :
       {Field::kEnforced, Field::kFurtherResources, Field::kDeterminingPolicies}) {
    if (event.has(field)) out.lists_and_flags.insert(field);
  }
  out.further_resources = {event.further_resources.begin(), event.further_resources.end()};
  out.is_enforced = event.enforced;
  out.resource_is_null = event.resource_id_is_null;
  return out;
}

std::string invocation_of(const NaiveEvent& event) {
  return event::is_call_event(event.kind) ? event.get(Field::kInvocationId) : "";
}

// The decoder names the place of a mistake as `byte N` of the line.
std::uint64_t place_in_line(const Error& error) {
  unsigned long long place = 0;
  return std::sscanf(error.where.c_str(), "byte %llu", &place) == 1 ? place : 0;
}

/// A line of an input.
struct ReadLine {
  std::string input;
  std::string log;       // of which the input is a part, else the same
  std::string text;      // without what ends it
  std::string written;   // without the line feed
  bool is_torn = false;  // at the end of a log that its writer did not close
  std::uint64_t number = 0;
  std::uint64_t offset = 0;
};

// A line with a writer and a number is named by them, wherever it stands.
std::string place_of(const NaiveEvent& event, const ReadLine& line) {
  const bool by_sequence = !event.writer.is_anonymous && event.has(Field::kSeq);
  const std::uint64_t at =
      by_sequence ? static_cast<std::uint64_t>(event.integers.at(Field::kSeq)) : line.offset;
  return place_text(by_sequence ? event.writer.name : line.input, at, by_sequence, line.input,
                    line.number, line.offset, line.text.size());
}

// A mistake reaches to the end of its line (REQ-GR-018).
NaiveMistake mistake_of(const Error& error, const ReadLine& line) {
  const std::uint64_t skipped = place_in_line(error);
  const std::uint64_t offset = line.offset + skipped;
  return {place_text(line.input, offset, false, line.input, line.number, offset,
                     line.text.size() - skipped),
          fmt::format("byte {}: {}", offset, error.message)};
}

/// What was read so far of each writer.
struct Reading {
  std::string log;          // of this file
  std::string last_writer;  // of the last event in this log
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
    trace.repeats.push_back({false, invocation_of(event), event.place});
  } else if (original.line != event.line) {
    trace.repeats.push_back({true, invocation_of(original), event.place});
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

// REQ-IN-010: what may be missing at the end of a log.
NaiveEvent loss(const ReadLine& line, const std::string& writer, const char* cause) {
  NaiveEvent out;
  out.kind = EventKind::kEvidenceLost;
  out.line = line.text;
  out.integers[Field::kEvents] = -1;
  out.text[Field::kCause] = cause;
  if (!writer.empty()) out.text[Field::kWriter] = writer;
  return out;
}

NaiveLook look_at(const ReadLine& line, const NaiveEvent* event = nullptr) {
  NaiveLook out;
  out.text = line.written;
  out.file = {line.input, line.offset};
  out.order = {line.input, static_cast<std::int64_t>(line.offset)};
  out.place = place_text(line.input, line.offset, false, line.input, line.number, line.offset,
                         line.text.size());
  if (event == nullptr) return out;
  out.invocation = event->get(Field::kInvocationId);
  out.place = event->place;
  if (!event->writer.is_anonymous && event->has(Field::kSeq)) {
    out.order = {event->writer.name, event->integers.at(Field::kSeq)};
  }
  return out;
}

// REQ-GR-088: which fields the keys at the top of a line may be meant for.
void look_at_fields(const std::string& line, NaiveTrace& trace) {
  ++trace.events_with_ignored_fields;
  std::vector<std::string_view> names = {"event"};
  for (std::size_t i = 0; i < event::kFieldCount; ++i) {
    names.push_back(event::field_name(static_cast<Field>(i)));
  }
  for (const std::string& key : top_keys(line)) {
    if (std::find(names.begin(), names.end(), key) != names.end()) continue;
    std::string words;
    for (std::size_t i = 0; i < key.size(); ++i) {
      const bool is_capital = std::isupper(static_cast<unsigned char>(key[i])) != 0;
      if (is_capital && i > 0 && std::islower(static_cast<unsigned char>(key[i - 1])) != 0) {
        words += '_';
      }
      const bool parts = key[i] == '-' || key[i] == '.' || key[i] == ' ';
      words += is_capital ? static_cast<char>(std::tolower(key[i])) : parts ? '_' : key[i];
    }
    const bool is_spelled = std::find(names.begin(), names.end(), words) != names.end();
    const std::string meant = is_spelled       ? words
                              : key.size() < 8 ? ""
                                               : std::string(nearest_word(key, names));
    if (!meant.empty()) trace.fields_meant.insert(meant);
  }
}

void take(NaiveEvent event, const ReadLine& line, std::uint32_t ignored_fields, Reading& reading,
          NaiveTrace& trace) {
  reading.last_writer = event.get(Field::kWriter);
  event.writer = event.has(Field::kWriter) ? NaiveWriter{false, event.get(Field::kWriter)}
                                           : NaiveWriter{true, line.log};
  event.place = place_of(event, line);
  trace.looks.push_back(look_at(line, &event));
  read_event(std::move(event), ignored_fields, reading, trace);
}

void read_line(const ReadLine& line, event::Decoder& decoder, Reading& reading, NaiveTrace& trace) {
  const std::string padded = line.text + std::string(event::Decoder::kPadding, '\0');
  event::Event decoded;
  const Status status =
      decoder.decode(std::string_view(padded).substr(0, line.text.size()), decoded);
  if (!status && !line.is_torn) {
    trace.looks.push_back(look_at(line));
    return trace.malformed.push_back(mistake_of(status.error(), line));
  }
  if (status && decoded.ignored_fields > 0) look_at_fields(line.text, trace);
  take(status ? owned(decoded, line.text) : loss(line, reading.last_writer, "cut last line"), line,
       decoded.ignored_fields, reading, trace);
}

// REQ-IN-032: one document on each line, or one in all.
bool has_documents_on_lines(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || text[first] != '{') return false;
  const std::size_t next =
      text.find_first_not_of("\r\n", std::min(text.find('\n', first), text.size()));
  return next == std::string::npos || text[next] == '{';
}

// REQ-RD-013: what was translated is searched as it was written.
void look_at_documents(const NaiveInput& input, NaiveTrace& trace) {
  const bool on_lines = has_documents_on_lines(input.translated_from);
  std::istringstream text(input.translated_from);
  ReadLine document;
  document.input = input.name;
  for (std::uint64_t next = 0; std::getline(text, document.text, on_lines ? '\n' : '\0');
       document.offset = next) {
    next = document.offset + document.text.size() + 1;
    ++document.number;
    document.written = document.text;
    if (document.text.empty()) continue;
    NaiveLook look = look_at(document);
    look.is_document = true;
    trace.looks.push_back(std::move(look));
  }
}

}  // namespace

std::string place_text(const std::string& source, std::uint64_t at, bool by_sequence,
                       const std::string& file, std::uint64_t line, std::uint64_t offset,
                       std::uint64_t bytes) {
  return fmt::format("{} {} {}, {} line {} byte {} for {}", source, by_sequence ? "number" : "byte",
                     at, file, line, offset, bytes);
}

NaiveTrace read_trace(std::vector<NaiveInput> inputs) {
  std::sort(inputs.begin(), inputs.end(),
            [](const NaiveInput& left, const NaiveInput& right) { return left.name < right.name; });
  NaiveTrace trace;
  Reading reading;
  event::Decoder decoder;
  if (!inputs.empty()) trace.first_file = inputs.front().name;
  for (const NaiveInput& input : inputs) {
    trace.files_of_requests += input.has_requests_only ? 1 : 0;
    const std::size_t looks = trace.looks.size();
    std::istringstream lines(input.bytes);
    ReadLine line;
    line.input = input.name;
    line.log = input.log.empty() ? input.name : input.log;
    if (std::exchange(reading.log, line.log) != line.log) reading.last_writer.clear();
    for (std::uint64_t next = 0; std::getline(lines, line.text); line.offset = next) {
      next = line.offset + line.text.size() + 1;
      ++line.number;
      line.is_torn = input.may_be_torn && lines.eof();
      line.written = line.text;
      if (line.text.ends_with('\r')) line.text.pop_back();
      if (line.text.find_first_not_of(" \t\r") == std::string::npos) continue;
      read_line(line, decoder, reading, trace);
    }
    if (input.is_unclosed && !line.is_torn) {
      line.number += line.number > 0 ? 1 : 0;
      line.text = line.written = "";
      take(loss(line, reading.last_writer, "the log is not closed"), line, 0, reading, trace);
    }
    if (input.translated_from.empty()) continue;
    trace.looks.resize(looks);
    look_at_documents(input, trace);
  }
  return trace;
}

}  // namespace remit::twin
