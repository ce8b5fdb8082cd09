// The log on disk as its callers see it: order, numbers, group commit, publications, limits.
#include "evidence/file_evidence_log.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "evidence/verify.h"
#include "tests/support/evidence_events.h"
#include "tests/support/fake_clock.h"
#include "tests/support/faulty_file_system.h"
#include "tests/support/seeded_random.h"

namespace remit::evidence {
namespace {

using event::Event;
using event::EventKind;
using event::Field;
using testing::evidence_lines;
using testing::member;
using testing::request;

constexpr const char* kRoot = "/evidence";

class FileEvidenceLogTest : public ::testing::Test {
 protected:
  std::unique_ptr<FileEvidenceLog> open(const FileEvidenceOptions& options = {.directory = kRoot}) {
    auto log = FileEvidenceLog::open(files_, clock_, random_, options);
    EXPECT_TRUE(log) << log.error().to_string();
    return log ? std::move(*log) : nullptr;
  }
  void expect_intact() {
    const auto report = verify(files_, kRoot);
    ASSERT_TRUE(report);
    EXPECT_TRUE(report->intact()) << report->damage->to_string();
  }
  std::vector<std::string> lines() { return evidence_lines(files_, kRoot); }

  testing::FaultyFileSystem files_;
  testing::FakeClock clock_;
  testing::SeededRandom random_;
};

// REQ-EL-005.
TEST_F(FileEvidenceLogTest, SetsNumberWriterAndTime) {
  const auto log = open();
  std::vector<Event> events(3, request("i1"));
  events[1].set(Field::kTime, "2020-01-01T00:00:00Z");
  events[2].set(Field::kSeq, std::int64_t{77});
  events[2].set(Field::kWriter, "someone else");
  ASSERT_TRUE(log->commit({events, 0}));
  const std::vector<std::string> written = lines();
  ASSERT_EQ(written.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(member(written[i], "seq"), std::to_string(i + 1));
    EXPECT_EQ(member(written[i], "writer"), log->writer());
    EXPECT_EQ(member(written[i], "time"),
              i == 1 ? "2020-01-01T00:00:00Z" : "2026-11-30T12:00:00.000000000Z");
  }
  EXPECT_EQ(log->directory(), "writer-000001");
  EXPECT_EQ(log->writer().size(), 26U);
}

TEST_F(FileEvidenceLogTest, CountsTheEventsBeforeTheEndOfARun) {
  const auto log = open();
  Event finished;
  finished.kind = EventKind::kRunFinished;
  Event counted = finished;
  counted.set(Field::kEvents, std::int64_t{9});
  const std::vector<Event> events{request("a"), request("b"), finished, counted};
  ASSERT_TRUE(log->commit({events, 0}));
  EXPECT_EQ(member(lines()[2], "events"), "2");
  EXPECT_EQ(member(lines()[3], "events"), "9");
}

// REQ-EL-020.
TEST_F(FileEvidenceLogTest, ACommitIsOnDiskWhenItReturns) {
  const auto log = open();
  const std::vector<Event> events(2, request("i1"));
  ASSERT_TRUE(log->commit({events, 0}));
  files_.kill();
  files_.restart(testing::FaultyFileSystem::Loss::kEverything);
  EXPECT_EQ(lines().size(), 2U);
}

// REQ-EL-023.
TEST_F(FileEvidenceLogTest, AppendedEventsKeepTheirPlaceAndGoWithTheNextCommit) {
  const auto log = open({.directory = kRoot, .append_interval = std::chrono::hours(1)});
  ASSERT_TRUE(log->append({std::vector<Event>{request("first")}, 0}));
  EXPECT_TRUE(lines().empty());
  ASSERT_TRUE(log->commit({std::vector<Event>{request("second")}, 0}));
  ASSERT_EQ(lines().size(), 2U);
  EXPECT_EQ(member(lines()[0], "invocation_id"), "first");
  ASSERT_TRUE(log->append({std::vector<Event>{request("third")}, 0}));
  ASSERT_TRUE(log->flush());
  EXPECT_EQ(lines().size(), 3U);
  ASSERT_TRUE(log->append({std::vector<Event>{request("fourth")}, 0}));
  ASSERT_TRUE(log->close());
  EXPECT_EQ(lines().size(), 4U);
  expect_intact();
}

// REQ-EL-023.
TEST_F(FileEvidenceLogTest, AppendedEventsReachTheDiskThoughNoOneWaits) {
  const auto log = open({.directory = kRoot, .append_interval = std::chrono::milliseconds(1)});
  for (std::size_t i = 1; i <= 3; ++i) {
    ASSERT_TRUE(log->append({std::vector<Event>{request("i")}, 0}));
    while (lines().size() < i) std::this_thread::yield();
  }
}

// REQ-EL-024.
TEST_F(FileEvidenceLogTest, AnOlderGenerationIsRefusedOnceANewerIsPublished) {
  const auto log = open();
  const std::vector<Event> events{request("i")};
  Event published;
  published.kind = EventKind::kPolicyPublished;
  published.set(Field::kPolicyVersion, "v");
  ASSERT_TRUE(log->commit({events, 3}));
  ASSERT_TRUE(log->publish(published, 4));
  EXPECT_EQ(log->commit({events, 3}).error().code, ErrorCode::kFailedPrecondition);
  EXPECT_EQ(log->append({events, 3}).error().code, ErrorCode::kFailedPrecondition);
  EXPECT_EQ(log->publish(published, 3).error().code, ErrorCode::kFailedPrecondition);
  EXPECT_TRUE(log->publish(published, 4)) << "again is harmless";
  EXPECT_TRUE(log->commit({events, 4}));
  EXPECT_TRUE(log->commit({events, 0})) << "not decided by any policy";
  EXPECT_EQ(lines().size(), 4U);
  EXPECT_TRUE(log->close());
  expect_intact();
}

// Publications race with decisions: no decision may stand in the log behind a newer policy than the
// one it was made by (REQ-EL-024).
TEST_F(FileEvidenceLogTest, NoDecisionStandsBehindANewerPolicy) {
  const auto log = open({.directory = kRoot, .max_segment_bytes = 4000});
  constexpr int kGenerations = 40;
  std::atomic<int> in_force{1};
  std::atomic<int> committed{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&] {
      while (true) {
        const int generation = in_force;
        if (generation > kGenerations) return;
        const std::string version = std::to_string(generation);
        Event decided = request("i");
        decided.set(Field::kPolicyVersion, version);
        const std::vector<Event> events{decided};
        std::this_thread::yield();  // Room for a publication between decision and commit.
        if (log->commit({events, static_cast<std::uint64_t>(generation)})) ++committed;
      }
    });
  }
  for (int generation = 2; generation <= kGenerations; ++generation) {
    const std::string version = std::to_string(generation);
    Event published;
    published.kind = EventKind::kPolicyPublished;
    published.set(Field::kPolicyVersion, version);
    ASSERT_TRUE(log->publish(published, static_cast<std::uint64_t>(generation)));
    in_force = generation;
    for (const int seen = committed; committed < seen + 4;) std::this_thread::yield();
  }
  in_force = kGenerations + 1;
  for (std::thread& caller : callers) caller.join();
  int published = 1;
  for (const std::string& line : lines()) {
    const std::string text = member(line, "policy_version");
    int version = 0;
    std::from_chars(text.data(), text.data() + text.size(), version);
    if (member(line, "event") == "policy.published") published = version;
    EXPECT_EQ(version, published) << line;
  }
  EXPECT_EQ(published, kGenerations);
}

TEST_F(FileEvidenceLogTest, ManyCallersShareOneOrderWithoutGaps) {
  const auto log =
      open({.directory = kRoot, .max_segment_bytes = 20'000, .max_pending_bytes = 1000});
  constexpr int kCallers = 16;
  constexpr int kCommits = 100;
  std::vector<std::thread> callers;
  for (int caller = 0; caller < kCallers; ++caller) {
    callers.emplace_back([&, caller] {
      const std::string id = "caller" + std::to_string(caller);
      for (int i = 0; i < kCommits; ++i) {
        const std::string attempt = std::to_string(i);
        std::vector<Event> events(2, request(id));
        for (Event& one : events) one.set(Field::kRunId, attempt);
        const Status status = i % 3 == 0 ? log->append({events, 0}) : log->commit({events, 0});
        ASSERT_TRUE(status) << status.error().to_string();
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  ASSERT_TRUE(log->close());
  const std::vector<std::string> written = lines();
  ASSERT_EQ(written.size(), std::size_t{2} * kCallers * kCommits);
  std::map<std::string, int> next;
  for (std::size_t i = 0; i < written.size(); ++i) {
    ASSERT_EQ(member(written[i], "seq"), std::to_string(i + 1));
    const std::string id = member(written[i], "invocation_id");
    ASSERT_EQ(member(written[i], "run_id"), std::to_string(next[id]++ / 2));
    if (i % 2 == 0) continue;
    ASSERT_EQ(id, member(written[i - 1], "invocation_id")) << "a batch is whole";
  }
  expect_intact();
}

// A log may be verified while its writer is at work: what is added meanwhile is seen or not, and is
// no damage (REQ-EL-042).
TEST_F(FileEvidenceLogTest, ALogAtWorkVerifiesAtEveryMoment) {
  std::atomic<bool> stop{false};
  std::atomic<int> verified{0};
  auto log = open({.directory = kRoot, .max_segment_bytes = 1000});
  std::thread reader([&] {
    while (!stop) {
      const auto report = verify(files_, kRoot);
      ASSERT_TRUE(report) << report.error().to_string();
      ASSERT_TRUE(report->intact()) << report->damage->to_string();
      ++verified;
    }
  });
  for (int i = 0; i < 1000; ++i) {
    const std::vector<Event> events(1 + static_cast<std::size_t>(i) % 3, request("i"));
    ASSERT_TRUE(log->commit({events, 0}));
    if (i % 50 != 49) continue;
    ASSERT_TRUE(log->close());
    log = open({.directory = kRoot, .max_segment_bytes = 1000});
  }
  stop = true;
  reader.join();
  EXPECT_GT(verified, 0);
}

TEST_F(FileEvidenceLogTest, AnOverlongEventIsRefusedAndTheLogGoesOn) {
  const auto log = open();
  const std::string huge(kMaxEventLineBytes, 'x');
  const std::vector<Event> events{request("fits"), request(huge)};
  EXPECT_EQ(log->commit({events, 0}).error().code, ErrorCode::kLimitExceeded);
  EXPECT_EQ(log->append({events, 0}).error().code, ErrorCode::kLimitExceeded);
  ASSERT_TRUE(log->commit({std::vector<Event>{request("next")}, 0}));
  ASSERT_EQ(lines().size(), 1U);
  EXPECT_EQ(member(lines()[0], "seq"), "1");
}

TEST_F(FileEvidenceLogTest, NothingToWriteWritesNothing) {
  const auto log = open();
  EXPECT_TRUE(log->commit({}));
  EXPECT_TRUE(log->append({}));
  EXPECT_TRUE(log->flush());
  EXPECT_TRUE(log->close());
  EXPECT_TRUE(lines().empty());
  expect_intact();
}

TEST_F(FileEvidenceLogTest, AClosedLogRefuses) {
  const auto log = open();
  ASSERT_TRUE(log->commit({std::vector<Event>{request("i")}, 0}));
  EXPECT_TRUE(log->close());
  EXPECT_TRUE(log->close()) << "again is harmless";
  const std::vector<Event> events{request("late")};
  EXPECT_EQ(log->commit({events, 0}).error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(log->append({events, 0}).error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(log->flush().error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(lines().size(), 1U);
}

// REQ-EL-001, REQ-EL-003.
TEST_F(FileEvidenceLogTest, LivingWritersStandSideBySide) {
  const auto first = open();
  const auto second = open();
  EXPECT_EQ(second->directory(), "writer-000002");
  EXPECT_NE(first->writer(), second->writer());
  EXPECT_TRUE(second->recovered().empty()) << "the first one lives";
  ASSERT_TRUE(first->commit({std::vector<Event>{request("a")}, 0}));
  ASSERT_TRUE(second->commit({std::vector<Event>{request("b")}, 0}));
  expect_intact();
}

// A writer of the number 0 would be seen by no one.
TEST_F(FileEvidenceLogTest, ANumberWithoutASuccessorIsRefused) {
  const std::pair<const char*, bool> cases[] = {
      {"writer-18446744073709551615", false}, {"writer-18446744073709551614", false},
      {"writer-18446744073709550616", false}, {"writer-18446744073709550615", true},
      {"writer-18446744073709551616", true},  // No number that we know: nobody's folder.
  };
  for (const auto& [name, is_taken] : cases) {
    testing::FaultyFileSystem files;
    ASSERT_TRUE(files.make_directory(kRoot));
    ASSERT_TRUE(files.make_directory(std::string{kRoot} + "/" + name));
    const auto log = FileEvidenceLog::open(files, clock_, random_, {.directory = kRoot});
    ASSERT_EQ(log.has_value(), is_taken) << name;
    if (log) {
      EXPECT_NE((*log)->directory(), "writer-000000") << name;
      continue;
    }
    EXPECT_EQ(log.error().code, ErrorCode::kLimitExceeded) << name;
    EXPECT_EQ(log.error().where, std::string{kRoot} + "/" + name);
  }
}

TEST_F(FileEvidenceLogTest, AMissingParentIsNamed) {
  const auto log =
      FileEvidenceLog::open(files_, clock_, random_, {.directory = "/no/such/evidence"});
  ASSERT_FALSE(log);
  EXPECT_EQ(log.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(log.error().where, "/no/such/evidence");
}

/// On the machine's file system: modes, and a directory in which others may write.
class OnDisk : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = (std::filesystem::temp_directory_path() / "remit-evidence-XXXXXX").string();
    ASSERT_NE(::mkdtemp(root_.data()), nullptr);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  PosixFileSystem files_;
  testing::FakeClock clock_;
  SystemRandom random_;
  std::string root_;
};

// REQ-EL-001, REQ-EL-002, REQ-EL-004.
TEST_F(OnDisk, NoOneElseReadsOrWrites) {
  const std::string directory = root_ + "/evidence";
  const auto log = FileEvidenceLog::open(files_, clock_, random_,
                                         {.directory = directory, .max_segment_bytes = 100});
  ASSERT_TRUE(log) << log.error().to_string();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE((*log)->commit({std::vector<Event>{request("i")}, 0}));
  }
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    const auto mode = entry.status().permissions() & std::filesystem::perms::mask;
    EXPECT_EQ(mode, entry.is_directory()
                        ? std::filesystem::perms::owner_all
                        : std::filesystem::perms::owner_read | std::filesystem::perms::owner_write)
        << entry.path();
    ++files;
  }
  EXPECT_EQ(files, 1 + 2 * 3 + 1) << "a directory, three segments, a lock";
  const auto report = verify(files_, directory);
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->intact()) << report->damage->to_string();
}

// A link may lead to files that stay writable elsewhere; a pipe would hold up whoever reads it.
TEST_F(OnDisk, WhatIsNoPlainFileIsDamage) {
  namespace fs = std::filesystem;
  const std::string directory = root_ + "/evidence";
  {
    const auto log = FileEvidenceLog::open(files_, clock_, random_,
                                           {.directory = directory, .max_segment_bytes = 100});
    ASSERT_TRUE(log) << log.error().to_string();
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE((*log)->commit({std::vector<Event>{request("i")}, 0}));
    }
  }
  const std::string aside = root_ + "/aside";
  int tried = 0;
  std::vector<std::string> paths;
  for (const auto& entry : fs::directory_iterator(directory + "/writer-000001")) {
    paths.push_back(entry.path());
  }
  for (const std::string& path : paths) {
    fs::rename(path, aside);
    for (const char* instead : {"link", "pipe", "folder"}) {
      if (instead[0] == 'l') fs::create_symlink(aside, path);
      if (instead[0] == 'p') ::mkfifo(path.c_str(), 0600);
      if (instead[0] == 'f') fs::create_directory(path);
      const auto report = verify(files_, directory);
      ASSERT_TRUE(report) << report.error().to_string();
      EXPECT_FALSE(report->intact()) << path << " " << instead;
      const auto writers = list_segments(files_, directory);
      ASSERT_TRUE(writers);
      EXPECT_EQ(writers->at(0).segments.size(), path.ends_with(".jsonl") ? 2U : 3U) << instead;
      fs::remove(path);
      ++tried;
    }
    fs::rename(aside, path);
  }
  EXPECT_EQ(tried, 3 * 2 * 3);
  EXPECT_TRUE(verify(files_, directory)->intact());
}

// REQ-EL-025: what is done to a live log's files from outside is noticed by the next commit, or by
// closing, and nothing is acknowledged from then on.
TEST_F(OnDisk, AFileTakenFromUnderALiveLogEndsIt) {
  namespace fs = std::filesystem;
  using Harm = std::function<void(const std::string& file, const std::string& writer)>;
  const auto copy_over = [](const std::string& file, const std::string&) {
    fs::copy_file(file, file + ".copy");
    fs::rename(file + ".copy", file);
  };
  const std::pair<const char*, Harm> harms[] = {
      {"removed", [](const std::string& file, const std::string&) { fs::remove(file); }},
      {"moved", [](const std::string& file, const std::string&) { fs::rename(file, file + "x"); }},
      {"replaced by its copy", copy_over},
      {"replaced by a link to it",
       [](const std::string& file, const std::string&) {
         fs::rename(file, file + "x");
         fs::create_symlink(file + "x", file);
       }},
      {"its directory moved",
       [](const std::string&, const std::string& writer) { fs::rename(writer, writer + "x"); }},
      {"its directory removed",
       [](const std::string&, const std::string& writer) { fs::remove_all(writer); }},
      {"cut", [](const std::string& file, const std::string&) { fs::resize_file(file, 3); }},
      {"written to", [](const std::string& file,
                        const std::string&) { std::ofstream(file, std::ios::app) << "more\n"; }},
  };
  const std::vector<Event> events{request("i")};
  int number = 0;
  for (const auto& [harm, harm_it] : harms) {
    for (const std::string name : {"000001.jsonl", "000001.roots", "lock"}) {
      const bool of_contents = std::string_view{harm} == "cut" || harm[0] == 'w';
      if (of_contents && name == "lock") continue;  // Its contents mean nothing.
      for (const bool full : {false, true}) {
        const std::string where =
            name + " " + harm +
            (full ? ", the segment being full" : ", the segment not being full");
        const std::string directory = root_ + "/" + std::to_string(++number);
        const auto log = FileEvidenceLog::open(
            files_, clock_, random_,
            {.directory = directory, .max_segment_bytes = full ? 1 : kMaxSegmentBytes});
        ASSERT_TRUE(log) << log.error().to_string();
        ASSERT_TRUE((*log)->commit({events, 0})) << where;
        const std::string writer = directory + "/writer-000001";
        harm_it(writer + "/" + name, writer);
        const Status first = (*log)->commit({events, 0});
        ASSERT_FALSE(first) << where;
        EXPECT_EQ(first.error().code, ErrorCode::kDataLoss) << where;
        EXPECT_FALSE((*log)->commit({events, 0})) << where;
        EXPECT_FALSE((*log)->append({events, 0})) << where;
        EXPECT_FALSE((*log)->close()) << where;

        const std::string unused = root_ + "/" + std::to_string(++number);
        const auto closed = FileEvidenceLog::open(files_, clock_, random_, {.directory = unused});
        ASSERT_TRUE(closed) << closed.error().to_string();
        ASSERT_TRUE((*closed)->commit({events, 0}));
        harm_it(unused + "/writer-000001/" + name, unused + "/writer-000001");
        EXPECT_FALSE((*closed)->close()) << where;
      }
    }
  }
}

// REQ-EL-025: contents of the lock file, and a second name of a file, harm nothing.
TEST_F(OnDisk, WhatHarmsNoEventIsLetBe) {
  const auto log = FileEvidenceLog::open(files_, clock_, random_, {.directory = root_});
  ASSERT_TRUE(log) << log.error().to_string();
  const std::string writer = root_ + "/writer-000001";
  std::ofstream(writer + "/lock") << "text";
  std::filesystem::create_hard_link(writer + "/000001.jsonl", root_ + "/second-name");
  EXPECT_TRUE((*log)->commit({std::vector<Event>{request("i")}, 0}));
  EXPECT_TRUE((*log)->close());
  EXPECT_TRUE(verify(files_, root_)->intact());
}

// REQ-EL-004.
TEST_F(OnDisk, ADirectoryInWhichOthersMayWriteIsRefused) {
  std::filesystem::permissions(root_, std::filesystem::perms::all);
  const auto log = FileEvidenceLog::open(files_, clock_, random_, {.directory = root_});
  ASSERT_FALSE(log);
  EXPECT_EQ(log.error().code, ErrorCode::kFailedPrecondition);
  EXPECT_EQ(log.error().where, root_);
}

}  // namespace
}  // namespace remit::evidence
