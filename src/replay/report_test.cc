// Callers as people write them, and the report in both of its forms.
#include "replay/report.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "json/value.h"
#include "replay/callers.h"

namespace remit::replay {
namespace {

using access::ReasonCode;
using enforcement::HandlerOutcome;

TEST(Callers, AreReadStrictly) {  // REQ-RY-010, REQ-RY-011
  const CallersOutcome read = parse_callers(
      "callers: remit.callers/1\nruns:\n  - {run: a/1, principal: ana, label: reward 1}\n"
      "  - {run: a/2, principal: bob}\n",
      "callers.yaml");
  ASSERT_TRUE(read.callers);
  ASSERT_EQ(read.callers->size(), 2U);
  EXPECT_EQ(read.callers->at("a/1").principal, "ana");
  EXPECT_EQ(read.callers->at("a/1").label, "reward 1");
  EXPECT_EQ(read.callers->at("a/2").label, "");
}

TEST(Callers, AreRefusedWithEverythingThatIsWrong) {  // REQ-RY-011
  const struct {
    const char* text;
    std::vector<std::string> problems;
  } cases[] = {
      {"callers: remit.callers/2\nruns: []\n", {"f:1:10"}},
      {"callers: remit.callers/1\n", {"f:1:1"}},
      {"callers: remit.callers/1\nruns:\n  - {run: a}\n  - {run: b, principal: x, tenant: t}\n",
       {"f:3:5", "f:4:28"}},
      {"callers: remit.callers/1\nruns:\n  - {run: a, principal: x}\n  - {run: a, principal: y}\n",
       {"f:4:5"}},
      {"[", {"f:1:1"}},
  };
  for (const auto& one : cases) {
    const CallersOutcome read = parse_callers(one.text, "f");
    EXPECT_FALSE(read.callers) << one.text;
    std::vector<std::string> places;
    for (const Error& problem : read.problems) places.push_back(problem.where);
    EXPECT_EQ(places, one.problems) << one.text;
  }
}

event::Event decision(std::string_view invocation, std::string_view decided,
                      std::string_view reason, std::string_view policy = {}) {
  event::Event out;
  out.kind = event::EventKind::kAuthorizationDecision;
  out.set(event::Field::kInvocationId, invocation);
  out.set(event::Field::kDecision, decided);
  out.set(event::Field::kReason, reason);
  if (!policy.empty()) out.determining_policies.push_back(policy);
  return out;
}

TEST(RecordedDecisions, AreHeldAgainstWhatCallersWereTold) {  // REQ-RY-030, REQ-RY-031
  RecordedDecisions record;
  record.take(decision("i1", "allow", "allowed", "p"));
  record.take(decision("i2", "deny", "forbidden", "f"));
  event::Event shadow = decision("i3", "deny", "not_permitted");
  shadow.enforced = false;
  shadow.mark(event::Field::kEnforced);
  record.take(shadow);
  event::Event request;
  request.kind = event::EventKind::kToolRequest;
  request.set(event::Field::kInvocationId, "i4");
  record.take(request);

  std::vector<ReplayedCall> same = {
      {.tool = "a", .invocation_id = "i1"},
      {.tool = "a", .invocation_id = "i2", .denied = ReasonCode::kForbidden},
      {.tool = "a", .invocation_id = "i3"},
      {.tool = "a",
       .invocation_id = "",
       .outcome = HandlerOutcome::kFailed,
       .error_type = "permit_expired"}};
  EXPECT_EQ(record.join(same), 0U);
  EXPECT_EQ(same[0].policies, std::vector<std::string>{"p"});
  EXPECT_EQ(same[1].policies, std::vector<std::string>{"f"});
  EXPECT_EQ(same[2].would_deny, "not_permitted");

  const ReplayedCall others[] = {
      {.tool = "a", .invocation_id = "i1", .denied = ReasonCode::kForbidden},
      {.tool = "a", .invocation_id = "i2"},
      {.tool = "a", .invocation_id = "i2", .denied = ReasonCode::kNotPermitted},
      {.tool = "a", .invocation_id = "i4"},
      {.tool = "a", .invocation_id = ""}};
  for (const ReplayedCall& other : others) {
    std::vector<ReplayedCall> one = {other};
    EXPECT_EQ(record.join(one), 1U) << other.invocation_id;
  }
}

Report example() {
  const ReplayedCall read{.tool = "read",
                          .invocation_id = "i1",
                          .outcome = HandlerOutcome::kSucceeded,
                          .policies = {"p"}};
  const ReplayedCall pay{.tool = "pay",
                         .invocation_id = "i2",
                         .denied = ReasonCode::kForbidden,
                         .policies = {"f", "g"}};
  const ReplayedCall hidden{
      .tool = "pay\x1b[2J", .invocation_id = "i3", .denied = ReasonCode::kUnknownTool};
  const ReplayedCall failed{.tool = "read",
                            .invocation_id = "i4",
                            .outcome = HandlerOutcome::kFailed,
                            .error_type = "tool_error",
                            .would_deny = "forbidden"};
  return {.at = "2024-05-15T20:00:00.000000000Z",
          .evidence = "evidence",
          .unrecorded = 0,
          .runs = {{"r/1", "k", {"ana", "reward 1"}, {read, pay}},
                   {"r/2", "", {"bob", "reward 0"}, {hidden, failed}},
                   {"r/3", "", {"bob", "reward 0"}, {read}}}};
}

TEST(Report, TellsPeopleWhatWasDeniedAndWhy) {  // REQ-RY-030, REQ-RY-031
  EXPECT_EQ(report_text(example(), false),
            R"(r/1  for ana, reward 1
    2 pay  denied, forbidden, by f,g

r/2  for bob, reward 0
    1 "pay\x1b[2J"  denied, unknown_tool

denied
     1  pay  forbidden, by f,g
     1  "pay\x1b[2J"  unknown_tool

label                       runs with a denial   calls  allowed  denied
reward 0                       2             1       3        2       1
reward 1                       1             1       2        1       1

3 runs, 5 calls: 3 allowed (2 succeeded, 1 failed, 0 unknown), 2 denied in 2 runs
1 of those allowed would be denied where policy enforces
evidence: "evidence"
the clock was set: each run began at 2024-05-15T20:00:00.000000000Z
)");
  const std::string all = report_text(example(), true);
  EXPECT_NE(all.find("    2 read  failed, tool_error, would be denied: forbidden\n"),
            std::string::npos);
  EXPECT_NE(all.find("r/3  for bob, reward 0\n    1 read  succeeded\n"), std::string::npos);
}

TEST(Report, IsJsonForPrograms) {  // REQ-RY-030
  const auto value = json::parse(report_json(example()));
  ASSERT_TRUE(value) << value.error().to_string();
  const struct {
    const char* pointer;
    json::Value expected;
  } cases[] = {{"/schema", "remit.replay/1"},
               {"/runs_replayed", 3},
               {"/runs_denied", 2},
               {"/unrecorded", 0},
               {"/totals/calls", 5},
               {"/totals/denied", 2},
               {"/totals/would_deny", 1},
               {"/denials/0/policies", "f,g"},
               {"/denials/0/tool", "pay"},
               {"/labels/0/label", "reward 0"},
               {"/labels/0/totals/allowed", 2},
               {"/runs/0/case_id", "k"},
               {"/runs/0/calls/1/decision", "deny"},
               {"/runs/0/calls/1/reason", "forbidden"},
               {"/runs/1/calls/1/outcome", "failed"},
               {"/runs/1/calls/1/would_deny", "forbidden"},
               {"/runs/2/principal", "bob"}};
  for (const auto& one : cases) {
    const json::Value* found = value->at_pointer(one.pointer);
    ASSERT_NE(found, nullptr) << one.pointer;
    EXPECT_EQ(*found, one.expected) << one.pointer;
  }
  const auto empty = json::parse(report_json({}));
  ASSERT_TRUE(empty);
  EXPECT_EQ(*empty->at_pointer("/totals/calls"), json::Value(0));
}

TEST(Report, SaysWhatTheRecordLacks) {  // REQ-RY-030
  Report report = example();
  report.unrecorded = 2;
  EXPECT_NE(report_text(report, false).find("2 calls have no decision in the record"),
            std::string::npos);
}

}  // namespace
}  // namespace remit::replay
