// Properties of grades over random traces: they do not depend on how the trace is read.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "grading/grading.h"
#include "tests/support/memory_file.h"
#include "tests/support/seeded_random.h"
#include "tests/support/test_folder.h"

namespace {

std::atomic<std::uint64_t> allocations{0};

}  // namespace

// Counted, so that a test can say what the steady state allocates. Never inlined: the optimiser
// would see malloc paired with operator delete, and g++ warns of that.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) std::abort();
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace remit::grading {
namespace {

using event::Event;
using event::EventKind;
using event::Field;
using testing::SeededRandom;

struct NamedText {
  std::string name;
  std::string text;
};

Grade grade_of(std::vector<NamedText> inputs, Criteria criteria = {}) {
  Evidence evidence;
  for (NamedText& input : inputs) {
    evidence.inputs.push_back(trace::Input::of_stream(
        input.name, std::make_unique<testing::MemoryFile>(std::move(input.text))));
  }
  PosixFileSystem files;
  Result<Grade> grade = grading::grade(files, std::move(evidence), std::move(criteria));
  EXPECT_TRUE(grade.has_value());
  return std::move(grade).value();
}

std::string told(const Grade& grade) {
  std::string out(gate_name(grade.gate));
  for (const Verdict verdict : kVerdicts) {
    const VerdictResult& result = grade.verdicts[verdict];
    out.append(" ").append(value_name(result.value));
    out.append("/").append(std::to_string(result.population));
  }
  const Population& seen = grade.population;
  for (const std::uint64_t number : {seen.events, seen.invocations, seen.allowed, seen.denied,
                                     seen.started, seen.finished, seen.repeats}) {
    out.append(" ").append(std::to_string(number));
  }
  for (const Finding& finding : grade.findings) {
    out.append("\n").append(code_info(finding.code).name);
    out.append(" ").append(finding.invocation_id.value_or("-"));
    out.append(" ").append(value_name(finding.value));
    out.append(finding.consequence ? " consequence" : "");
    out.append(" ").append(finding.expected.value_or("-"));
    out.append(" ").append(finding.recorded.value_or("-"));
    for (const Position& position : finding.events) {
      out.append(" ").append(position.source).append("@").append(std::to_string(position.at));
    }
  }
  for (const std::string& sentence : grade.scope) out.append("\n").append(sentence);
  return out;
}

std::string line_of(const Event& event) {
  std::string line;
  event::encode(event, line);
  return line;
}

template <class T>
const T& one_of(SeededRandom& random, const std::vector<T>& choices) {
  return choices[random.number(choices.size())];
}

/// Mostly healthy calls of a few invocations and writers, with a fault here and there.
std::vector<Event> random_events(SeededRandom& random) {
  static const std::vector<std::string> kIds = {"i1", "i2", "i3"};
  static const std::vector<std::string> kTools = {"read", "read", "read", "pay"};
  static const std::vector<std::string> kVersions = {"v1", "v1", "v1", "v2", ""};
  static const std::vector<std::string> kDecisions = {"allow", "allow", "deny", "deny", "maybe"};
  static const std::vector<std::string> kReasons = {"allowed", "forbidden", "because"};
  static const std::vector<std::string> kOutcomes = {"succeeded", "succeeded", "failed", "unknown"};
  static const std::vector<EventKind> kSteps = {
      EventKind::kToolRequest, EventKind::kResourceResolved, EventKind::kAuthorizationDecision,
      EventKind::kExecutorStart, EventKind::kExecutorFinish};
  static const std::vector<EventKind> kOthers = {
      EventKind::kPolicyPublished, EventKind::kRunFinished,   EventKind::kEvidenceLost,
      EventKind::kEffectObserved,  EventKind::kPermitUnspent, EventKind::kRunStarted};
  std::vector<Event> events;
  std::vector<std::size_t> steps(kIds.size());
  const std::size_t count = 1 + random.number(14);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t call = random.number(kIds.size());
    Event event;
    event.kind =
        random.number(12) == 0 ? one_of(random, kOthers) : kSteps[steps[call]++ % kSteps.size()];
    if (random.number(12) == 0) event.kind = one_of(random, kSteps);
    if (event::is_call_event(event.kind)) event.set(Field::kInvocationId, kIds[call]);
    event.set(Field::kTool, random.number(10) == 0 ? one_of(random, kTools) : kTools[0]);
    if (random.number(3) == 0) event.set(Field::kResourceId, "r1");
    if (random.number(20) == 0) event.set(Field::kResourceId, "r2");
    if (random.number(3) == 0) event.set(Field::kArgsDigest, "sha256:1");
    if (random.number(20) == 0) event.set(Field::kArgsDigest, "sha256:2");
    if (random.number(5) == 0) event.set(Field::kRunId, "run");
    if (event.kind == EventKind::kAuthorizationDecision) {
      const std::string& decision = one_of(random, kDecisions);
      event.set(Field::kDecision, decision);
      event.set(Field::kReason, random.number(10) == 0 ? one_of(random, kReasons)
                                                       : kReasons[decision == "allow" ? 0 : 1]);
      event.set_if_any(Field::kPolicyVersion, one_of(random, kVersions));
      if (random.number(2) == 0) event.set(Field::kDecisionId, "d1");
    }
    if (event.kind == EventKind::kPolicyPublished) {
      event.set(Field::kPolicyVersion, random.number(3) == 0 ? "v2" : "v1");
    }
    if (event.kind == EventKind::kRunFinished && random.number(2) == 0) {
      event.set(Field::kEvents, static_cast<std::int64_t>(random.number(10)));
      event.set(Field::kInvocations, static_cast<std::int64_t>(random.number(4)));
    }
    if (event.kind == EventKind::kExecutorStart && random.number(2) == 0) {
      event.set(Field::kDecisionId, random.number(10) == 0 ? "d2" : "d1");
    }
    if (event.kind == EventKind::kExecutorFinish) {
      event.set(Field::kOutcome, one_of(random, kOutcomes));
    }
    events.push_back(event);
  }
  return events;
}

/// Gives every event a writer and its number, with a hole now and then.
void number_events(std::vector<Event>& events, SeededRandom& random) {
  std::int64_t seq[2] = {0, 0};
  for (Event& event : events) {
    const std::size_t writer = random.number(4) == 0 ? 1 : 0;
    if (random.number(40) == 0) ++seq[writer];
    event.set(Field::kWriter, writer == 0 ? "w0" : "w1");
    event.set(Field::kSeq, ++seq[writer]);
  }
}

TEST(Grader, JudgesAlikeOnTheShortPathAndInFull) {
  SeededRandom random(11);
  for (int round = 0; round < 1000; ++round) {
    std::vector<Event> events = random_events(random);
    if (random.number(2) == 0) number_events(events, random);
    std::string text;
    for (const Event& event : events) text += line_of(event);
    Criteria in_full;
    in_full.list_all = true;
    EXPECT_EQ(told(grade_of({{"a", text}})), told(grade_of({{"a", text}}, in_full))) << text;
  }
}

TEST(Grader, DoesNotDependOnOrderOrSplitting) {  // *same inputs, same grade, same bytes*
  SeededRandom random(12);
  for (int round = 0; round < 1000; ++round) {
    std::vector<Event> events = random_events(random);
    number_events(events, random);
    std::vector<std::string> lines;
    for (const Event& event : events) lines.push_back(line_of(event));
    std::string whole;
    for (const std::string& line : lines) whole += line;
    const std::string expected = told(grade_of({{"a", whole}}));
    for (std::size_t i = lines.size(); i > 1; --i) {
      std::swap(lines[i - 1], lines[random.number(i)]);
    }
    std::vector<NamedText> parts = {{"x", ""}, {"y", ""}, {"z", ""}};
    for (const std::string& line : lines) {
      parts[random.number(3)].text += line;
      if (random.number(10) == 0) parts[random.number(3)].text += line;
    }
    Criteria seeded;
    seeded.hash_seed = random.number(1U << 30U);
    Grade grade = grade_of(parts, seeded);
    grade.population.repeats = 0;
    EXPECT_EQ(told(grade), expected) << whole;
  }
}

TEST(Grader, ShowsThatOrderMattersWhereNothingElseSaysIt) {  // the test above can fail
  Event request;
  request.kind = EventKind::kToolRequest;
  request.set(Field::kInvocationId, "i1");
  Event decision;
  decision.kind = EventKind::kAuthorizationDecision;
  decision.set(Field::kInvocationId, "i1");
  decision.set(Field::kDecision, "deny");
  decision.set(Field::kPolicyVersion, "v1");
  EXPECT_NE(told(grade_of({{"a", line_of(request) + line_of(decision)}})),
            told(grade_of({{"a", line_of(decision) + line_of(request)}})));
}

TEST(Grader, NeverPassesWithoutAnInvocation) {  // *unknown never passes*, REQ-GR-002
  for (const char* text : {"", "\n\n", "{\"event\":\"run.started\"}\n", "{\"event\":\"x.y\"}\n",
                           "{\"event\":\"run.finished\"}\n", "nonsense\n"}) {
    const Grade grade = grade_of({{"a", text}});
    EXPECT_NE(grade.gate, Gate::kPassed) << text;
    EXPECT_NE(grade.exit_code, 0) << text;
    EXPECT_EQ(grade.verdicts[Verdict::kEnforcement].value, Value::kNotExercised) << text;
  }
}

TEST(Grader, KeepsTheGateAndNotTheExitCodeWhenAdvisory) {  // REQ-GR-084
  Criteria criteria;
  criteria.advisory = true;
  const Grade grade = grade_of({{"a", "nonsense\n"}}, criteria);
  EXPECT_EQ(grade.gate, Gate::kFailed);
  EXPECT_EQ(grade.exit_code, 0);
}

TEST(Grader, TellsWhichFileCannotBeRead) {
  PosixFileSystem files;
  Evidence evidence;
  evidence.inputs.push_back(trace::Input::of_file("no/such/file.jsonl"));
  const auto grade = grading::grade(files, std::move(evidence), {});
  ASSERT_FALSE(grade.has_value());
  EXPECT_EQ(grade.error().code, ErrorCode::kNotFound);
  EXPECT_NE(grade.error().where.find("no/such/file.jsonl"), std::string::npos);
}

// One invocation with as many decisions as starts: what decision and start `k` record, and the
// findings of each start.
struct Crowd {
  std::string_view name;
  std::string_view decision, start;  ///< `#` stands for the number
  bool has_own_writer;               ///< starts are another writer's
  Code code;
  std::size_t findings_of_start;
};

std::string crowd_text(const Crowd& crowd, std::size_t count) {
  std::string text = R"({"schema":"remit.event/1","event":"tool.request","invocation_id":"i",)"
                     R"("tool":"t","writer":"w","seq":1})"
                     "\n";
  const auto say = [&](std::string_view kind, std::string_view facts, std::string_view writer,
                       std::size_t seq, std::size_t number) {
    text.append(R"({"schema":"remit.event/1","event":")").append(kind);
    text.append(R"(","invocation_id":"i","tool":"t","writer":")").append(writer);
    text.append(R"(","seq":)").append(std::to_string(seq));
    for (const char c : facts) c == '#' ? text.append(std::to_string(number)) : text.append(1, c);
    text.append("}\n");
  };
  for (std::size_t k = 0; k < count; ++k) {
    say("authorization.decision", crowd.decision, "w", k + 2, k);
  }
  for (std::size_t k = 0; k < count; ++k) {
    const bool is_own = crowd.has_own_writer;
    say("executor.start", crowd.start, is_own ? "x" : "w", is_own ? k + 1 : count + k + 2, k);
  }
  return text;
}

// With a pass over the decisions for each start, this would take hours.
TEST(Grader, GradesManyDecisionsAndStartsOfOneInvocation) {
  constexpr std::size_t kCount = 10'000;
  const Crowd crowds[] = {
      {"each cites its own", R"(,"decision":"deny","decision_id":"d#")", R"(,"decision_id":"d#")",
       false, Code::kStartAfterDeny, 1},
      {"each cites the first", R"(,"decision":"allow","decision_id":"d#")",
       R"(,"decision_id":"d0")", false, Code::kStartAfterDeny, 0},
      {"each cites all", R"(,"decision":"deny","decision_id":"d")", R"(,"decision_id":"d")", true,
       Code::kStartAfterDeny, 1},
      {"each cites all, one of them its own",
       R"(,"decision":"deny","decision_id":"d","resource_id":"r#")",
       R"(,"decision_id":"d","resource_id":"r#")", false, Code::kDecisionNotApplicable, 1},
      {"none cites what there is", R"(,"decision":"allow","decision_id":"d#")",
       R"(,"decision_id":"e#")", false, Code::kStartCitesNoDecision, 1},
      {"none applies", R"(,"decision":"allow","resource_id":"r#")", R"(,"resource_id":"s#")", false,
       Code::kDecisionNotApplicable, 1},
      {"one applies", R"(,"decision":"deny","resource_id":"r#")", R"(,"resource_id":"r#")", false,
       Code::kStartAfterDeny, 1},
      {"all apply", R"(,"decision":"deny","resource_id":"r#")", R"(,"args_digest":"a#")", false,
       Code::kStartAfterDeny, 1},
      {"none applies elsewhere", R"(,"decision":"allow","resource_id":"r#")",
       R"(,"resource_id":"s#")", true, Code::kDecisionNotApplicable, 1},
      {"one applies elsewhere", R"(,"decision":"allow","resource_id":"r#")",
       R"(,"resource_id":"r#")", true, Code::kOrderUnknown, 1},
  };
  for (const Crowd& crowd : crowds) {
    const Grade grade = grade_of({{"a", crowd_text(crowd, kCount)}});
    const auto found = std::count_if(grade.findings.begin(), grade.findings.end(),
                                     [&](const Finding& one) { return one.code == crowd.code; });
    EXPECT_EQ(static_cast<std::size_t>(found), kCount * crowd.findings_of_start) << crowd.name;
  }
}

TEST(Grader, AllocatesNothingPerEventInTheSteadyState) {
  PosixFileSystem files;
  Grader grader(files, {});
  ASSERT_TRUE(grader.begin_source("a", "a").has_value());
  event::Decoder decoder;
  Event event;
  std::vector<std::string> lines;
  constexpr std::size_t kCalls = 4000;
  for (std::size_t call = 0; call < kCalls; ++call) {
    Event made;
    made.set(Field::kInvocationId, "i");
    const std::string id = "i" + std::to_string(call);
    for (const EventKind kind : {EventKind::kToolRequest, EventKind::kAuthorizationDecision}) {
      made.kind = kind;
      made.set(Field::kInvocationId, id);
      made.set(Field::kTool, "read");
      made.set(Field::kDecision, "deny");
      made.set(Field::kPolicyVersion, "v1");
      std::string line = line_of(made);
      line.pop_back();
      line.reserve(line.size() + event::Decoder::kPadding);
      lines.push_back(std::move(line));
    }
  }
  std::uint64_t offset = 0;
  const auto add = [&](const std::string& line) {
    ASSERT_TRUE(decoder.decode(line, event).has_value());
    ASSERT_TRUE(grader.add(event, {line, offset, false}).has_value());
    offset += line.size() + 1;
  };
  for (std::size_t i = 0; i < lines.size() / 2; ++i) add(lines[i]);
  const std::uint64_t before = allocations;
  for (std::size_t i = lines.size() / 2; i < lines.size(); ++i) add(lines[i]);
  EXPECT_LT(allocations - before, 10U);  // tables that double, not events
  EXPECT_EQ(grader.finish().value().population.denied, kCalls);
}

// Where the lines of findings were read, for editors: REQ-RP-003.
TEST(Grader, SaysWhereEachLineStands) {
  const std::string text =
      "\n{\"event\":\"tool.request\",\"invocation_id\":\"i1\",\"writer\":\"w\",\"seq\":3}\r\n"
      "{\"event\":\"executor.start\",\"invocation_id\":\"i1\",\"writer\":\"w\",\"seq\":4}\n{"
      "\"event\":1}";
  const Grade grade = grade_of({{"a.jsonl", "{\"event\":\"x.y\"}\n"}, {"b.jsonl", text}});
  ASSERT_EQ(grade.files, (std::vector<std::string>{"a.jsonl", "b.jsonl"}));
  std::vector<std::string> places;
  for (const Finding& finding : grade.findings) {
    for (const Position& at : finding.events) {
      places.push_back(std::string(code_info(finding.code).name) + " " + grade.files[at.file] +
                       ":" + std::to_string(at.line) + " " + std::to_string(at.offset) + "+" +
                       std::to_string(at.bytes));
    }
  }
  EXPECT_EQ(places, (std::vector<std::string>{
                        "malformed_event b.jsonl:4 147+2", "sequence_gap b.jsonl:2 1+66",
                        "start_without_allow b.jsonl:3 69+68", "missing_decision b.jsonl:2 1+66",
                        "missing_field b.jsonl:2 1+66", "missing_run_finished b.jsonl:3 69+68"}));
}

// One finding for each of the first malformed lines of a file and of a run; those beyond them are
// counted, file by file.
TEST(Malformed, LinesAreToldUpToABound) {  // REQ-GR-087
  const auto lines = [](std::uint64_t number) {
    std::string out = "{\"event\":\"run.started\"}\n";
    for (std::uint64_t i = 0; i < number; ++i) out += "{x\n";
    return out;
  };
  const Grade one = grade_of({{"a", lines(kMalformedLinesOfSource + 1)}, {"b", lines(3)}});
  ASSERT_EQ(one.findings.size(), kMalformedLinesOfSource + 4);
  std::vector<NamedText> many;
  for (int i = 0; i < 11; ++i) {
    many.push_back({"f" + std::to_string(10 + i), lines(kMalformedLinesOfSource + 7)});
  }
  const Grade all = grade_of(std::move(many));
  EXPECT_EQ(all.findings.size(), kMalformedLinesOfRun + 11);
  std::vector<std::string> rests;
  std::uint64_t counted = 0;
  for (const Finding& finding : all.findings) {
    counted += finding.lines;
    if (finding.lines > 1) rests.push_back(finding.message);
  }
  EXPECT_EQ(counted, 11 * (kMalformedLinesOfSource + 7));
  ASSERT_EQ(rests.size(), 11U);
  EXPECT_NE(rests.front().find(": 7 more lines from here on"), std::string::npos) << rests.front();
  EXPECT_NE(rests.back().find(": 1007 more lines from here on"), std::string::npos);
}

// One trace under two names is one run, not an executor that uses ids twice.
TEST(Inputs, OfTheSameTextAreRefused) {  // REQ-IN-013
  const testing::TestFolder folder;
  const auto call = [](const std::string& more) {
    return R"({"event":"tool.request","invocation_id":"i1","tool":"a")" + more + "}\n" +
           R"({"event":"tool.request","invocation_id":"i2","tool":"a")" + more + "}\n";
  };
  folder.put("a.jsonl", call(""));
  folder.put("b.jsonl", call(""));
  folder.put("c.jsonl", call(R"(,"run_id":"c")"));
  folder.put("d.jsonl", call(R"(,"run_id":"d")"));
  const std::string numbered = R"({"event":"x.y","writer":"w","seq":1})"
                               "\n"
                               R"({"event":"x.y","writer":"w","seq":2})"
                               "\n";
  folder.put("e.jsonl", numbered);
  folder.put("f.jsonl", numbered);
  folder.put("g.jsonl", R"({"event":"x.y"})");
  folder.put("h.jsonl", R"({"event":"x.y"})");
  const auto graded = [&](const std::vector<std::string>& names) {
    PosixFileSystem files;
    Evidence evidence;
    for (const std::string& name : names) {
      evidence.inputs.push_back(trace::Input::of_file(folder.path(name)));
    }
    return grading::grade(files, std::move(evidence), {});
  };
  const Result<Grade> twice = graded({"a.jsonl", "b.jsonl"});
  ASSERT_FALSE(twice.has_value());
  EXPECT_NE(twice.error().message.find("holds the same text as"), std::string::npos);
  EXPECT_EQ(twice.error().where, folder.path("b.jsonl"));
  // Other runs, what may come again, and one event alone.
  for (const std::vector<std::string>& names : {std::vector<std::string>{"c.jsonl", "d.jsonl"},
                                                {"e.jsonl", "f.jsonl"},
                                                {"g.jsonl", "h.jsonl"},
                                                {"a.jsonl", "c.jsonl"}}) {
    EXPECT_TRUE(graded(names).has_value()) << names.front();
  }
}

}  // namespace
}  // namespace remit::grading
