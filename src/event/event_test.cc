// Names, and what `encode` writes.
#include "event/event.h"

#include <gtest/gtest.h>

namespace remit::event {
namespace {

TEST(Names, EventsGoThereAndBack) {
  for (std::size_t i = 1; i < kEventKindCount; ++i) {
    const auto kind = static_cast<EventKind>(i);
    EXPECT_EQ(parse_event_kind(event_kind_name(kind)), kind);
  }
  EXPECT_EQ(parse_event_kind("x.anything"), EventKind::kExtension);
  for (const char* name : {"", "x", "tool.Request", "tool.request ", "tool", "event"}) {
    EXPECT_EQ(parse_event_kind(name), std::nullopt) << name;
  }
}

TEST(Names, FieldsGoThereAndBack) {
  for (std::size_t i = 0; i < kFieldCount; ++i) {
    const auto field = static_cast<Field>(i);
    EXPECT_EQ(parse_field(field_name(field)), field);
  }
  for (const std::string_view name :
       {std::string_view(""), std::string_view("event"), std::string_view("Seq"),
        std::string_view("seq\0", 4), std::string_view("a name longer than all of them")}) {
    EXPECT_EQ(parse_field(name), std::nullopt) << name;
  }
}

TEST(Names, CallEventsAreThoseOfTheSpec) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < kEventKindCount; ++i) {
    count += is_call_event(static_cast<EventKind>(i)) ? 1U : 0U;
  }
  EXPECT_EQ(count, 11U);
  for (const EventKind kind :
       {EventKind::kExtension, EventKind::kRunStarted, EventKind::kRunFinished,
        EventKind::kPolicyPublished, EventKind::kApprovalChanged, EventKind::kEvidenceLost}) {
    EXPECT_FALSE(is_call_event(kind)) << event_kind_name(kind);
  }
}

TEST(Encode, PutsEventAndInvocationFirst) {
  Event event;
  event.kind = EventKind::kToolRequest;
  event.set(Field::kSeq, 7);
  event.set(Field::kTool, "invoice.read");
  event.set(Field::kInvocationId, "i1");
  event.set_if_any(Field::kRoute, "");
  std::string out = "before\n";
  encode(event, out);
  EXPECT_EQ(out,
            "before\n"
            R"({"event":"tool.request","invocation_id":"i1","tool":"invoice.read","seq":7})"
            "\n");
}

TEST(Encode, WritesEveryKindOfValue) {
  Event event;
  event.kind = EventKind::kAuthorizationDecision;
  event.set(Field::kInvocationId, "a\"\n\xc3\xa9\xff");
  event.resource_id_is_null = true;
  event.set(Field::kResourceId, "");
  event.set(Field::kEvents, -1);
  event.enforced = false;
  event.mark(Field::kEnforced);
  event.further_resources = {"Invoice:1", "Invoice:\t"};
  event.mark(Field::kFurtherResources);
  event.mark(Field::kDeterminingPolicies);
  std::string out;
  encode(event, out);
  EXPECT_EQ(out, R"({"event":"authorization.decision","invocation_id":"a\"\n)"
                 "\xc3\xa9\xef\xbf\xbd"
                 R"(","resource_id":null,"events":-1,"enforced":false,)"
                 R"("further_resources":["Invoice:1","Invoice:\t"],"determining_policies":[]})"
                 "\n");
}

}  // namespace
}  // namespace remit::event
