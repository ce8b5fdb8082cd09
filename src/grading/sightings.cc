// From observations to findings, and from a grade to one that shows no canary.
#include "grading/sightings.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "grading/counted.h"
#include "redaction/forms.h"
#include "redaction/masks.h"

namespace remit::grading {
namespace {

// Calls `take` with each text of `grade` that came from outside and stands for something: one and
// the same text may stand in several places.
template <class Take>
void for_each_text(Grade& grade, const Take& take) {
  const auto take_all = [&](std::vector<std::string>& texts) {
    for (std::string& text : texts) take(text);
  };
  const auto take_if_any = [&](std::optional<std::string>& text) {
    if (text) take(*text);
  };
  for (InvocationGrade& one : grade.invocations) {
    take(one.invocation_id);
    take_if_any(one.case_id);
    take_if_any(one.tool);
    take_if_any(one.route);
    if (!one.record) continue;
    for (RecordedEvent& event : one.record->events) {
      take(event.position.source);
      for (RecordedFact& fact : event.facts) take(fact.text);
    }
  }
  for (CaseGrade& one : grade.cases) {
    take(one.case_id);
    take_all(one.invocation_ids);
  }
  for (Finding& finding : grade.findings) {
    take_if_any(finding.invocation_id);
    take_if_any(finding.case_id);
    take_if_any(finding.expected);
    take_if_any(finding.recorded);
    for (Position& position : finding.events) take(position.source);
  }
  take_all(grade.files);
  take_if_any(grade.manifest_digest);
  take_if_any(grade.environment);
  take_if_any(grade.fixture_revision);
  if (!grade.baseline) return;
  take(grade.baseline->file);
  for (KnownFinding& entry : grade.baseline->entries) {
    take_if_any(entry.case_id);
    take_if_any(entry.tool);
    take_if_any(entry.route);
    take_if_any(entry.invocation_id);
    take(entry.owner);
    take(entry.reason);
  }
}

void say_what_was_looked_for(const redaction::Redaction* redaction, std::uint64_t bytes,
                             std::vector<std::string>& out) {
  const redaction::Scanner* const scanner = redaction == nullptr ? nullptr : redaction->scanner();
  if (scanner == nullptr) {
    out.emplace_back("no canary was looked for: whether secrets leaked was not judged");
  } else {
    const std::size_t number = scanner->canaries().size();
    out.push_back(fmt::format("{} in {} encodings {} looked for in {}; the control found all",
                              counted(number, "canary", "canaries"),
                              redaction::kEncodingNames.size(), number == 1 ? "was" : "were",
                              counted(bytes, "byte", "bytes")));
    std::size_t without_halves = 0;
    for (std::size_t i = 0; i < number; ++i) without_halves += scanner->reports_halves(i) ? 0U : 1U;
    if (without_halves > 0) {
      out.push_back(fmt::format("half of {} alone is too short to be told from chance",
                                counted(without_halves, "canary", "canaries")));
    }
  }
  if (redaction != nullptr && !redaction->fields().empty()) {
    out.push_back(fmt::format("{} of forbidden fields {} looked for in every line",
                              counted(redaction->fields().names().size(), "name", "names"),
                              redaction->fields().names().size() == 1 ? "was" : "were"));
  }
}

// Copies of one line are one sighting. Only kToldSightings and one more are kept.
void keep(const Sighting& one, std::vector<Sighting>& first) {
  const auto key = [](const Sighting& sighting) {
    return std::tie(sighting.position, sighting.what, sighting.where);
  };
  const auto at = std::lower_bound(
      first.begin(), first.end(), one,
      [&](const Sighting& left, const Sighting& right) { return key(left) < key(right); });
  if (at != first.end() && key(*at) == key(one)) {
    const auto file_place = [](const Position& position) {
      return std::tie(position.file, position.offset);
    };
    ++at->lines;
    if (file_place(one.position) < file_place(at->position)) at->position = one.position;
    return;
  }
  if (first.size() > kToldSightings && at == first.end()) return;
  first.insert(at, one);
  if (first.size() > kToldSightings + 1) first.pop_back();
}

void make_rest(Sighting& sighting, std::uint64_t lines) {
  sighting.what = sighting.subject;
  sighting.where = fmt::format("in {} from here on", counted(lines, "more line", "more lines"));
  sighting.lines = lines;
  sighting.is_rest = true;
}

Status mask_all(Grade& grade, const redaction::Scanner& scanner) {
  REMIT_TRY_ASSIGN(redaction::Masks masks, redaction::Masks::make(scanner));
  for_each_text(grade, [&](const std::string& text) { masks.note(text); });
  masks.settle();
  for_each_text(grade, [&](std::string& text) { masks.mask(text); });
  for (Finding& finding : grade.findings) {
    if (const auto canary = masks.shown_by(finding.message)) {
      finding.message = fmt::format("{}: what else is to say shows canary {}",
                                    code_info(finding.code).meaning, quoted(*canary));
    }
  }
  for (std::string& sentence : grade.scope) {
    if (const auto canary = masks.shown_by(sentence)) {
      sentence = fmt::format("a sentence that shows canary {} is left out", quoted(*canary));
    }
  }
  return {};
}

}  // namespace

void Sightings::add(std::span<const redaction::Observation> observations, const event::Event* event,
                    const trace::Line& line, const RecordStore& store) {
  if (observations.empty()) return;
  Sighting one;
  one.position = store.unwritten_position(store.place(line.offset), span_of(line));
  if (event != nullptr) {
    one.invocation_id = std::string(event->text(event::Field::kInvocationId));
    const std::string_view writer = event->text(event::Field::kWriter);
    if (!writer.empty() && event->has(event::Field::kSeq)) {
      one.position.source = std::string(writer);
      one.position.at = static_cast<std::uint64_t>(event->integer(event::Field::kSeq));
      one.position.by_sequence = true;
    }
  }
  for (const redaction::Observation& observation : observations) {
    const bool is_canary = observation.kind == redaction::Observation::Kind::kCanary;
    one.code = is_canary ? Code::kCanaryLeak : Code::kFieldNotAllowed;
    one.subject = observation.subject;
    one.what = observation.what;
    one.where = observation.where;
    Group& group = groups_[{one.invocation_id, one.code, one.subject}];
    ++group.lines;
    keep(one, group.first);
  }
}

// What is told one by one does not depend on the order of reading.
void Sightings::settle() {
  for (auto& [subject, group] : groups_) {
    std::uint64_t told = 0;
    for (std::size_t i = 0; i < group.first.size(); ++i) {
      Sighting& one = all_.emplace_back(std::move(group.first[i]));
      if (i < kToldSightings) {
        told += one.lines;
      } else {
        make_rest(one, group.lines - told);
      }
    }
  }
  groups_.clear();
}

std::span<const Sighting> Sightings::claim(std::string_view id) {
  if (all_.empty()) return {};
  const auto range = std::ranges::equal_range(
      all_, id, {}, [](const Sighting& one) { return std::string_view(one.invocation_id); });
  for (Sighting& one : range) one.is_of_call = true;
  return {range.begin(), range.end()};
}

// They may have the ids of many invocations, none of which was seen: the bound is for all together.
std::vector<Sighting> Sightings::unclaimed() const {
  struct Told {
    std::size_t count = 0;
    std::optional<std::size_t> rest;  // index of what stands for the others
  };
  std::map<std::pair<Code, std::string_view>, Told> by_subject;
  std::vector<Sighting> out;
  for (const Sighting& one : all_) {
    if (one.is_of_call) continue;
    Told& told = by_subject[{one.code, one.subject}];
    if (told.count < kToldSightings && !one.is_rest) {
      ++told.count;
      out.push_back(one);
    } else if (told.rest) {
      Sighting& rest = out[*told.rest];
      make_rest(rest, rest.lines + one.lines);
    } else {
      told.rest = out.size();
      make_rest(out.emplace_back(one), one.lines);
    }
  }
  return out;
}

Status redact(Grade& grade, const redaction::Redaction* redaction, std::uint64_t bytes) {
  say_what_was_looked_for(redaction, bytes, grade.scope);
  if (redaction == nullptr || redaction->scanner() == nullptr) return {};
  return mask_all(grade, *redaction->scanner());
}

std::string without_canaries(const std::string& text, const redaction::Redaction* redaction) {
  if (redaction == nullptr || redaction->scanner() == nullptr) return text;
  Result<redaction::Masks> masks = redaction::Masks::make(*redaction->scanner());
  if (!masks) return masks.error().to_string() + "\n";
  std::string out;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (const auto canary = masks->shown_by(line)) {
      out += fmt::format("  a line that shows canary {} is left out", quoted(*canary));
    } else {
      out += line;
    }
    out += '\n';
  }
  return out;
}

Error without_canaries(Error error, const redaction::Redaction* redaction) {
  if (redaction == nullptr || redaction->scanner() == nullptr) return error;
  Result<redaction::Masks> masks = redaction::Masks::make(*redaction->scanner());
  if (!masks) return std::move(masks).error();
  const auto canary = masks->shown_by(error.to_string());
  if (!canary) return error;
  return Error{error.code, fmt::format("what went wrong shows canary {}", quoted(*canary))};
}

}  // namespace remit::grading
