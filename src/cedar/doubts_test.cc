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
  EXPECT_THAT(warnings(bundle_of(policy::Effect::kRead, "s:destructive", "destructive")),
              ElementsAre(HasSubstr("the scope \"s:destructive\", which does not go with its "
                                    "effect, reading")));
  EXPECT_THAT(warnings(bundle_of(policy::Effect::kDestructive, "s:read", "read")),
              ElementsAre(HasSubstr("does not go with its effect, changing things")));
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
