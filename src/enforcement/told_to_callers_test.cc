// What a caller hears: of a refusal, as advice, of the tools there are.
#include <gtest/gtest.h>

#include "enforcement/enforcement_point.h"
#include "tests/support/boundary_world.h"

namespace remit::enforcement::testing {
namespace {

// REQ-RS-011: four reasons, one answer, to the byte.
TEST(ToldToCallers, WhatIsNotAvailableIsToldAlike) {
  std::vector<std::string> told;
  const auto tell = [&](World& world, const char* arguments) {
    const auto outcome =
        world.boundary->invoke(World::call("invoice.read", arguments), world.handler);
    told.push_back(json::write(denial_json(std::get<Denial>(outcome))));
  };
  for (const char* arguments : {R"({"invoice":"missing"})", R"({"invoice":"foreign"})", "{}"}) {
    World world;
    tell(world, arguments);
  }
  for (const auto reason : {access::ReasonCode::kForbidden, access::ReasonCode::kNotPermitted}) {
    World world;
    world.decision_point->behave = [&](const decision::DecisionRequest&) {
      return Result<access::Decision>{access::Decision::deny(reason, {"p"}, "secret detail")};
    };
    tell(world, R"({"invoice":"march"})");
  }
  for (const std::string& one : told) EXPECT_EQ(one, told.front());
  EXPECT_EQ(told.front(), R"({"status":"denied","code":"not_available","retry":"never",)"
                          R"("advice":"This is not available to you. Choose another way."})");
}

// REQ-RS-012.
TEST(ToldToCallers, WrongArgumentsAreToldByPlaceAndNeverByValue) {
  World world;
  const auto outcome = world.boundary->invoke(
      World::call("invoice.read", R"({"invoice":"march","amount":"canary-value","a/b":1})"),
      world.handler);
  EXPECT_EQ(std::get<Denial>(outcome).arguments, std::vector<std::string>{"/a~1b"});
  const auto typed = world.boundary->invoke(
      World::call("invoice.read", R"({"invoice":"march","amount":"canary-value"})"), world.handler);
  EXPECT_EQ(std::get<Denial>(typed).arguments, std::vector<std::string>{"/amount"});
  EXPECT_EQ(json::write(denial_json(std::get<Denial>(typed))).find("canary"), std::string::npos);
}

// REQ-BD-065.
TEST(ToldToCallers, AdviceRecordsAndRunsNothing) {
  World world;
  EXPECT_TRUE(
      world.boundary->would_allow(World::call("invoice.read", R"({"invoice":"march"})")).allowed());
  EXPECT_EQ(
      world.boundary->would_allow(World::call("invoice.read", R"({"invoice":"foreign"})")).reason(),
      access::ReasonCode::kTenantMismatch);
  EXPECT_TRUE(world.evidence.events().empty());
}

TEST(ToldToCallers, VisibleToolsAreThoseWhoseScopesAreHeld) {
  World world;
  std::shared_ptr<const decision::PolicySnapshot> snapshot;
  const auto names = [&](const access::Credential& credential) {
    std::string out;
    for (const policy::Tool* tool : world.boundary->visible_tools(credential, snapshot)) {
      out += tool->name + " ";
    }
    return out;
  };
  EXPECT_EQ(names(access::Credential::local()),
            "invoice.read invoice.move files.read report.make server.ping anything.goes sums.add "
            "invoice.trial invoice.strict invoice.mixed ghost.read ");
  EXPECT_EQ(names({}), "");
}

}  // namespace
}  // namespace remit::enforcement::testing
