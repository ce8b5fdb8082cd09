// The comparison of the two graders.
#include "comparison.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "naive_trace.h"
#include "tests/support/faulty_file_system.h"
#include "tests/support/memory_file.h"

namespace remit::twin {
namespace {

using grading::Criteria;

grading::Manifest manifest_of(std::string_view cases) {
  const std::string text = "manifest: remit.manifest/1\n" + std::string(cases);
  grading::ManifestParse parsed = grading::parse_manifest(text, "manifest.yaml");
  for (const Error& error : parsed.errors) ADD_FAILURE() << error.to_string();
  return parsed.manifest.value();
}

std::vector<NamedCriteria> make_criteria() {
  std::vector<NamedCriteria> out;
  out.push_back({"nothing", {}});
  Criteria expected;
  expected.expected_ids = std::vector<std::string>{"i1", "i3"};
  out.push_back({"expected ids", std::move(expected)});
  const auto add = [&](std::string_view name, std::string_view cases) {
    Criteria criteria;
    criteria.manifest = manifest_of(cases);
    out.push_back({name, std::move(criteria)});
  };
  add("security by id",
      "policies: [{version: v1}]\ncases:\n"
      "  - {id: c1, kind: security, expect: [{invocation_id: i1, tool: a, decision: deny,"
      " reason: forbidden, effects: 0}]}\n");
  add("task by case",
      "policies: [{version: v1}, {version: v2}]\neffects_source: required\ncases:\n"
      "  - {id: c1, kind: task, allowed_requests: [a], forbidden_requests: [b],"
      " required_requests: [a], expect: [{tool: a, decision: allow, effects: 1}]}\n"
      "  - {id: c2, kind: security, expect: [{tool: a, route: agent}, {tool: b}]}\n");
  add("task by run", "cases:\n  - {id: c9, kind: task, run_id: r1, allowed_requests: [a, b]}\n");
  add("digests, and two cases of one run",
      "policies: [{version: v1, digest: 'sha256:"
      "0000000000000000000000000000000000000000000000000000000000000001'}]\ncases:\n"
      "  - {id: c1, kind: task, run_id: r1, required_requests: [b],"
      " expect: [{invocation_id: i1, tool: a, reason: forbidden}, {invocation_id: i9, tool: a}]}\n"
      "  - {id: c2, kind: task, run_id: r1, expect: [{tool: b, route: agent, effects: 0}]}\n");
  Criteria both = out[5].criteria;
  both.expected_ids = std::vector<std::string>{"i1", "i9", "i10"};
  out.push_back({"expected ids beside cases", both});
  both.manifest->cases[0].is_security = true;
  out.push_back({"expected ids beside a security case", std::move(both)});
  return out;
}

/// What `agree` did so far.
struct Tally {
  std::size_t compared = 0;
  std::set<std::string_view> codes;
};

Tally& tally() {
  static Tally tally;
  return tally;
}

std::string all_lines(const std::vector<NaiveInput>& inputs) {
  std::string out;
  for (const NaiveInput& input : inputs) out += "== " + input.name + "\n" + input.bytes;
  return out.size() > 20'000 ? out.substr(0, 20'000) + "...\n" : out;
}

}  // namespace

const std::array<std::string_view, kCoreForms> kCore = {
    R"({"event":"tool.request","invocation_id":"@","tool":"a","case_id":"c1"#})",
    R"({"event":"authorization.decision","invocation_id":"@","tool":"a","decision":"allow","reason":"allowed","policy_version":"v1"#})",
    R"({"event":"authorization.decision","invocation_id":"@","tool":"a","decision":"deny","reason":"forbidden","policy_version":"v1"#})",
    R"({"event":"executor.start","invocation_id":"@","tool":"a"#})",
    R"({"event":"executor.finish","invocation_id":"@","tool":"a","outcome":"succeeded"#})",
    R"({"event":"run.finished"#})",
};

const std::vector<std::string_view> kFurther = {
    R"({"event":"tool.request","invocation_id":"@","tool":"b","route":"agent","case_id":"c2","args_digest":"sha256:00"#})",
    R"({"event":"tool.request","invocation_id":"@","run_id":"r1","tool":"b"#})",
    R"({"event":"authorization.decision","invocation_id":"@","decision":"allow","policy_version":"v2","decision_id":"d1","resource_id":"x"#})",
    R"({"event":"authorization.decision","invocation_id":"@","tool":"b","decision":"allow","reason":"forbidden","policy_version":"v1","args_digest":"sha256:01"#})",
    R"({"event":"authorization.decision","invocation_id":"@","decision":"deny","reason":"allowed"#})",
    R"({"event":"authorization.decision","invocation_id":"@","decision":"maybe","reason":"nonsense","policy_version":""#})",
    R"({"event":"authorization.decision","invocation_id":"@","decision":"deny","reason":"forbidden","policy_version":"v1","mode":"shadow","enforced":false#})",
    R"({"event":"executor.start","invocation_id":"@","tool":"a","decision_id":"d1","resource_id":"y"#})",
    R"({"event":"executor.start","invocation_id":"@","decision_id":"d1"#})",
    R"({"event":"executor.start","invocation_id":"@","tool":"b","args_digest":"sha256:01"#})",
    R"({"event":"executor.finish","invocation_id":"@","outcome":"unknown"#})",
    R"({"event":"executor.finish","invocation_id":"@"#})",
    R"({"event":"permit.unspent","invocation_id":"@","decision_id":"d1"#})",
    R"({"event":"effect.observed","invocation_id":"@","source":"spy","effects":1#})",
    R"({"event":"effect.observed","invocation_id":"@","source":"spy","effects":0#})",
    R"({"event":"resource.resolved","invocation_id":"@","outcome":"found"#})",
    R"({"event":"run.finished","source":"spy","invocations":1,"events":1#})",
    R"({"event":"run.finished","run_id":"r1","events":9#})",
    R"({"event":"evidence.lost","events":-1,"cause":"test"#})",
    R"({"event":"policy.published","policy_version":"v1"#})",
    R"({"event":"policy.published","policy_version":"v2"#})",
    R"({"event":"x.other","invocation_id":"@"#})",
    R"({"event":"tool.request","invocation_id":"@","tool":7#})",
};

const std::vector<std::string_view> kRare = {
    R"({"event":"tool.request","invocation_id":"@","run_id":"r1","case_id":"c7"#})",
    R"({"event":"tool.request","invocation_id":"@","tool":"a","route":"queued","run_id":"r2","case_id":"","more":1#})",
    R"({"event":"authorization.decision","invocation_id":"@","decision":"deny","decision_id":"d1","policy_version":"v1","policy_digest":"sha256:0000000000000000000000000000000000000000000000000000000000000001"#})",
    R"({"event":"authorization.decision","invocation_id":"@","decision":"allow","decision_id":"d2","policy_version":"v1","policy_digest":"sha256:0000000000000000000000000000000000000000000000000000000000000002","resource_type":"T"#})",
    R"({"event":"authorization.decision","invocation_id":"@","policy_version":"v1"#})",
    R"({"event":"executor.start","invocation_id":"@","decision_id":"d2","resource_type":"U","resource_id":"x"#})",
    R"({"event":"executor.start","invocation_id":"@","route":"agent","run_id":"r1"#})",
    R"({"event":"executor.finish","invocation_id":"@","outcome":"cancelled"#})",
    R"({"event":"executor.finish","invocation_id":"@","outcome":"found"#})",
    R"({"event":"permit.unspent","invocation_id":"@"#})",
    R"({"event":"effect.observed","invocation_id":"@"#})",
    R"({"event":"approval.checked","invocation_id":"@","tool":"b","route":"agent","case_id":"c2"#})",
    R"({"event":"queue.enqueued","invocation_id":"@","queue":"q"#})",
    R"({"event":"run.started","run_id":"r1"#})",
    R"({"event":"run.finished","run_id":"r1","source":"spy"#})",
    R"({"event":"run.finished","run_id":"r1"#})",
    R"({"event":"run.finished","invocations":2,"events":4#})",
    R"({"event":"policy.published","policy_version":"v1","policy_digest":"sha256:0000000000000000000000000000000000000000000000000000000000000001"#})",
    R"({"event":"evidence.lost"#})",
    R"({"event":"no.such.event"#})",
    R"(not json at all)",
};

const std::vector<NamedCriteria>& all_criteria() {
  static const std::vector<NamedCriteria> kAll = make_criteria();
  return kAll;
}

grading::Grade streamed(const std::vector<NaiveInput>& inputs, const Criteria& criteria,
                        const Way& way) {
  Criteria in_full = criteria;
  in_full.list_all = way.listed == Listed::kAll;
  in_full.memory_bytes = way.memory_bytes;
  testing::FaultyFileSystem files;  // without a fault: scratch files in memory
  grading::Evidence evidence;
  for (const NaiveInput& input : inputs) {
    evidence.inputs.push_back(trace::Input::of_stream(
        input.name, std::make_unique<testing::MemoryFile>(input.bytes, way.piece_bytes)));
  }
  return grading::grade(files, std::move(evidence), std::move(in_full)).value();
}

std::string unearned(const std::vector<NaiveInput>& inputs) {
  struct Seen {
    int requests = 0, allows = 0, denials = 0, other_decisions = 0;
    int starts = 0, known_finishes = 0, other_finishes = 0, unspent = 0;
  };
  const NaiveTrace trace = read_trace(inputs);
  if (trace.malformed > 0) return "a line is malformed";
  if (!trace.repeats.empty()) return "a number came with other bytes";
  std::map<std::string, Seen> calls;
  for (const NaiveEvent& event : trace.events) {
    if (event.kind == EventKind::kEvidenceLost) return "evidence was lost";
    if (!event::is_call_event(event.kind)) continue;
    Seen& call = calls[event.get(Field::kInvocationId)];
    const std::string decision = event.get(Field::kDecision);
    const std::string outcome = event.get(Field::kOutcome);
    const bool is_known = outcome == "succeeded" || outcome == "failed" || outcome == "cancelled";
    const bool has_version = event.has(Field::kPolicyVersion);
    if (event.kind == EventKind::kToolRequest) ++call.requests;
    if (event.kind == EventKind::kExecutorStart) ++call.starts;
    if (event.kind == EventKind::kExecutorFinish) {
      ++(is_known ? call.known_finishes : call.other_finishes);
    }
    if (event.kind == EventKind::kPermitUnspent) ++call.unspent;
    if (event.kind != EventKind::kAuthorizationDecision) continue;
    ++(!has_version          ? call.other_decisions
       : decision == "allow" ? call.allows
       : decision == "deny"  ? call.denials
                             : call.other_decisions);
  }
  if (calls.empty()) return "there is no invocation";
  for (const auto& [id, call] : calls) {
    if (call.requests != 1) return id + " has not one request";
    if (call.allows + call.denials != 1 || call.other_decisions > 0) {
      return id + " has not one known decision by a known version";
    }
    const bool ran = call.starts + call.known_finishes + call.other_finishes > 0;
    if (call.denials == 1 && ran) return id + " was denied and ran";
    const bool is_whole = call.starts == 1 && call.known_finishes == 1 &&
                          call.other_finishes == 0 && call.unspent == 0;
    if (call.allows == 1 && !is_whole && (ran || call.unspent == 0)) {
      return id + " was allowed and has not one start and one known finish";
    }
  }
  return {};
}

bool agree(const std::vector<NaiveInput>& inputs, const NamedCriteria& under) {
  const Way way{.memory_bytes = kRooms[tally().compared++ % std::size(kRooms)]};
  const grading::Grade grade = streamed(inputs, under.criteria, way);
  for (const grading::Finding& finding : grade.findings) {
    tally().codes.insert(grading::code_info(finding.code).name);
  }
  const Judgement naive = naive_judgement(inputs, under.criteria);
  const Judgement streaming = reduced(grade);
  const std::string fault = grade.exit_code == 0 ? unearned(inputs) : "";
  if (naive == streaming && fault.empty()) return true;
  ADD_FAILURE() << "under " << under.name << " with room for " << way.memory_bytes << "\n"
                << all_lines(inputs) << difference(naive, streaming) << fault;
  return false;
}

std::size_t take_compared() {
  return std::exchange(tally().compared, 0);
}

const std::set<std::string_view>& codes_met() {
  return tally().codes;
}

bool is_nightly() {
  const char* asked = std::getenv("REMIT_NIGHTLY");
  return asked != nullptr && std::string_view(asked) == "1";
}

std::string line_of(std::string_view form, std::string_view id, std::string_view fields) {
  std::string out(form);
  if (const std::size_t at = out.find('@'); at != std::string::npos) out.replace(at, 1, id);
  if (const std::size_t at = out.find('#'); at != std::string::npos) out.replace(at, 1, fields);
  return out + "\n";
}

}  // namespace remit::twin
