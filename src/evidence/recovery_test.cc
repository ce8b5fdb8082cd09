// Each operation on the file system fails in turn, processes are killed, power goes: nothing that
// was acknowledged is ever missing, and what is left verifies.
#include "evidence/recovery.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "evidence/file_evidence_log.h"
#include "evidence/layout.h"
#include "evidence/verify.h"
#include "tests/support/evidence_events.h"
#include "tests/support/fake_clock.h"
#include "tests/support/faulty_file_system.h"
#include "tests/support/nightly.h"
#include "tests/support/seeded_random.h"

namespace remit::evidence {
namespace {

using event::Event;
using testing::evidence_lines;
using testing::FaultyFileSystem;
using testing::member;
using testing::request;
using Fault = FaultyFileSystem::Fault;
using Loss = FaultyFileSystem::Loss;

constexpr const char* kRoot = "/evidence";
constexpr std::uint64_t kSmallSegmentBytes = 300;

/// What one run of the workload was promised.
struct Promised {
  std::vector<std::string> ids;  ///< of acknowledged events, in order
  bool closed = false;
};

/// Opens a log, commits one and two events in turn over several segments, appends and publishes in
/// between, and closes. After the first error everything else must be refused.
Promised work(FaultyFileSystem& files, std::uint64_t seed,
              std::uint64_t max_segment_bytes = kSmallSegmentBytes) {
  const testing::FakeClock clock;
  testing::SeededRandom random(seed);
  Promised out;
  auto log = FileEvidenceLog::open(files, clock, random,
                                   {.directory = kRoot,
                                    .max_segment_bytes = max_segment_bytes,
                                    .append_interval = std::chrono::hours(1)});
  if (!log) return out;
  bool refused = false;
  std::vector<std::string> appended;
  for (int i = 0; i < 8; ++i) {
    const std::string id = "run" + std::to_string(seed) + "-" + std::to_string(i);
    const std::vector<Event> events(i % 2 == 0 ? 1 : 2, request(id));
    if (i == 3) {
      if ((*log)->append({events, 0})) appended.assign(events.size(), id);
      continue;
    }
    Status done;
    if (i == 5) {
      Event published;
      published.kind = event::EventKind::kPolicyPublished;
      published.set(event::Field::kRunId, id);
      done = (*log)->publish(published, 2);
    } else {
      done = (*log)->commit({events, i < 5 ? 1U : 2U});
    }
    EXPECT_FALSE(done && refused) << "a success after a failure";
    refused = refused || !done;
    if (!done) continue;
    out.ids.insert(out.ids.end(), appended.begin(), appended.end());
    appended.clear();
    if (i != 5) out.ids.insert(out.ids.end(), events.size(), id);
  }
  EXPECT_NE(static_cast<bool>((*log)->flush()), refused);
  out.closed = static_cast<bool>((*log)->close());
  EXPECT_FALSE(out.closed && refused);
  return out;
}

/// The ids on disk that belong to run `seed`, in order.
std::vector<std::string> ids_of(FileSystem& files, std::uint64_t seed) {
  const std::string start = "run" + std::to_string(seed) + "-";
  std::vector<std::string> out;
  for (const std::string& line : evidence_lines(files, kRoot)) {
    const std::string id = member(line, "invocation_id");
    if (id.starts_with(start)) out.push_back(id);
  }
  return out;
}

void expect_kept(FileSystem& files, const Promised& promised, std::uint64_t seed,
                 const std::string& when) {
  const std::vector<std::string> found = ids_of(files, seed);
  ASSERT_GE(found.size(), promised.ids.size()) << when;
  EXPECT_TRUE(std::equal(promised.ids.begin(), promised.ids.end(), found.begin())) << when;
}

void expect_intact(FileSystem& files, bool all_closed, const std::string& when) {
  const auto report = verify(files, kRoot);
  ASSERT_TRUE(report) << when << ": " << report.error().to_string();
  EXPECT_TRUE(report->intact()) << when << ": " << report->damage->to_string();
  for (const WriterState& writer : report->writers) {
    EXPECT_TRUE(writer.closed || !all_closed) << when << ": " << writer.directory;
    EXPECT_EQ(all_closed ? writer.unrooted_lines + writer.torn_bytes : 0, 0U) << when;
  }
}

std::string describe(Fault fault, std::uint64_t step, Loss loss) {
  return "fault " + std::to_string(static_cast<int>(fault)) + " at step " + std::to_string(step) +
         ", loss " + std::to_string(static_cast<int>(loss));
}

/// Fails step `step` of the workload and lets a second process come after it; whether the step was
/// reached at all.
bool fail_and_recover(Fault fault, std::uint64_t step, Loss loss) {
  FaultyFileSystem files;
  const std::string when = describe(fault, step, loss);
  files.fail_at(step, fault);
  const Promised first = work(files, 1);
  const bool reached = files.has_failed();
  if (fault == Fault::kCrash) {
    files.restart(loss);
  } else {
    files.heal();
  }
  if (!files.info(kRoot)) return reached;  // Not even the directory had come to be.
  expect_intact(files, false, when + ", before recovery");
  const Promised second = work(files, 2);
  EXPECT_TRUE(second.closed) << when;
  EXPECT_EQ(second.ids.size(), 11U - 1U) << when;
  expect_kept(files, first, 1, when);
  expect_kept(files, second, 2, when);
  expect_intact(files, true, when);
  return reached;
}

// REQ-EL-022, REQ-EL-033.
TEST(Recovery, NothingAcknowledgedIsLostWhicheverStepFails) {
  for (const Fault fault : {Fault::kError, Fault::kShort}) {
    std::uint64_t step = 1;
    while (fail_and_recover(fault, step, Loss::kNothing)) ++step;
    EXPECT_GT(step, 50U) << "the workload has more steps than that";
  }
}

// REQ-EL-020, REQ-EL-021, REQ-EL-033.
TEST(Recovery, NothingAcknowledgedIsLostWheneverPowerGoes) {
  for (const Loss loss : {Loss::kNothing, Loss::kHalf, Loss::kEverything}) {
    std::uint64_t step = 1;
    while (fail_and_recover(Fault::kCrash, step, loss)) ++step;
    EXPECT_GT(step, 50U) << "the workload has more steps than that";
  }
}

// REQ-EL-020, REQ-EL-033: a process dies, another recovers what it left, and then power goes. What
// the first had not synced was read from memory, and must not be missing beneath what was built on
// it.
TEST(Recovery, WhatWasRecoveredOutlivesALossOfPower) {
  for (const Loss loss : {Loss::kHalf, Loss::kEverything}) {
    std::uint64_t step = 1;
    for (bool reached = true; reached; ++step) {
      FaultyFileSystem files;
      const std::string when = describe(Fault::kCrash, step, loss);
      files.fail_at(step, Fault::kCrash);
      const Promised first = work(files, 1);
      reached = files.has_failed();
      files.revive();
      const Promised second = work(files, 2);
      EXPECT_TRUE(second.closed) << when;
      files.restart(loss);
      expect_kept(files, first, 1, when);
      expect_kept(files, second, 2, when);
      expect_intact(files, false, when);
    }
    EXPECT_GT(step, 50U) << "the workload has more steps than that";
  }
}

/// How many cuts of power the test below tries: enough for every step several times over.
std::uint64_t cuts() {
  return testing::is_nightly() ? 10'000 : 500;
}

/// Cuts power at step `step` of the workload, and what comes after it again at a step of its own.
void cut_and_recover(std::uint64_t step, std::uint64_t seed) {
  FaultyFileSystem files;
  const std::string when =
      "power cut at step " + std::to_string(step) + ", seed " + std::to_string(seed);
  files.fail_at(step, Fault::kCrash);
  // In one segment, roots go over several sectors.
  const std::uint64_t segment_bytes = seed % 3 == 0 ? kMaxSegmentBytes : kSmallSegmentBytes;
  const Promised first = work(files, 1, segment_bytes);
  files.restart_in_disorder(seed);
  if (!files.info(kRoot)) {
    EXPECT_TRUE(first.ids.empty()) << when;
    return;
  }
  expect_intact(files, false, when + ", before recovery");
  files.fail_at(1 + seed % 97, Fault::kCrash);
  const Promised second = work(files, 2);
  files.restart_in_disorder(seed + 1);
  const Promised third = work(files, 3);
  EXPECT_TRUE(third.closed) << when;
  expect_kept(files, first, 1, when);
  expect_kept(files, second, 2, when);
  expect_kept(files, third, 3, when);
  expect_intact(files, true, when);
}

// REQ-EL-020, REQ-EL-021, REQ-EL-033.
TEST(Recovery, NothingAcknowledgedIsLostInWhateverOrderTheDiskWrites) {
  const std::uint64_t steps = [] {
    std::uint64_t step = 1;
    while (fail_and_recover(Fault::kCrash, step, Loss::kNothing)) ++step;
    return step - 1;
  }();
  ASSERT_LT(steps, cuts()) << "not every step has its cut";
  std::uint64_t cut = 0;
  for (; cut < cuts() && !HasFailure(); ++cut) cut_and_recover(1 + cut % steps, cut);
  std::printf("%llu power cuts over %llu steps\n", static_cast<unsigned long long>(cut),
              static_cast<unsigned long long>(steps));
}

/// A log of many commits in one segment, and what of its roots a loss of power left: `roots`.
void cut_roots(const std::function<std::string(std::string)>& left, const std::string& what) {
  FaultyFileSystem files;
  const testing::FakeClock clock;
  testing::SeededRandom random(1);
  auto log = FileEvidenceLog::open(files, clock, random, {.directory = kRoot});
  ASSERT_TRUE(log);
  Promised promised;
  for (int i = 0; i < 100; ++i) {
    promised.ids.push_back("run1-" + std::to_string(i));
    ASSERT_TRUE((*log)->commit({std::vector<Event>{request(promised.ids.back())}, 0}));
  }
  files.kill();
  log->reset();
  files.revive();
  const SegmentFiles segment(std::string{kRoot} + "/writer-000001", 1);
  const std::string roots = files.read(segment.roots, 100'000).value();
  ASSERT_GT(roots.size(), 8'500U);
  ASSERT_TRUE(files.replace(segment.roots, left(roots)));
  expect_intact(files, false, what + ", before recovery");
  const auto recovered = recover(files, clock, kRoot);
  ASSERT_TRUE(recovered);
  ASSERT_EQ(recovered->size(), 1U) << what;
  EXPECT_FALSE(recovered->front().damage) << what << recovered->front().damage->to_string();
  expect_kept(files, promised, 1, what);
  expect_intact(files, true, what);
}

// REQ-EL-034.
TEST(Recovery, RootsWithAHoleInFrontOfWholeOnesAreNoDamage) {
  cut_roots(
      [](std::string roots) {
        std::fill(roots.begin() + 4096, roots.begin() + 8192, '\0');
        return roots;
      },
      "a page of roots lost, and later ones there");
  cut_roots(
      [](const std::string& roots) { return roots.substr(0, 5000) + std::string(3192, '\0'); },
      "a torn tail of more than a line's most");
  cut_roots(
      [](std::string roots) {
        for (const std::size_t page : {1024U, 3072U, 7168U}) {
          std::fill_n(roots.begin() + static_cast<std::ptrdiff_t>(page), 512, '\0');
        }
        return roots;
      },
      "several holes");
}

// The case that must fail: a log that acknowledged what it did not sync would be found out.
TEST(Recovery, TheHarnessSeesWhatIsLost) {
  FaultyFileSystem files;
  ASSERT_TRUE(files.make_directory(kRoot));
  const testing::FakeClock clock;
  testing::SeededRandom random;
  auto log = FileEvidenceLog::open(files, clock, random,
                                   {.directory = kRoot, .append_interval = std::chrono::hours(1)});
  ASSERT_TRUE(log);
  ASSERT_TRUE((*log)->append({std::vector<Event>{request("run1-0")}, 0}));
  files.kill();
  log->reset();
  files.restart(Loss::kEverything);
  EXPECT_TRUE(ids_of(files, 1).empty());
}

// REQ-EL-033.
TEST(Recovery, RecoveryItselfMayDieAtEveryStep) {
  for (const Loss loss : {Loss::kNothing, Loss::kHalf, Loss::kEverything}) {
    bool reached = true;
    for (std::uint64_t step = 1; reached; ++step) {
      FaultyFileSystem files;
      const testing::FakeClock clock;
      const Promised promised = [&] {
        // Dies in the middle of a line of the third segment.
        Promised out;
        testing::SeededRandom random(1);
        auto log = FileEvidenceLog::open(files, clock, random,
                                         {.directory = kRoot, .max_segment_bytes = 300});
        for (int i = 0; i < 5; ++i) {
          const std::string id = "run1-" + std::to_string(i);
          EXPECT_TRUE((*log)->commit({std::vector<Event>{request(id)}, 0}));
          out.ids.push_back(id);
        }
        files.fail_at(1, Fault::kCrash);
        EXPECT_FALSE((*log)->commit({std::vector<Event>{request("run1-5")}, 0}));
        log->reset();
        files.revive();
        return out;
      }();
      files.fail_at(step, Fault::kCrash);
      const auto recovered = recover(files, clock, kRoot);
      reached = files.has_failed();
      files.restart(loss);
      const std::string when = describe(Fault::kCrash, step, loss);
      ASSERT_TRUE(recover(files, clock, kRoot)) << when;
      expect_kept(files, promised, 1, when);
      expect_intact(files, true, when);
      const std::vector<std::string> lines = evidence_lines(files, kRoot);
      EXPECT_EQ(member(lines.back(), "event"), "evidence.lost") << when;
      EXPECT_EQ(member(lines.back(), "events"), "-1") << when;
    }
  }
}

/// A log of `commits` single events whose writer died, with `tail` behind its last line.
void write_dead_log(FaultyFileSystem& files, int commits, const std::string& tail) {
  const testing::FakeClock clock;
  testing::SeededRandom random(5);
  auto log = FileEvidenceLog::open(files, clock, random, {.directory = kRoot});
  ASSERT_TRUE(log);
  for (int i = 0; i < commits; ++i) {
    ASSERT_TRUE((*log)->commit({std::vector<Event>{request("i")}, 0}));
  }
  files.kill();
  log->reset();
  files.revive();
  const SegmentFiles paths(std::string{kRoot} + "/writer-000001", 1);
  const auto lines = files.open_append(paths.lines, OpenMode::kMustExist);
  ASSERT_TRUE(lines && (*lines)->append(std::as_bytes(std::span{tail})));
}

// REQ-EL-032. What is lost belongs to the run of the log, where there can be no doubt which.
TEST(Recovery, TellsOfWhichRunEventsWereLost) {
  struct Row {
    std::vector<std::string> runs;  // of one event each; empty: none
    std::string told;
  };
  for (const Row& row :
       {Row{{}, ""}, Row{{""}, ""}, Row{{"r1"}, "r1"}, Row{{"", "r1", "", "r1"}, "r1"},
        Row{{"r1", "r2"}, ""}, Row{{"r1", "r2", "r1"}, ""}, Row{{"\"r\n1"}, "\"r\n1"}}) {
    FaultyFileSystem files;
    const testing::FakeClock clock;
    testing::SeededRandom random(5);
    // More than one segment.
    auto log =
        FileEvidenceLog::open(files, clock, random, {.directory = kRoot, .max_segment_bytes = 300});
    ASSERT_TRUE(log);
    for (const std::string& run : row.runs) {
      Event one = request("i");
      one.set_if_any(event::Field::kRunId, run);
      ASSERT_TRUE((*log)->commit({std::vector<Event>{one}, 0}));
    }
    files.kill();
    log->reset();
    files.revive();
    ASSERT_TRUE(recover(files, clock, kRoot));
    const std::vector<std::string> lines = evidence_lines(files, kRoot);
    ASSERT_EQ(lines.size(), row.runs.size() + 1);
    event::Decoder decoder;
    Event lost;
    const std::string padded = lines.back() + std::string(event::Decoder::kPadding, ' ');
    ASSERT_TRUE(decoder.decode(std::string_view(padded).substr(0, lines.back().size()), lost));
    EXPECT_EQ(lost.kind, event::EventKind::kEvidenceLost);
    EXPECT_EQ(lost.text(event::Field::kRunId), row.told) << row.runs.size();
  }
}

// REQ-EL-031, REQ-EL-032.
TEST(Recovery, CutsATornTailKeepsItAsideAndSaysSo) {
  for (const std::string& tail :
       {std::string{"{\"event\":\"tool.req"}, std::string{"\n"}, std::string(5000, '\0'),
        std::string{"{}\n{}\n"}, std::string(3 * 1024 * 1024, 'x')}) {
    FaultyFileSystem files;
    write_dead_log(files, 2, tail);
    const testing::FakeClock clock;
    const auto recovered = recover(files, clock, kRoot);
    ASSERT_TRUE(recovered);
    ASSERT_EQ(recovered->size(), 1U);
    EXPECT_EQ(recovered->front().torn_bytes, tail.size());
    EXPECT_EQ(recovered->front().events, 3U);
    EXPECT_EQ(files.read("/evidence/writer-000001/000001.torn", tail.size()).value_or(""), tail);
    const std::vector<std::string> lines = evidence_lines(files, kRoot);
    ASSERT_EQ(lines.size(), 3U);
    EXPECT_EQ(member(lines[2], "cause"), "torn_tail");
    EXPECT_EQ(member(lines[2], "seq"), "3");
    EXPECT_EQ(member(lines[2], "writer"), member(lines[1], "writer"));
    expect_intact(files, true, "after recovery");
    EXPECT_EQ(verify(files, kRoot)->writers[0].remade_roots, 1U);
    EXPECT_TRUE(recover(files, clock, kRoot)->empty()) << "once is enough";
  }
}

// REQ-EL-031. However often recovery dies, at whichever step, the torn bytes are still there.
TEST(Recovery, KeepsTheTornTailThroughRecoveriesThatDie) {
  const std::string tail = "{\"event\":\"tool.req";
  const testing::FakeClock clock;
  int deaths = 0;
  for (std::uint64_t first = 1;; ++first) {
    bool is_first_dead = false;
    for (std::uint64_t second = 1;; ++second) {
      FaultyFileSystem files;
      write_dead_log(files, 2, tail);
      const auto dies = [&](std::uint64_t step) {
        files.fail_at(step, Fault::kCrash);
        static_cast<void>(recover(files, clock, kRoot));
        const bool has_died = files.has_failed();
        files.revive();
        return has_died;
      };
      is_first_dead = dies(first);
      const bool is_second_dead = dies(second);
      deaths += (is_first_dead ? 1 : 0) + (is_second_dead ? 1 : 0);
      ASSERT_TRUE(recover(files, clock, kRoot));
      const std::string kept =
          files.read("/evidence/writer-000001/000001.torn", 100'000).value_or("");
      ASSERT_EQ(kept.substr(0, tail.size()), tail) << "steps " << first << " and " << second;
      expect_intact(files, true, "after recovery");
      if (!is_second_dead) break;
    }
    if (!is_first_dead) break;
  }
  EXPECT_GT(deaths, 100);
}

// REQ-EL-030, REQ-EL-032.
TEST(Recovery, SaysOfADeadWriterThatEventsMayBeMissing) {
  FaultyFileSystem files;
  write_dead_log(files, 2, "");
  const testing::FakeClock clock;
  ASSERT_TRUE(recover(files, clock, kRoot));
  const std::vector<std::string> lines = evidence_lines(files, kRoot);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(member(lines[2], "cause"), "writer_died");
  EXPECT_FALSE(files.info("/evidence/writer-000001/000001.torn"));
  EXPECT_FALSE(files.info("/evidence/writer-000001/lock"));
}

// REQ-EL-030.
TEST(Recovery, LeavesADamagedLogAsItIs) {
  FaultyFileSystem files;
  write_dead_log(files, 2, "torn");
  const std::string path = "/evidence/writer-000001/000001.jsonl";
  std::string bytes = files.read(path, 10'000).value();
  bytes[20] = static_cast<char>(bytes[20] ^ 1);
  ASSERT_TRUE(files.replace(path, bytes));
  const testing::FakeClock clock;
  testing::SeededRandom random(6);
  const auto log = FileEvidenceLog::open(files, clock, random, {.directory = kRoot});
  ASSERT_TRUE(log) << "new evidence is written all the same";
  ASSERT_EQ((*log)->recovered().size(), 1U);
  ASSERT_TRUE((*log)->recovered()[0].damage);
  EXPECT_EQ((*log)->recovered()[0].damage->kind, DamageKind::kLinesAltered);
  EXPECT_EQ(files.read(path, 10'000).value(), bytes);
  EXPECT_TRUE(files.info("/evidence/writer-000001/lock"));
  EXPECT_FALSE(verify(files, kRoot)->intact());
}

// A pipe in a dead writer's directory would hold up every start for ever.
TEST(Recovery, APipeInAFilesPlaceHoldsNothingUp) {
  namespace fs = std::filesystem;
  std::string root = (fs::temp_directory_path() / "remit-pipes-XXXXXX").string();
  ASSERT_NE(::mkdtemp(root.data()), nullptr);
  PosixFileSystem files;
  const testing::FakeClock clock;
  testing::SeededRandom random(8);
  const auto alive = FileEvidenceLog::open(files, clock, random, {.directory = root + "/alive"});
  ASSERT_TRUE(alive) << alive.error().to_string();
  ASSERT_TRUE((*alive)->commit({std::vector<Event>{request("i")}, 0}));
  for (const std::string name : {"lock", "000001.jsonl", "000001.roots", "000001.torn"}) {
    const std::string dead = root + "/dead-" + name;
    fs::copy(root + "/alive", dead, fs::copy_options::recursive);
    fs::permissions(dead, fs::perms::owner_all);
    const std::string writer = dead + "/writer-000001";
    std::ofstream(writer + "/000001.jsonl", std::ios::app) << "torn";
    fs::remove(writer + "/" + name);
    ASSERT_EQ(::mkfifo((writer + "/" + name).c_str(), 0600), 0);
    const auto log = FileEvidenceLog::open(files, clock, random, {.directory = dead});
    ASSERT_TRUE(log) << log.error().to_string();
    ASSERT_EQ((*log)->recovered().size(), 1U) << name;
    const Recovered& one = (*log)->recovered()[0];
    EXPECT_TRUE(one.damage || one.error) << name << " is reported";
    EXPECT_TRUE((*log)->commit({std::vector<Event>{request("i")}, 0})) << name;
    EXPECT_TRUE(verify(files, dead)) << name;
  }
  fs::remove_all(root);
}

/// Commits from several threads and writes each acknowledged id to `promises`, until killed.
[[noreturn]] void commit_until_killed(const std::string& directory, const std::string& promises,
                                      const std::string& name) {
  PosixFileSystem files;
  const SystemClock clock;
  SystemRandom random;
  auto log = FileEvidenceLog::open(files, clock, random,
                                   {.directory = directory, .max_segment_bytes = 20'000});
  if (!log) ::_exit(1);
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&, caller] {
      const auto acknowledged = files.open_append(promises, OpenMode::kMayCreate);
      for (int i = 0; acknowledged; ++i) {
        const std::string id = name + "-" + std::to_string(caller) + "-" + std::to_string(i);
        const std::vector<Event> events(1, request(id));
        if (!(*log)->commit({events, 0})) ::_exit(1);
        const std::string line = id + "\n";
        if (!(*acknowledged)->append(std::as_bytes(std::span{line}))) ::_exit(1);
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  ::_exit(1);
}

// REQ-EL-020, REQ-EL-033.
TEST(Recovery, NothingAcknowledgedIsLostWhenTheProcessIsKilled) {
  std::string root = (std::filesystem::temp_directory_path() / "remit-killed-XXXXXX").string();
  ASSERT_NE(::mkdtemp(root.data()), nullptr);
  const std::string directory = root + "/evidence";
  const std::string promises = root + "/promises";
  PosixFileSystem files;
  const SystemClock clock;
  testing::SeededRandom moments(3);
  constexpr int kKills = 20;
  for (int kill = 0; kill < kKills; ++kill) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) commit_until_killed(directory, promises, "kill" + std::to_string(kill));
    std::this_thread::sleep_for(std::chrono::milliseconds(5 + moments.number(60)));
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child ended by itself";
  }
  const auto before = verify(files, directory);
  ASSERT_TRUE(before);
  EXPECT_TRUE(before->intact()) << before->damage->to_string();
  ASSERT_TRUE(recover(files, clock, directory));
  std::set<std::string> kept;
  for (const std::string& line : evidence_lines(files, directory)) {
    kept.insert(member(line, "invocation_id"));
  }
  std::ifstream acknowledged(promises);
  std::size_t count = 0;
  for (std::string id; std::getline(acknowledged, id); ++count) {
    EXPECT_TRUE(kept.contains(id)) << id;
  }
  EXPECT_GT(count, 0U);
  const auto after = verify(files, directory);
  ASSERT_TRUE(after);
  EXPECT_TRUE(after->intact()) << after->damage->to_string();
  for (const WriterState& writer : after->writers) EXPECT_TRUE(writer.closed);
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace remit::evidence
