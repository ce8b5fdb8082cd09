// Checkpoints and proofs: their texts, over logs that were written, and every lie about them.
#include "evidence/checkpoint.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/bytes.h"
#include "evidence/file_evidence_log.h"
#include "evidence/layout.h"
#include "evidence/log_tree.h"
#include "evidence/merkle.h"
#include "evidence/verify.h"
#include "tests/support/evidence_events.h"
#include "tests/support/fake_clock.h"
#include "tests/support/faulty_file_system.h"
#include "tests/support/seeded_random.h"

namespace remit::evidence {
namespace {

using testing::FaultyFileSystem;

constexpr const char* kRoot = "/evidence";
constexpr const char* kWriter = "writer-000001";

SigningKey key_of(std::uint64_t seed, std::string_view name = "audit.example/a") {
  testing::SeededRandom random(seed);
  return SigningKey::make(name, random).value();
}

/// Writes a log of `commits` events over several segments; unclosed where `dies`.
void write_log(FaultyFileSystem& files, std::uint64_t seed, int commits, bool dies = false) {
  const testing::FakeClock clock;
  testing::SeededRandom random(seed);
  auto log =
      FileEvidenceLog::open(files, clock, random, {.directory = kRoot, .max_segment_bytes = 400});
  ASSERT_TRUE(log) << log.error().to_string();
  for (int i = 0; i < commits; ++i) {
    const std::string id = "i" + std::to_string(i);
    ASSERT_TRUE((*log)->commit({std::vector<event::Event>(1, testing::request(id)), 0}));
  }
  if (!dies) return;
  files.kill();
  log->reset();
  files.revive();
}

/// The checkpoint of the first `size` events of the log of `directory`.
Checkpoint checkpoint_at(FileSystem& files, std::uint64_t size,
                         const std::string& directory = kWriter,
                         std::string_view key_name = "audit.example/a") {
  const auto report = verify(files, kRoot);
  std::string writer;
  for (const WriterState& state : report->writers) {
    if (state.directory == directory) writer = state.writer;
  }
  const auto root = tree_root(files, kRoot, directory, size);
  EXPECT_TRUE(root);
  return {origin_of(key_name, directory, writer), size, root.value_or(Sha256Digest{})};
}

std::optional<DamageKind> found(FileSystem& files, std::vector<Checkpoint> kept) {
  const auto report = verify(files, kRoot, {.checkpoints = std::move(kept)});
  EXPECT_TRUE(report);
  if (!report->damage) return std::nullopt;
  return report->damage->kind;
}

// REQ-EL-060: leaf N is the line with `seq` N + 1, over all segments.
TEST(LogTree, IsOverAllLinesOfALog) {
  FaultyFileSystem files;
  write_log(files, 1, 11);
  MerkleTree tree;
  EXPECT_EQ(tree_root(files, kRoot, kWriter, 0).value(), tree.root());
  for (const std::string& line : testing::evidence_lines(files, kRoot)) {
    tree.add(line);
    EXPECT_EQ(testing::member(line, "seq"), std::to_string(tree.size()));
    EXPECT_EQ(tree_root(files, kRoot, kWriter, tree.size()).value(), tree.root());
  }
  EXPECT_EQ(tree.size(), 11U);
  EXPECT_GT(verify(files, kRoot)->writers[0].segments, 2U);
  EXPECT_FALSE(tree_root(files, kRoot, kWriter, 12));
}

// REQ-EL-063.
TEST(Checkpoint, HasOneSpelling) {
  FaultyFileSystem files;
  write_log(files, 1, 3);
  const Checkpoint checkpoint = checkpoint_at(files, 3);
  const std::string text = encode(checkpoint);
  EXPECT_EQ(parse_checkpoint(text).value(), checkpoint);
  EXPECT_EQ(parse_checkpoint(text + "an extension\n").value(), checkpoint);
  const std::string root = to_base64(checkpoint.root);
  for (const std::string& other :
       {std::string{}, std::string{"a\n"}, "a\n1\n" + root, "\n1\n" + root + "\n",
        "a\n01\n" + root + "\n", "a\n-1\n" + root + "\n", "a\n+1\n" + root + "\n",
        "a\n18446744073709551616\n" + root + "\n", "a\n1\n" + root + "=\n",
        "a\n1\n" + root.substr(4) + "\n", "a\n0\n" + root + "\n", text + "\n", text + "x"}) {
    EXPECT_FALSE(parse_checkpoint(other)) << other;
  }
  EXPECT_TRUE(parse_checkpoint("a\n0\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n"));
}

// REQ-EL-063. A key speaks of the logs in its own name and of no others.
TEST(Checkpoint, IsBelievedInTheNameOfItsKey) {
  const SigningKey key = key_of(1);
  const SigningKey other = key_of(2, "audit.example/b");
  const SigningKey shorter = key_of(3, "audit.example");
  const std::string root = "\n0\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n";
  const std::string ours = "audit.example/a/writer-000001/w" + root;
  const std::vector<VerifierKey> all{key.verifier(), other.verifier(), shorter.verifier()};
  EXPECT_TRUE(open_checkpoint(key.sign(ours), all));
  for (const SigningKey* stranger : {&other, &shorter}) {
    const auto opened = open_checkpoint(stranger->sign(ours), all);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, ErrorCode::kFailedPrecondition);
  }
  for (const std::string& origin :
       {std::string{"audit.example/a"}, std::string{"audit.example/a/w"},
        std::string{"audit.example/ax/writer-000001/w"}}) {
    EXPECT_FALSE(open_checkpoint(key.sign(origin + root), all)) << origin;
  }
  EXPECT_FALSE(open_checkpoint(key.sign("a note about something else\n"), all));
}

// REQ-EL-064.
TEST(Checkpoint, FitsEveryLaterStateOfItsLog) {
  FaultyFileSystem files;
  write_log(files, 1, 9, true);
  std::vector<Checkpoint> kept;
  for (std::uint64_t size = 0; size <= 9; ++size) kept.push_back(checkpoint_at(files, size));
  EXPECT_EQ(found(files, kept), std::nullopt);
  write_log(files, 2, 4);  // Recovers the first.
  EXPECT_EQ(found(files, kept), std::nullopt);
  EXPECT_EQ(verify(files, kRoot, {.checkpoints = kept})->checkpoints.size(), 10U);
  kept.push_back(checkpoint_at(files, 4, "writer-000002"));
  EXPECT_EQ(found(files, kept), std::nullopt);
}

// REQ-EL-064. Lines whose roots a crash took are still those that were signed.
TEST(Checkpoint, FitsALogWhoseLastRootsACrashTook) {
  FaultyFileSystem files;
  write_log(files, 1, 4, true);
  const Checkpoint kept = checkpoint_at(files, 4);
  const SegmentFiles last(std::string{kRoot} + "/" + kWriter,
                          verify(files, kRoot)->writers[0].segments);
  const std::string roots = files.read(last.roots, 10'000).value();
  const std::size_t cut = roots.rfind('\n', roots.size() - 2) + 1;
  ASSERT_TRUE(files.replace(last.roots, roots.substr(0, cut)));
  ASSERT_EQ(verify(files, kRoot)->writers[0].unrooted_lines, 1U);
  EXPECT_EQ(found(files, {kept}), std::nullopt);
}

TEST(Checkpoint, FindsALogMadeAnewAndSaysFromWhereOn) {
  FaultyFileSystem files;
  write_log(files, 1, 9);
  const Checkpoint early = checkpoint_at(files, 2);
  const Checkpoint late = checkpoint_at(files, 9);
  FaultyFileSystem forged;
  write_log(forged, 1, 9);  // The same writer's id, by the same seed.
  ASSERT_EQ(found(forged, {early, late}), std::nullopt);
  FaultyFileSystem rewritten;
  {
    const testing::FakeClock clock;
    testing::SeededRandom random(1);
    auto log = FileEvidenceLog::open(rewritten, clock, random, {.directory = kRoot});
    for (int i = 0; i < 9; ++i) {
      const std::string id = i == 6 ? "x" : "i" + std::to_string(i);
      ASSERT_TRUE((*log)->commit({std::vector<event::Event>(1, testing::request(id)), 0}));
    }
  }
  ASSERT_EQ(found(rewritten, {early}), std::nullopt) << "so far nothing differs";
  const auto report = verify(rewritten, kRoot, {.checkpoints = {late, early}});
  ASSERT_TRUE(report->damage);
  EXPECT_EQ(report->damage->kind, DamageKind::kCheckpointContradicted);
  EXPECT_EQ(report->damage->what,
            "rewritten: of events 3 to 9 at least one is not what was signed");
  FaultyFileSystem other_writer;
  write_log(other_writer, 5, 9);
  EXPECT_EQ(found(other_writer, {early}), DamageKind::kCheckpointContradicted);
}

TEST(Checkpoint, FindsARollBack) {
  FaultyFileSystem files;
  write_log(files, 1, 9);
  const Checkpoint kept = checkpoint_at(files, 9);
  FaultyFileSystem shorter;
  write_log(shorter, 1, 5, true);
  const auto report = verify(shorter, kRoot, {.checkpoints = {kept}});
  ASSERT_TRUE(report->damage);
  EXPECT_EQ(report->damage->kind, DamageKind::kCheckpointRolledBack);
  EXPECT_EQ(report->damage->what,
            "rolled back: 5 events are there, and a checkpoint is of 9: from event 6 on they are "
            "gone");
  write_log(files, 2, 1);
  const Checkpoint second = checkpoint_at(files, 1, "writer-000002");
  FaultyFileSystem without_second;
  write_log(without_second, 1, 9);
  EXPECT_EQ(found(without_second, {second}), DamageKind::kCheckpointRolledBack);
}

// REQ-EL-065.
TEST(Proof, OfEveryEventInEveryCheckpoint) {
  FaultyFileSystem files;
  write_log(files, 1, 9, true);
  const SigningKey key = key_of(1);
  const std::vector<VerifierKey> keys{key.verifier()};
  const std::vector<std::string> lines = testing::evidence_lines(files, kRoot);
  for (std::uint64_t size = 1; size <= 9; ++size) {
    const Checkpoint checkpoint = checkpoint_at(files, size);
    const std::string note = key.sign(encode(checkpoint));
    for (std::uint64_t seq = 1; seq <= size; ++seq) {
      const auto made = prove_inclusion(files, kRoot, kWriter, seq, checkpoint, note);
      ASSERT_TRUE(made) << made.error().to_string();
      const auto proof = parse_inclusion_proof(encode(*made));
      ASSERT_TRUE(proof);
      EXPECT_EQ(proof->event, lines[static_cast<std::size_t>(seq - 1)]);
      EXPECT_EQ(check_proof(*proof, keys).value(), checkpoint);
      InclusionProof lie = *proof;
      lie.event += ' ';
      EXPECT_FALSE(check_proof(lie, keys));
      lie = *proof;
      lie.index = lie.index == 0 ? 1 : lie.index - 1;
      EXPECT_FALSE(check_proof(lie, keys));
      EXPECT_FALSE(check_proof(*proof, std::vector<VerifierKey>{key_of(2).verifier()}));
    }
    EXPECT_EQ(prove_inclusion(files, kRoot, kWriter, size + 1, checkpoint, note).error().code,
              ErrorCode::kInvalidInput);
    Checkpoint forged = checkpoint;
    forged.root[0] ^= std::byte{1};
    EXPECT_EQ(prove_inclusion(files, kRoot, kWriter, 1, forged, note).error().code,
              ErrorCode::kDataLoss);
  }
}

// REQ-EL-065.
TEST(Proof, ThatALogOnlyGrew) {
  FaultyFileSystem files;
  write_log(files, 1, 9);
  const SigningKey key = key_of(1);
  const std::vector<VerifierKey> keys{key.verifier()};
  for (std::uint64_t size = 0; size <= 9; ++size) {
    const Checkpoint newer = checkpoint_at(files, size);
    const std::string note = key.sign(encode(newer));
    for (std::uint64_t old_size = 0; old_size <= size; ++old_size) {
      const Checkpoint older = checkpoint_at(files, old_size);
      const auto made = prove_consistency(files, kRoot, kWriter, older, newer, note);
      ASSERT_TRUE(made) << made.error().to_string();
      const std::string text = encode(*made);
      EXPECT_TRUE(is_consistency_proof(text));
      const auto proof = parse_consistency_proof(text);
      ASSERT_TRUE(proof);
      EXPECT_EQ(check_proof(*proof, older, keys).value(), newer);
      Checkpoint lie = older;
      lie.root[0] ^= std::byte{1};
      EXPECT_EQ(check_proof(*proof, lie, keys).has_value(), old_size == 0);
      lie = older;
      lie.size += 1;
      EXPECT_FALSE(check_proof(*proof, lie, keys));
      lie = older;
      lie.origin += "x";
      EXPECT_FALSE(check_proof(*proof, lie, keys));
    }
    if (size == 9) continue;
    EXPECT_EQ(prove_consistency(files, kRoot, kWriter, checkpoint_at(files, size + 1), newer, note)
                  .error()
                  .code,
              ErrorCode::kInvalidInput);
  }
}

TEST(Proof, RefusesWhatIsNotInItsForm) {
  const std::string note = key_of(1).sign("a\n");
  const std::string node = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n";
  const std::string start = "c2sp.org/tlog-proof@v1\nextra e30=\nindex 1\n";
  ASSERT_TRUE(parse_inclusion_proof(start + node + "\n" + note));
  ASSERT_TRUE(parse_inclusion_proof(start + "\n" + note));
  std::string most = start;
  for (int i = 0; i < 64; ++i) most += node;
  ASSERT_TRUE(parse_inclusion_proof(most + "\n" + note));
  for (const std::string& other :
       {std::string{}, start, start + node, most + node + "\n" + note,
        "c2sp.org/tlog-proof@v2" + start.substr(22) + "\n" + note,
        "c2sp.org/tlog-proof@v1\nindex 1\n\n" + note,
        "c2sp.org/tlog-proof@v1\nextra e30\nindex 1\n\n" + note,
        "c2sp.org/tlog-proof@v1\nextra e30=\nindex 01\n\n" + note, start + "xx\n\n" + note}) {
    EXPECT_FALSE(parse_inclusion_proof(other)) << other;
  }
  ASSERT_TRUE(parse_consistency_proof("old 1\n" + node + "\n" + note));
  for (const std::string& other : {std::string{"old 1\n"}, "old 01\n\n" + note, "old\n\n" + note,
                                   "new 1\n\n" + note, "old 1\nx\n\n" + note}) {
    EXPECT_FALSE(parse_consistency_proof(other)) << other;
  }
}

}  // namespace
}  // namespace remit::evidence
