// Arguments on their way: what the policy sees of them, what the handler gets, what is refused.
#include <gtest/gtest.h>

#include "enforcement/enforcement_point.h"
#include "tests/support/boundary_world.h"

namespace remit::enforcement::testing {
namespace {

// An array that names nothing is not left out: "none of them" must not become "not said".
TEST(CallArguments, GivesTheHandlerAnEmptyListOfReferences) {
  World world;
  world.boundary->invoke(World::call("report.make", R"({"options":{"invoice":[],"pages":2}})"),
                         world.handler);
  EXPECT_EQ(world.handler.runs(), 1);
  EXPECT_EQ(world.handler.arguments, R"({"options":{"invoice":[],"pages":2}})");
}

// REQ-BD-011, REQ-BD-033, REQ-BD-034.
TEST(CallArguments, TheHandlerGetsCanonicalIdsInPlaceOfReferences) {
  struct Case {
    const char* tool;
    const char* arguments;
    const char* granted;
  };
  for (const Case& one : {
           Case{"invoice.read", R"({ "invoice":"march", "amount": 1 })",
                R"({"amount":1,"invoice":"canonical-march"})"},
           Case{"invoice.move", R"({"to":"b","note":"x","from":"a"})",
                R"({"from":"canonical-a","note":"x","to":"canonical-b"})"},
           Case{"files.read", R"({"paths":["b","a"]})",
                R"({"paths":["canonical-b","canonical-a"]})"},
           Case{"report.make", R"({"options":{"pages":2,"invoice":"m"}})",
                R"({"options":{"invoice":"canonical-m","pages":2}})"},
           Case{"report.make", R"({"options":{"invoice":null}})",
                R"({"options":{"invoice":null}})"},
           Case{"server.ping", "", "{}"},
       }) {
    World world;
    std::string ids;
    world.handler.behave = [&](const GrantedCall& call) {
      EXPECT_EQ(json::canonical(call.arguments()), call.arguments_json());
      for (const access::Resource& resource : call.resources()) {
        ids += resource.type + ":" + resource.id + "@" + resource.revision + " ";
      }
      return HandlerResult{.outcome = HandlerOutcome::kSucceeded};
    };
    world.boundary->invoke(World::call(one.tool, one.arguments), world.handler);
    EXPECT_EQ(world.handler.arguments, one.granted);
    EXPECT_FALSE(ids.empty());
  }
}

// REQ-BD-020, REQ-BD-033.
TEST(CallArguments, PolicySeesArgumentsWithoutReferencesAndNothingElseOfThePlanner) {
  World world;
  world.decision_point->behave = [](const decision::DecisionRequest& request) {
    EXPECT_EQ(json::canonical(request.arguments), R"({"amount":5})");
    EXPECT_EQ(request.resource.id, "canonical-march");
    EXPECT_EQ(request.principal.tenant, "tenant-a");
    EXPECT_EQ(request.action, "invoice.read");
    EXPECT_EQ(request.route, "agent");
    EXPECT_EQ(request.environment, "test");
    EXPECT_EQ(request.now.unix_ns, FakeClock::kStartUnixNs);
    return Result<access::Decision>{access::Decision::allow({"p"})};
  };
  world.boundary->invoke(World::call("invoice.read", R"({"invoice":"march","amount":5})"),
                         world.handler);
  EXPECT_EQ(world.handler.runs(), 1U);
}

// An argument that the schema does not name is refused whatever its name looks like: one too long
// to be told to the caller once passed for none.
TEST(CallArguments, RefusesEveryUnnamedArgumentHoweverItIsNamed) {
  std::vector<std::string> names = {"", "~", "/", "a/b", "\xc3\xbc", "__proto__", "Invoice"};
  for (const std::size_t size : {1UL, 254UL, 255UL, 256UL, 257UL, 5000UL}) {
    names.emplace_back(size, 'z');
    names.push_back(std::string(size, '~'));  // grows when it is escaped
  }
  for (const std::string& name : names) {
    World world;
    json::Object arguments{{"invoice", "march"}, {name, "evil"}};
    const CallOutcome outcome =
        world.boundary->invoke(World::call("invoice.read", json::write(arguments)), world.handler);
    const auto* denial = std::get_if<Denial>(&outcome);
    ASSERT_NE(denial, nullptr) << name.size();
    EXPECT_EQ(denial->reason, access::ReasonCode::kInvalidArguments);
    EXPECT_EQ(world.handler.runs(), 0U);
  }
  World world;
  json::Object many{{"invoice", "march"}};
  for (std::size_t i = 0; i <= 2 * kMaxReportedArguments; ++i) {
    many.set(std::string(300, 'y') + std::to_string(i), 1);
  }
  world.boundary->invoke(World::call("invoice.read", json::write(many)), world.handler);
  EXPECT_EQ(world.handler.runs(), 0U);
}

}  // namespace
}  // namespace remit::enforcement::testing
