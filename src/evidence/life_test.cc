// A whole life of an evidence directory, of which each operation on the file system fails in turn:
// nothing acknowledged is lost, the failure is told, and the next who comes goes on.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "base/rfc3339.h"
#include "evidence/checkpoint.h"
#include "evidence/file_evidence_log.h"
#include "evidence/layout.h"
#include "evidence/log_tree.h"
#include "evidence/recovery.h"
#include "evidence/retention.h"
#include "evidence/verify.h"
#include "tests/support/evidence_events.h"
#include "tests/support/fake_clock.h"
#include "tests/support/faulty_file_system.h"
#include "tests/support/nightly.h"
#include "tests/support/seeded_random.h"

namespace remit::evidence {
namespace {

using testing::FaultyFileSystem;
using Fault = FaultyFileSystem::Fault;
using Loss = FaultyFileSystem::Loss;

constexpr const char* kRoot = "/evidence";
constexpr const char* kKept = "/kept";
constexpr std::string_view kOld = "2026-01-01T00:00:00Z";
constexpr std::string_view kBefore = "2026-06-01T00:00:00Z";

SigningKey signing_key() {
  testing::SeededRandom random(9);
  return SigningKey::make("audit.example", random).value();
}

/// What both name is kept alive by the caller.
event::Event event_of(std::string_view id, std::string_view time) {
  event::Event out = testing::request(id);
  if (!time.empty()) out.set(event::Field::kTime, time);
  return out;
}

/// What a life was promised, and whether it heard of a failure.
struct Lived {
  std::vector<std::string> old_ids;  ///< acknowledged, and old enough to be removed
  std::vector<std::string> ids;      ///< acknowledged, and to be kept
  bool is_failure_told = false;
  bool has_pruned = false;

  void hear(const Status& status) { is_failure_told = is_failure_told || !status; }
};

FileEvidenceOptions options() {
  return {.directory = kRoot, .max_segment_bytes = 300, .append_interval = std::chrono::hours(1)};
}

/// A writer that died in the middle of a line, of old events over several segments.
void die_early(FaultyFileSystem& files, Lived& lived) {
  const testing::FakeClock clock;
  testing::SeededRandom random(1);
  auto log = FileEvidenceLog::open(files, clock, random, options());
  ASSERT_TRUE(log);
  for (int i = 0; i < 7; ++i) {
    const std::string id = "old-" + std::to_string(i);
    ASSERT_TRUE((*log)->commit({std::vector<event::Event>{event_of(id, kOld)}, 0}));
    lived.old_ids.push_back(id);
  }
  files.fail_at(1, Fault::kCrash);
  EXPECT_FALSE((*log)->commit({std::vector<event::Event>{event_of("cut", kOld)}, 0}));
  log->reset();
  files.revive();
}

void commit(FileEvidenceLog& log, Lived& lived, const std::string& id) {
  const std::vector<event::Event> events{event_of(id, "")};
  const Status done = log.commit({events, 0});
  lived.hear(done);
  if (done) lived.ids.push_back(id);
}

/// Signs each log as the command does.
Status sign(FileSystem& files) {
  REMIT_TRY(files.make_directory(kKept));
  REMIT_TRY_ASSIGN(const VerifyReport report, verify(files, kRoot));
  if (report.damage) return Error{ErrorCode::kDataLoss, report.damage->to_string()};
  for (const WriterState& writer : report.writers) {
    REMIT_TRY_ASSIGN(const Sha256Digest root,
                     tree_root(files, kRoot, writer.directory, writer.events));
    const Checkpoint checkpoint{origin_of("audit.example", writer.directory, writer.writer),
                                writer.events, root};
    REMIT_TRY(files.replace(std::string{kKept} + "/" + writer.directory,
                            signing_key().sign(encode(checkpoint))));
  }
  return {};
}

void prune_old(FileSystem& files, Lived& lived) {
  lived.has_pruned = true;
  const auto pruned = prune(files, kRoot, parse_rfc3339(kBefore).value());
  if (!pruned) {
    lived.is_failure_told = true;
    return;
  }
  for (const Pruned& one : *pruned) {
    EXPECT_FALSE(one.damage) << one.damage->to_string();
    lived.is_failure_told = lived.is_failure_told || one.error;
  }
}

/// Opens, which recovers; commits, appends, rotates; signs, prunes, goes on, closes.
void live(FaultyFileSystem& files, Lived& lived) {
  const testing::FakeClock clock;
  testing::SeededRandom random(2);
  auto log = FileEvidenceLog::open(files, clock, random, options());
  if (!log) {
    lived.is_failure_told = true;
    return;
  }
  for (const Recovered& one : (*log)->recovered()) {
    EXPECT_FALSE(one.damage) << one.damage->to_string();
    lived.is_failure_told = lived.is_failure_told || one.error;
  }
  for (int i = 0; i < 4; ++i) commit(**log, lived, "new-" + std::to_string(i));
  const std::vector<event::Event> appended{event_of("appended", "")};
  const Status taken = (*log)->append({appended, 0});
  lived.hear(taken);
  const Status flushed = (*log)->flush();
  lived.hear(flushed);
  if (taken && flushed) lived.ids.emplace_back("appended");
  lived.hear(sign(files));
  prune_old(files, lived);
  for (int i = 4; i < 8; ++i) commit(**log, lived, "new-" + std::to_string(i));
  lived.hear((*log)->close());
}

std::vector<std::string> ids_of(FileSystem& files, std::string_view start) {
  std::vector<std::string> out;
  for (const std::string& line : testing::evidence_lines(files, kRoot)) {
    const std::string id = testing::member(line, "invocation_id");
    if (id.starts_with(start)) out.push_back(id);
  }
  return out;
}

/// What was signed is held against what is there.
Kept kept_checkpoints(FileSystem& files) {
  Kept out;
  const auto names = files.list(kKept);
  if (!names) return out;
  const std::vector<VerifierKey> keys{signing_key().verifier()};
  for (const std::string& name : *names) {
    const auto note = files.read(std::string{kKept} + "/" + name, 10'000);
    EXPECT_TRUE(note);
    const auto checkpoint = open_checkpoint(*note, keys);
    EXPECT_TRUE(checkpoint) << checkpoint.error().to_string();
    if (checkpoint) out.checkpoints.push_back(*checkpoint);
  }
  return out;
}

void expect_sound(FileSystem& files, const Lived& lived, const std::string& when) {
  const auto report = verify(files, kRoot, kept_checkpoints(files));
  ASSERT_TRUE(report) << when << ": " << report.error().to_string();
  EXPECT_FALSE(report->damage) << when << ": " << report->damage->to_string();
  EXPECT_TRUE(report->unknown.empty()) << when << ": " << report->unknown.front();
  const std::vector<std::string> there = testing::evidence_lines(files, kRoot);
  for (const std::string& id : lived.ids) {
    const auto found = std::count_if(there.begin(), there.end(), [&](const std::string& line) {
      return testing::member(line, "invocation_id") == id;
    });
    EXPECT_EQ(found, 1) << when << ": " << id;
  }
  // Of the old ones those that are no more are counted, and they are the first.
  const std::vector<std::string> old = ids_of(files, "old-");
  const std::uint64_t removed = report->removed();
  EXPECT_TRUE(lived.has_pruned || removed == 0) << when;
  ASSERT_EQ(old.size() + removed, lived.old_ids.size()) << when;
  EXPECT_TRUE(std::equal(old.begin(), old.end(),
                         lived.old_ids.begin() + static_cast<std::ptrdiff_t>(removed)))
      << when;
}

/// Fails step `step` of a life and lets another come after it; whether there is such a step.
bool fail_at(std::uint64_t step, Fault fault, Loss loss) {
  const std::string when = "fault " + std::to_string(static_cast<int>(fault)) + ", loss " +
                           std::to_string(static_cast<int>(loss)) + ", step " +
                           std::to_string(step);
  FaultyFileSystem files;
  Lived lived;
  die_early(files, lived);
  files.fail_at(step, fault);
  live(files, lived);
  const bool is_reached = files.has_failed();
  EXPECT_EQ(lived.is_failure_told, is_reached) << when;
  if (fault == Fault::kCrash) {
    files.restart(loss);
  } else {
    files.heal();
  }
  expect_sound(files, lived, when + ", before the next");
  // The next has no failures, and mends what the first left.
  const testing::FakeClock clock;
  testing::SeededRandom random(3);
  auto log = FileEvidenceLog::open(files, clock, random, options());
  EXPECT_TRUE(log) << when << ": " << log.error().to_string();
  if (!log) return is_reached;
  for (const Recovered& one : (*log)->recovered()) {
    EXPECT_FALSE(one.damage || one.error) << when;
  }
  commit(**log, lived, "next");
  EXPECT_TRUE((*log)->close()) << when;
  lived.has_pruned = true;
  const auto pruned = prune(files, kRoot, parse_rfc3339(kBefore).value());
  EXPECT_TRUE(pruned) << when;
  EXPECT_TRUE(sign(files)) << when;
  expect_sound(files, lived, when + ", after the next");
  const auto report = verify(files, kRoot);
  for (const WriterState& writer : report->writers) {
    EXPECT_TRUE(writer.closed) << when << ": " << writer.directory;
    EXPECT_EQ(writer.removed.files_left, 0U) << when;
  }
  EXPECT_GT(report->removed(), 4U) << when;
  return is_reached;
}

// REQ-EL-022, REQ-EL-030, REQ-EL-033, REQ-EL-072.
TEST(Life, LosesNothingWhicheverOperationFails) {
  struct Row {
    Fault fault;
    Loss loss;
    std::uint64_t stride;  ///< every step at night, and of most faults every ninth by day
  };
  const std::uint64_t sparse = testing::is_nightly() ? 1 : 9;
  std::uint64_t tried = 0;
  for (const Row& row :
       {Row{Fault::kError, Loss::kNothing, 1}, Row{Fault::kShort, Loss::kNothing, sparse},
        Row{Fault::kCrash, Loss::kNothing, sparse}, Row{Fault::kCrash, Loss::kHalf, sparse},
        Row{Fault::kCrash, Loss::kEverything, sparse}}) {
    std::uint64_t step = 1;
    for (; fail_at(step, row.fault, row.loss) && !HasFailure(); step += row.stride) ++tried;
    EXPECT_GT(step, 150U) << "a life has more operations than that";
  }
  std::printf("%llu operations failed in a whole life\n", static_cast<unsigned long long>(tried));
}

// The case that must fail: a life that removes what it was to keep would be found out.
TEST(Life, TheHarnessSeesWhatIsLost) {
  FaultyFileSystem files;
  Lived lived;
  die_early(files, lived);
  live(files, lived);
  EXPECT_FALSE(lived.is_failure_told);
  const auto before = testing::evidence_lines(files, kRoot).size();
  const auto pruned = prune(files, kRoot, parse_rfc3339("2030-01-01T00:00:00Z").value());
  ASSERT_TRUE(pruned);
  EXPECT_LT(testing::evidence_lines(files, kRoot).size(), before);
  EXPECT_LT(ids_of(files, "new-").size(), 8U);
}

}  // namespace
}  // namespace remit::evidence
