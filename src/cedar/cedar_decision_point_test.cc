// The contract of decision points, bad bundles with their places, and many policies.
#include "cedar/cedar_decision_point.h"

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cedar/source_place.h"
#include "decision/decision_point_contract.h"

namespace remit::cedar {
namespace {

using decision::contract_bundle;
using decision::ContractQuestion;

TEST(CedarDecisionPoint, KeepsTheContract) {
  EXPECT_EQ(decision::contract_breaches(CedarDecisionPointFactory()), std::vector<std::string>{});
}

std::vector<std::string> problems(const policy::Bundle& bundle) {
  std::vector<std::string> out;
  const decision::DecisionPointOutcome outcome = CedarDecisionPointFactory().create(bundle);
  for (const Error& problem : outcome.problems) out.push_back(problem.to_string());
  EXPECT_EQ(outcome.decision_point == nullptr, !out.empty());
  return out;
}

struct BadPolicy {
  std::string_view text;
  std::string_view problem;  ///< its beginning
};

TEST(CedarDecisionPoint, RefusesBadPoliciesWithFileLineAndColumn) {
  const std::vector<BadPolicy> cases = {
      {"\n  permit(principal, action, resource);", "policies/bad.cedar:2:3: policy has no @id"},
      {"@id(\"tenant-isolation\") permit(principal, action, resource);",
       "policies/bad.cedar:1:1: policy \"tenant-isolation\": policy's @id is already used"},
      {"@id(\"x\")\npermit(principal, action, resource) when { résource };",
       "policies/bad.cedar:2:45: "},
      {"@id(\"x\") permit(principal, action, resource)\nwhen { principal.nope == 1 };",
       "policies/bad.cedar:2:8: policy \"x\": "},
      {"@id(\"x\") permit(principal, action == Action::\"nope\", resource);",
       "policies/bad.cedar:1:"},
      {"@id(\"x\") @reason(\"because\") forbid(principal, action, resource);",
       "policies/bad.cedar:1:1: policy \"x\": @reason \"because\" is not one that a policy may "
       "give"},
      {"@id(\"x\") @reason(\"missing_scope\") forbid(principal, action, resource);",
       "policies/bad.cedar:1:1: policy \"x\": @reason \"missing_scope\" is not one"},
      {"@id(\"x\") @reason(\"forbidden\") permit(principal, action, resource);",
       "policies/bad.cedar:1:1: policy \"x\": a permit gives no reason"},
      {"@id(\"x\") permit(principal == ?principal, action, resource);",
       "policies/bad.cedar:1:1: templates are not supported"},
  };
  for (const BadPolicy& each : cases) {
    policy::Bundle bundle = contract_bundle();
    bundle.policies.push_back({"policies/bad.cedar", std::string(each.text)});
    const std::vector<std::string> found = problems(bundle);
    ASSERT_FALSE(found.empty()) << each.text;
    EXPECT_EQ(found.front().substr(0, each.problem.size()), each.problem) << each.text;
  }
}

// Such a policy is no mistake that Cedar refuses, and whoever wrote it meant something.
TEST(CedarDecisionPoint, WarnsOfPoliciesThatDoNothing) {
  const auto warnings = [](std::string_view text) {
    policy::Bundle bundle = contract_bundle();
    if (!text.empty()) bundle.policies.push_back({"policies/more.cedar", std::string(text)});
    const decision::DecisionPointOutcome outcome = CedarDecisionPointFactory().create(bundle);
    EXPECT_EQ(outcome.problems.size(), 0U);
    EXPECT_NE(outcome.decision_point, nullptr);
    std::vector<std::string> out;
    for (const Error& warning : outcome.warnings) out.push_back(warning.to_string());
    return out;
  };
  EXPECT_EQ(warnings(""), std::vector<std::string>{});
  for (const std::string_view condition : {"false", "1 == 2", "principal is Server"}) {
    const std::vector<std::string> found = warnings(
        fmt::format("\n@id(\"x\") forbid(principal, action, resource) when {{ {} }};", condition));
    ASSERT_EQ(found.size(), 1U) << condition;
    EXPECT_EQ(found[0].rfind("policies/more.cedar:2:", 0), 0U) << found[0];
    EXPECT_NE(found[0].find("policy \"x\""), std::string::npos) << found[0];
  }
  std::string many;
  for (int i = 0; i < 70; ++i) {
    many += fmt::format("@id(\"x{}\") forbid(principal, action, resource) when {{ false }};\n", i);
  }
  const std::vector<std::string> found = warnings(many);
  ASSERT_EQ(found.size(), 65U);
  EXPECT_EQ(found.back(), "6 further findings are not shown");
}

TEST(CedarDecisionPoint, RefusesHostileTextBeforeParsingIt) {
  const std::vector<std::pair<std::string, std::string_view>> cases = {
      {std::string(100'000, '('), "brackets are nested deeper than 64"},
      {"permit(principal, action, resource) when { " + std::string(100'000, '!'),
       "policy has more than 256 operators"},
      {"@id(\"" + std::string(5'000, 'x') + "\")", "policy is longer than 4096 bytes"},
      {"\"" + std::string(5'000, 'x'), "policy is longer than 4096 bytes"},
  };
  for (const auto& [text, message] : cases) {
    policy::Bundle bundle = contract_bundle();
    bundle.policies.push_back({"policies/bad.cedar", text});
    const std::vector<std::string> found = problems(bundle);
    ASSERT_FALSE(found.empty()) << message;
    EXPECT_NE(found.front().find(message), std::string::npos) << found.front();
  }
  std::string nested = "Long";
  for (int i = 0; i < 5'000; ++i) nested = "Set<" + nested + ">";
  policy::Bundle bundle = contract_bundle();
  bundle.schema.text += "type Deep = " + nested + ";";
  EXPECT_NE(problems(bundle).front().find("nested deeper"), std::string::npos);
}

struct SchemaChange {
  std::string_view from;
  std::string_view to;
  std::string_view problem;
};

// REQ-BN-021, REQ-BN-026.
TEST(CedarDecisionPoint, RefusesACatalogueThatItsSchemaContradicts) {
  const std::vector<SchemaChange> cases = {
      {"class: String, ", "", "schema.cedarschema: entity Principal has no class"},
      {"class: String", "class: Long",
       "schema.cedarschema: entity Principal: class is Long, and must be String"},
      {"on_behalf_of?", "on_behalf_of",
       "schema.cedarschema: entity Principal: on_behalf_of is not always"},
      {"on_behalf_of?: String", "on_behalf_of?: String, age: Long",
       "schema.cedarschema: entity Principal: nothing supplies \"age\""},
      {"on_behalf_of?: String", "on_behalf_of?: String, suspended?: Bool",
       "schema.cedarschema: entity Principal: nothing supplies \"suspended\""},
      {"entity Principal {", "entity Team; entity Principal in Team {",
       "schema.cedarschema: entity Principal: nothing says which Team it is in"},
      {"entity Invoice {", "entity Top; entity Folder in Top; entity Invoice in Folder {",
       "schema.cedarschema: entity Invoice: nothing says which Folder it is in"},
      {"tags?: Set<String> };", "tags?: Set<String> } tags String;",
       "schema.cedarschema: entity Invoice: nothing supplies tags"},
      {"entity Server { tenant: String }", "entity Server { tenant: String, region?: String }",
       "schema.cedarschema: entity Server: nothing supplies \"region\""},
      {"amount: Long", "amount: Long, boss?: Principal",
       "schema.cedarschema: entity Invoice: \"boss\" is Principal"},
      {"environment: String, now", "environment: String, mfa?: Bool, now",
       "schema.cedarschema: context of action \"invoice.read\": nothing supplies \"mfa\""},
      {"id?: String }", "id?: String, by?: String }",
       "schema.cedarschema: context.approval of action \"invoice.read\": nothing supplies \"by\""},
      {"limit?: Long", "limit?: Long, amount?: Long",
       "schema.cedarschema: context.arguments of action \"invoice.read\": no tool has an argument "
       "\"amount\""},
      {"limit?: Long", "limit?: Long, invoice?: String",
       "schema.cedarschema: context.arguments of action \"invoice.read\": no tool has an argument "
       "\"invoice\" beside its resources"},
      {"now: datetime, ", "", "schema.cedarschema: context of action \"invoice.read\" has no now"},
      {"id?: String }", "id: String }",
       "schema.cedarschema: context.approval of action \"invoice.read\": id is not always there"},
      {"entity Invoice { tenant?: String, ", "entity Invoice { ",
       "schema.cedarschema: entity Invoice has no tenant"},
      {"amount: Long", "amount: Long, boss: Principal",
       "schema.cedarschema: entity Invoice: \"boss\" is Principal"},
      {"limit?: Long", "limit?: Long, who?: Principal",
       "schema.cedarschema: context.arguments of action \"invoice.read\": \"who\" is Principal"},
      {"action \"server.ping\" appliesTo { principal: [Principal], resource: [Server]",
       "action \"server.ping\" appliesTo { principal: [Principal], resource: [Invoice]",
       "catalogue.yaml: tool \"server.ping\": the schema's action \"server.ping\" does not apply"},
  };
  for (const SchemaChange& each : cases) {
    policy::Bundle bundle = contract_bundle();
    const std::size_t at = bundle.schema.text.find(each.from);
    ASSERT_NE(at, std::string::npos) << each.from;
    bundle.schema.text.replace(at, each.from.size(), each.to);
    // No policy, so that only catalogue and schema can disagree.
    bundle.policies = {
        {"policies/open.cedar", "@id(\"open\") permit(principal, action, resource);"}};
    const std::vector<std::string> found = problems(bundle);
    ASSERT_FALSE(found.empty()) << each.from;
    EXPECT_EQ(found.front().substr(0, each.problem.size()), each.problem) << found.front();
  }
  policy::Bundle bundle = contract_bundle();
  bundle.tools.front().action = "nope";
  EXPECT_EQ(problems(bundle).front(),
            "catalogue.yaml: tool \"invoice.read\": the schema has no action \"nope\"");
  bundle = contract_bundle();
  bundle.tools.front().resources.front().type = "Cow";
  EXPECT_EQ(problems(bundle).front(),
            "catalogue.yaml: tool \"invoice.read\": the schema has no entity type \"Cow\"");
}

TEST(CedarDecisionPoint, RefusesABadSchemaWithItsPlace) {
  policy::Bundle bundle = contract_bundle();
  bundle.schema.text = "entity Principal;\nentity {";
  EXPECT_EQ(problems(bundle).front().substr(0, 23), "schema.cedarschema:2:8:");
}

TEST(CedarDecisionPoint, NeverQuotesAValueInItsDetail) {
  const auto outcome = CedarDecisionPointFactory().create(contract_bundle());
  ASSERT_NE(outcome.decision_point, nullptr);
  ContractQuestion question;
  question.arguments = json::Object{{"limit", "s3cret"}};
  auto decision = outcome.decision_point->decide(question.request());
  ASSERT_TRUE(decision.has_value());
  EXPECT_EQ(decision->detail(), "context.arguments: \"limit\" is not of the schema's type Long");
  question = {};
  question.resource.attributes = {{"amount", "s3cret"}, {"open", true}};
  decision = outcome.decision_point->decide(question.request());
  ASSERT_TRUE(decision.has_value());
  EXPECT_EQ(decision->detail(), "resource.amount: expected Long");
  question = {};
  question.action = "invoice.age";
  decision = outcome.decision_point->decide(question.request());
  ASSERT_TRUE(decision.has_value());
  EXPECT_EQ(decision->detail(), "policy \"age-overflow\": an integer overflows");
}

TEST(CedarDecisionPoint, FindsOnePolicyAmongThousandsByItsScope) {
  policy::Bundle bundle = contract_bundle();
  std::string text;
  for (int i = 0; i < 5'000; ++i) {
    text += fmt::format(
        "@id(\"inv-{0}\") permit(principal, action == Action::\"invoice.read\", "
        "resource == Invoice::\"inv-{0}\");\n",
        i);
  }
  bundle.policies.push_back({"policies/many.cedar", text});
  const auto outcome = CedarDecisionPointFactory().create(bundle);
  ASSERT_NE(outcome.decision_point, nullptr) << outcome.problems.front().to_string();
  ContractQuestion question;
  question.resource.id = "inv-4321";
  const auto decision = outcome.decision_point->decide(question.request());
  ASSERT_TRUE(decision.has_value());
  EXPECT_EQ(decision->determining_policies(),
            (std::vector<std::string>{"inv-4321", "read-by-scope"}));
}

TEST(SourcePlace, CountsLinesAndCharacters) {
  EXPECT_EQ(place_in("f", "ab\ncd", 0), "f:1:1");
  EXPECT_EQ(place_in("f", "ab\ncd", 3), "f:2:1");
  EXPECT_EQ(place_in("f", "é€x", 5), "f:1:3");
  EXPECT_EQ(place_in("f", "ab", 99), "f:1:3");
  EXPECT_EQ(place_in("f", "", 0), "f:1:1");
}

}  // namespace
}  // namespace remit::cedar
