// Finds turned into words that hold nothing of what was found.
#include "redaction/inspector.h"

#include <fmt/format.h>

#include <utility>

#include "event/names.h"
#include "redaction/control.h"
#include "redaction/layers.h"
#include "redaction/strings.h"

namespace remit::redaction {
namespace {

// The member of `line` in which the byte `at` stands. Only names of the event contract are told:
// any other is text from outside.
std::string place_of(std::string_view line, std::size_t at, std::string_view what) {
  std::string member;
  for_each_string(line, [&](const StringPlace& place) {
    if (!place.is_key || place.begin > at) return;
    if (at < place.end) {
      member = "in a key";
      return;
    }
    if (place.depth > 1) return;
    const std::string_view key = line.substr(place.begin, place.end - place.begin);
    const std::size_t known = event::kKeys.find(key);
    member = known == event::kKeys.kNone ? "in an unlisted field"
                                         : fmt::format("in the field {}", event::kKeyNames[known]);
  });
  if (!member.empty()) member += ", ";
  return fmt::format("{}at byte {} of the {}", member, at, what);
}

}  // namespace

Result<std::shared_ptr<const Redaction>> Redaction::make(std::vector<Canary> canaries,
                                                         std::vector<std::string> forbid_fields) {
  auto out = std::make_shared<Redaction>();
  if (!canaries.empty()) {
    REMIT_TRY_ASSIGN(out->scanner_, Scanner::make(std::move(canaries)));
  }
  REMIT_TRY_ASSIGN(out->fields_, FieldRules::make(std::move(forbid_fields)));
  return std::shared_ptr<const Redaction>(std::move(out));
}

Status Redaction::control() const {
  if (!scanner_) return {};
  return run_control(*scanner_, scanner_->canaries());
}

Result<Inspector> Inspector::make(std::shared_ptr<const Redaction> redaction) {
  Inspector out(std::move(redaction));
  if (const Scanner* scanner = out.redaction_->scanner()) {
    REMIT_TRY_ASSIGN(out.scratch_, scanner->make_scratch());
  }
  return out;
}

void Inspector::look_for_canaries(std::string_view line, std::string_view what) {
  observations_.clear();
  if (scratch_) {
    const Scanner& scanner = *redaction_->scanner();
    bytes_ += line.size();
    leaks_.clear();
    scanner.scan_line(line, *scratch_, leaks_);
    for (const Leak& leak : leaks_) {
      const std::string subject =
          fmt::format("canary {}", quoted(scanner.canaries()[leak.canary].name));
      const std::string encoding = encoding_words(leak.encoding, leak.layers, leak.extent);
      observations_.push_back({Observation::Kind::kCanary, fmt::format("{}, {}", subject, encoding),
                               subject, place_of(line, leak.at, what)});
    }
  }
}

const std::vector<Observation>& Inspector::inspect_document(std::string_view document) {
  look_for_canaries(document, "document");
  return observations_;
}

const std::vector<Observation>& Inspector::inspect(std::string_view line,
                                                   const event::Event* event) {
  look_for_canaries(line, "line");
  const FieldRules& rules = redaction_->fields();
  if (rules.empty() || (event != nullptr && !rules.concern(*event))) return observations_;
  fields_.clear();
  rules.find(line, buffer_, fields_);
  for (const ForbiddenField& field : fields_) {
    const std::string more = field.count > 1 ? fmt::format(", and {} more", field.count - 1) : "";
    const std::string subject = fmt::format("field {}", quoted(rules.names()[field.entry]));
    observations_.push_back({Observation::Kind::kField, subject, subject,
                             fmt::format("at byte {} of the line{}", field.at, more)});
  }
  return observations_;
}

}  // namespace remit::redaction
