// From a document of another form to event lines.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "trace/event_lines.h"
#include "trace/form.h"

namespace remit::trace {

/// What a translator could not read, and where in the document.
struct Fault {
  const char* what = nullptr;  ///< null if there is none
  std::size_t place = 0;
};

/// Translates the documents of one file. Not thread-safe.
class Translator {
 public:
  explicit Translator(Form form) : form_(form) {}
  virtual ~Translator() = default;

  /// Appends the events of `document`, which is readable for event::kScanPadding bytes past its
  /// end. What stands in front of a fault is translated.
  virtual Fault translate(std::string_view document, EventLines& out) = 0;

  /// Whether some of the file's requests come from a record that holds no decisions at all, so
  /// that what the grader misses of them was never there (REQ-IN-033).
  [[nodiscard]] bool has_requests_only() const { return has_requests_only_; }
  [[nodiscard]] Form form() const { return form_; }
  /// Spans and log records, or runs, that were read so far.
  [[nodiscard]] std::uint64_t records() const { return records_; }

 protected:
  void note_request_only() { has_requests_only_ = true; }
  void note_record() { ++records_; }

 private:
  Form form_;
  std::uint64_t records_ = 0;
  bool has_requests_only_ = false;
};

/// Spans and log records of OpenTelemetry, as its file exporter, Tempo and Jaeger write them.
std::unique_ptr<Translator> make_otlp_translator();

/// Recorded agent runs. `form` is one of the three; `source`, as it may stand in an id, names
/// the file, and its runs with it.
std::unique_ptr<Translator> make_run_translator(Form form, std::string_view source);

}  // namespace remit::trace
