// Contract files: what they mean, what is refused and where, and what they say in words.
#include "grading/contract.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "access/reason.h"

namespace remit::grading {
namespace {

using event::EventKind;
using event::Field;

std::string with_head(const std::string& rest) {
  return "contract: remit.contract/1\nname: n\n" + rest;
}

Contract contract_of(const std::string& rest) {
  ContractParse parsed = parse_contract(with_head(rest), "c.yaml");
  for (const Error& error : parsed.errors) ADD_FAILURE() << error.to_string();
  return parsed.contract.value_or(Contract{});
}

TEST(Contract,
     BuildsInWhatTheSpecSays) {  // REQ-CT-001, REQ-CT-002, REQ-CT-003, REQ-CT-005 to REQ-CT-007
  const Requirements sequential = sequential_contract().base;
  EXPECT_EQ(sequential.request, (Bounds{1, 1}));
  EXPECT_EQ(sequential.decision, (Bounds{1, 1}));
  EXPECT_EQ(sequential.start_on_allow, (Bounds{1, 1}));
  EXPECT_EQ(sequential.start_on_deny, (Bounds{0, 0}));
  EXPECT_EQ(sequential.order, (Order{true, true, true}));
  EXPECT_TRUE(sequential.is_governed);
  EXPECT_FALSE(sequential.blocking[Verdict::kPlanning]);
  EXPECT_TRUE(sequential.blocking[Verdict::kExecution]);

  const Requirements fan_out = built_in_contract("fan_out")->base;
  EXPECT_EQ(fan_out.decision, (Bounds{1, std::nullopt}));
  EXPECT_TRUE(fan_out.start_on_allow.is_any());
  EXPECT_TRUE(fan_out.finish_on_allow.equals_start);
  EXPECT_EQ(fan_out.finish_on_deny.number, (Bounds{0, 0}));
  EXPECT_FALSE(fan_out.needs_decision_per_attempt);

  Requirements queued = built_in_contract("queued")->base;
  EXPECT_TRUE(queued.needs_decision_per_attempt);
  queued.needs_decision_per_attempt = false;
  EXPECT_EQ(queued, fan_out);
  EXPECT_FALSE(built_in_contract("none").has_value());
}

TEST(Contract, ExtendsSequentialWhereNothingIsSaid) {  // REQ-CT-011, REQ-CT-012
  EXPECT_EQ(contract_of("").base, sequential_contract().base);
  EXPECT_EQ(contract_of("extends: fan_out\n").base, built_in_contract("fan_out")->base);
  const Contract bare = contract_of("extends: none\nrules: [{request: {at_most: 1}}]\n");
  Requirements nothing;
  nothing.blocking = sequential_contract().base.blocking;
  EXPECT_EQ(bare.base, nothing);
  const Contract strict = contract_of("blocking: {planning: true, execution: false}\n");
  EXPECT_TRUE(strict.base.blocking[Verdict::kPlanning]);
  EXPECT_FALSE(strict.base.blocking[Verdict::kExecution]);
  EXPECT_TRUE(strict.base.blocking[Verdict::kEnforcement]);
}

TEST(Contract, AcceptsJson) {  // REQ-CT-010
  const ContractParse parsed = parse_contract(
      R"({"contract": "remit.contract/1", "name": "n", "extends": "queued", "rules": []})", "c");
  EXPECT_TRUE(parsed.errors.empty());
}

TEST(Contract, MatchesToolsAndRoutes) {  // REQ-CT-013
  const Contract contract = contract_of(
      "rules:\n"
      "  - {match: {tool: ['refund.*', pay], route: [queued]}, shadow: true}\n");
  struct Case {
    const char* tool;
    const char* route;
    bool is_matched;
  };
  for (const Case& one : {Case{"refund.create", "queued", true}, Case{"refund.", "queued", true},
                          Case{"refund", "queued", false}, Case{"pay", "queued", true},
                          Case{"payment", "queued", false}, Case{"", "queued", false},
                          Case{"pay", "", false}, Case{"pay", "direct", false}}) {
    EXPECT_EQ(contract.requirements(one.tool, one.route).expects_shadow, one.is_matched)
        << one.tool << " by " << one.route;
  }
  const Contract any_tool = contract_of("rules: [{match: {tool: ['*']}, shadow: true}]\n");
  EXPECT_TRUE(any_tool.requirements("x", "").expects_shadow);
  EXPECT_FALSE(any_tool.requirements("", "").expects_shadow);
  // REQ-CT-028.
  EXPECT_TRUE(contract_of("rules: [{shadow: true}]\n").requirements("", "").expects_shadow);
}

TEST(Contract, MergesRulesKeyByKey) {  // REQ-CT-014
  const Contract contract = contract_of(
      "rules:\n"
      "  - start: {on_allow: {at_most: 3}}\n"
      "    decision: {at_least: 1}\n"
      "    required_fields: {executor.start: [decision_id], executor.finish: [duration_us]}\n"
      "  - match: {tool: [pay]}\n"
      "    start: {on_deny: {at_most: 1}}\n"
      "    required_fields: {executor.start: [worker]}\n"
      "    blocking: {execution: false}\n");
  const auto bit = [](Field field) { return std::uint64_t{1} << static_cast<unsigned>(field); };
  const auto fields = [](const Requirements& it, EventKind kind) {
    return it.required_fields[static_cast<std::size_t>(kind)];
  };
  const Requirements other = contract.requirements("read", "");
  EXPECT_EQ(other.start_on_allow, (Bounds{0, 3}));
  EXPECT_EQ(other.start_on_deny, (Bounds{0, 0}));
  EXPECT_EQ(fields(other, EventKind::kExecutorStart), bit(Field::kDecisionId));
  const Requirements pay = contract.requirements("pay", "");
  EXPECT_EQ(pay.start_on_allow, (Bounds{0, 3}));
  EXPECT_EQ(pay.start_on_deny, (Bounds{0, 1}));
  EXPECT_EQ(pay.decision, (Bounds{1, std::nullopt}));
  EXPECT_EQ(fields(pay, EventKind::kExecutorStart), bit(Field::kWorker));
  EXPECT_EQ(fields(pay, EventKind::kExecutorFinish), bit(Field::kDurationUs));
  EXPECT_FALSE(pay.blocking[Verdict::kExecution]);
  EXPECT_TRUE(pay.blocking[Verdict::kEnforcement]);
  EXPECT_TRUE(contract.ever_blocking()[Verdict::kExecution]);
}

TEST(Contract, ReadsTheOtherKeys) {  // REQ-CT-020 to REQ-CT-029, REQ-CT-040
  const Contract contract = contract_of(
      "extends: none\n"
      "rules:\n"
      "  - request: {exactly: 2}\n"
      "    finish: {on_allow: {equals: start}}\n"
      "    order: [decision < start]\n"
      "    governed: each_start\n"
      "    decision_per_attempt: true\n"
      "    reasons: [allowed, forbidden]\n"
      "redaction: {canaries: c.txt, forbid_fields: [prompt]}\n");
  const Requirements it = contract.requirements("x", "y");
  EXPECT_EQ(it.request, (Bounds{2, 2}));
  EXPECT_TRUE(it.finish_on_allow.equals_start);
  EXPECT_EQ(it.order, (Order{false, true, false}));
  EXPECT_TRUE(it.is_governed && it.needs_decision_per_attempt);
  EXPECT_EQ(it.reasons,
            std::uint32_t{1} << static_cast<unsigned>(access::ReasonCode::kAllowed) |
                std::uint32_t{1} << static_cast<unsigned>(access::ReasonCode::kForbidden));
  EXPECT_EQ(contract.redaction.canaries, "c.txt");
  EXPECT_EQ(contract.redaction.forbid_fields, std::vector<std::string>{"prompt"});
}

struct Mistake {
  const char* text;      ///< behind the first two lines
  const char* where;     ///< of the first error
  const char* contains;  ///< of its message
};

TEST(Contract, TellsEachMistakeWithItsPlace) {  // REQ-CT-010, REQ-CT-030 to REQ-CT-032
  const Mistake mistakes[] = {
      {"extend: none\n", "c.yaml:3:1", "extend"},
      {"extends: parallel\n", "c.yaml:3:10", "fan_out"},
      {"blocking: {plans: true}\n", "c.yaml:3:12", "plans"},
      {"blocking: {planning: 1}\n", "c.yaml:3:22", "planning"},
      {"blocking: {}\n", "c.yaml:3:11", "names no verdict"},
      {"rules: [{}]\n", "c.yaml:3:9", "nothing"},
      {"rules: [{match: {tool: [a]}}]\n", "c.yaml:3:9", "nothing"},
      {"rules: [{match: {}, shadow: true}]\n", "c.yaml:3:17", "names nothing"},
      {"rules: [{match: {tool: []}, shadow: true}]\n", "c.yaml:3:24", "names nothing"},
      {"rules: [{match: {tool: ['a*b']}, shadow: true}]\n", "c.yaml:3:25", "at its end"},
      {"rules: [{match: {tool: a}, shadow: true}]\n", "c.yaml:3:24", "list"},
      {"rules: [{match: {tools: [a]}, shadow: true}]\n", "c.yaml:3:18", "tools"},
      {"rules: [{request: 1}]\n", "c.yaml:3:19", "request"},
      {"rules: [{request: {}}]\n", "c.yaml:3:19", "needs"},
      {"rules: [{request: {exactly: -1}}]\n", "c.yaml:3:29", "exactly"},
      {"rules: [{request: {exactly: 1, at_most: 2}}]\n", "c.yaml:3:29", "stands alone"},
      {"rules: [{request: {at_least: 3, at_most: 2}}]\n", "c.yaml:3:30", "no number"},
      {"rules: [{request: {equals: start}}]\n", "c.yaml:3:20", "equals"},
      {"rules: [{start: {on_allow: {equals: start}}}]\n", "c.yaml:3:29", "equals"},
      {"rules: [{finish: {on_allow: {equals: start, exactly: 1}}}]\n", "c.yaml:3:38", "alone"},
      {"rules: [{start: {on_deny: {exactly: 1}}}]\n", "c.yaml:3:27", "cannot be required"},
      {"rules: [{finish: {on_deny: {at_least: 1}}}]\n", "c.yaml:3:28", "cannot be required"},
      {"rules: [{start: {}}]\n", "c.yaml:3:17", "says nothing"},
      {"rules: [{order: [start < request]}]\n", "c.yaml:3:18", "an order is"},
      {"rules: [{order: [start < finish, start < finish]}]\n", "c.yaml:3:34", "given twice"},
      {"rules: [{governed: start}]\n", "c.yaml:3:20", "each_start"},
      {"extends: none\nrules: [{decision_per_attempt: true}]\n", "c.yaml:4:32", "governed"},
      {"rules: [{required_fields: {run.started: [environment]}}]\n", "c.yaml:3:28", "no event"},
      {"rules: [{required_fields: {executor.start: [speed]}}]\n", "c.yaml:3:45", "no field"},
      {"rules: [{required_fields: {}}]\n", "c.yaml:3:27", "says nothing"},
      {"rules: [{reasons: [because]}]\n", "c.yaml:3:20", "no reason"},
      {"rules: [{reasons: []}]\n", "c.yaml:3:19", "names none"},
      {"rules: [{match: {tool: [a]}, shadow: true}, {match: {tool: ['*']}, shadow: false}]\n",
       "c.yaml:3:9", "never has effect"},
      {"rules: [{decision: {at_most: 2}}, {decision: {at_most: 1}, shadow: true}]\n", "c.yaml:3:9",
       "never has effect"},
      {"redaction: {}\n", "c.yaml:3:12", "says nothing"},
      {"redaction: {canary: x}\n", "c.yaml:3:13", "canary"},
      {"extends: none\n", "c.yaml:3:10", "cannot be violated"},
      {"extends: none\nrules: [{blocking: {planning: true}}]\n", "c.yaml:3:10",
       "cannot be violated"},
      {"extends: none\nrules: [{request: {at_least: 0}}]\n", "c.yaml:3:10", "cannot be violated"},
      {"blocking: {enforcement: false, execution: false, completeness: false}\n", "c.yaml:3:11",
       "no verdict blocks"},
      {"rules: &a []\n", "c.yaml:3", "anchor"},
  };
  for (const Mistake& one : mistakes) {
    const ContractParse parsed = parse_contract(with_head(one.text), "c.yaml");
    ASSERT_FALSE(parsed.errors.empty()) << one.text;
    EXPECT_FALSE(parsed.contract.has_value()) << one.text;
    const Error& error = parsed.errors.front();
    EXPECT_EQ(error.where.rfind(one.where, 0), 0U) << one.text << error.to_string();
    EXPECT_NE(error.message.find(one.contains), std::string::npos) << one.text << error.to_string();
  }
}

TEST(Contract, RefusesOtherFormatsAndTooManyRules) {
  for (const char* text : {"", "contract: remit.contract/2\n", "manifest: remit.manifest/1\n",
                           "contract: remit.contract/1\n", "[]"}) {
    EXPECT_FALSE(parse_contract(text, "c").errors.empty()) << text;
  }
  std::string rules = "rules:\n";
  for (int i = 0; i < 1001; ++i) {
    rules += "  - {match: {tool: [t" + std::to_string(i) + "]}, shadow: true}\n";
  }
  const ContractParse parsed = parse_contract(with_head(rules), "c");
  ASSERT_EQ(parsed.errors.size(), 1U);
  EXPECT_EQ(parsed.errors.front().code, ErrorCode::kLimitExceeded);
}

TEST(Contract, BoundsTheNamesOfAllItsRules) {  // REQ-CT-033
  const auto with_names = [](std::size_t number) {
    std::string rules = "rules:\n  - {shadow: true, match: {tool: [";
    for (std::size_t i = 0; i < number; ++i) rules += "t" + std::to_string(i) + ", ";
    return parse_contract(with_head(rules + "t]}}\n"), "c").errors;
  };
  EXPECT_TRUE(with_names(kMaxContractNames - 1).empty());
  ASSERT_EQ(with_names(kMaxContractNames).size(), 1U);
  EXPECT_EQ(with_names(kMaxContractNames).front().code, ErrorCode::kLimitExceeded);
}

TEST(Names, ContainAndCoverAsEachPatternSays) {  // REQ-CT-013, REQ-CT-031
  const Names names({"b", "a*", "aa.b*", "c.*", "cc", "c.d*"});
  for (const char* name : {"a", "aa", "aa.b", "ab", "b", "c.", "c.e", "c.d", "cc"}) {
    EXPECT_TRUE(names.contain(name)) << name;
  }
  for (const char* name : {"", "ba", "c", "ccc", "A", "c-"})
    EXPECT_FALSE(names.contain(name)) << name;
  EXPECT_TRUE(names.cover(Names({"aa*", "c.x", "b", "c.d.*"})));
  EXPECT_FALSE(names.cover(Names({"b*"})));
  EXPECT_FALSE(names.cover(Names({"a", "c"})));
  EXPECT_FALSE(names.cover(Names{}));
  EXPECT_TRUE(Names{}.cover(names));
  EXPECT_TRUE(Names({"*"}).cover(names));
  EXPECT_FALSE(names.cover(Names({"*"})));
}

TEST(Contract, KeepsRulesThatALaterOneLeavesSomethingOf) {  // REQ-CT-031
  for (const char* rules :
       {"rules: [{match: {tool: ['a*']}, shadow: true}, {match: {tool: [ab]}, shadow: false}]\n",
        "rules: [{match: {tool: [a]}, shadow: true}, {match: {route: [r]}, shadow: false}]\n",
        "rules: [{start: {on_allow: {at_most: 2}, on_deny: {at_most: 1}}},"
        " {start: {on_allow: {at_most: 3}}}]\n",
        "rules: [{blocking: {planning: true, execution: false}}, {blocking: {planning: false}}]\n",
        "rules: [{match: {tool: [a]}, shadow: true}, {match: {tool: [b]}, shadow: false}]\n"}) {
    EXPECT_TRUE(parse_contract(with_head(rules), "c").errors.empty()) << rules;
  }
}

std::string words_of(const Contract& contract) {
  std::string out;
  for (const ContractWords& part : contract_in_words(contract)) {
    out += part.heading + ":\n";
    for (const std::string& sentence : part.sentences) out += "- " + sentence + "\n";
  }
  return out;
}

TEST(Contract, SaysOnlyWhatARuleChanges) {
  const std::string words =
      words_of(contract_of("rules: [{match: {tool: [pay]}, start: {on_allow: {at_least: 2}}}]\n"));
  EXPECT_NE(words.find("for the tool \"pay\":\n- where a decision allows: 2 starts or more\n"),
            std::string::npos)
      << words;
  EXPECT_EQ(words.find("for the tool"), words.rfind("for the tool"));
  EXPECT_NE(words_of(contract_of("")), words);
}

}  // namespace
}  // namespace remit::grading
