// Steps sent to the harness one after the other.
#include "conformance/trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/limits.h"
#include "conformance/words.h"

namespace remit::conformance {
namespace {

Error nonsense(std::string message) {
  return Error{ErrorCode::kInvalidInput, std::move(message)};
}

bool decides(StepKind kind) {
  return kind == StepKind::kCall || kind == StepKind::kRun || kind == StepKind::kRetry;
}

class Carrier {
 public:
  Carrier(const TrialOrder& order, Harness& harness, Spy& spy)
      : order_(order), harness_(harness), spy_(spy) {}

  Result<Observation> carry_out() {
    REMIT_TRY(set_up());
    if (order_.next_step) {
      REMIT_TRY(take_as_they_come());
    } else {
      for (const Step& step : order_.of->steps) REMIT_TRY(take(step));
    }
    REMIT_TRY(collect());
    REMIT_TRY_ASSIGN(const json::Object done, harness_.ask({{"op", "reset"}}));
    keep_effects();
    return std::move(out_);
  }

 private:
  Status set_up() {
    const Case& of = *order_.of;
    keep_section("principals", out_.principals);
    keep_section("resources", out_.resources);
    if (const json::Value* policy = of.fixture.find("policy")) {
      if (const json::Value* version = policy->find("version")) set_policy(*version);
    }
    spy_.answer_next(ToolAnswer::kDone);
    json::Object request{{"op", "setup"},
                         {"case", of.id},
                         {"route", order_.route},
                         {"fixture", of.fixture},
                         {"spy", json::Object{{"socket", spy_.path()}, {"token", order_.token}}}};
    if (!order_.fault.empty()) request.set("fault", order_.fault);
    REMIT_TRY_ASSIGN(const json::Object answer, harness_.ask(std::move(request)));
    const json::Value* refs = answer.find("principals");
    if (refs == nullptr) return {};
    if (refs->if_object() == nullptr) return nonsense("'principals' of the setup is no object");
    for (const json::Member& each : refs->if_object()->members()) {
      if (each.second.if_string() == nullptr) {
        return nonsense("'principals' of the setup holds something that is no text");
      }
      out_.principal_refs.emplace(each.first, *each.second.if_string());
    }
    return {};
  }

  Status take_as_they_come() {
    const Sight* last = nullptr;
    while (const std::optional<Step> step = order_.next_step(last)) {
      REMIT_TRY(take(*step));
      const auto seen = out_.sights.find(step->call);
      last = step->call.empty() || seen == out_.sights.end() ? nullptr : &seen->second;
    }
    return {};
  }

  void keep_section(std::string_view name, json::Object& into) {
    const json::Value* section = order_.of->fixture.find(name);
    if (section != nullptr && section->if_object() != nullptr) into = *section->if_object();
  }

  void set_policy(const json::Value& version) {
    if (version.if_string() != nullptr) policy_version_ = *version.if_string();
  }

  // What changes in the world is what later facts are pinned to.
  void follow(const Step& step) {
    if (step.kind == StepKind::kSetPolicy) {
      const json::Value* policy = step.members.find("policy");
      if (const json::Value* version = policy->find("version")) set_policy(*version);
    }
    if (step.kind == StepKind::kSetPrincipal || step.kind == StepKind::kSetResource) {
      const bool is_principal = step.kind == StepKind::kSetPrincipal;
      json::Object& section = is_principal ? out_.principals : out_.resources;
      section.set(*find_text(step.members, "name"),
                  *step.members.find(is_principal ? "principal" : "resource"));
    }
    if (decides(step.kind) && std::find(out_.policy_versions.begin(), out_.policy_versions.end(),
                                        policy_version_) == out_.policy_versions.end()) {
      out_.policy_versions.push_back(policy_version_);
    }
  }

  Status take(const Step& step) {
    if (step.kind == StepKind::kDownstream) {
      const bool is_lost = *find_text(step.members, "answer") == "lost";
      spy_.answer_next(is_lost ? ToolAnswer::kLost : ToolAnswer::kFailed);
      return {};
    }
    follow(step);
    json::Object request{{"op", "step"}, {"do", step_name(step.kind)}};
    if (!step.call.empty()) request.set("call", step.call);
    for (const json::Member& member : step.members.members()) {
      request.set(member.first, member.second);
    }
    REMIT_TRY_ASSIGN(const json::Object answer, harness_.ask(std::move(request)));
    keep_effects();
    if (step.call.empty()) return {};
    const std::string* saw = find_text(answer, "saw");
    if (saw == nullptr || std::find(kSights.begin(), kSights.end(), *saw) == kSights.end()) {
      return nonsense(fmt::format("the driver says that a caller saw {}; it is one of {}",
                                  saw == nullptr ? "nothing" : quoted(*saw),
                                  fmt::join(kSights, ", ")));
    }
    const std::string* words = find_text(answer, "answer");
    if (words != nullptr && words->size() > kMaxAnswerBytes) {
      return nonsense(fmt::format("an answer has more than {} bytes", kMaxAnswerBytes));
    }
    out_.sights[step.call] = Sight{*saw, words == nullptr ? "" : *words};
    return {};
  }

  Status collect() {
    REMIT_TRY_ASSIGN(const json::Object answer, harness_.ask({{"op", "collect"}}));
    if (const std::string* altered = find_text(answer, "altered")) out_.altered = *altered;
    const json::Value* events = answer.find("events");
    const json::Array* lines = events == nullptr ? nullptr : events->if_array();
    if (lines == nullptr) return nonsense("'events' of what was collected is no list");
    if (lines->size() > kMaxEventsOfTrial) {
      return nonsense(fmt::format("more than {} events of one case", kMaxEventsOfTrial));
    }
    for (std::size_t at = 0; at < lines->size(); ++at) {
      const std::string* line = (*lines)[at].if_string();
      if (line == nullptr) {
        return nonsense(
            fmt::format("event {} of what was collected is {}; give each line as a text", at + 1,
                        (*lines)[at].if_object() == nullptr ? "no text" : "an object"));
      }
      keep_event(*line);
    }
    return {};
  }

  // The record of one trial belongs to its case, whether or not it says so. What is no event is
  // kept as it is: that is for the grader to say.
  void keep_event(const std::string& line) {
    Result<json::Value> value = json::parse(line);
    json::Object* object = value ? value->if_object() : nullptr;
    if (object == nullptr || line.find('\n') != std::string::npos) {
      std::string kept = line;
      std::replace(kept.begin(), kept.end(), '\n', ' ');
      out_.events += kept + "\n";
      return;
    }
    if (object->find("case_id") == nullptr) object->set("case_id", order_.of->id);
    out_.events += json::write(*value) + "\n";
    out_.records.push_back(std::move(*value));
  }

  void keep_effects() {
    for (Effect& effect : spy_.take_effects()) out_.effects.push_back(std::move(effect));
  }

  const TrialOrder& order_;
  Harness& harness_;
  Spy& spy_;
  std::string policy_version_;
  Observation out_;
};

}  // namespace

Result<Observation> carry_out(const TrialOrder& order, Harness& harness, Spy& spy) {
  return Carrier(order, harness, spy).carry_out();
}

}  // namespace remit::conformance
