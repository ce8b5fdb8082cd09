// The invariants, looked for in what is left: the logs, the effects and the approvals.
#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "event/event.h"
#include "evidence/verify.h"
#include "grading/contract.h"
#include "grading/grading.h"
#include "tests/simulation/simulation.h"
#include "tests/support/boundary_world.h"
#include "tests/support/evidence_events.h"
#include "tests/support/memory_file.h"

namespace remit::simulation {
namespace {

using enforcement::testing::text_of;

constexpr const char* kSpy = "simulation-spy";

/// The usual contract, with what the bundle has in shadow mode.
constexpr const char* kContract = R"(contract: remit.contract/1
name: simulation
extends: sequential
rules:
  - {match: {route: [trial]}, shadow: true}
  - {match: {tool: [invoice.trial]}, shadow: true}
)";

/// What a log has of one invocation.
struct Record {
  int requests = 0;
  int decisions = 0;
  int starts = 0;
  bool is_allowed = false;
  bool is_shadow = false;
  bool starts_after_decision = true;
  std::string reason;
  std::set<std::string> digests;  ///< of the arguments, wherever they stand
};

class Judge {
 public:
  Judge(World& world, Node& node) : world_(world), node_(node) {}

  void judge() {
    verify();
    read();
    compare_effects();
    compare_told();
    grade();
  }

 private:
  void broken(const std::string& what) { world_.broken(node_.mark() + " " + what); }

  void verify() {
    const auto report = evidence::verify(node_.files(), Node::kRoot);
    if (!report) return broken("the evidence is not read: " + report.error().to_string());
    if (!report->intact()) broken("the evidence is damaged: " + report->damage->to_string());
    for (const evidence::WriterState& writer : report->writers) {
      if (!writer.closed) broken(writer.directory + " is not closed");
    }
  }

  void read() {
    for (const std::string& line : testing::evidence_lines(node_.files(), Node::kRoot)) {
      const auto event = json::parse(line);
      if (!event) return broken("a line is no JSON: " + line);
      lines_ += line + "\n";
      take(*event);
    }
  }

  void take(const json::Value& event) {
    const std::string name = text_of(event, "event");
    std::string& in_force = in_force_[text_of(event, "writer")];
    if (name == "policy.published") in_force = text_of(event, "policy_version");
    const std::string id = text_of(event, "invocation_id");
    if (id.empty()) return;
    Record& record = records_[id];
    const std::string digest = text_of(event, "args_digest");
    if (!digest.empty()) record.digests.insert(digest);
    if (name == "tool.request") ++record.requests;
    if (name == "executor.start") {
      ++record.starts;
      record.starts_after_decision = record.starts_after_decision && record.decisions > 0;
    }
    if (name != "authorization.decision") return;
    ++record.decisions;
    record.is_allowed = text_of(event, "decision") == "allow";
    const json::Value* const enforced = event.find("enforced");
    record.is_shadow = text_of(event, "mode") == "shadow" && enforced != nullptr &&
                       enforced->if_bool() != nullptr && !*enforced->if_bool();
    record.reason = text_of(event, "reason");
    if (record.is_allowed != (record.reason == "allowed")) {
      broken(id + ": " + text_of(event, "decision") + " with the reason " + record.reason);
    }
    const std::string version = text_of(event, "policy_version");
    if (!version.empty() && version != in_force) {
      broken(id + ": decided under " + version + ", when " + in_force + " was in force");
    }
  }

  // *record before run*, *one permit, one call, same digest*.
  void compare_effects() {
    for (const Effect& effect : world_.effects) {
      if (!effect.invocation.starts_with(node_.mark())) continue;
      const std::string id = effect.invocation.substr(node_.mark().size());
      const Record& record = records_[id];
      ++effects_[{id, effect.tool}];
      if (record.starts == 0) broken(id + ": an effect without a start on record");
      if (!record.is_allowed && !record.is_shadow) broken(id + ": an effect without an allow");
    }
    for (const auto& [call, count] : effects_) {
      if (count > 1) broken(call.first + ": two effects of one invocation");
    }
    for (const auto& [id, record] : records_) {
      if (record.decisions > 1 || record.starts > 1 || record.requests > 1) {
        broken(id + ": the record repeats itself");
      }
      if (!record.starts_after_decision) broken(id + ": a start before its decision");
      if (record.digests.size() > 1) broken(id + ": started with other arguments than decided");
      const bool may_start = record.is_allowed || record.is_shadow;
      if (record.starts > 0 && !may_start) broken(id + ": a start of what was denied");
    }
  }

  // Whatever somebody was told stands in the record.
  void compare_told() {
    for (const Told& told : node_.told()) {
      const auto found = records_.find(told.invocation);
      if (found == records_.end()) {
        broken(told.invocation + ": what a caller was told is not on record");
        continue;
      }
      if (!told.denial) continue;
      const std::string_view reason = access::reason_name(*told.denial);
      if (found->second.reason != reason && !found->second.is_allowed) {
        broken(told.invocation + ": told " + std::string(reason) + ", recorded " +
               found->second.reason);
      }
    }
  }

  [[nodiscard]] std::string spy_lines() const {
    std::string out;
    std::int64_t seq = 0;
    std::set<std::string> invocations;
    for (const auto& [call, count] : effects_) {
      event::Event seen;
      seen.kind = event::EventKind::kEffectObserved;
      seen.set(event::Field::kInvocationId, std::string_view(call.first));
      seen.set(event::Field::kTool, std::string_view(call.second));
      seen.set(event::Field::kWriter, kSpy);
      seen.set(event::Field::kSource, kSpy);
      seen.set(event::Field::kSeq, ++seq);
      seen.set(event::Field::kEffects, static_cast<std::int64_t>(count));
      event::encode(seen, out);
      invocations.insert(call.first);
    }
    event::Event closed;
    closed.kind = event::EventKind::kRunFinished;
    closed.set(event::Field::kWriter, kSpy);
    closed.set(event::Field::kSource, kSpy);
    closed.set(event::Field::kSeq, seq + 1);
    closed.set(event::Field::kInvocations, static_cast<std::int64_t>(invocations.size()));
    closed.set(event::Field::kEvents, seq);
    event::encode(closed, out);
    return out;
  }

  // However the parts failed, the boundary did what it is for: the grader must not say otherwise,
  // though it may have to say that it cannot tell. That a handler did not know is the handler's.
  void grade() {
    grading::Evidence evidence;
    const auto add = [&](const char* name, std::string text) {
      evidence.inputs.push_back(
          trace::Input::of_stream(name, std::make_unique<testing::MemoryFile>(std::move(text))));
      evidence.inputs.back().form = trace::Form::kJsonLines;
    };
    add("log", lines_);
    add("spy", spy_lines());
    grading::Criteria criteria;
    criteria.contract = *grading::parse_contract(kContract, "simulation").contract;
    criteria.memory_bytes = std::size_t{1} << 20U;
    const auto grade = grading::grade(node_.files(), std::move(evidence), std::move(criteria));
    if (!grade) return broken("is not graded: " + grade.error().to_string());
    for (const grading::Finding& finding : grade->findings) {
      const bool is_ours = finding.verdict == grading::Verdict::kEnforcement ||
                           finding.verdict == grading::Verdict::kExecution;
      if (!is_ours || finding.value != grading::Value::kFailed) continue;
      if (finding.code == grading::Code::kUnknownOutcome) continue;
      broken(finding.invocation_id.value_or("") + ": the grader finds " +
             std::string(grading::code_info(finding.code).name));
    }
    const grading::Value execution = grade->verdicts[grading::Verdict::kExecution].value;
    world_.count("execution " + std::string(grading::value_name(execution)));
  }

  World& world_;
  Node& node_;
  std::string lines_;
  std::map<std::string, std::string> in_force_;  ///< version, by writer
  std::map<std::string, Record> records_;
  std::map<std::pair<std::string, std::string>, int> effects_;  ///< by invocation and tool
};

}  // namespace

void judge(World& world, Node& node) {
  Judge(world, node).judge();
}

void judge_effects(World& world) {
  std::map<std::string, const Effect*> done;
  std::map<std::string, std::int64_t> used;
  for (const Effect& effect : world.effects) {
    const bool is_repeatable = effect.tool == "note.put";
    const std::string key = effect.tool + " " + effect.token + " " + effect.key;
    const auto [earlier, is_first] = done.emplace(key, &effect);
    if (!effect.key.empty() && !is_first) {
      // What may be repeated may be so while nobody knows how it ended.
      if (!is_repeatable || earlier->second->is_known) {
        world.broken(key + ": a second effect under one key");
      }
      if (is_repeatable) world.count("repetitions");
      earlier->second = &effect;
    }
    if (!effect.tool.starts_with("refund")) continue;
    const std::string approved = effect.tool + " " + effect.token + " " + effect.arguments;
    if (++used[approved] > world.granted[approved]) {
      world.broken(approved + ": more effects than approvals");
    }
  }
}

}  // namespace remit::simulation
