// What policy check warns of, and that a bundle in which all goes together is not warned of.
#include "cedar/doubts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cedar/cedar_decision_point.h"
#include "decision/decision_point_contract.h"
#include "json/value.h"
#include "policy/starter.h"

namespace remit::cedar {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// The starter of a server with one tool and without annotations, as a person corrected it.
policy::Bundle bundle_of(policy::Effect effect, const std::string& scope, const std::string& group,
                         const std::string& condition = "") {
  policy::Bundle bundle;
  bundle.version = "1";
  bundle.environment = "local";
  bundle.routes = {{.name = "agent", .transport = "stdio"}};
  policy::Tool tool;
  tool.name = tool.action = "look";
  tool.upstream_server = "s";
  tool.effect = effect;
  tool.scopes = {scope};
  const json::Value tools = json::Array{
      json::Object{{"name", "look"}, {"inputSchema", json::Object{{"type", "object"}}}}};
  const Result<policy::StarterBundle> starter =
      policy::starter_bundle(tools, "s", {{"look", group}});
  for (const policy::StarterFile& file : starter->files) {
    if (file.path == "schema.cedarschema") bundle.schema = {file.path, file.text};
    if (!file.path.ends_with(".cedar")) continue;
    std::string text = file.text;
    for (std::size_t at = text.find("contains("); at != std::string::npos && !condition.empty();
         at = text.find("contains(", at + 1)) {
      text.insert(text.find(')', at) + 1, condition);
    }
    bundle.policies.push_back({file.path, text});
  }
  bundle.tools.push_back(std::move(tool));
  return bundle;
}

std::vector<std::string> warnings(const policy::Bundle& bundle) {
  const decision::DecisionPointOutcome outcome = CedarDecisionPointFactory::check(bundle);
  for (const Error& problem : outcome.problems) ADD_FAILURE() << problem.to_string();
  std::vector<std::string> out;
  for (const Error& warning : outcome.warnings) out.push_back(warning.to_string());
  return out;
}

TEST(Doubts, AreNoneWhereEffectScopesAndGroupGoTogether) {
  EXPECT_THAT(warnings(bundle_of(policy::Effect::kRead, "s:read", "read")), IsEmpty());
  EXPECT_THAT(warnings(bundle_of(policy::Effect::kExternal, "s:read", "read")), IsEmpty());
  EXPECT_THAT(warnings(bundle_of(policy::Effect::kWrite, "s:write", "write")), IsEmpty());
  EXPECT_THAT(warnings(bundle_of(policy::Effect::kDestructive, "s:destructive", "destructive")),
              IsEmpty());
  EXPECT_THAT(warnings(decision::contract_bundle()), IsEmpty());
}

// REQ-BN-027
TEST(Doubts, NameEachPlaceThatWasForgotten) {
  EXPECT_THAT(
      warnings(bundle_of(policy::Effect::kRead, "s:destructive", "destructive")),
      ElementsAre(HasSubstr("the scope \"s:destructive\", which does not go with its "
                            "effect, reading"),
                  HasSubstr("to a caller with the scope that goes with its effect (s:read), "
                            "though one does with \"s:destructive\" besides")));
  EXPECT_THAT(warnings(bundle_of(policy::Effect::kDestructive, "s:read", "read")),
              ElementsAre(HasSubstr("does not go with its effect, changing things"),
                          HasSubstr("goes with its effect (s:destructive), though one does with "
                                    "\"s:read\" besides")));
  // The scope alone was forgotten.
  EXPECT_THAT(warnings(bundle_of(policy::Effect::kRead, "s:destructive", "read")),
              ElementsAre(HasSubstr("which does not go with its effect, reading"),
                          HasSubstr("the scopes that it asks for (s:destructive), though one does "
                                    "with \"s:read\" besides")));
  EXPECT_THAT(warnings(bundle_of(policy::Effect::kRead, "s:read", "destructive")),
              ElementsAre(HasSubstr("the scopes that it asks for (s:read), though one does with "
                                    "\"s:destructive\" besides")));
  EXPECT_THAT(warnings(bundle_of(policy::Effect::kDestructive, "s:destructive", "read")),
              ElementsAre(HasSubstr("with \"s:read\" besides")));
}

// Nobody can say here which classes there are.
TEST(Doubts, SayNothingOfWhatHangsOnSomethingElse) {
  EXPECT_THAT(warnings(bundle_of(policy::Effect::kRead, "s:read", "read",
                                 " && principal.class == \"desk\"")),
              IsEmpty());
}

// REQ-BN-027
TEST(Doubts, NameToolsThatNoPermitReaches) {
  policy::Bundle bundle = bundle_of(policy::Effect::kRead, "s:read", "read");
  const std::string action =
      "action \"{}\" appliesTo { principal: [Principal], resource: [Server], context: { route: "
      "String, environment: String, now: datetime, approval: { state: String, id?: String }, "
      "arguments: {} } };\n";
  policy::Tool tool = bundle.tools.front();
  for (int i = 0; i < 22; ++i) {
    tool.name = tool.action = "hide" + std::to_string(i);
    bundle.schema.text += std::string(action).replace(action.find("{}"), 2, tool.action);
    bundle.tools.push_back(tool);
    if (i != 0) continue;
    EXPECT_THAT(warnings(bundle), ElementsAre("policies: no policy permits hide0 to anybody: no "
                                              "permit names its action or a group that it is in; "
                                              "if that is meant, say it by a forbid without a "
                                              "condition"));
  }
  EXPECT_THAT(warnings(bundle), ElementsAre(testing::AllOf(
                                    HasSubstr("hide18, hide19 and 2 more to anybody"),
                                    HasSubstr("names their actions or a group that they are in"))));
  // That it is meant.
  std::string forbidden = "@id(\"none\") forbid (principal, action in [Action::\"hide0\"";
  for (int i = 1; i < 21; ++i) forbidden += ", Action::\"hide" + std::to_string(i) + "\"";
  bundle.policies.push_back({"policies/none.cedar", forbidden + "], resource);\n"});
  EXPECT_THAT(warnings(bundle), ElementsAre(HasSubstr("no policy permits hide21 to anybody")));
  // A permit for any action reaches all, whatever its condition says.
  bundle.policies.push_back({"policies/all.cedar",
                             "@id(\"all\") permit (principal, action, resource)\n"
                             "when { principal.class == \"nobody\" };\n"});
  EXPECT_THAT(warnings(bundle), IsEmpty());
}

// Each decision costs: of a large catalogue it is said that not all of it was asked about.
TEST(Doubts, EndBeforeTheyTakeMinutes) {
  policy::Bundle bundle = bundle_of(policy::Effect::kRead, "s:read", "destructive");
  bundle.tools.resize(11000, bundle.tools.front());
  const std::vector<std::string> found = warnings(bundle);
  ASSERT_GT(found.size(), 1000U);
  EXPECT_LT(found.size(), 11000U);
  EXPECT_THAT(found.back(), HasSubstr("there is more to ask of the policies than is asked here"));
}

// REQ-BN-027
TEST(Doubts, SayThatNothingIsPermitted) {
  policy::Bundle bundle = bundle_of(policy::Effect::kRead, "s:read", "read");
  std::erase_if(bundle.policies,
                [](const auto& source) { return source.file.ends_with("scopes.cedar"); });
  EXPECT_THAT(warnings(bundle), ElementsAre(HasSubstr("every call will be denied")));
  bundle.policies.clear();
  EXPECT_THAT(warnings(bundle), ElementsAre(HasSubstr("every call will be denied")));
}

}  // namespace
}  // namespace remit::cedar
