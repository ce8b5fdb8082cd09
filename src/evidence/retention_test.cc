// Retention removes what is old and nothing else, says so, and leaves the rest provable.
#include "evidence/retention.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/rfc3339.h"
#include "evidence/file_evidence_log.h"
#include "evidence/layout.h"
#include "evidence/log_tree.h"
#include "evidence/tombstone.h"
#include "evidence/verify.h"
#include "tests/support/evidence_events.h"
#include "tests/support/fake_clock.h"
#include "tests/support/faulty_file_system.h"
#include "tests/support/seeded_random.h"

namespace remit::evidence {
namespace {

using testing::FaultyFileSystem;
using Fault = FaultyFileSystem::Fault;
using Loss = FaultyFileSystem::Loss;

constexpr const char* kRoot = "/evidence";
constexpr const char* kWriter = "writer-000001";
constexpr const char* kTombstone = "/evidence/writer-000001/tombstone";

WallTime hour(int number) {
  const WallTime first = parse_rfc3339("2026-08-04T00:00:00Z").value();
  return WallTime{first.unix_ns + number * std::int64_t{3'600'000'000'000}};
}

/// Writes events of hour 0, 1, 2 …, two to a segment.
std::unique_ptr<FileEvidenceLog> write_hours(FaultyFileSystem& files, std::uint64_t seed,
                                             int hours) {
  static const testing::FakeClock clock;
  testing::SeededRandom random(seed);
  auto log =
      FileEvidenceLog::open(files, clock, random, {.directory = kRoot, .max_segment_bytes = 200});
  EXPECT_TRUE(log) << log.error().to_string();
  if (!log) return nullptr;
  for (int i = 0; i < hours; ++i) {
    const std::string id = "i" + std::to_string(i);
    event::Event event = testing::request(id);
    const std::string time = format_rfc3339(hour(i));
    event.set(event::Field::kTime, time);
    EXPECT_TRUE((*log)->commit({std::vector<event::Event>{event}, 0}));
  }
  return *std::move(log);
}

VerifyReport verified(FileSystem& files, const Kept& kept = {}) {
  auto report = verify(files, kRoot, kept);
  EXPECT_TRUE(report) << report.error().to_string();
  return report ? *std::move(report) : VerifyReport{};
}

Pruned prune_first(FileSystem& files, int before) {
  const auto pruned = prune(files, kRoot, hour(before));
  EXPECT_TRUE(pruned) << pruned.error().to_string();
  EXPECT_FALSE(pruned->front().error) << pruned->front().error->to_string();
  return pruned->front();
}

// REQ-EL-070, REQ-EL-071.
TEST(Retention, RemovesWholeOldSegmentsAndSaysSo) {
  FaultyFileSystem files;
  write_hours(files, 1, 9);
  const std::vector<std::string> lines = testing::evidence_lines(files, kRoot);
  const VerifyReport before = verified(files);
  EXPECT_EQ(prune_first(files, 0).segments, 0U);
  EXPECT_FALSE(files.info(kTombstone));
  EXPECT_EQ(prune_first(files, 1).segments, 0U) << "its segment holds a younger event";
  std::uint64_t removed = 0;
  for (int at = 2; at <= 9; ++at) {
    const Pruned pruned = prune_first(files, at);
    removed += pruned.events;
    const VerifyReport report = verified(files);
    ASSERT_FALSE(report.damage) << report.damage->to_string();
    const WriterState& state = report.writers[0];
    EXPECT_EQ(state.removed.events, removed);
    EXPECT_EQ(report.removed(), removed);
    EXPECT_EQ(state.events, 9U);
    EXPECT_EQ(state.bytes, before.writers[0].bytes);
    EXPECT_EQ(state.segments, before.writers[0].segments);
    EXPECT_TRUE(state.closed);
    EXPECT_EQ(report.head, before.head);
    EXPECT_LE(removed, static_cast<std::uint64_t>(at));
    if (removed > 0) {
      EXPECT_EQ(state.removed.first_time, format_rfc3339(hour(0)));
      EXPECT_EQ(state.removed.last_time, format_rfc3339(hour(static_cast<int>(removed) - 1)));
    }
    const std::vector<std::string> left = testing::evidence_lines(files, kRoot);
    EXPECT_EQ(left, std::vector<std::string>(lines.begin() + static_cast<std::ptrdiff_t>(removed),
                                             lines.end()));
  }
  EXPECT_EQ(removed, 9U);
  EXPECT_EQ(files.list(std::string{kRoot} + "/" + kWriter)->size(), 1U);
  EXPECT_EQ(prune_first(files, 100).segments, 0U);
}

// REQ-EL-070. The age of an event without a time is known to nobody.
TEST(Retention, KeepsWhatMayBeYoung) {
  FaultyFileSystem files;
  write_hours(files, 1, 4);
  const SegmentFiles second(std::string{kRoot} + "/" + kWriter, 2);
  const auto pruned = prune(files, kRoot, hour(3));
  ASSERT_TRUE(pruned);
  EXPECT_EQ(pruned->front().segments, 1U);
  EXPECT_TRUE(files.info(second.lines));
}

// REQ-EL-070.
TEST(Retention, LeavesADamagedLogAsItIs) {
  FaultyFileSystem files;
  write_hours(files, 1, 6);
  write_hours(files, 2, 6);
  const SegmentFiles last(std::string{kRoot} + "/" + kWriter, 3);
  std::string bytes = files.read(last.lines, 10'000).value();
  bytes[30] = static_cast<char>(bytes[30] ^ 1);
  ASSERT_TRUE(files.replace(last.lines, bytes));
  const auto pruned = prune(files, kRoot, hour(4));
  ASSERT_TRUE(pruned);
  ASSERT_EQ(pruned->size(), 2U);
  EXPECT_TRUE((*pruned)[0].damage);
  EXPECT_FALSE(files.info(kTombstone));
  EXPECT_EQ((*pruned)[1].segments, 2U) << "the other log is none the worse";
}

// REQ-EL-070. Writers need not stop, and go on behind it.
TEST(Retention, GoesOnBesideAWriterAtWork) {
  FaultyFileSystem files;
  auto log = write_hours(files, 1, 7);
  const Pruned pruned = prune_first(files, 100);
  EXPECT_EQ(pruned.segments, 3U) << "the fourth is being written";
  const std::vector<event::Event> more(1, testing::request("later"));
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(log->commit({more, 0}));
  EXPECT_FALSE(verified(files).damage);
  ASSERT_TRUE(log->close());
  const VerifyReport report = verified(files);
  ASSERT_FALSE(report.damage) << report.damage->to_string();
  EXPECT_TRUE(report.writers[0].closed);
  EXPECT_EQ(report.writers[0].events, 12U);
}

// REQ-EL-072. A dead writer's log is recovered as any other.
TEST(Retention, LeavesALogThatCanBeRecovered) {
  FaultyFileSystem files;
  auto log = write_hours(files, 1, 7);
  files.kill();
  log.reset();
  files.revive();
  EXPECT_EQ(prune_first(files, 100).segments, 3U);
  const testing::FakeClock clock;
  const auto recovered = recover(files, clock, kRoot);
  ASSERT_TRUE(recovered);
  ASSERT_EQ(recovered->size(), 1U);
  EXPECT_FALSE(recovered->front().damage) << recovered->front().damage->to_string();
  const VerifyReport report = verified(files);
  ASSERT_FALSE(report.damage) << report.damage->to_string();
  EXPECT_TRUE(report.writers[0].closed);
  EXPECT_EQ(report.writers[0].events, 8U);
  // Of which run what was lost is, nobody knows any more.
  EXPECT_EQ(testing::member(testing::evidence_lines(files, kRoot).back(), "run_id"), "");
}

// REQ-EL-071, REQ-EL-073.
TEST(Retention, KeepsTheRestProvable) {
  FaultyFileSystem files;
  write_hours(files, 1, 9);
  testing::SeededRandom random(3);
  const SigningKey key = SigningKey::make("audit.example", random).value();
  const std::vector<VerifierKey> keys{key.verifier()};
  const std::string writer = verified(files).writers[0].writer;
  std::vector<Checkpoint> checkpoints;
  for (std::uint64_t size = 0; size <= 9; ++size) {
    checkpoints.push_back({origin_of("audit.example", kWriter, writer), size,
                           tree_root(files, kRoot, kWriter, size).value()});
  }
  ASSERT_EQ(prune_first(files, 7).removed.events, 6U);
  for (std::uint64_t size = 0; size <= 9; ++size) {
    const Checkpoint& checkpoint = checkpoints[static_cast<std::size_t>(size)];
    const VerifyReport report = verified(files, {.checkpoints = {checkpoint}});
    EXPECT_FALSE(report.damage);
    // 4 of 6 events are a subtree of their own, which the tombstone still has.
    const bool is_known = size == 0 || size == 4 || size >= 6;
    EXPECT_EQ(report.unknown.empty(), is_known) << size;
    const std::string note = key.sign(encode(checkpoint));
    for (std::uint64_t seq = 1; seq <= size; ++seq) {
      const auto proof = prove_inclusion(files, kRoot, kWriter, seq, checkpoint, note);
      if (size >= 6 && seq > 6) {
        ASSERT_TRUE(proof) << proof.error().to_string();
        EXPECT_TRUE(check_proof(*proof, keys));
      } else {
        ASSERT_FALSE(proof);
        EXPECT_EQ(proof.error().code, ErrorCode::kFailedPrecondition);
      }
    }
    for (std::uint64_t old_size = 6; old_size <= size; ++old_size) {
      const Checkpoint& older = checkpoints[static_cast<std::size_t>(old_size)];
      const auto proof = prove_consistency(files, kRoot, kWriter, older, checkpoint, note);
      ASSERT_TRUE(proof) << proof.error().to_string();
      EXPECT_TRUE(check_proof(*proof, older, keys));
    }
  }
  // One that fits vouches for those before it.
  EXPECT_TRUE(verified(files, {.checkpoints = checkpoints}).unknown.empty());
}

// REQ-EL-073. A head that counts what is no more is not held against the log.
TEST(Retention, SaysOfAnOlderHeadThatItCannotBeCompared) {
  FaultyFileSystem files;
  const auto log = write_hours(files, 1, 1);
  const Head early = verified(files).head;
  FaultyFileSystem longer;
  const auto other = write_hours(longer, 1, 9);
  EXPECT_FALSE(verified(longer, {.head = early}).damage);
  EXPECT_EQ(prune_first(longer, 6).removed.events, 6U);
  const VerifyReport report = verified(longer, {.head = early});
  EXPECT_FALSE(report.damage);
  EXPECT_EQ(report.unknown, (std::vector<std::string>{"the head counts 1 events of writer-000001: "
                                                      "retention has removed 6 since"}));
  const Head later = report.head;
  EXPECT_TRUE(verified(longer, {.head = later}).unknown.empty());
}

// REQ-EL-071. A tombstone that is not what retention writes is damage; one that says that more or
// other was removed contradicts the segment behind it.
TEST(Retention, FindsEveryChangedByteOfATombstone) {
  FaultyFileSystem files;
  write_hours(files, 1, 9);
  prune_first(files, 7);
  const std::string text = files.read(kTombstone, 10'000).value();
  ASSERT_EQ(encode(parse_tombstone(text).value()), text);
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string changed = text;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    ASSERT_TRUE(files.replace(kTombstone, changed));
    const VerifyReport report = verified(files);
    ASSERT_TRUE(report.damage) << at;
    ASSERT_TRUE(files.replace(kTombstone, text.substr(0, at)));
    ASSERT_TRUE(verified(files).damage) << at;
  }
  Tombstone lie = parse_tombstone(text).value();
  lie.segments += 1;
  ASSERT_TRUE(files.replace(kTombstone, encode(lie)));
  EXPECT_TRUE(verified(files).damage);
  lie = parse_tombstone(text).value();
  lie.chain[0] ^= std::byte{1};
  ASSERT_TRUE(files.replace(kTombstone, encode(lie)));
  EXPECT_TRUE(verified(files).damage);
  ASSERT_TRUE(files.remove(kTombstone));
  EXPECT_EQ(verified(files).damage->kind, DamageKind::kSegmentMissing);
}

// REQ-EL-071. What only a checkpoint shows: a tombstone with other events under it.
TEST(Retention, ACheckpointFindsAForgedTombstone) {
  FaultyFileSystem files;
  write_hours(files, 1, 9);
  const std::string writer = verified(files).writers[0].writer;
  const Checkpoint kept{origin_of("audit.example", kWriter, writer), 9,
                        tree_root(files, kRoot, kWriter, 9).value()};
  prune_first(files, 7);
  Tombstone lie = parse_tombstone(files.read(kTombstone, 10'000).value()).value();
  lie.subtrees[0][0] ^= std::byte{1};
  ASSERT_TRUE(files.replace(kTombstone, encode(lie)));
  EXPECT_FALSE(verified(files).damage);
  const VerifyReport report = verified(files, {.checkpoints = {kept}});
  ASSERT_TRUE(report.damage);
  EXPECT_EQ(report.damage->kind, DamageKind::kCheckpointContradicted);
}

// REQ-EL-072. Whichever step of a removal fails, or power goes at, the log verifies, what was not
// to be removed is there, and the next removal ends it.
TEST(Retention, MayFailAtEveryStep) {
  int steps = 0;
  for (const auto& [fault, loss] :
       {std::pair{Fault::kError, Loss::kNothing}, std::pair{Fault::kCrash, Loss::kNothing},
        std::pair{Fault::kCrash, Loss::kHalf}, std::pair{Fault::kCrash, Loss::kEverything}}) {
    bool is_reached = true;
    for (std::uint64_t step = 1; is_reached; ++step, ++steps) {
      FaultyFileSystem files;
      write_hours(files, 1, 9);
      write_hours(files, 2, 5);
      files.fail_at(step, fault);
      const auto pruned = prune(files, kRoot, hour(6));
      is_reached = files.has_failed();
      if (is_reached && pruned) {
        bool is_told = false;
        for (const Pruned& one : *pruned) is_told = is_told || one.error;
        EXPECT_TRUE(is_told) << step;
      }
      if (fault == Fault::kCrash) {
        files.restart(loss);
      } else {
        files.heal();
      }
      const VerifyReport between = verified(files);
      EXPECT_FALSE(between.damage) << step << ": " << between.damage->to_string();
      EXPECT_GE(testing::evidence_lines(files, kRoot).size(), 3U) << step;
      EXPECT_EQ(prune_first(files, 6).removed.events, 6U) << step;
      const VerifyReport after = verified(files);
      EXPECT_FALSE(after.damage) << step;
      EXPECT_EQ(after.writers[0].removed.files_left, 0U) << step;
      EXPECT_EQ(testing::evidence_lines(files, kRoot).size(), 3U) << step;
    }
  }
  EXPECT_GT(steps, 100);
}

/// Removes what is before hour 6 once the first segment of a walk was read.
class PrunesWithin final : public WalkObserver {
 public:
  explicit PrunesWithin(FileSystem& files) : files_(files) {}
  void begin() override { ++begun; }
  void removed(std::size_t /*level*/, const Sha256Digest& /*subtree*/) override {}
  void line(std::string_view /*text*/, const Sha256Digest& /*leaf*/) override {}
  void segment(const WalkedSegment& /*segment*/) override {
    if (begun > 1) return;
    EXPECT_TRUE(prune(files_, kRoot, hour(6)));
  }
  int begun = 0;

 private:
  FileSystem& files_;
};

// REQ-EL-070. A verification that is overtaken reads what is left.
TEST(Retention, MayOvertakeAVerification) {
  FaultyFileSystem files;
  write_hours(files, 1, 9);
  PrunesWithin observer(files);
  const auto walked = walk_writer(files, kRoot, kWriter, {.observer = &observer});
  ASSERT_TRUE(walked) << walked.error().to_string();
  EXPECT_FALSE(walked->state.damage) << walked->state.damage->to_string();
  EXPECT_EQ(observer.begun, 2);
  EXPECT_EQ(walked->state.removed.events, 6U);
  EXPECT_EQ(walked->state.events, 9U);
}

TEST(Retention, IsNotDoneTwiceAtOnce) {
  FaultyFileSystem files;
  write_hours(files, 1, 9);
  const auto held = files.lock("/evidence/prune-lock");
  ASSERT_TRUE(held);
  const auto pruned = prune(files, kRoot, hour(6));
  ASSERT_FALSE(pruned);
  EXPECT_EQ(pruned.error().code, ErrorCode::kFailedPrecondition);
}

}  // namespace
}  // namespace remit::evidence
