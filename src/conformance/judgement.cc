// The caller's view, the spy's count and the record, each compared by itself.
#include "conformance/judgement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <utility>

#include "base/error.h"
#include "conformance/case_manifest.h"
#include "conformance/words.h"
#include "event/event.h"
#include "grading/contract.h"
#include "grading/grading.h"
#include "report/finding_words.h"
#include "trace/event_reader.h"

namespace remit::conformance {
namespace {

constexpr std::size_t kMaxFindingsTold = 6;
constexpr std::size_t kMaxAnswerShown = 200;  // in bytes
constexpr std::string_view kSpyName = "conformance-spy";
// A trial has some twenty events: the grader needs no more than this to keep them in memory.
constexpr std::size_t kTrialMemoryBytes = std::size_t{1} << 20U;

/// A text as a file.
class TextFile final : public ReadFile {
 public:
  explicit TextFile(std::string text) : text_(std::move(text)) {}
  Result<std::size_t> read(std::span<std::byte> out) override {
    const std::size_t count = std::min(out.size(), text_.size() - at_);
    std::memcpy(out.data(), text_.data() + at_, count);
    at_ += count;
    return count;
  }

 private:
  std::string text_;
  std::size_t at_ = 0;
};

class Judge {
 public:
  Judge(const Case& of, std::string_view route, const Observation& seen)
      : of_(of), route_(route), seen_(seen) {}

  Result<Judgement> judge(FileSystem& files) {
    if (!seen_.altered.empty()) {
      add("evidence_altered", "",
          fmt::format("the record is not as it was written: {}", seen_.altered));
    }
    compare_sights();
    compare_effects();
    compare_what_tools_got();
    compare_outcomes();
    REMIT_TRY(compare_grade(files));
    return std::move(out_);
  }

 private:
  void add(std::string_view what, std::string_view call, std::string message) {
    out_.mismatches.push_back({std::string(what), std::string(call), std::move(message)});
  }

  void compare_sights() {
    for (const Step& step : of_.steps) {
      if (!step.expect) continue;
      const auto found = seen_.sights.find(step.call);
      if (found == seen_.sights.end()) continue;
      if (!step.expect->sees.empty() && !contains(step.expect->sees, found->second.saw)) {
        add("caller_saw", step.call,
            fmt::format("the caller of {} saw {}, and should have seen {}", step.call,
                        found->second.saw, fmt::join(step.expect->sees, " or ")));
        const std::string& answer = found->second.answer;
        if (!answer.empty()) out_.mismatches.back().answer = quoted(answer, kMaxAnswerShown);
      }
      if (step.expect->same_answer_as) compare_answers(step, found->second);
    }
  }

  // The reference that the caller wrote, and the id of the invocation, may differ and betray
  // nothing.
  void compare_answers(const Step& step, const Sight& sight) {
    const auto other = seen_.sights.find(*step.expect->same_answer_as);
    if (other == seen_.sights.end()) return;
    if (plain(sight.answer) == plain(other->second.answer)) return;
    add("answers_differ", step.call,
        fmt::format("{} was told {} and {} was told {}: the difference says what exists", step.call,
                    quoted(sight.answer, kMaxAnswerShown), other->first,
                    quoted(other->second.answer, kMaxAnswerShown)));
  }

  [[nodiscard]] std::string plain(std::string answer) const {
    std::set<std::string> words;
    for (const json::Value& record : seen_.records) words.insert(text_of(record, "invocation_id"));
    for (const Step& step : of_.steps) {
      const json::Value* arguments = step.members.find("arguments");
      if (arguments == nullptr || arguments->if_object() == nullptr) continue;
      for (const json::Member& each : arguments->if_object()->members()) {
        if (each.second.if_string() != nullptr) words.insert(*each.second.if_string());
      }
    }
    for (const std::string& word : words) {
      if (word.empty()) continue;
      for (std::size_t at = answer.find(word); at != std::string::npos;
           at = answer.find(word, at + 1)) {
        answer.replace(at, word.size(), "*");
      }
    }
    return answer;
  }

  void compare_effects() {
    std::map<std::string, std::int64_t> expected;
    std::map<std::string, std::int64_t> counted;
    for (const Step& step : of_.steps) {
      if (!step.tool.empty()) expected[step.tool] += step.expect ? step.expect->effects : 0;
    }
    for (const Effect& effect : seen_.effects) {
      ++counted[effect.tool];
      if (effect.invocation_id.empty()) {
        add("unattributed_effect", "",
            fmt::format("the tool {} was reached without an invocation id", quoted(effect.tool)));
      }
    }
    for (const auto& [tool, count] : expected) counted.try_emplace(tool, 0);
    for (const auto& [tool, count] : counted) {
      if (!is_foreseen(tool)) continue;
      const auto wanted = expected.find(tool);
      const std::int64_t number = wanted == expected.end() ? 0 : wanted->second;
      if (count == number) continue;
      add("effects", "",
          fmt::format("the spy counted {} of {}, and should have counted {}", count, quoted(tool),
                      number));
    }
  }

  // Of a tool that is called as no case calls it, nobody knows beforehand how often it is reached.
  [[nodiscard]] bool is_foreseen(const std::string& tool) const {
    return std::none_of(of_.steps.begin(), of_.steps.end(), [&](const Step& step) {
      return step.tool == tool && step.expect && !step.expect->is_foreseen;
    });
  }

  void compare_what_tools_got() {
    for (const Step& step : of_.steps) {
      if (!step.expect || step.expect->effects == 0) continue;
      const Expected& expected = *step.expect;
      if (expected.resource && !any_effect(step.tool, [&](const Effect& effect) {
            return effect.resource == *expected.resource;
          })) {
        add("tool_resource", step.call,
            fmt::format("the tool {} was not given the resource {}", quoted(step.tool),
                        quoted(*expected.resource)));
      }
      if (expected.tool_arguments && !any_effect(step.tool, [&](const Effect& effect) {
            return json::canonical(effect.arguments) == json::canonical(*expected.tool_arguments);
          })) {
        add("tool_arguments", step.call,
            fmt::format("the tool {} was not given the arguments {}", quoted(step.tool),
                        json::canonical(*expected.tool_arguments)));
      }
    }
  }

  // Where nothing came at all, the count says so.
  template <class Fits>
  [[nodiscard]] bool any_effect(const std::string& tool, const Fits& fits) const {
    bool came = false;
    for (const Effect& effect : seen_.effects) {
      if (effect.tool != tool) continue;
      if (fits(effect)) return true;
      came = true;
    }
    return !came;
  }

  void compare_outcomes() {
    for (const Step& step : of_.steps) {
      if (!step.expect || !step.expect->outcome || !is_foreseen(step.tool)) continue;
      std::string outcome;
      for (const json::Value& record : seen_.records) {
        if (text_of(record, "event") == "executor.finish" && text_of(record, "tool") == step.tool) {
          outcome = text_of(record, "outcome");
        }
      }
      if (outcome == *step.expect->outcome) continue;
      add("outcome", step.call,
          fmt::format("{} is recorded as {}, and ended as {}", step.call,
                      outcome.empty() ? "nothing" : quoted(outcome), *step.expect->outcome));
    }
  }

  // What the spy counted, as evidence that does not come from the executor.
  [[nodiscard]] std::string spy_events() const {
    std::map<std::pair<std::string, std::string>, std::int64_t> counts;
    std::set<std::string> invocations;
    for (const Effect& effect : seen_.effects) {
      if (effect.invocation_id.empty()) continue;
      ++counts[{effect.invocation_id, effect.tool}];
      invocations.insert(effect.invocation_id);
    }
    std::string out;
    std::int64_t seq = 0;
    for (const auto& [key, count] : counts) {
      event::Event event;
      event.kind = event::EventKind::kEffectObserved;
      event.set(event::Field::kInvocationId, std::string_view(key.first));
      event.set(event::Field::kWriter, kSpyName);
      event.set(event::Field::kCaseId, std::string_view(of_.id));
      event.set_if_any(event::Field::kTool, std::string_view(key.second));
      event.set(event::Field::kSource, kSpyName);
      event.set(event::Field::kSeq, ++seq);
      event.set(event::Field::kEffects, count);
      event::encode(event, out);
    }
    event::Event closed;
    closed.kind = event::EventKind::kRunFinished;
    closed.set(event::Field::kWriter, kSpyName);
    closed.set(event::Field::kSource, kSpyName);
    closed.set(event::Field::kSeq, seq + 1);
    closed.set(event::Field::kInvocations, static_cast<std::int64_t>(invocations.size()));
    closed.set(event::Field::kEvents, seq);
    event::encode(closed, out);
    return out;
  }

  Status compare_grade(FileSystem& files) {
    grading::Criteria criteria;
    criteria.contract = *grading::built_in_contract(of_.contract);
    criteria.manifest = case_manifest(of_, route_, seen_);
    out_.manifest = manifest_json(*criteria.manifest);
    out_.spy_events = spy_events();
    criteria.memory_bytes = kTrialMemoryBytes;
    grading::Evidence evidence;
    evidence.inputs.push_back(
        trace::Input::of_stream("subject", std::make_unique<TextFile>(seen_.events)));
    evidence.inputs.push_back(
        trace::Input::of_stream("spy", std::make_unique<TextFile>(out_.spy_events)));
    for (trace::Input& input : evidence.inputs) input.form = trace::Form::kJsonLines;
    REMIT_TRY_ASSIGN(const grading::Grade grade,
                     grading::grade(files, std::move(evidence), std::move(criteria)));
    for (const grading::Verdict verdict : grading::kVerdicts) compare_verdict(grade, verdict);
    return {};
  }

  void compare_verdict(const grading::Grade& grade, grading::Verdict verdict) {
    const grading::Value value = grade.cases.front().verdicts[verdict].value;
    out_.verdicts[verdict] = value;
    const auto& right = of_.verdicts[static_cast<std::size_t>(verdict)];
    if (std::find(right.begin(), right.end(), value) != right.end()) return;
    std::vector<std::string> words;
    for (const grading::Value each : right) words.emplace_back(grading::value_name(each));
    add("verdict", "",
        fmt::format("{} is {}, and should be {}", grading::verdict_name(verdict),
                    grading::value_name(value), fmt::join(words, " or ")));
    std::vector<grading::Finding>& told = out_.mismatches.back().findings;
    told = findings_of(grade, verdict);
    // A verdict may be left open by what another one found.
    if (told.empty()) told = findings_of(grade, std::nullopt);
  }

  // Each way once and in order, so that a case that fails in one way reads the same on every route.
  static std::vector<grading::Finding> findings_of(const grading::Grade& grade,
                                                   std::optional<grading::Verdict> verdict) {
    std::map<std::pair<bool, std::string>, const grading::Finding*> ways;
    for (const grading::Finding& finding : grade.findings) {
      // A line that is no event may be what is missing anywhere.
      const bool is_cause = finding.code == grading::Code::kMalformedEvent;
      if (verdict && finding.verdict != *verdict && !is_cause) continue;
      ways.emplace(std::pair(finding.value != grading::Value::kFailed, finding_words(finding)),
                   &finding);
    }
    std::vector<grading::Finding> out;
    for (const auto& [way, finding] : ways) {
      if (out.size() == kMaxFindingsTold) break;
      out.push_back(*finding);
    }
    return out;
  }

  const Case& of_;
  std::string_view route_;
  const Observation& seen_;
  Judgement out_;
};

}  // namespace

std::string mismatch_words(const Mismatch& mismatch) {
  if (mismatch.answer.empty()) return mismatch.message;
  return fmt::format("{}; the answer was {}", mismatch.message, mismatch.answer);
}

std::string finding_words(const grading::Finding& finding) {
  return fmt::format("{}: {}", grading::code_info(finding.code).name,
                     report::finding_sentence(finding));
}

Result<Judgement> judge(const Case& of, std::string_view route, const Observation& seen,
                        FileSystem& files) {
  return Judge(of, route, seen).judge(files);
}

}  // namespace remit::conformance
