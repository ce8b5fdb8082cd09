// Handoff bundles: what is in them, and a directory that is whole or not there.
#include "report/handoff.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "grading/grading.h"
#include "json/value.h"
#include "tests/support/faulty_file_system.h"
#include "tests/support/memory_file.h"
#include "tests/support/seeded_random.h"

namespace remit::report {
namespace {

using grading::Grade;

std::string event_line(const std::string& name, const std::string& id, const std::string& more) {
  return "{\"event\":\"" + name + "\",\"invocation_id\":\"" + id + "\",\"tool\":\"refund.create\"" +
         more + "}\n";
}

/// A denied call that started all the same, whose record comes from a stream.
std::string denied_and_started(const std::string& id) {
  return event_line("tool.request", id, ",\"requested_ref\":\"sha256:aa\",\"route\":\"agent\"") +
         event_line("authorization.decision", id,
                    ",\"decision\":\"deny\",\"reason\":\"tenant_mismatch\",\"policy_version\":"
                    "\"v7\",\"principal_class\":\"support_agent\",\"resource_id\":\"inv-9\","
                    "\"resolution_source\":\"invoices\",\"resolution_revision\":\"12\"") +
         event_line("executor.start", id, "");
}

Grade grade_of(const std::string& text) {
  grading::Evidence evidence;
  evidence.inputs.push_back(
      trace::Input::of_stream("-", std::make_unique<testing::MemoryFile>(text)));
  grading::Criteria criteria;
  criteria.keep_records = true;
  grading::ManifestParse manifest = grading::parse_manifest(
      "{manifest: remit.manifest/1, environment: test, fixture_revision: fx-7, cases: [{id: c, "
      "kind: task, allowed_requests: [invoice.read]}]}",
      "manifest.yaml");
  criteria.manifest = std::move(manifest.manifest);
  PosixFileSystem files;
  return grading::grade(files, std::move(evidence), std::move(criteria)).value();
}

const std::string kHostileId = R"(..\/..\/<img src=x onerror=alert(1)>\u0007\u202e)";

TEST(Handoff, TellsTheFirstContradictedFactAndWhatTheOwnerNeeds) {  // REQ-RP-052 to 055
  SystemRandom random;
  testing::FaultyFileSystem files;
  const Grade grade = grade_of(denied_and_started("i1"));
  ASSERT_TRUE(write_handoff(files, random, "out", grade, "1.2.3"));
  const std::string text = files.read("out/000001-start_after_deny.json", 100'000).value();
  const json::Value document = json::parse(text).value();
  const auto says = [&](const char* pointer, const char* expected) {
    const json::Value* found = document.at_pointer(pointer);
    ASSERT_NE(found, nullptr) << pointer;
    ASSERT_NE(found->if_string(), nullptr) << pointer;
    EXPECT_EQ(*found->if_string(), expected) << pointer;
  };
  says("/schema", "remit.handoff/1");
  says("/invocation_id", "i1");
  says("/owner", "executor");
  says("/manifest/fixture_revision", "fx-7");
  says("/first_contradicted/0/code", "start_after_deny");
  says("/first_contradicted/0/expected", "no start");
  says("/first_contradicted/0/recorded", "a start");
  says("/request/requested_ref", "sha256:aa");
  says("/principal/principal_class", "support_agent");
  says("/resource/resource_id", "inv-9");
  says("/resource/resolution_source", "invoices");
  says("/resource/resolution_revision", "12");
  says("/decision/decision", "deny");
  says("/decision/reason", "tenant_mismatch");
  says("/decision/policy_version", "v7");
  says("/events/2/event", "executor.start");
  EXPECT_EQ(*document.at_pointer("/events/2/line"), json::Value(3));
  EXPECT_EQ(*document.at_pointer("/counts/starts"), json::Value(1));
  EXPECT_TRUE(document.at_pointer("/resource/resource_tenant")->is_null());
  EXPECT_EQ(document.at_pointer("/first_contradicted/0/consequence"), nullptr);
  const std::string page = files.read("out/000001-start_after_deny.html", 100'000).value();
  EXPECT_LT(page.find("First contradicted fact"), page.find("Timeline"));
  EXPECT_NE(page.find("tenant_mismatch"), std::string::npos);
}

TEST(Handoff, HasNoOutsideTextInNamesOrMarkup) {  // REQ-RP-051
  SystemRandom random;
  testing::FaultyFileSystem files;
  const Grade grade = grade_of(denied_and_started(kHostileId) + denied_and_started("i2") +
                               event_line("tool.request", "i3", "") + "{\"event\":3}\n");
  ASSERT_TRUE(write_handoff(files, random, "out/", grade, "1.2.3"));
  const std::vector<std::string> names = files.list("out").value();
  const std::set<std::string> expected = {"000001-start_after_deny.html",
                                          "000001-start_after_deny.json",
                                          "000002-start_after_deny.html",
                                          "000002-start_after_deny.json",
                                          "000003-missing_decision.html",
                                          "000003-missing_decision.json",
                                          "index.html",
                                          "index.json"};
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()), expected);
  for (const std::string& name : names) {
    const std::string text = files.read("out/" + name, 100'000).value();
    EXPECT_EQ(text.find('\x07'), std::string::npos) << name;
    if (name.ends_with(".json")) {
      EXPECT_TRUE(json::parse(text)) << name;
    } else {
      EXPECT_EQ(text.find("<img"), std::string::npos) << name;
      EXPECT_EQ(text.find("\xe2\x80\xae"), std::string::npos) << name;
    }
  }
  const std::string index = files.read("out/index.json", 100'000).value();
  EXPECT_NE(index.find("malformed_event"), std::string::npos);  // REQ-RP-056
}

TEST(Handoff, IsThereWholeOrNotAtAll) {  // REQ-RP-050
  SystemRandom random;
  using Fault = testing::FaultyFileSystem::Fault;
  const Grade grade = grade_of(denied_and_started("i1"));
  for (std::uint64_t step = 1;; ++step) {
    testing::FaultyFileSystem files;
    files.fail_at(step, Fault::kShort);
    const Status written = write_handoff(files, random, "out", grade, "1.2.3");
    const bool has_failed = files.has_failed();
    files.heal();
    const Result<std::vector<std::string>> names = files.list("out");
    EXPECT_TRUE(!names || names->size() == 4) << step;
    EXPECT_EQ(files.list(".")->size(), names ? 1U : 0U) << step;  // nothing else is left
    if (!has_failed) {
      EXPECT_TRUE(written);
      break;
    }
    if (names) continue;  // in place, though not yet made durable
    EXPECT_TRUE(write_handoff(files, random, "out", grade, "1.2.3")) << step;
  }
}

TEST(Handoff, LeavesOnlyWhatIsKnownAsOursWhereItDies) {  // REQ-RP-050
  SystemRandom random;
  using Fault = testing::FaultyFileSystem::Fault;
  const Grade grade = grade_of(denied_and_started("i1"));
  for (const bool has_power : {true, false}) {
    for (std::uint64_t step = 1;; ++step) {
      testing::FaultyFileSystem files;
      files.fail_at(step, Fault::kCrash);
      (void)write_handoff(files, random, "out", grade, "1.2.3");
      const bool has_failed = files.has_failed();
      if (has_power) {
        files.revive();
      } else {
        files.restart(testing::FaultyFileSystem::Loss::kNothing);
      }
      const std::vector<std::string> there = *files.list(".");
      for (const std::string& name : there) {
        EXPECT_TRUE(name == "out" || name.starts_with(".remit-")) << step << name;
      }
      if (const auto names = files.list("out")) {
        EXPECT_EQ(names->size(), 4U) << step;
        for (const std::string& name : *names) {
          EXPECT_FALSE(files.read("out/" + name, 100'000)->empty()) << step;
        }
      }
      if (!has_failed) break;
    }
  }
}

TEST(Handoff, LeavesWhatIsBesideItAlone) {  // REQ-RP-050
  SystemRandom random;
  std::string pattern = ::testing::TempDir() + "handoff.XXXXXX";
  ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
  const std::filesystem::path folder = pattern;
  std::filesystem::create_directory(folder / "hy.new");
  std::filesystem::create_directory(folder / "aim");
  std::filesystem::create_directory_symlink(folder / "aim", folder / "hx.new");
  PosixFileSystem files;
  const std::string mine[] = {folder / "hy.new" / "mine.jsonl", folder / "aim" / "mine.jsonl"};
  for (const std::string& file : mine) ASSERT_TRUE(files.replace(file, "precious"));
  const Grade grade = grade_of(denied_and_started("i1"));
  for (const char* name : {"hx", "hy/"}) {
    EXPECT_TRUE(write_handoff(files, random, folder / name, grade, "1.2.3"));
    EXPECT_EQ(files.list(folder / name)->size(), 4U);
  }
  for (const std::string& file : mine) EXPECT_EQ(files.read(file, 100).value(), "precious");
  const Status refused = write_handoff(files, random, folder / "no" / "place", grade, "1.2.3");
  EXPECT_EQ(refused.error().where, folder / "no" / "place");
  EXPECT_EQ(files.list(folder)->size(), 5U);
  std::filesystem::remove_all(folder);
}

TEST(Handoff, TakesNoDirectoryThatSomebodyMadeInItsPlace) {  // REQ-RP-050
  const Grade grade = grade_of(denied_and_started("i1"));
  testing::SeededRandom guessed;
  const std::string beside = name_beside("out", guessed);
  testing::FaultyFileSystem files;
  ASSERT_TRUE(files.make_directory(beside));
  ASSERT_TRUE(files.replace(beside + "/theirs", "x"));
  testing::SeededRandom random;
  EXPECT_EQ(write_handoff(files, random, "out", grade, "1.2.3").error().code,
            ErrorCode::kAlreadyExists);
  EXPECT_EQ(files.read(beside + "/theirs", 10).value(), "x");
  EXPECT_FALSE(files.info("out"));
}

TEST(Handoff, HoldsNoMoreThanTenThousandThoseThatFailedFirst) {  // REQ-RP-057
  SystemRandom random;
  Grade grade = grade_of(event_line("tool.request", "i0", "") + denied_and_started("i1"));
  ASSERT_EQ(grade.invocations.size(), 2U);
  std::vector<grading::InvocationGrade> two = grade.invocations;
  for (const grading::Verdict verdict : grading::kVerdicts) {
    two[0].verdicts[verdict] = grading::Value::kUndetermined;
  }
  // Many that are undetermined, and a failed one as the last.
  grade.invocations.assign(10'002, two[0]);
  grade.invocations.back() = two[1];
  testing::FaultyFileSystem files;
  ASSERT_TRUE(write_handoff(files, random, "out", grade, "1.2.3"));
  EXPECT_EQ(files.list("out")->size(), 2 * 10'000 + 2U);
  EXPECT_TRUE(files.info("out/000001-missing_decision.json"));
  EXPECT_TRUE(files.info("out/010000-start_after_deny.json"));
  const std::string index = files.read("out/index.json", 10'000'000).value();
  EXPECT_EQ(*json::parse(index)->at_pointer("/bundles_left_out"), json::Value(2));
  const std::string page = files.read("out/index.html", 10'000'000).value();
  EXPECT_NE(page.find("and 2 more invocations, left out"), std::string::npos);
}

TEST(Handoff, OverwritesNothing) {  // REQ-RP-050
  SystemRandom random;
  testing::FaultyFileSystem files;
  const Grade grade = grade_of(denied_and_started("i1"));
  ASSERT_TRUE(files.make_directory("out"));
  ASSERT_TRUE(write_handoff(files, random, "out", grade, "1.2.3")) << "an empty directory will do";
  const Status again = write_handoff(files, random, "out", grade, "1.2.3");
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::kAlreadyExists);
  ASSERT_TRUE(files.replace("file", "x"));
  EXPECT_FALSE(write_handoff(files, random, "file", grade, "1.2.3"));
}

}  // namespace
}  // namespace remit::report
