// Several policies and hostile text, as data: what is decided and by which policies, or with what
// words the policies are refused.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cedar/cedar_decision_point.h"
#include "decision/decision_point_contract.h"
#include "json/value.h"
#include "tests/support/shared_data.h"

namespace remit::cedar {
namespace {

using decision::ContractQuestion;

/// A text, or an array of texts and of `{"repeat": TEXT, "times": N}`.
std::string text_of(const json::Value& value) {
  if (const std::string* text = value.if_string()) return *text;
  std::string out;
  if (value.if_array() == nullptr) {
    ADD_FAILURE() << "no text: " << json::write(value);
    return out;
  }
  for (const json::Value& piece : *value.if_array()) {
    const json::Value* repeat = piece.find("repeat");
    const std::int64_t times = repeat == nullptr ? 1 : *piece.find("times")->if_integer();
    for (std::int64_t i = 0; i < times; ++i) out += text_of(repeat == nullptr ? piece : *repeat);
  }
  return out;
}

/// An argument as it is, but for one that is text in pieces.
json::Value argument_of(const json::Value& value) {
  const json::Array* array = value.if_array();
  const bool pieces = array != nullptr && !array->empty() && array->front().find("repeat");
  return pieces ? json::Value(text_of(value)) : value;
}

std::vector<std::string> texts_of(const json::Value& array) {
  std::vector<std::string> out;
  for (const json::Value& text : *array.if_array()) out.push_back(text_of(text));
  return out;
}

access::AttributeValue attribute_of(const json::Value& value) {
  if (const bool* held = value.if_bool()) return *held;
  if (const std::int64_t* held = value.if_integer()) return *held;
  return text_of(value);
}

policy::Bundle bundle_of(const json::Value& schema, const json::Value& each) {
  policy::Bundle bundle = decision::contract_bundle();
  bundle.schema.text.clear();
  for (const std::string& line : texts_of(schema)) bundle.schema.text += line + "\n";
  bundle.policies.clear();
  for (const json::Value& policies : *each.find("policies")->if_array()) {
    bundle.policies.push_back(
        {fmt::format("policies/{}.cedar", bundle.policies.size()), text_of(policies)});
  }
  bundle.tools.clear();
  for (const std::string_view action : {"invoice.read", "invoice.pay"}) {
    policy::Tool tool;
    tool.name = tool.action = action;
    tool.argument_names = {"invoice", "labels", "limit", "nested", "note", "price"};
    tool.resources = {{"/invoice", "Invoice"}};
    bundle.tools.push_back(std::move(tool));
  }
  return bundle;
}

ContractQuestion question_of(const json::Value& each) {
  ContractQuestion question;
  const auto set = [&](std::string_view key, std::string& to) {
    if (const json::Value* value = each.find(key)) to = text_of(*value);
  };
  set("subject", question.principal.subject);
  set("action", question.action);
  set("resource_type", question.resource.type);
  set("resource_id", question.resource.id);
  set("resource_tenant", question.resource.tenant);
  if (const json::Value* scopes = each.find("scopes")) {
    question.principal.scopes = texts_of(*scopes);
  }
  if (const json::Value* attributes = each.find("attributes")) {
    question.resource.attributes.clear();
    for (const auto& [name, value] : attributes->if_object()->members()) {
      question.resource.attributes.emplace_back(name, attribute_of(value));
    }
  }
  if (const json::Value* arguments = each.find("arguments")) {
    json::Object object;
    for (const auto& [name, value] : arguments->if_object()->members()) {
      object.set(name, argument_of(value));
    }
    question.arguments = std::move(object);
  }
  return question;
}

std::string joined(const std::vector<std::string>& texts) {
  return fmt::format("[{}]", fmt::join(texts, " "));
}

/// What is said of the policies of a case; empty where it is what the case states.
std::string loading_breach(const json::Value& each, const decision::DecisionPointOutcome& outcome) {
  const json::Value* problem = each.find("problem");
  if (problem == nullptr && outcome.decision_point == nullptr) {
    return "is refused: " + outcome.problems.front().to_string();
  }
  if (problem != nullptr && outcome.decision_point != nullptr) return "is not refused";
  if (problem != nullptr) {
    const std::string said = outcome.problems.front().to_string();
    return said.starts_with(text_of(*problem)) ? "" : "says " + said;
  }
  const json::Value* warning = each.find("warning");
  if (outcome.warnings.empty()) return warning == nullptr ? "" : "is not warned of";
  const std::string said = outcome.warnings.front().to_string();
  if (warning == nullptr || !said.starts_with(text_of(*warning))) return "is warned of: " + said;
  return {};
}

/// How a case is decided otherwise than it states; empty where it is not.
std::string breach(const json::Value& schema, const json::Value& each) {
  const decision::DecisionPointOutcome outcome =
      CedarDecisionPointFactory().create(bundle_of(schema, each));
  const std::string loading = loading_breach(each, outcome);
  if (!loading.empty() || outcome.decision_point == nullptr) return loading;
  const ContractQuestion question = question_of(each);
  const Result<access::Decision> decision = outcome.decision_point->decide(question.request());
  if (!decision) return decision.error().to_string();
  const std::string got = fmt::format("{} {}", access::reason_name(decision->reason()),
                                      joined(decision->determining_policies()));
  const std::string want = fmt::format("{} {}", text_of(*each.find("reason")),
                                       joined(texts_of(*each.find("determining"))));
  if (got == want) return {};
  return fmt::format("gives {} for {} ({})", got, want, decision->detail());
}

// REQ-BD-052, REQ-BN-020, REQ-BN-022.
TEST(CedarCases, AreDecidedAsTheyState) {
  const Result<json::Value> data =
      json::parse(testing::needed_file(testing::source_tree() / "tests/golden/cedar/cases.json"));
  ASSERT_TRUE(data) << data.error().to_string();
  std::vector<std::string> breaches;
  for (const json::Value& each : *data->find("cases")->if_array()) {
    const std::string found = breach(*data->find("schema"), each);
    if (!found.empty()) breaches.push_back(text_of(*each.find("name")) + ": " + found);
  }
  EXPECT_EQ(breaches, std::vector<std::string>{});
  std::printf("cedar cases: judged %zu\n", data->find("cases")->if_array()->size());
}

// The harness can fail: for each kind of statement, one that is wrong.
TEST(CedarCases, WrongStatementsAreFound) {
  const Result<json::Value> data =
      json::parse(testing::needed_file(testing::source_tree() / "tests/golden/cedar/cases.json"));
  ASSERT_TRUE(data) << data.error().to_string();
  for (const char* wrong : {
           R"({"policies": ["@id(\"x\") permit(principal, action, resource);"],
               "reason": "not_permitted", "determining": []})",
           R"({"policies": ["@id(\"x\") permit(principal, action, resource);"],
               "reason": "allowed", "determining": ["y"]})",
           R"({"policies": ["@id(\"x\") permit(principal, action, resource);"],
               "problem": "policies/0.cedar"})",
           R"({"policies": ["@id(\"x\") permit(principal, action, resource);"],
               "warning": "policies/0.cedar", "reason": "allowed", "determining": ["x"]})",
           R"({"policies": ["permit"], "problem": "policies/1.cedar"})",
           R"({"policies": ["permit"], "reason": "allowed", "determining": ["x"]})",
       }) {
    const Result<json::Value> each = json::parse(wrong);
    ASSERT_TRUE(each) << wrong;
    EXPECT_NE(breach(*data->find("schema"), *each), "") << wrong;
  }
}

}  // namespace
}  // namespace remit::cedar
