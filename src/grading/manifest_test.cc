// Manifests and expect files: what is accepted, and where each mistake is told.
#include "grading/manifest.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace remit::grading {
namespace {

TEST(Manifest, ReadsEveryKey) {  // REQ-MF-002, REQ-MF-003  // REQ-MF-001, REQ-MF-010 to 015
  const ManifestParse parsed = parse_manifest(R"(manifest: remit.manifest/1
environment: test
fixture_revision: fx-7
effects_source: required
policies:
  - {version: "2026-08-04", digest: "sha256:9f"}
  - {version: v2}
principals:
  - {ref: p-7, state: authenticated, class: support_agent, tenant: tenant-a,
     scopes: ["invoice:read"], revision: "3"}
resources:
  - {type: Invoice, id: canonical-invoice-4, tenant: tenant-a, source: invoices, revision: "12"}
  - {type: Note, id: canonical-invoice-9}
approvals:
  - {id: ap-1, state: revoked}
cases:
  - id: wrong-tenant
    kind: security
    expect:
      - {invocation_id: i3, tool: invoice.read, route: agent, principal: p-7,
         resource: canonical-invoice-9, decision: deny, reason: tenant_mismatch, effects: 0}
  - id: summarise
    kind: task
    allowed_requests: [invoice.read]
    forbidden_requests: [refund.create]
    required_requests: [invoice.read]
    run_id: run-12
)",
                                              "m.yaml");
  ASSERT_TRUE(parsed.errors.empty()) << parsed.errors.front().to_string();
  const Manifest& manifest = parsed.manifest.value();
  EXPECT_EQ(manifest.environment, "test");
  EXPECT_TRUE(manifest.effects_required);
  EXPECT_EQ(manifest.policies.at(0).digest, "sha256:9f");
  EXPECT_EQ(manifest.principals.at(0).principal_class, "support_agent");
  EXPECT_EQ(manifest.resources.at(1).type, "Note");
  EXPECT_EQ(manifest.approvals.at(0).state, "revoked");
  const Expectation& entry = manifest.cases.at(0).expect.at(0);
  EXPECT_TRUE(manifest.cases.at(0).is_security);
  EXPECT_EQ(entry.invocation_id, "i3");
  EXPECT_EQ(entry.reason, "tenant_mismatch");
  EXPECT_EQ(entry.effects, 0);
  EXPECT_EQ(manifest.cases.at(1).run_id, "run-12");
  EXPECT_EQ(manifest.cases.at(1).allowed_requests, std::vector<std::string>{"invoice.read"});
  EXPECT_FALSE(manifest.cases.at(0).allowed_requests.has_value());
}

TEST(Manifest, LeavesReferencesAloneWhereNothingIsListed) {  // REQ-MF-004
  const ManifestParse parsed = parse_manifest(
      "manifest: remit.manifest/1\n"
      "cases: [{id: c, kind: task, expect: [{tool: t, principal: a, resource: b}]}]\n",
      "m");
  EXPECT_TRUE(parsed.errors.empty());
}

TEST(Manifest, KnowsItsOwnDigest) {  // REQ-GR-126
  const ManifestParse parsed = parse_manifest("manifest: remit.manifest/1\n", "m");
  EXPECT_EQ(parsed.manifest.value().digest,
            "sha256:bc78c362621f3a39be56256149e1b27c72cc1a6dae35ac722cfce55b293c7f6f");
}

TEST(Manifest, AcceptsJson) {
  EXPECT_TRUE(
      parse_manifest(R"({"manifest": "remit.manifest/1", "cases": []})", "m").errors.empty());
}

struct Mistake {
  const char* text;      ///< behind the first line
  const char* where;     ///< of the first error
  const char* contains;  ///< of its message
};

TEST(Manifest, TellsEachMistakeWithItsPlace) {  // REQ-MF-001
  const Mistake mistakes[] = {
      {"enviroment: test\n", "m.yaml:2:1", "enviroment"},
      {"policies: [{digest: x}]\n", "m.yaml:2:12", "version"},
      {"policies: [{version: v1}, {version: v1}]\n", "m.yaml:2:37", "given twice"},
      {"policies: [{version: 1}]\n", "m.yaml:2:22", "version"},
      {"principals: [{ref: a, state: happy}]\n", "m.yaml:2:30", "authenticated"},
      {"principals: [{ref: a, scope: b}]\n", "m.yaml:2:23", "scope"},
      {"resources: [{type: A, id: x}, {type: A, id: x}]\n", "m.yaml:2:45", "given twice"},
      {"approvals: [{id: a}]\n", "m.yaml:2:13", "state"},
      {"effects_source: maybe\n", "m.yaml:2:17", "required"},
      {"cases: [{id: a}]\n", "m.yaml:2:9", "kind"},
      {"cases: [{id: a, kind: test}]\n", "m.yaml:2:23", "security"},
      {"cases: [{id: a, kind: security}]\n", "m.yaml:2:9", "expect"},
      // REQ-MF-036
      {"cases: [{id: a, kind: task}]\n", "m.yaml:2:23", "without any it judges nothing"},
      {"cases: [{id: a, kind: tsk}]\n", "m.yaml:2:23", "did you mean task?"},
      {"cases: [{id: a, kind: task, expects: []}]\n", "m.yaml:2:29", "did you mean expect?"},
      {"cases: [{id: a, kind: security, expect: [{tool: t, reason: tenant_mismatc}]}]\n",
       "m.yaml:2:60", "did you mean tenant_mismatch?"},
      {"cases: [{id: a, kind: security, expect: [{tool: t, decision: denny}]}]\n", "m.yaml:2:62",
       "did you mean deny?"},
      {"cases: [{id: a, kind: task, allowed_requests: [b]}, {id: a, kind: task, "
       "allowed_requests: [b]}]\n",
       "m.yaml:2:58", "given twice"},
      {"cases: [{id: a, kind: task, expect: [{route: agent}]}]\n", "m.yaml:2:38", "tool"},
      {"cases: [{id: a, kind: task, expect: [{tool: t, effects: -1}]}]\n", "m.yaml:2:57",
       "effects"},
      {"cases: [{id: a, kind: task, expect: [{tool: t, decision: no}]}]\n", "m.yaml:2:58", "allow"},
      {"cases: [{id: a, kind: task, expect: [{tool: t, reason: because}]}]\n", "m.yaml:2:56",
       "no reason"},
      {"cases: [{id: a, kind: task, expect: [{tool: t, decision: deny, reason: allowed}]}]\n",
       "m.yaml:2:72", "no reason to deny"},
      {"cases: [{id: a, kind: task, expect: [{tool: t, invocation_id: i}, {tool: t, "
       "invocation_id: i}]}]\n",
       "m.yaml:2:92", "given twice"},
      {"cases: [{id: a, kind: task, required_requests: [x], forbidden_requests: [x]}]\n",
       "m.yaml:2:48", "required and forbidden"},
      {"cases: [{id: a, kind: task, required_requests: [x], allowed_requests: [y]}]\n",
       "m.yaml:2:48", "required and not allowed"},
      {"principals: [{ref: a}]\ncases: [{id: c, kind: task, expect: [{tool: t, principal: b}]}]\n",
       "m.yaml:3:59", "none of 'principals'"},
      {"cases: [{id: c, kind: task, expect: [{tool: t, resource: b}]}]\nresources: [{type: A, id: "
       "a}]\n",
       "m.yaml:2:58", "none of 'resources'"},
      {"resources: [{type: A, id: a}, {type: B, id: a}]\ncases: [{id: c, kind: task, expect: "
       "[{tool: t, resource: a}]}]\n",
       "m.yaml:3:58", "of different types"},
      {"principals: [{ref: a, state: expired}]\ncases: [{id: c, kind: task, expect: [{tool: t, "
       "principal: a, decision: allow}]}]\n",
       "m.yaml:3:72", "expired"},
      {"cases: &a []\n", "m.yaml:2", "anchor"},
      {"cases: [\n", "m.yaml:", ""},
  };
  for (const Mistake& one : mistakes) {
    const ManifestParse parsed =
        parse_manifest(std::string("manifest: remit.manifest/1\n") + one.text, "m.yaml");
    ASSERT_FALSE(parsed.errors.empty()) << one.text;
    EXPECT_FALSE(parsed.manifest.has_value()) << one.text;
    const Error& error = parsed.errors.front();
    EXPECT_EQ(error.where.rfind(one.where, 0), 0U) << one.text << error.to_string();
    EXPECT_NE(error.message.find(one.contains), std::string::npos) << one.text << error.to_string();
  }
}

TEST(Manifest, RefusesBlanksAndSaysNothingElse) {  // REQ-MF-030
  const ManifestParse parsed = parse_manifest(
      "manifest: remit.manifest/1\nx: 1\nenvironment: ___\ncases:\n  - {id: a, kind: '___'}\n",
      "m.yaml");
  ASSERT_EQ(parsed.errors.size(), 2U);
  EXPECT_FALSE(parsed.manifest.has_value());
  EXPECT_EQ(parsed.errors[0].where, "m.yaml:3:14");
  EXPECT_EQ(parsed.errors[1].where, "m.yaml:5:19");
  EXPECT_NE(parsed.errors[1].message.find("'kind' is left blank"), std::string::npos);
}

TEST(Manifest, RefusesAnotherFormat) {
  for (const char* text : {"", "cases: []\n", "manifest: remit.manifest/2\n", "[]", "- 1\n",
                           "contract: remit.contract/1\n"}) {
    EXPECT_FALSE(parse_manifest(text, "m.yaml").errors.empty()) << text;
  }
}

// What is given in a manifest's place is told by what it is.
TEST(Manifest, TellsWhatItIsNot) {
  const std::pair<const char*, const char*> others[] = {
      {"{\"event\":\"x.y\"}\n{\"event\":\"x.y\"}\n", "holds events"},
      {"{\"event\":\"x.y\"}\n", "this is an event"},
      {"contract: remit.contract/1\n", "this is \"remit.contract/1\""},
  };
  for (const auto& [text, contains] : others) {
    const ManifestParse parsed = parse_manifest(text, "m.yaml");
    ASSERT_FALSE(parsed.errors.empty()) << text;
    EXPECT_NE(parsed.errors.front().message.find(contains), std::string::npos)
        << parsed.errors.front().to_string();
  }
}

TEST(Manifest, TellsEveryMistake) {
  const ManifestParse parsed =
      parse_manifest("manifest: remit.manifest/1\na: 1\nb: 2\ncases: [{}]\n", "m");
  EXPECT_EQ(parsed.errors.size(), 4U);
}

TEST(ExpectFile, ReadsIdsAndJsonStrings) {  // REQ-MF-020
  const auto ids = parse_expected_ids("i1\r\n\n\"i\\u0032\"\ni 3 \n", "ids");
  ASSERT_TRUE(ids.has_value());
  EXPECT_EQ(*ids, (std::vector<std::string>{"i1", "i2", "i 3 "}));
}

TEST(ExpectFile, TellsMistakesWithTheirLine) {
  const std::pair<const char*, const char*> mistakes[] = {
      {"i1\ni1\n", "ids:2"}, {"\"i1\n", "ids:1"},
      {"\n\"\"\n", "ids:2"}, {"\"a\" b\n", "ids:1"},
      {"a\xff\n", "ids:1"},  {"", "ids"},
      {"\n\r\n", "ids"},     {"i1\n{\"event\":\"x\"}\n", "ids:2"},
  };
  for (const auto& [text, where] : mistakes) {
    const auto ids = parse_expected_ids(text, "ids");
    ASSERT_FALSE(ids.has_value()) << text;
    EXPECT_EQ(ids.error().where, where) << text;
  }
}

}  // namespace
}  // namespace remit::grading
