// remit grade --watch: one look after another.
#include "cli/watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/limits.h"
#include "cli/settled_files.h"
#include "grading/counted.h"
#include "grading/sightings.h"
#include "json/value.h"

namespace remit::cli {
namespace {

using grading::Code;
using grading::Finding;
using grading::Value;
using grading::Verdict;

// What is not there may still come, as long as the run goes on.
bool may_still_change(const Finding& finding) {
  if (finding.is_of_open_log) return true;
  switch (finding.code) {
    case Code::kMissingRunFinished:
    case Code::kVacuousCase:
    case Code::kExpectedRequestAbsent:
    case Code::kMissingEffects:
    case Code::kEffectCountMismatch:
    case Code::kSequenceGap:
      return true;
    default:
      return grading::code_info(finding.code).absence;
  }
}

// One finding stays itself from look to look.
std::string identity(const Finding& finding) {
  std::string out =
      fmt::format("{}|{}|{}|{}", static_cast<int>(finding.code), finding.invocation_id.value_or(""),
                  finding.case_id.value_or(""), finding.message);
  for (const grading::Position& one : finding.events) {
    out += fmt::format("|{}|{}", one.source, one.at);
  }
  return out;
}

std::string counts(const grading::Population& population) {
  return fmt::format("{}, {}", grading::counted(population.events, "event", "events"),
                     grading::counted(population.invocations, "invocation", "invocations"));
}

std::string_view so_far(Value value) {
  return value == Value::kPassed ? "nothing against it" : grading::value_name(value);
}

}  // namespace

Result<bool> Watch::look(const Tell& tell) {
  SettledFiles settled(world_.files);
  World view = world_.with(settled);
  const Result<grading::Grade> grade = grade_inputs(view, inputs_, request_);
  if (!grade) {
    const std::string complaint = grade.error().to_string();
    if (complaint != last_complaint_) {
      complain(world_,
               Error{grade.error().code, "waiting: " + grade.error().message, grade.error().where});
    }
    last_complaint_ = complaint;
    return false;
  }
  last_complaint_.clear();
  WatchNews news;
  news.population = grade->population;
  for (const Verdict verdict : grading::kVerdicts) {
    const bool is_judged = grade->verdicts[verdict].population > 0;
    news.verdicts[verdict] = is_judged ? Value::kPassed : Value::kNotExercised;
  }
  std::set<std::string> found;
  std::set<std::string> altered;
  // A writer closes its log behind the end of its run.
  const bool has_ended =
      grade->has_ended && std::ranges::none_of(grade->findings, &Finding::is_of_open_log);
  for (const Finding& finding : grade->findings) {
    if (may_still_change(finding) && !has_ended) continue;
    std::string name = identity(finding);
    if (finding.code == Code::kEvidenceAltered) {
      // A writer may stand between two of its files at this moment; what is altered stays so.
      const bool was_seen = altered_.contains(name);
      altered.insert(name);
      if (!was_seen) continue;
    }
    Value& value = news.verdicts[finding.verdict];
    value = grading::worse(value, finding.value);
    if (!told_.contains(name)) news.findings.push_back(&finding);
    found.insert(std::move(name));
  }
  altered_ = std::move(altered);
  news.gone = static_cast<std::size_t>(std::count_if(
      told_.begin(), told_.end(), [&](const std::string& name) { return !found.contains(name); }));
  const bool is_news =
      !news.findings.empty() || news.gone > 0 || !(news.population == told_population_);
  told_ = std::move(found);
  told_population_ = news.population;
  if (is_news) REMIT_TRY(tell(news));
  return has_ended;
}

// A name may hold a canary.
Error Watch::openly(Error error) const {
  return grading::without_canaries(std::move(error), request_.criteria.redaction.get());
}

Result<grading::Grade> Watch::run(const Wait& wait, const Tell& tell) {
  while (true) {
    const bool has_changed = followed_.look();
    for (const Error& loss : followed_.losses()) complain(world_, openly(loss));
    Duration rest = kRest;
    if (has_changed || !altered_.empty()) {
      const MonotonicTime begun = world_.clock.monotonic_now();
      REMIT_TRY_ASSIGN(const bool has_ended, look(tell));
      if (has_ended) break;
      rest = std::max(rest, 4 * (world_.clock.monotonic_now() - begun));
    }
    if (wait(rest)) break;
  }
  followed_.look();
  if (const std::optional<Error> error = followed_.incomplete()) return openly(*error);
  Result<grading::Grade> grade = grade_inputs(world_, inputs_, request_);
  followed_.look();
  const std::optional<Error> error = followed_.incomplete();
  return grade && error ? openly(*error) : std::move(grade);
}

std::string watch_text(const WatchNews& news) {
  std::string out = counts(news.population) + ":";
  for (const Verdict verdict : grading::kVerdicts) {
    out += fmt::format("{} {} {}", verdict == Verdict::kPlanning ? "" : ",",
                       grading::verdict_name(verdict), so_far(news.verdicts[verdict]));
  }
  if (news.gone > 0) out += fmt::format("; {} told before are gone", news.gone);
  out += "\n";
  constexpr std::size_t kMost = 50;
  for (std::size_t i = 0; i < news.findings.size() && i < kMost; ++i) {
    const Finding& one = *news.findings[i];
    out += fmt::format("  {}{}  {}", grading::value_name(one.value), one.known ? ", known" : "",
                       grading::code_info(one.code).name);
    if (one.invocation_id) out += "  " + quoted(*one.invocation_id);
    out += fmt::format("  {}\n", one.message);
  }
  if (news.findings.size() > kMost) {
    out += fmt::format("  and {} more\n", news.findings.size() - kMost);
  }
  return out;
}

std::string watch_json(const WatchNews& news) {
  std::string out = fmt::format(
      R"({{"schema":"remit.watch/1","final":false,"events":{},"invocations":{},"verdicts":{{)",
      news.population.events, news.population.invocations);
  for (const Verdict verdict : grading::kVerdicts) {
    out += fmt::format(R"({}"{}":"{}")", verdict == Verdict::kPlanning ? "" : ",",
                       grading::verdict_name(verdict), grading::value_name(news.verdicts[verdict]));
  }
  out += fmt::format(R"(}},"gone":{},"findings":[)", news.gone);
  for (const Finding* finding : news.findings) {
    out += fmt::format(R"({}{{"code":"{}","verdict":"{}","value":"{}","owner":"{}","known":{})",
                       finding == news.findings.front() ? "" : ",",
                       grading::code_info(finding->code).name,
                       grading::verdict_name(finding->verdict), grading::value_name(finding->value),
                       grading::owner_name(finding->owner), finding->known.has_value());
    const auto member = [&](std::string_view name, const std::optional<std::string>& value) {
      out.append(",\"").append(name).append("\":");
      if (value) {
        json::write_string(*value, out);
      } else {
        out += "null";
      }
    };
    member("invocation_id", finding->invocation_id);
    member("case_id", finding->case_id);
    member("message", finding->message);
    out += '}';
  }
  return out + "]}\n";
}

std::string watch_json_end(std::string_view grade_json) {
  std::string out = R"({"schema":"remit.watch/1","final":true,"grade":)";
  // Line feeds stand between members and never in a text, where JSON escapes them.
  for (const char c : grade_json) {
    if (c != '\n') out += c;
  }
  return out + "}\n";
}

}  // namespace remit::cli
