// What a contract's `redaction` asks for, and the inspection of lines after it.
//
//     Result<std::shared_ptr<const Redaction>> redaction =
//         Redaction::make(std::move(canaries), std::move(forbidden));
//     Result<Inspector> inspector = Inspector::make(*redaction);  // one for each thread
//     for (const Observation& one : inspector->inspect(line, &event)) ...
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "event/event.h"
#include "redaction/fields.h"
#include "redaction/scanner.h"

namespace remit::redaction {

/// Canaries and forbidden fields, ready to be looked for. Immutable and thread-safe.
class Redaction {
 public:
  /// Either may be empty, not both. Errors: those of Scanner::make and FieldRules::make.
  static Result<std::shared_ptr<const Redaction>> make(std::vector<Canary> canaries,
                                                       std::vector<std::string> forbid_fields);

  /// Null where there are no canaries.
  [[nodiscard]] const Scanner* scanner() const { return scanner_ ? &*scanner_ : nullptr; }
  [[nodiscard]] const FieldRules& fields() const { return fields_; }

  /// The positive control over all canaries (REQ-RD-040).
  [[nodiscard]] Status control() const;

 private:
  std::optional<Scanner> scanner_;
  FieldRules fields_;
};

/// Something that must not stand in a line.
struct Observation {
  enum class Kind : std::uint8_t { kCanary, kField };
  Kind kind = Kind::kCanary;
  /// What it is, without any text of the line: `canary "db", base64` or `field "prompt"`.
  std::string what;
  /// The same without the encoding: `canary "db"`.
  std::string subject;
  /// Where it stands: `in the field tool, at byte 57 of the line`.
  std::string where;
};

/// Inspects lines for one thread. Not thread-safe; movable.
class Inspector {
 public:
  static Result<Inspector> make(std::shared_ptr<const Redaction> redaction);

  /// Looks through a text whose lines are inspected next: see `Scanner::screen`.
  void screen(std::string_view text) {
    if (scratch_) redaction_->scanner()->screen(text, *scratch_);
  }

  /// What must not stand in `line`; valid until the next call. `event` is what the line decoded
  /// to, null for one that is no event.
  const std::vector<Observation>& inspect(std::string_view line, const event::Event* event);

  /// The canaries in a document of another form than event lines; valid until the next call.
  const std::vector<Observation>& inspect_document(std::string_view document);

  /// Bytes of the lines and documents that were searched for canaries.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  explicit Inspector(std::shared_ptr<const Redaction> redaction)
      : redaction_(std::move(redaction)) {}
  void look_for_canaries(std::string_view text, std::string_view what);

  std::shared_ptr<const Redaction> redaction_;
  std::optional<Scanner::Scratch> scratch_;
  std::vector<Leak> leaks_;
  std::vector<ForbiddenField> fields_;
  std::string buffer_;
  std::vector<Observation> observations_;
  std::uint64_t bytes_ = 0;
};

}  // namespace remit::redaction
