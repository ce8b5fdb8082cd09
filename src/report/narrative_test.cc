// Stories of invocations: what is recorded is told, what is not is said to be missing, hostile text
// is quoted.
#include "report/narrative.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace remit::report {
namespace {

using event::Decoder;
using event::Event;
using ::testing::HasSubstr;
using ::testing::Not;

std::string story(const std::vector<std::string>& lines, NarrativeFilter filter = {}) {
  Narrative narrative(std::move(filter));
  Decoder decoder;
  for (const std::string& line : lines) {
    const std::string padded = line + std::string(Decoder::kPadding, '\0');
    Event event;
    const Status decoded = decoder.decode(std::string_view(padded).substr(0, line.size()), event);
    EXPECT_TRUE(decoded.has_value()) << line;
    narrative.add(event);
  }
  return narrative.text();
}

const std::vector<std::string>& refund() {
  static const std::vector<std::string> lines = {
      R"({"event":"tool.request","invocation_id":"i1","run_id":"r","case_id":"summary","tool":"refund.create","route":"agent","principal_state":"authenticated"})",
      R"({"event":"resource.resolved","invocation_id":"i1","resource_type":"Invoice","resource_id":"canonical-4","resource_tenant":"tenant-a","resolution_source":"invoices","resolution_revision":"12","outcome":"found"})",
      R"({"event":"authorization.decision","invocation_id":"i1","tool":"refund.create","resource_type":"Invoice","resource_id":"canonical-4","resource_tenant":"tenant-a","decision":"deny","reason":"forbidden","policy_version":"v1","policy_digest":"sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef","determining_policies":["no-refund"]})",
      R"({"event":"run.finished","run_id":"r","source":"desk.effects","writer":"spy","seq":1,"invocations":0,"events":0})"};
  return lines;
}

TEST(Narrative, TellsARefusal) {
  EXPECT_EQ(story(refund()),
            "refund.create  invocation i1, case summary\n"
            "  requested by the route agent, credential authenticated\n"
            "  resolved to Invoice canonical-4 of tenant-a, from invoices revision 12\n"
            "  decided: deny, forbidden, by no-refund, on Invoice canonical-4 of tenant-a, under "
            "policy v1 (sha256:0123456789ab…)\n"
            "  never started: no start is recorded\n"
            "  no effect observed by desk.effects, whose record is complete\n");
}

TEST(Narrative, SaysWhatIsMissing) {
  const std::string told = story({R"({"event":"executor.start","invocation_id":"i2","tool":"a"})"});
  EXPECT_THAT(told, HasSubstr("no request is recorded"));
  EXPECT_THAT(told, HasSubstr("no decision is recorded"));
  EXPECT_THAT(told, HasSubstr("no finish is recorded: the outcome is unknown"));
  EXPECT_THAT(told, Not(HasSubstr("never started")));
}

// Of a record that would not hold the start nobody can say that nothing started.
TEST(Narrative, ClaimsThatNothingStartedOnlyWhereTheRecordWouldHoldIt) {
  const std::string request =
      R"({"event":"tool.request","invocation_id":"i1","tool":"a","writer":"w","seq":1})";
  const std::string deny =
      R"({"event":"authorization.decision","invocation_id":"i1","tool":"a","decision":"deny","writer":"w","seq":2})";
  const std::string late =
      R"({"event":"authorization.decision","invocation_id":"i1","tool":"a","decision":"allow","writer":"w","seq":3})";
  const std::string lost = R"({"event":"evidence.lost","events":-1,"writer":"w","seq":3})";
  const std::string lost_by_another = R"({"event":"evidence.lost","events":-1,"writer":"v"})";
  const std::string finish =
      R"({"event":"executor.finish","invocation_id":"i1","tool":"a","outcome":"succeeded","writer":"w","seq":3})";
  EXPECT_THAT(story({request, deny}), HasSubstr("never started: no start is recorded"));
  EXPECT_THAT(story({request, deny, lost_by_another}), HasSubstr("never started"));
  for (const std::vector<std::string>& lines :
       {std::vector{request}, {request, late}, {request, deny, lost}, {request, deny, finish}}) {
    EXPECT_THAT(story(lines), Not(HasSubstr("never started")));
  }
  EXPECT_THAT(story({request}),
              HasSubstr("whether it started this record cannot say: it holds neither"));
  EXPECT_THAT(story({request, late}), HasSubstr("no start is recorded, and events were lost"));
  EXPECT_THAT(story({request, deny, finish}), HasSubstr("  no start is recorded\n"));
}

TEST(Narrative, ClaimsNoSilenceOfASpyThatWasNotClosed) {
  std::vector<std::string> open = refund();
  open.pop_back();
  EXPECT_THAT(story(open), Not(HasSubstr("no effect")));
}

// Whoever cuts a line out of a spy's record leaves the line that says how many there were.
TEST(Narrative, ClaimsNoSilenceOfASpyThatIsNotWhole) {
  const std::string effect =
      R"({"event":"effect.observed","invocation_id":"i9","run_id":"r","source":"desk.effects","writer":"spy","seq":1,"effects":1})";
  const auto told = [&](const std::vector<std::string>& effects, const std::string& count) {
    std::vector<std::string> lines = refund();
    lines.pop_back();
    lines.insert(lines.end(), effects.begin(), effects.end());
    lines.push_back(
        R"({"event":"run.finished","run_id":"r","source":"desk.effects","writer":"spy","seq":2)" +
        count + "}");
    return story(lines, {.invocation_ids = {"i1"}});
  };
  EXPECT_THAT(told({effect}, R"(,"events":1)"), HasSubstr("whose record is complete"));
  for (const std::string& cut : {told({}, R"(,"events":1)"), told({effect}, R"(,"events":2)"),
                                 told({effect, effect}, R"(,"events":1)"), told({effect}, "")}) {
    EXPECT_THAT(cut, HasSubstr("no effect observed by desk.effects, whose record is not whole"));
    EXPECT_THAT(cut, Not(HasSubstr("is complete")));
  }
}

TEST(Narrative, SelectsByInvocationRunAndCase) {
  EXPECT_EQ(story(refund(), {.invocation_ids = {"other"}}), "");
  EXPECT_EQ(story(refund(), {.run_id = "other"}), "");
  EXPECT_THAT(story(refund(), {.invocation_ids = {"i1"}}), HasSubstr("refund.create"));
  Narrative narrative({.invocation_ids = {"other"}});
  EXPECT_THAT(narrative.missing(), ::testing::ElementsAre("other"));
}

TEST(Narrative, QuotesHostileText) {
  const std::string told =
      story({R"({"event":"tool.request","invocation_id":"i\u001b[2J","tool":"a\nb"})"});
  EXPECT_THAT(told, Not(HasSubstr("\x1b")));
  EXPECT_THAT(told, HasSubstr("\\x1b"));
  EXPECT_THAT(told, HasSubstr("\"a\\x0ab\""));
}

}  // namespace
}  // namespace remit::report
