// From recorded lines to the sort of each call, and from those to what is ready.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "report/outlet.h"
#include "rollout/collect.h"
#include "rollout/readiness.h"
#include "rollout/report_forms.h"
#include "tests/support/memory_file.h"

namespace remit::rollout {
namespace {

/// Lines are written short: `@` is the invocation's id, `#` its tool and route.
std::string filled(std::string_view line, std::string_view id, std::string_view names) {
  std::string out;
  for (const char c : line) {
    if (c == '@') {
      out += id;
    } else if (c == '#') {
      out += names;
    } else {
      out += c;
    }
  }
  return out;
}

constexpr const char* kNames = R"("tool":"refund","route":"agent")";
const std::string kRequest = R"({"event":"tool.request","invocation_id":"@",#})";
const std::string kStart = R"({"event":"executor.start","invocation_id":"@",#})";
const std::string kUnspent = R"({"event":"permit.unspent","invocation_id":"@",#})";

std::string decision(std::string_view word, std::string_view reason, bool is_shadow,
                     std::string_view more = R"("policy_version":"v1")") {
  return std::string(R"({"event":"authorization.decision","invocation_id":"@",#,"decision":")") +
         std::string(word) + R"(","reason":")" + std::string(reason) + R"(","mode":")" +
         (is_shadow ? R"(shadow","enforced":false,)" : R"(enforce","enforced":true,)") +
         std::string(more) + "}";
}
const std::string kAllow = decision("allow", "allowed", true);
const std::string kDeny = decision("deny", "forbidden", true);
const std::string kLiveAllow = decision("allow", "allowed", false);
const std::string kLiveDeny = decision("deny", "forbidden", false);

std::string finish(std::string_view outcome, std::string_view more = "") {
  return std::string(R"({"event":"executor.finish","invocation_id":"@",#,"outcome":")") +
         std::string(outcome) + "\"" + std::string(more) + "}";
}
std::string effect(int number, std::string_view names = "#") {
  return R"({"event":"effect.observed","invocation_id":"@","source":"spy","effects":)" +
         std::to_string(number) + "," + std::string(names) + "}";
}

std::string call(std::string_view id, const std::vector<std::string>& lines,
                 std::string_view names = kNames) {
  std::string out;
  for (const std::string& line : lines) out += filled(line, id, names) + "\n";
  return out;
}

Seen seen_in(const std::vector<std::string>& texts, const Criteria& criteria = {},
             Reading reading = {}) {
  PosixFileSystem files;
  grading::Evidence evidence;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    evidence.inputs.push_back(trace::Input::of_stream(
        "input" + std::to_string(i), std::make_unique<remit::testing::MemoryFile>(texts[i])));
  }
  reading.scratch_directories = {::testing::TempDir()};
  Result<Seen> seen = collect(files, evidence, criteria, reading);
  if (!seen) ADD_FAILURE() << seen.error().to_string();
  return seen ? *std::move(seen) : Seen{};
}

/// `agent refund would_deny` for each call, in the order of the table of sorts.
std::string sorts_of(const Seen& seen) {
  std::string out;
  for (const auto& [pair, tally] : seen.pairs) {
    for (std::size_t i = 0; i < kSortCount; ++i) {
      for (std::uint64_t n = 0; n < tally.sorts[i].calls(); ++n) {
        out += (out.empty() ? "" : " ") + std::string(sort_name(static_cast<Sort>(i)));
      }
    }
    for (const auto& [reason, calls] : tally.would_deny) out += "/" + std::string(reason);
    for (const auto& [refusal, calls] : tally.would_allow) {
      out += "/" + std::string(refusal_name(refusal));
    }
    if (tally.unexplained_effects > 0) {
      out += "/unexplained:" + std::to_string(tally.unexplained_effects);
    }
  }
  for (const auto& [route, reasons] : seen.early) {
    for (const auto& [reason, calls] : reasons) out += "early:" + std::string(reason);
  }
  return out;
}

struct SortCase {
  const char* name;
  std::vector<std::string> lines;
  const char* sorts;
};

// REQ-RO-001, REQ-RO-002, REQ-RO-003, REQ-RO-011, REQ-RO-012, REQ-RO-013.
const std::vector<SortCase>& sort_cases() {
  static const std::string kRefused = finish("failed", R"(,"error_type":"forbidden")");
  static const std::vector<SortCase> cases = {
      {"allowed and ran", {kRequest, kAllow, kStart, finish("succeeded")}, "agreed_allow"},
      {"allowed and failed downstream",
       {kRequest, kAllow, kStart, finish("failed", R"(,"error_type":"timeout")")},
       "agreed_allow"},
      {"denied and ran", {kRequest, kDeny, kStart, finish("succeeded")}, "would_deny/forbidden"},
      {"denied, and its end unknown", {kRequest, kDeny, kStart}, "would_deny/forbidden"},
      {"denied, only a spy saw it", {kRequest, kDeny, effect(1)}, "would_deny/forbidden"},
      {"denied by no known reason",
       {kRequest, decision("deny", "because", true), kStart, finish("succeeded")},
       "would_deny/unknown reason"},
      {"denied, and the handler refused", {kRequest, kDeny, kStart, kRefused}, "agreed_deny"},
      {"denied, refused, and yet an effect",
       {kRequest, kDeny, kStart, kRefused, effect(1)},
       "would_deny/forbidden"},
      {"denied, and the permit let go", {kRequest, kDeny, kUnspent}, "agreed_deny"},
      {"denied, and the application denied as well", {kRequest, kDeny, kLiveDeny}, "agreed_deny"},
      {"allowed, and the handler refused",
       {kRequest, kAllow, kStart, kRefused},
       "would_allow/by_handler"},
      {"allowed, and one of two starts refused",
       {kRequest, kAllow, kStart, kRefused, kStart},
       "unsettled"},
      {"allowed, and the permit let go",
       {kRequest, kAllow, kUnspent},
       "would_allow/permit_unspent"},
      {"allowed, and the application denied",
       {kRequest, kAllow, kLiveDeny},
       "would_allow/decided_elsewhere"},
      {"allowed, then nothing", {kRequest, kAllow}, "unsettled"},
      {"allowed, started, no end", {kRequest, kAllow, kStart}, "unsettled"},
      {"allowed, cancelled", {kRequest, kAllow, kStart, finish("cancelled")}, "unsettled"},
      {"allowed, of unknown end", {kRequest, kAllow, kStart, finish("unknown")}, "unsettled"},
      {"allowed, but an effect was seen", {kRequest, kAllow, kStart, effect(2)}, "agreed_allow"},
      {"allowed once, then denied",
       {kRequest, kAllow, kStart, finish("failed"), kDeny, kStart, finish("succeeded")},
       "would_deny/forbidden"},
      {"no word that is known", {kRequest, decision("maybe", "allowed", true)}, "unsettled"},
      {"ran under no word that is known",
       {kRequest, decision("maybe", "allowed", true), kStart},
       "undecided"},
      {"a request alone", {kRequest}, "unsettled"},
      {"in earnest", {kRequest, kLiveAllow, kStart, finish("succeeded")}, "enforced_allow"},
      {"denied in earnest", {kRequest, kLiveDeny}, "enforced_deny"},
      {"denied in earnest in shadow mode",
       {kRequest,
        R"({"event":"authorization.decision","invocation_id":"@",#,"decision":"deny","reason":"missing_scope","mode":"shadow","enforced":true,"policy_version":"v1"})"},
       "enforced_deny"},
      {"denied in earnest, and ran", {kRequest, kLiveDeny, kStart}, "against_denial"},
      {"denied in earnest, and an effect",
       {kRequest, kLiveDeny, effect(3)},
       "against_denial/unexplained:3"},
      {"ran without a decision", {kRequest, kStart, finish("succeeded")}, "undecided"},
      {"an effect alone", {effect(1)}, "undecided/unexplained:1"},
      {"no effect, and nothing else", {effect(0)}, ""},
      {"an effect of another tool than was decided",
       {kRequest, kAllow, kStart, finish("succeeded"), effect(1, R"("tool":"export")")},
       "agreed_allow/unexplained:1"},
      {"refused before the tool was looked up",
       {kRequest, decision("deny", "expired_identity", false)},
       "early:expired_identity"},
      {"refused early, and ran",
       {kRequest, decision("deny", "unknown_tool", false), kStart},
       "against_denial"},
      {"only put off", {R"({"event":"queue.enqueued","invocation_id":"@","queue":"q"})"}, ""},
  };
  return cases;
}

TEST(Rollout, TellsOfWhichSortACallIs) {
  for (const SortCase& one : sort_cases()) {
    EXPECT_EQ(sorts_of(seen_in({call("i", one.lines)})), one.sorts) << one.name;
  }
  // The table can fail.
  EXPECT_NE(sorts_of(seen_in({call("i", {kRequest, kDeny, kStart})})), "agreed_deny");
}

/// The report as JSON, which holds all of it.
std::string json_of(const Report& report) {
  report::StringSink sink;
  report::Outlet outlet(sink);
  write_json(report, RowsBy::kPair, outlet);
  EXPECT_TRUE(outlet.finish());
  return sink.text;
}

// Neither the order of inputs and events of different writers nor the memory there is changes
// anything.
TEST(Rollout, IsTheSameHoweverItIsRead) {
  std::vector<std::string> parts;
  std::string whole;
  int number = 0;
  for (const SortCase& one : sort_cases()) {
    for (const char* tool : {"read", "refund", "export"}) {
      ++number;
      const std::string id = "i" + std::to_string(number);
      const std::string names =
          std::string(R"("tool":")") + tool + R"(","route":"r)" + std::to_string(number % 3) + "\"";
      std::string lines;
      for (const std::string& line : one.lines) {
        lines += filled(line, id, names) + "\n";
      }
      parts.push_back(lines);
      whole += lines;
    }
  }
  const std::string expected = json_of(assess(seen_in({whole}), {}, {}));
  std::vector<std::string> reversed(parts.rbegin(), parts.rend());
  EXPECT_EQ(json_of(assess(seen_in(parts), {}, {})), expected);
  EXPECT_EQ(json_of(assess(seen_in(reversed), {}, {})), expected);
  EXPECT_EQ(json_of(assess(seen_in({whole}, {}, {.memory_bytes = 1, .threads = 2}), {}, {})),
            expected);
}

std::string many(int count, const std::vector<std::string>& lines, std::string_view prefix = "i",
                 std::string_view names = kNames) {
  std::string out;
  for (int i = 0; i < count; ++i) {
    out += call(std::string(prefix) + std::to_string(i), lines, names);
  }
  return out;
}
const std::vector<std::string>& agreed() {
  static const std::vector<std::string> lines = {kRequest, kAllow, kStart, finish("succeeded")};
  return lines;
}

struct VerdictCase {
  const char* name;
  std::string text;
  const char* criteria;
  const char* verdict;
  const char* why;  ///< is part of what is said
};

// REQ-RO-020 to REQ-RO-023, REQ-RO-026, REQ-RO-030, REQ-RO-031, REQ-RO-032, REQ-RO-033.
TEST(Rollout, IsReadyOnlyByWhatWasSeen) {
  const std::string enough = many(100, agreed());
  const std::string expects =
      "rollout: remit.rollout/1\nexpected_denials: [{match: {tool: [refund]}, reason: forbidden, "
      "owner: o, why: w, expires: ";
  const std::string expected_still = expects + "2026-12-01}]";
  const std::string expected_once = expects + "2026-11-30}]";
  const std::string would_deny = call("d", {kRequest, kDeny, kStart, finish("succeeded")});
  const std::string other_policy =
      call("v", {kRequest, decision("allow", "allowed", true, R"("policy_version":"v2")"), kStart,
                 finish("succeeded")});
  const std::string named = "rollout: remit.rollout/1\npolicies: [{version: v1}]\n";
  const std::vector<VerdictCase> cases = {
      {"nothing", "", "", "not_exercised", ""},
      {"enough", enough, "", "ready", ""},
      {"one too few", many(99, agreed()), "", "undetermined", "99 calls compared: 100 are needed"},
      {"fewer are enough", many(3, agreed()), "rollout: remit.rollout/1\nat_least: {calls: 3}",
       "ready", ""},
      {"enough by a rule", many(3, agreed()),
       "rollout: remit.rollout/1\nrules: [{match: {route: [a*]}, at_least: {calls: 3}}]", "ready",
       ""},
      {"a rule for others", many(3, agreed()),
       "rollout: remit.rollout/1\nrules: [{match: {route: [b*]}, at_least: {calls: 3}}]",
       "undetermined", ""},
      {"a denial to come", enough + would_deny, "", "not_ready",
       "policy would deny 1 call that ran: at most 0 may be"},
      {"one that may stand", enough + would_deny,
       "rollout: remit.rollout/1\nat_most: {would_deny: 1}", "ready", ""},
      {"one that is wanted", enough + would_deny, expected_still.c_str(), "ready", ""},
      {"one that was wanted until yesterday", enough + would_deny, expected_once.c_str(),
       "not_ready", "policy would deny 1 call"},
      {"an allow to come", enough + call("a", {kRequest, kAllow, kUnspent}), "", "not_ready",
       "1 call is refused that policy would allow"},
      {"an open end", enough + call("a", {kRequest, kAllow, kStart}), "", "undetermined",
       "1 call is of unknown end"},
      {"a start without a decision", enough + call("a", {kStart}),
       "rollout: remit.rollout/1\nat_most: {would_deny: 99, would_allow: 99, unsettled: 99}",
       "not_ready", "1 call is without a decision"},
      {"an effect that nothing explains", enough + call("a", {effect(2)}, R"("tool":"refund")"), "",
       "not_ready", "2 of 2 observed effects are explained by no decision"},
      {"two policies", enough + other_policy, "", "undetermined", "decided by 2 policies"},
      {"two policies, one asked about", enough + other_policy, named.c_str(), "ready", ""},
      {"two policies that decide alike", enough + other_policy,
       "rollout: remit.rollout/1\npolicies: [{version: v1}, {version: v2}]", "ready", ""},
      {"one version of two digests",
       enough + call("v", {kRequest,
                           decision("allow", "allowed", true,
                                    R"("policy_version":"v1","policy_digest":"sha256:2")"),
                           kStart, finish("succeeded")}),
       named.c_str(), "undetermined", "decided by 2 policies of the version"},
      {"a policy nobody saw", enough, "rollout: remit.rollout/1\npolicies: [{version: v9}]",
       "not_exercised", "no call was compared"},
      {"a policy of another digest", enough,
       "rollout: remit.rollout/1\npolicies: [{version: v1, digest: x}]", "not_exercised", ""},
      {"too few people", enough, "rollout: remit.rollout/1\nat_least: {principals: 2}",
       "undetermined", "by 0 principals: 2 are needed"},
      {"too short", enough, "rollout: remit.rollout/1\nat_least: {hours: 1}", "undetermined",
       "over 0 hours: 1 are needed"},
      {"a malformed line", enough + "x\n", "", "undetermined", "the record is not whole"},
      {"a loss", enough + "{\"event\":\"evidence.lost\",\"events\":1}\n", "", "undetermined",
       "the record is not whole"},
      {"a loss that may stand", enough + "{\"event\":\"evidence.lost\",\"events\":1}\n",
       "rollout: remit.rollout/1\nlosses: 1", "ready", ""},
      {"a number twice",
       enough + R"({"event":"run.started","writer":"w","seq":1})" + "\n" +
           R"({"event":"run.finished","writer":"w","seq":1})" + "\n",
       "", "undetermined", "the record is not whole"},
      {"said to be unused", enough,
       "rollout: remit.rollout/1\nunused: [{match: {tool: [refund]}, owner: o, why: w}]",
       "not_ready", "said to be unused, and 100 calls came"},
      {"enforcing already", many(200, {kRequest, kLiveAllow, kStart, finish("succeeded")}), "",
       "not_exercised", ""},
      {"only early refusals", many(200, {kRequest, decision("deny", "missing_identity", false)}),
       "", "not_exercised", ""},
      {"another word for refusing",
       enough + call("a", {kRequest, kDeny, kStart, finish("failed", R"(,"error_type":"nope")")}),
       "rollout: remit.rollout/1\nrefused_as: [nope]", "ready", ""},
      {"the usual words then do not count",
       enough +
           call("a", {kRequest, kDeny, kStart, finish("failed", R"(,"error_type":"forbidden")")}),
       "rollout: remit.rollout/1\nrefused_as: [nope]", "not_ready", "policy would deny 1 call"},
  };
  for (const VerdictCase& one : cases) {
    SCOPED_TRACE(one.name);
    Criteria criteria;
    if (*one.criteria != '\0') {
      CriteriaParse parsed = parse_criteria(one.criteria, "c.yaml");
      ASSERT_TRUE(parsed.criteria) << parsed.errors.front().to_string();
      criteria = *std::move(parsed.criteria);
    }
    const Report report = assess(seen_in({one.text}, criteria), criteria,
                                 {.today = *grading::parse_day("2026-12-01")});
    EXPECT_EQ(verdict_name(report.verdict), one.verdict);
    const std::string said = json_of(report);
    EXPECT_NE(said.find(one.why), std::string::npos) << said;
  }
}

// REQ-RO-026.
TEST(Rollout, AlteredEvidenceIsNotReady) {
  Seen seen = seen_in({many(100, agreed())});
  seen.altered.emplace_back("byte 7 differs");
  EXPECT_EQ(assess(std::move(seen), {}, {}).verdict, Verdict::kNotReady);
}

// REQ-RO-024.
TEST(Rollout, MissesWhatTheBundleHasInShadowMode) {
  const auto bundle = std::make_shared<policy::Bundle>();
  bundle->routes = {{.name = "agent", .transport = "t", .mode = policy::Mode::kShadow},
                    {.name = "admin", .transport = "t", .mode = policy::Mode::kEnforce}};
  for (const char* name : {"refund", "read", "strict", "sum"}) {
    policy::Tool tool;
    tool.name = name;
    if (tool.name == "strict") tool.mode = policy::Mode::kEnforce;
    if (tool.name == "sum") tool.has_boundary = false;
    bundle->tools.push_back(std::move(tool));
  }
  const auto verdicts = [&](const Criteria& criteria) {
    const Report report =
        assess(seen_in({many(100, agreed())}, criteria), criteria, {.bundle = bundle});
    std::string out(verdict_name(report.verdict));
    for (const Row& row : report.rows) {
      out += " " + row.route + "/" + row.tool + ":" + std::string(verdict_name(row.verdict));
    }
    return out;
  };
  EXPECT_EQ(verdicts({}), "not_exercised agent/read:not_exercised agent/refund:ready");
  Criteria criteria;
  criteria.unused.push_back({{{}, grading::Names({"read"})}, "o", "w", 1});
  EXPECT_EQ(verdicts(criteria), "ready agent/read:unused agent/refund:ready");
}

// REQ-RO-014, REQ-RO-026: what a stranger can make many of is bounded, and not ready.
TEST(Rollout, IsBounded) {
  std::string text;
  for (std::size_t i = 0; i < kMaxPairs + 10; ++i) {
    text += call("i" + std::to_string(i), {kStart},
                 R"("tool":"t)" + std::to_string(i) + R"(","route":"agent")");
  }
  const Seen seen = seen_in({text});
  EXPECT_EQ(seen.pairs.size(), kMaxPairs);
  EXPECT_EQ(seen.left_out, 10U);
  EXPECT_EQ(assess(seen, {}, {}).why.size(), 1U);

  const Seen called = seen_in({many(300, agreed())}, {}, {.examples = 2});
  const Examples& examples = called.pairs.begin()->second.of(Sort::kAgreedAllow);
  EXPECT_EQ(examples.calls(), 300U);
  EXPECT_EQ(examples.ids(), (std::set<std::string, std::less<>>{"i0", "i1"}));

  Distinct distinct;
  for (std::uint64_t i = 0; i < Distinct::kMost; ++i) distinct.add(i % 200);
  EXPECT_EQ(distinct.count(), 200U);
  EXPECT_FALSE(distinct.is_more());
  for (std::uint64_t i = 0; i <= Distinct::kMost; ++i) distinct.add(1000 - i);
  EXPECT_EQ(distinct.count(), Distinct::kMost);
  EXPECT_TRUE(distinct.is_more());
}

// REQ-RO-030, REQ-RO-032.
TEST(RolloutCriteria, RefusesWhatSaysNothingOrTooMuch) {
  const std::string head = "rollout: remit.rollout/1\n";
  const std::vector<std::pair<std::string, const char*>> cases = {
      {"", "c.yaml"},
      {"rollout: remit.rollout/2\n", "c.yaml:1:10: \"remit.rollout/2\" is not supported"},
      {head + "at_last: {}\n", "unknown key \"at_last\""},
      {head + "at_least: {}\n", "'at_least' says nothing"},
      {head + "at_least: {calls: 0}\n", "c.yaml:2:19"},
      {head + "at_least: {principals: 257}\n", "c.yaml:2:24"},
      {head + "at_most: {would_deny: -1}\n", "c.yaml:2:23"},
      {head + "rules: [{match: {tool: [a]}}]\n", "this rule changes nothing"},
      {head + "rules: [{match: {}, at_least: {calls: 1}}]\n", "'match' names nothing"},
      {head + "rules: [{match: {tool: ['a*b']}, at_least: {calls: 1}}]\n", "at its end"},
      {head + "policies: [{digest: x}]\n", "lacks \"version\""},
      {head + "expected_denials: [{match: {tool: [a]}, reason: policy_error, owner: o, why: w, "
              "expires: 2026-01-01}]\n",
       "a wanted denial is one of"},
      {head + "expected_denials: [{match: {tool: [a]}, reason: forbidden, why: w, expires: "
              "2026-01-01}]\n",
       "lacks \"owner\""},
      {head + "expected_denials: [{match: {tool: [a]}, reason: forbidden, owner: o, why: w, "
              "expires: soon}]\n",
       "\"soon\" is no day"},
      {head + "unused: [{owner: o, why: w}]\n", "lacks \"match\""},
      {head + "a: &x 1\n", "c.yaml"},
  };
  for (const auto& [text, error] : cases) {
    const CriteriaParse parsed = parse_criteria(text, "c.yaml");
    EXPECT_FALSE(parsed.criteria) << text;
    std::string all;
    for (const Error& one : parsed.errors) all += one.to_string() + "\n";
    EXPECT_NE(all.find(error), std::string::npos) << all;
  }
  EXPECT_TRUE(parse_criteria(head, "c.yaml").criteria);
}

}  // namespace
}  // namespace remit::rollout
