// Baselines: what is refused, what they forgive, what they never do, and how they shrink.
#include "grading/baseline.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "grading/grading.h"
#include "tests/support/memory_file.h"

namespace remit::grading {
namespace {

constexpr std::string_view kHead = "baseline: remit.baseline/1\nknown:\n";

std::string entry(std::string_view keys) {
  return "  - {" + std::string(keys) +
         ", owner: payments, reason: \"ticket 12\", expires: 2027-01-31}\n";
}

Baseline parsed(const std::string& text) {
  BaselineParse parse = parse_baseline(text, "b.yaml");
  for (const Error& error : parse.errors) ADD_FAILURE() << error.to_string();
  return parse.baseline.value_or(Baseline{});
}

const Day kToday = *parse_day("2026-11-30");

std::string call(std::string_view id, std::string_view tool, std::string_view decision,
                 bool starts) {
  const auto line = [&](std::string_view event, std::string_view rest) {
    return "{\"event\":\"" + std::string(event) + "\",\"invocation_id\":\"" + std::string(id) +
           "\",\"tool\":\"" + std::string(tool) + "\"" + std::string(rest) + "}\n";
  };
  std::string out = line("tool.request", ",\"route\":\"agent\"");
  if (decision == "allow") {
    out += line("authorization.decision",
                R"(,"decision":"allow","reason":"allowed","policy_version":"v1")");
  } else if (decision == "deny") {
    out += line("authorization.decision",
                R"(,"decision":"deny","reason":"forbidden","policy_version":"v1")");
  }
  if (starts) {
    out += line("executor.start", "");
    out += line("executor.finish", R"(,"outcome":"succeeded")");
  }
  return out;
}

Grade graded(const std::string& trace, const std::string& manifest = "",
             const std::string& contract = "") {
  Criteria criteria;
  if (!contract.empty()) {
    ContractParse parse = parse_contract(contract, "contract.yaml");
    for (const Error& error : parse.errors) ADD_FAILURE() << error.to_string();
    criteria.contract = *parse.contract;
  }
  if (!manifest.empty()) {
    ManifestParse parse =
        parse_manifest("{manifest: remit.manifest/1, " + manifest + "}", "manifest.yaml");
    for (const Error& error : parse.errors) ADD_FAILURE() << error.to_string();
    criteria.manifest = std::move(parse.manifest);
  }
  Evidence evidence;
  evidence.inputs.push_back(
      trace::Input::of_stream("t", std::make_unique<testing::MemoryFile>(trace)));
  PosixFileSystem files;
  Result<Grade> grade = grading::grade(files, std::move(evidence), std::move(criteria));
  EXPECT_TRUE(grade.has_value());
  return std::move(grade).value();
}

Grade under(const std::string& entries, const Grade& grade, Day today = kToday) {
  const std::string list =
      entries.empty() ? "baseline: remit.baseline/1\nknown: []\n" : std::string(kHead) + entries;
  return apply(parsed(list), today, grade);
}

const std::string kRefunds =
    call("i1", "refund.create", "deny", true) + call("i2", "invoice.read", "allow", true);
// A start after a deny and its finish: both have to be known.
const std::string kBothKnown = entry("code: start_after_deny, tool: refund.create") +
                               entry("code: finish_after_deny, tool: refund.create");

TEST(Day, ReadsDaysOfTheCalendar) {
  EXPECT_EQ(parse_day("1970-01-01"), 0);
  EXPECT_EQ(parse_day("2024-02-29"), 19782);
  EXPECT_EQ(day_of(WallTime{19782LL * 86'400'000'000'000 + 1}), 19782);
  EXPECT_EQ(day_of(WallTime{-1}), -1);
  for (const char* text : {"", "2023-02-29", "2024-13-01", "2024-1-01", "2024-01-1x", "2024/01/01",
                           "2024-01-01T", "24-01-01"}) {
    EXPECT_FALSE(parse_day(text).has_value()) << text;
  }
}

TEST(Baseline, TellsEachMistakeWithItsPlace) {  // REQ-BL-001 to 004
  const struct {
    const char* entries;
    const char* where;
    const char* contains;
  } rows[] = {
      {"  - {code: start_after_deny, owner: a, reason: b}\n", "b.yaml:3:5", "expires"},
      {"  - {code: start_after_deny, owner: a, expires: 2027-01-01}\n", "b.yaml:3:5", "reason"},
      {"  - {code: start_after_deny, reason: a, expires: 2027-01-01}\n", "b.yaml:3:5", "owner"},
      {"  - {code: start_after_deny, owner: a, reason: b, expires: soon}\n", "b.yaml:3:60", "day"},
      {"  - {code: start_after_deny, owner: ___, reason: b, expires: 2027-01-01}\n", "b.yaml:3:37",
       "blank"},
      {"  - {code: start_after_denny, owner: a, reason: b, expires: 2027-01-01}\n", "b.yaml:3:12",
       "no finding has the code"},
      {"  - {code: sequence_gap, owner: a, reason: b, expires: 2027-01-01}\n", "b.yaml:3:12",
       "unknown never passes"},
      {"  - {code: evidence_altered, owner: a, reason: b, expires: 2027-01-01}\n", "b.yaml:3:12",
       "trusted"},
      {"  - {code: start_after_deny, count: 0, owner: a, reason: b, expires: 2027-01-01}\n",
       "b.yaml:3:37", "count"},
      {"  - {code: start_after_deny, tol: x, owner: a, reason: b, expires: 2027-01-01}\n",
       "b.yaml:3:30", "tol"},
      {"  - {code: unknown_outcome, owner: a, reason: b, expires: 2027-01-01}\n"
       "  - {code: unknown_outcome, owner: c, reason: d, expires: 2027-01-01}\n",
       "b.yaml:4:5", "same findings"},
  };
  for (const auto& row : rows) {
    const BaselineParse parse = parse_baseline(std::string(kHead) + row.entries, "b.yaml");
    ASSERT_FALSE(parse.errors.empty()) << row.entries;
    EXPECT_FALSE(parse.baseline.has_value());
    EXPECT_EQ(parse.errors.front().where, row.where) << parse.errors.front().to_string();
    EXPECT_NE(parse.errors.front().message.find(row.contains), std::string::npos)
        << parse.errors.front().to_string();
  }
  for (const char* text : {"", "[]", "baseline: remit.baseline/2\nknown: []\n",
                           "baseline: remit.baseline/1\n", "known: []\n"}) {
    EXPECT_FALSE(parse_baseline(text, "b").errors.empty()) << text;
  }
}

TEST(Baseline, LetsKnownFindingsStand) {  // REQ-BL-005, REQ-BL-006
  const Grade before = graded(kRefunds);
  ASSERT_EQ(before.gate, Gate::kFailed);
  const Grade after = under(kBothKnown, before);
  EXPECT_EQ(after.gate, Gate::kPassed);
  EXPECT_EQ(after.exit_code, 0);
  EXPECT_EQ(after.verdicts, before.verdicts);  // told as they are
  ASSERT_EQ(after.findings.size(), before.findings.size());
  for (const Finding& finding : after.findings) EXPECT_TRUE(finding.known.has_value());
  EXPECT_EQ(after.baseline->known, 2U);
  EXPECT_EQ(after.baseline->verdicts[Verdict::kExecution], Value::kPassed);
}

TEST(Baseline, LetsNothingElseStand) {  // REQ-BL-005, REQ-BL-006
  const Grade before = graded(kRefunds);
  const char* const rows[] = {
      "code: start_after_deny, tool: invoice.read",
      "code: start_after_deny, route: queued",
      "code: start_after_deny, case: other",
      "code: start_after_deny, invocation: i2",
      "code: finish_after_deny",
      "code: multiple_starts",
  };
  for (const char* row : rows) EXPECT_EQ(under(entry(row), before).gate, Gate::kFailed) << row;
  EXPECT_EQ(under("", before).gate, Gate::kFailed);
}

TEST(Baseline, FindsTheFirstEntryThatHasRoom) {  // REQ-BL-005
  const Grade before = graded(kRefunds + call("i3", "refund.create", "deny", true));
  const std::string rows = entry("code: start_after_deny, invocation: i3") +
                           entry("code: start_after_deny, tool: refund.create, route: agent") +
                           entry("code: start_after_deny") +
                           entry("code: finish_after_deny, count: 2");
  const Grade after = under(rows, before);
  std::vector<std::uint64_t> matched;
  for (const KnownFinding& one : after.baseline->entries) matched.push_back(one.matched);
  EXPECT_EQ(matched, (std::vector<std::uint64_t>{1, 1, 0, 2}));
  EXPECT_EQ(after.gate, Gate::kPassed);
}

TEST(Baseline, TakesAFindingOfManyLinesAsSoMany) {  // REQ-BL-005, REQ-GR-087
  std::string trace = kRefunds;
  for (std::uint64_t i = 0; i < kMalformedLinesOfSource + 5; ++i) trace += "x\n";
  const Grade before = graded(trace);
  const auto known_with = [&](std::uint64_t count) {
    const Grade after =
        under(entry("code: malformed_event, count: " + std::to_string(count)), before);
    return after.baseline->entries.front().matched;
  };
  EXPECT_EQ(known_with(kMalformedLinesOfSource + 4), kMalformedLinesOfSource);
  EXPECT_EQ(known_with(kMalformedLinesOfSource + 5), kMalformedLinesOfSource + 5);
}

TEST(Baseline, ReadsAndAppliesLongListsOnce) {  // REQ-BL-001, REQ-BL-005
  std::string trace;
  std::string rows;
  for (int i = 0; i < 5'000; ++i) {
    const std::string id = "n" + std::to_string(i);
    trace += "{\"event\":\"executor.finish\",\"invocation_id\":\"" + id + "\"}\n";
    rows += entry("code: unknown_outcome, invocation: " + id);
  }
  EXPECT_EQ(under(rows, graded(trace)).baseline->known, 5'000U);
}

TEST(Baseline, PassesNothingThatNoVerdictAskedFor) {  // REQ-GR-002, REQ-GR-005
  const std::string rules =
      "contract: remit.contract/1\nname: t\n"
      "blocking: {enforcement: false, execution: false, completeness: false}\n"
      "rules: [{match: {tool: [never.called]}, blocking: {execution: true}}]\n";
  for (const std::string& trace : {std::string(), kRefunds}) {
    const Grade before = graded(trace, "", rules);
    EXPECT_EQ(before.gate, Gate::kUndetermined);
    EXPECT_EQ(under(kBothKnown, before).gate, Gate::kUndetermined);
  }
}

TEST(Baseline, NeverGrows) {  // REQ-BL-005: a finding more than is known blocks
  const Grade before = graded(kRefunds + call("i3", "refund.create", "deny", true));
  EXPECT_EQ(under(kBothKnown, before).gate, Gate::kFailed);
  EXPECT_EQ(
      under(entry("code: start_after_deny, count: 2") + entry("code: finish_after_deny, count: 2"),
            before)
          .gate,
      Gate::kPassed);
}

TEST(Baseline, CountsNoMoreOnceItExpired) {  // REQ-BL-003
  const Grade before = graded(kRefunds);
  EXPECT_EQ(under(kBothKnown, before, *parse_day("2027-01-31")).gate, Gate::kPassed);
  const Grade after = under(kBothKnown, before, *parse_day("2027-02-01"));
  EXPECT_EQ(after.gate, Gate::kFailed);
  EXPECT_TRUE(after.baseline->entries.front().is_expired);
  EXPECT_EQ(needed_counts(after, Criteria{}), (std::vector<std::uint64_t>{0, 0}));
}

TEST(Baseline, MakesNothingUnknownPass) {  // REQ-BL-007, *unknown never passes*
  const std::string all_known =
      kBothKnown + entry("code: missing_decision") + entry("code: start_without_allow") +
      entry("code: finish_before_start") + entry("code: allow_without_finish") +
      entry("code: expected_request_absent") + entry("code: unexpected_decision") +
      entry("code: malformed_event");
  const struct {
    const char* what;
    std::string trace, manifest;
  } rows[] = {
      {"nothing at all", "", ""},
      {"only a line that is no event", "x\n", ""},
      {"no decision, and nothing ran", call("i1", "refund.create", "", false), ""},
      {"no decision, and it ran", call("i1", "refund.create", "", true), ""},
      {"no decision beside a known failure", kRefunds + call("i3", "a", "", false), ""},
      {"a control that was not exercised", kRefunds,
       "cases: [{id: c, kind: security, expect: [{tool: other, decision: deny}]}]"},
      {"a control that another call came for", kRefunds,
       "cases: [{id: c, kind: security, expect: [{invocation_id: i2, tool: invoice.read, "
       "decision: deny}, {tool: other}]}]"},
      {"a gap", "{\"event\":\"run.started\",\"writer\":\"w\",\"seq\":2}\n" + kRefunds, ""},
  };
  for (const auto& row : rows) {
    const Grade grade = under(all_known, graded(row.trace, row.manifest));
    EXPECT_NE(grade.gate, Gate::kPassed) << row.what;
    EXPECT_NE(grade.exit_code, 0) << row.what;
  }
}

TEST(Baseline, ForgivesOfACase) {
  const std::string manifest =
      "cases: [{id: c, kind: task, expect: [{invocation_id: i2, tool: invoice.read, effects: 2}]}]";
  const Grade before = graded(call("i2", "invoice.read", "allow", true), manifest);
  EXPECT_EQ(under("", before).gate, Gate::kFailed);
  EXPECT_EQ(under(entry("code: effect_count_mismatch, case: other"), before).gate, Gate::kFailed);
  const Grade after = under(entry("code: effect_count_mismatch, case: c"), before);
  EXPECT_EQ(after.gate, Gate::kPassed);
  EXPECT_EQ(after.baseline->cases.front()[Verdict::kExecution], Value::kPassed);
}

TEST(Baseline, LeavesAloneWhatDoesNotBlock) {  // REQ-GR-005
  const std::string rules =
      "contract: remit.contract/1\nname: t\nextends: sequential\nrules:\n"
      "  - {match: {tool: [refund.create]}, blocking: {execution: false}}\n";
  const Grade before = graded(kRefunds + call("i4", "invoice.pay", "deny", true), "", rules);
  ASSERT_EQ(before.gate, Gate::kFailed);  // for the second tool
  EXPECT_EQ(under("", before).gate, Gate::kFailed);
  const std::string known = entry("code: start_after_deny, tool: invoice.pay") +
                            entry("code: finish_after_deny, tool: invoice.pay");
  const Grade after = under(known, before);
  EXPECT_EQ(after.gate, Gate::kPassed);
  EXPECT_EQ(after.baseline->verdicts[Verdict::kExecution], Value::kFailed);
  EXPECT_EQ(under("", graded(kRefunds, "", rules)).gate, Gate::kPassed);
}

const std::string kLong = std::string(kHead) +
                          "  # refunds, see ticket 12\n"
                          "  - code: start_after_deny   # three of them\n"
                          "    tool: refund.create\n"
                          "    count: 3  # at most\n"
                          "    owner: payments\n"
                          "    reason: ticket 12\n"
                          "    expires: 2027-01-31\n"
                          "\n"
                          "  # about finishes\n"
                          "  - code: finish_after_deny\n"
                          "    owner: payments\n"
                          "    reason: >-\n"
                          "      a long\n"
                          "      story\n"
                          "    expires: 2027-01-31\n"
                          "# the end\n";

TEST(Shrink, KeepsWhatTheRunCouldNotHaveShown) {  // REQ-BL-012
  const std::string with_case =
      "cases: [{id: c, kind: task, expect: [{tool: invoice.read, invocation_id: i2}]}, {id: d, "
      "kind: task, "
      "required_requests: [other]}]";
  const std::string trace =
      call("i2", "invoice.read", "allow", true) + call("i3", "mail.send", "deny", false);
  const struct {
    std::string entry, manifest, contract;
    bool is_gone;
  } cases[] = {
      {"code: start_after_deny", "", "", true},
      {"code: start_after_deny, tool: invoice.read", "", "", true},
      {"code: start_after_deny, tool: refund.create", "", "", false},
      {"code: start_after_deny, tool: mail.send", "", "", true},  // denied now, and did not run
      {"code: start_after_deny, route: agent", "", "", true},
      {"code: start_after_deny, route: queued", "", "", false},
      {"code: start_after_deny, invocation: i2", "", "", true},
      {"code: start_after_deny, invocation: i1", "", "", false},
      {"code: start_after_deny, case: c", "", "", false},
      {"code: start_after_deny, case: c", with_case, "", true},
      {"code: start_after_deny, case: d", with_case, "", false},
      {"code: expected_request_absent, case: c", with_case, "", true},
      {"code: forbidden_request", "", "", false},  // without a manifest nobody judged it
      {"code: unexpected_decision", "", "", false},
      {"code: unexpected_decision", "policies: [{version: v1}]", "", true},
      {"code: canary_leak", "", "", false},
      {"code: field_not_allowed", "", "", false},
      {"code: malformed_event", "", "", true},
      {"code: multiple_starts", "", "", true},
      {"code: multiple_starts", "",
       "{contract: remit.contract/1, name: n, extends: fan_out, rules: [{start: {on_allow: "
       "{at_least: 1}}}]}",
       false},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(one.entry + one.manifest + one.contract);
    Criteria criteria;
    criteria.list_all = true;
    if (!one.contract.empty()) {
      ContractParse parse = parse_contract(one.contract, "c.yaml");
      for (const Error& error : parse.errors) ADD_FAILURE() << error.to_string();
      criteria.contract = *parse.contract;
    }
    if (!one.manifest.empty()) {
      criteria.manifest =
          parse_manifest("{manifest: remit.manifest/1, " + one.manifest + "}", "m").manifest;
    }
    criteria.known = {parsed(std::string(kHead) + entry(one.entry + ", count: 3")), kToday};
    Evidence evidence;
    evidence.inputs.push_back(
        trace::Input::of_stream("t", std::make_unique<testing::MemoryFile>(trace)));
    PosixFileSystem files;
    const Grade grade = std::move(grading::grade(files, std::move(evidence), criteria)).value();
    EXPECT_EQ(needed_counts(grade, criteria), std::vector<std::uint64_t>{one.is_gone ? 0U : 3U});
  }
}

TEST(Shrink, LowersCountsAndDropsEntries) {  // REQ-BL-009
  const std::string lowered = shrink(kLong, "b.yaml", {1, 1}).value();
  std::string expected = kLong;
  expected.replace(expected.find("count: 3"), 8, "count: 1");
  EXPECT_EQ(lowered, expected);
  const std::string dropped = shrink(kLong, "b.yaml", {3, 0}).value();
  EXPECT_EQ(dropped, kLong.substr(0, kLong.find("  # about")) + "# the end\n");
  const std::string emptied = shrink(kLong, "b.yaml", {0, 0}).value();
  EXPECT_EQ(emptied, "baseline: remit.baseline/1\nknown: []\n\n# the end\n");
  EXPECT_TRUE(parsed(emptied).known.empty());
}

TEST(Shrink, NeverAddsAndLeavesTheRestAsItIs) {  // REQ-BL-009
  EXPECT_EQ(shrink(kLong, "b.yaml", {9, 9}).value(), kLong);
  EXPECT_EQ(shrink("baseline: remit.baseline/1\nknown: []\n", "b", {}).value(),
            "baseline: remit.baseline/1\nknown: []\n");
}

TEST(Shrink, RefusesWhatItCannotEdit) {
  const std::string flow =
      "{baseline: remit.baseline/1, known: [{code: unknown_outcome, owner: a, reason: b, expires: "
      "2027-01-01}, {code: multiple_starts, owner: a, reason: b, expires: 2027-01-01}]}\n";
  EXPECT_EQ(shrink(flow, "b", {1, 0}).error().code, ErrorCode::kFailedPrecondition);
  EXPECT_EQ(shrink(flow, "b", {1}).error().code, ErrorCode::kFailedPrecondition);
  EXPECT_FALSE(shrink("x", "b", {}).has_value());
}

TEST(Suggest, LeavesToPeopleWhatOnlyTheyCanSay) {  // REQ-BL-010
  const Grade grade = graded(kRefunds + call("i3", "refund.create", "deny", true));
  const std::string text = suggest_baseline(grade);
  const BaselineParse parse = parse_baseline(text, "new.yaml");
  EXPECT_EQ(parse.errors.size(), 6U) << text;  // three blanks for each of two entries
  std::string filled = text;
  for (const auto& [blank, words] :
       {std::pair<std::string, std::string>{"expires: ___", "expires: 2027-01-31"},
        {": ___", ": somebody"}}) {
    for (std::size_t at = 0; (at = filled.find(blank)) != std::string::npos;) {
      filled.replace(at, blank.size(), words);
    }
  }
  EXPECT_EQ(apply(parsed(filled), kToday, grade).gate, Gate::kPassed) << filled;
  EXPECT_EQ(suggest_baseline(apply(parsed(filled), kToday, grade)), "");
}

}  // namespace
}  // namespace remit::grading
