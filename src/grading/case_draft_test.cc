// Drafts of cases: they are refused as they are, and read once a person has filled them in.
#include "grading/case_draft.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/limits.h"
#include "grading/blank.h"
#include "grading/manifest.h"

namespace remit::grading {
namespace {

using event::Event;
using event::EventKind;
using event::Field;

struct Told {
  EventKind kind;
  std::vector<std::pair<Field, std::string>> fields;
};

Status tell(const std::vector<Told>& events, CaseDraft& draft) {
  for (const Told& told : events) {
    Event event;
    event.kind = told.kind;
    for (const auto& [field, text] : told.fields) event.set(field, text);
    REMIT_TRY(draft.add(event));
  }
  return {};
}

Result<std::string> draft_of(const std::vector<Told>& events, DraftSelection selection = {}) {
  CaseDraft draft(std::move(selection));
  REMIT_TRY(tell(events, draft));
  return draft.text();
}

std::string filled(std::string text) {
  const std::pair<std::string, std::string> blanks[] = {
      {"kind", "task"}, {"decision", "allow"}, {"reason", "allowed"}, {"effects", "1"}};
  for (const auto& [key, value] : blanks) {
    const std::string blank = key + ": " + std::string(kBlank);
    for (std::size_t at = 0; (at = text.find(blank)) != std::string::npos;) {
      text.replace(at, blank.size(), key + ": " + value);
    }
  }
  return text;
}

TEST(CaseDraft, IsRefusedUntilAPersonFillsItIn) {  // REQ-MF-031
  const std::string text =
      draft_of({{EventKind::kToolRequest,
                 {{Field::kInvocationId, "i1"}, {Field::kTool, "a"}, {Field::kRoute, "agent"}}},
                {EventKind::kAuthorizationDecision,
                 {{Field::kInvocationId, "i1"},
                  {Field::kDecision, "deny"},
                  {Field::kReason, "forbidden"},
                  {Field::kPolicyVersion, "v1"}}}})
          .value();
  EXPECT_EQ(parse_manifest(text, "m").errors.size(), 4U);
  // What was decided does not stand in it.
  EXPECT_EQ(text.find("forbidden"), std::string::npos);
  const ManifestParse parsed = parse_manifest(filled(text), "m");
  ASSERT_TRUE(parsed.manifest.has_value()) << parsed.errors.front().to_string() << text;
  const Expectation& entry = parsed.manifest->cases.front().expect.front();
  EXPECT_EQ(entry.invocation_id, "i1");
  EXPECT_EQ(entry.route, "agent");
}

TEST(CaseDraft, CarriesAnyTextWhole) {  // REQ-MF-032
  const std::vector<std::string> hostile = {
      "a: b",     "# x",          "'",    "\"\\", "- a", "x\ny: z",
      "\x1b[2J",  "\xe2\x80\xae", "null", "1.5",  "{",   "hmac-sha256:00ff",
      "\xc3\xa9", "&a",           "*a",   "!t",   "%d",  "@",
      "`",        "a\tb",         " a "};
  for (const std::string& name : hostile) {
    const std::string text = draft_of({{EventKind::kToolRequest,
                                        {{Field::kInvocationId, name},
                                         {Field::kTool, name},
                                         {Field::kCaseId, name},
                                         {Field::kRoute, name}}},
                                       {EventKind::kAuthorizationDecision,
                                        {{Field::kInvocationId, name},
                                         {Field::kPrincipalRef, name},
                                         {Field::kPrincipalTenant, name},
                                         {Field::kPolicyVersion, name},
                                         {Field::kResourceType, name},
                                         {Field::kResourceId, name},
                                         {Field::kEnvironment, name}}}})
                                 .value();
    const ManifestParse parsed = parse_manifest(filled(text), "m");
    ASSERT_TRUE(parsed.manifest.has_value()) << parsed.errors.front().to_string() << text;
    const Manifest& manifest = *parsed.manifest;
    EXPECT_EQ(manifest.environment, name);
    EXPECT_EQ(manifest.policies.front().version, name);
    EXPECT_EQ(manifest.principals.front().tenant, name);
    EXPECT_EQ(manifest.resources.front().id, name);
    EXPECT_EQ(manifest.cases.front().id, name);
    EXPECT_EQ(manifest.cases.front().expect.front().resource, name);
    EXPECT_EQ(manifest.cases.front().expect.front().tool, name);
  }
}

TEST(CaseDraft, LeavesBlankWhatTheTraceContradicts) {  // REQ-MF-033
  std::vector<Told> events = {
      {EventKind::kToolRequest, {{Field::kInvocationId, "i1"}, {Field::kTool, "a"}}}};
  for (const char* tenant : {"t1", "t2", "t1"}) {
    events.push_back({EventKind::kAuthorizationDecision,
                      {{Field::kInvocationId, "i1"},
                       {Field::kPrincipalRef, "p"},
                       {Field::kPrincipalTenant, tenant}}});
  }
  const std::string text = draft_of(events).value();
  EXPECT_NE(text.find("tenant: ___  # the trace says \"t1\", \"t2\"\n"), std::string::npos) << text;
  EXPECT_EQ(parse_manifest(text, "m").errors.size(), 5U);
}

TEST(CaseDraft, SelectsByInvocationAndByRun) {
  const std::vector<Told> events = {
      {EventKind::kExecutorStart, {{Field::kInvocationId, "i1"}, {Field::kRunId, "late"}}},
      {EventKind::kToolRequest,
       {{Field::kInvocationId, "i1"}, {Field::kTool, "a"}, {Field::kRunId, "r1"}}},
      {EventKind::kToolRequest,
       {{Field::kInvocationId, "i2"}, {Field::kTool, "b"}, {Field::kRunId, "r2"}}}};
  const auto has = [](const Result<std::string>& text, const char* id) {
    return text.value().find("invocation_id: " + std::string(id)) != std::string::npos;
  };
  EXPECT_TRUE(has(draft_of(events), "i1") && has(draft_of(events), "i2"));
  EXPECT_FALSE(has(draft_of(events, {.invocation_id = "i2", .run_id = {}}), "i1"));
  EXPECT_FALSE(has(draft_of(events, {.invocation_id = {}, .run_id = "r1"}), "i2"));
  EXPECT_TRUE(has(draft_of(events, {.invocation_id = {}, .run_id = "r1"}), "i1"));
  EXPECT_EQ(draft_of(events, {.invocation_id = {}, .run_id = "late"}).error().code,
            ErrorCode::kNotFound);
}

TEST(CaseDraft, TellsManyThingsOfOneCallOnceEach) {  // REQ-MF-032, REQ-MF-033
  std::vector<Told> events;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 20'000; ++i) {
      const std::string n = std::to_string(i);
      events.push_back({EventKind::kAuthorizationDecision,
                        {{Field::kInvocationId, "i1"},
                         {Field::kPrincipalRef, "p" + n},
                         {Field::kApprovalId, "a" + n},
                         {Field::kApprovalState, "active"},
                         {Field::kPolicyVersion, "v" + n}}});
    }
  }
  const std::string text = draft_of(events).value();
  const auto times = [&](const std::string& words) {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find(words, at)) != std::string::npos; ++at) ++count;
    return count;
  };
  EXPECT_EQ(times("state: active\n"), 20'000U);
  EXPECT_EQ(times("- version: "), 20'000U);
  EXPECT_EQ(times(R"(# the trace says "p0", "p1", "p2", "p3" and more)"), 1U)
      << text.substr(0, 900);
}

TEST(CaseDraft, KeepsABoundedNumberOfCalls) {
  CaseDraft draft({});
  Event event;
  event.kind = EventKind::kToolRequest;
  for (std::size_t i = 0; i < kMaxDraftInvocations; ++i) {
    const std::string id = std::to_string(i);
    event.set(Field::kInvocationId, std::string_view(id));
    ASSERT_TRUE(draft.add(event));
  }
  event.set(Field::kInvocationId, "one more");
  EXPECT_EQ(draft.add(event).error().code, ErrorCode::kLimitExceeded);
}

// What a person wrote, in ways that a file may be written.
constexpr std::string_view kWritten =
    "# ours\r\n"
    "manifest: remit.manifest/1\n"
    "principals:\n"
    "- {ref: p-0, tenant: t}   # odd   spaces\n"
    "\n"
    "# the cases\n"
    "cases:\n"
    "    - id: first\n"
    "      kind: task\n"
    "      allowed_requests: [a]\n"
    "    # more to come\n"
    "\n"
    "# the environment\n"
    "environment: test";  // without a line feed

TEST(CaseDraft, GoesIntoAManifestOfWhichEveryByteStays) {  // REQ-MF-035
  CaseDraft draft({});
  ASSERT_TRUE(tell({{EventKind::kToolRequest,
                     {{Field::kInvocationId, "i1"}, {Field::kCaseId, "c"}, {Field::kTool, "a"}}},
                    {EventKind::kAuthorizationDecision,
                     {{Field::kInvocationId, "i1"},
                      {Field::kDecision, "deny"},
                      {Field::kPolicyVersion, "7"},
                      {Field::kPrincipalRef, "p-1"},
                      {Field::kPrincipalTenant, "t"}}}},
                   draft));
  const std::string text = draft.text_into(kWritten, "m.yaml").value();
  EXPECT_EQ(text,
            "# ours\r\n"
            "manifest: remit.manifest/1\n"
            "principals:\n"
            "- {ref: p-0, tenant: t}   # odd   spaces\n"
            "- ref: p-1\n"
            "  tenant: t\n"
            "\n"
            "# the cases\n"
            "cases:\n"
            "    - id: first\n"
            "      kind: task\n"
            "      allowed_requests: [a]\n"
            "    - id: c\n"
            "      kind: ___  # security: a control is tested and its request must come; task: an "
            "agent's requests are judged\n"
            "      expect:\n"
            "        - invocation_id: i1\n"
            "          tool: a\n"
            "          principal: p-1\n"
            "          decision: ___  # allow or deny\n"
            "          reason: ___  # allowed, or why it must be denied: spec/reasons.md\n"
            "          effects: ___  # how many it should have; 0 where it must be denied\n"
            "    # more to come\n"
            "\n"
            "# the environment\n"
            "environment: test\n");
  // It is a draft itself now, and takes more, but no case twice.
  const Result<std::string> again = draft.text_into(text, "m.yaml");
  EXPECT_EQ(again.error().to_string(),
            "m.yaml:13: has a case \"c\" already: rename it, or take other invocations");
  std::string filled = text;
  for (const auto& [blank, word] : {std::pair{"kind: ___", "kind: task"},
                                    {"decision: ___", "decision: deny"},
                                    {"reason: ___", "reason: forbidden"},
                                    {"effects: ___", "effects: 0"}}) {
    filled.replace(filled.find(blank), std::string_view(blank).size(), word);
  }
  EXPECT_TRUE(parse_manifest(filled, "m").manifest.has_value());
}

TEST(CaseDraft, RefusesManifestsThatItCannotAddTo) {  // REQ-MF-035
  CaseDraft draft({});
  ASSERT_TRUE(tell({{EventKind::kToolRequest, {{Field::kInvocationId, "i1"}, {Field::kTool, "a"}}}},
                   draft));
  const std::pair<std::string, std::string> rows[] = {
      {"contract: remit.contract/1\n", "m:1"},
      {"- a\n", "m:1"},
      {"manifest: remit.manifest/1\nother: 1\n", "m:2:1: unknown key"},
      {"manifest: remit.manifest/1\ncases: [{id: x, kind: task, allowed_requests: [a]}]\n",
       "m:2: 'cases' is not written one item a line"},
      {R"({"manifest": "remit.manifest/1", "cases": []})", "m:1: 'cases' is not written"},
      {"cases: ___\n", "m: is no manifest"},
  };
  for (const auto& [text, error] : rows) {
    const Result<std::string> out = draft.text_into(text, "m");
    ASSERT_FALSE(out.has_value()) << text;
    EXPECT_EQ(out.error().to_string().substr(0, error.size()), error);
  }
  const std::string begun = draft.text_into("manifest: remit.manifest/1\n", "m").value();
  EXPECT_EQ(begun.substr(0, 51), "manifest: remit.manifest/1\ncases:\n  - id: trace\n   ");
  EXPECT_EQ(CaseDraft({}).text_into(begun, "m").error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace remit::grading
