// Tries every damage on a small log, and asks of each whether verify finds it.
#include "evidence/verify.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "evidence/file_evidence_log.h"
#include "evidence/layout.h"
#include "tests/support/evidence_events.h"
#include "tests/support/fake_clock.h"
#include "tests/support/faulty_file_system.h"
#include "tests/support/seeded_random.h"

namespace remit::evidence {
namespace {

using testing::FakeClock;
using testing::FaultyFileSystem;
using testing::SeededRandom;

constexpr const char* kRoot = "/evidence";

/// A whole evidence directory as values: path beneath it, bytes.
using Tree = std::map<std::string, std::string>;

/// Whether the directory's last writer is closed, or its process dies before it can be.
enum class Ending : std::uint8_t { kClosed, kDied };

/// Writes `commits` of one, two, one, two … events into a new log.
void write_log(FaultyFileSystem& files, std::uint64_t seed, int commits, Ending ending) {
  const FakeClock clock;
  SeededRandom random(seed);
  auto log =
      FileEvidenceLog::open(files, clock, random, {.directory = kRoot, .max_segment_bytes = 300});
  ASSERT_TRUE(log) << log.error().to_string();
  for (int i = 0; i < commits; ++i) {
    const std::string id = "i" + std::to_string(i);
    std::vector<event::Event> events(i % 2 == 0 ? 1 : 2, testing::request(id));
    ASSERT_TRUE((*log)->commit({events, 0}));
  }
  if (ending == Ending::kClosed) return;
  files.kill();
  log->reset();
  files.revive();
}

Tree read_tree(FileSystem& files) {
  Tree out;
  const auto writers = files.list(kRoot).value();
  for (const std::string& writer : writers) {
    const std::string directory = std::string{kRoot} + "/" + writer;
    const auto names = files.list(directory).value();
    for (const std::string& name : names) {
      std::string path = writer;
      path += "/" + name;
      out[path] = files.read(directory + "/" + name, kMaxSegmentBytes).value();
    }
  }
  return out;
}

void write_tree(FileSystem& files, const Tree& tree) {
  ASSERT_TRUE(files.make_directory(kRoot));
  for (const auto& [path, bytes] : tree) {
    const std::string whole = std::string{kRoot} + "/" + path;
    ASSERT_TRUE(files.make_directory(whole.substr(0, whole.rfind('/'))));
    ASSERT_TRUE(files.replace(whole, bytes));
  }
}

VerifyReport verify_tree(const Tree& tree, const std::optional<Head>& kept = std::nullopt) {
  FaultyFileSystem files;
  write_tree(files, tree);
  auto report = verify(files, kRoot, {.head = kept});
  EXPECT_TRUE(report) << report.error().to_string();
  return report ? *std::move(report) : VerifyReport{};
}

bool finds(const Tree& tree) {
  return verify_tree(tree).damage.has_value();
}

/// Two closed logs of three segments each.
Tree closed_tree() {
  FaultyFileSystem files;
  write_log(files, 1, 5, Ending::kClosed);
  write_log(files, 2, 5, Ending::kClosed);
  return read_tree(files);
}

/// One closed log, and one whose writer died.
Tree died_tree() {
  FaultyFileSystem files;
  write_log(files, 1, 2, Ending::kClosed);
  write_log(files, 2, 5, Ending::kDied);
  return read_tree(files);
}

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at) + 1;
    out.push_back(text.substr(at, end - at));
    at = end;
  }
  return out;
}

std::string join(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += line;
  return out;
}

/// The paths of all segments without their suffix.
std::vector<std::string> segments(const Tree& tree) {
  std::vector<std::string> out;
  for (const auto& [path, bytes] : tree) {
    if (path.ends_with(kLinesSuffix)) out.push_back(path.substr(0, path.size() - 6));
  }
  return out;
}

void swap_segments(Tree& tree, const std::string& one, const std::string& other) {
  for (const std::string_view suffix : {kLinesSuffix, kRootsSuffix}) {
    std::swap(tree.at(one + std::string{suffix}), tree.at(other + std::string{suffix}));
  }
}

// The case that must fail if the harness finds damage in everything.
TEST(Verify, FindsNothingInWhatIsAsWritten) {
  for (const Tree& tree : {closed_tree(), died_tree()}) {
    const VerifyReport report = verify_tree(tree);
    EXPECT_FALSE(report.damage) << report.damage->to_string();
    EXPECT_EQ(report.writers.size(), 2U);
    EXPECT_TRUE(report.writers[0].closed);
  }
  const VerifyReport closed = verify_tree(closed_tree());
  EXPECT_EQ(closed.writers[1].segments, 3U);
  EXPECT_EQ(closed.writers[1].events, 7U);
  EXPECT_TRUE(closed.writers[1].closed);
  EXPECT_FALSE(closed.is_open("writer-000002"));
  const VerifyReport died = verify_tree(died_tree());
  EXPECT_FALSE(died.writers[1].closed);
  EXPECT_FALSE(died.is_open("writer-000001"));
  EXPECT_TRUE(died.is_open("writer-000002"));
}

// REQ-EL-041; the place as REQ-EL-040 says.
TEST(Verify, FindsEveryFlippedBit) {
  for (const Ending ending : {Ending::kClosed, Ending::kDied}) {
    FaultyFileSystem files;
    write_log(files, 1, 4, ending);
    const Tree whole = read_tree(files);
    for (const auto& [path, bytes] : whole) {
      const std::string file = std::string{kRoot} + "/" + path;
      // Each bit of a closed log; of the other, where nothing differs but the end, one of each
      // byte.
      for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
        const std::size_t at = bit / 8;
        if (ending == Ending::kDied && bit % 8 != at % 8) continue;
        std::string changed = bytes;
        changed[at] = static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ (1U << bit % 8));
        ASSERT_TRUE(files.replace(file, changed));
        const auto report = verify(files, kRoot);
        ASSERT_TRUE(report && report->damage) << path << " byte " << at << " bit " << bit % 8;
        if (path.ends_with(kLinesSuffix)) {
          EXPECT_EQ(report->damage->file, file);
          EXPECT_LE(report->damage->offset, at);
        }
      }
      ASSERT_TRUE(files.replace(file, bytes));
    }
  }
}

// REQ-EL-041.
TEST(Verify, FindsEveryPairOfLinesSwapped) {
  for (const Tree& whole : {closed_tree(), died_tree()}) {
    std::vector<std::pair<std::string, std::size_t>> places;
    std::map<std::string, std::vector<std::string>> lines;
    for (const auto& [path, bytes] : whole) {
      lines[path] = split_lines(bytes);
      for (std::size_t i = 0; i < lines[path].size(); ++i) places.emplace_back(path, i);
    }
    for (std::size_t a = 0; a < places.size(); ++a) {
      for (std::size_t b = a + 1; b < places.size(); ++b) {
        auto changed = lines;
        std::string& one = changed[places[a].first][places[a].second];
        std::string& other = changed[places[b].first][places[b].second];
        ASSERT_NE(one, other) << "swapping equal lines would change nothing";
        std::swap(one, other);
        Tree tree;
        for (const auto& [path, list] : changed) tree[path] = join(list);
        ASSERT_TRUE(finds(tree)) << places[a].first << ":" << places[a].second << " and "
                                 << places[b].first << ":" << places[b].second;
      }
    }
  }
}

// REQ-EL-041.
TEST(Verify, FindsEveryLineRemovedRepeatedOrAdded) {
  const Tree whole = closed_tree();
  for (const auto& [path, bytes] : whole) {
    const std::vector<std::string> lines = split_lines(bytes);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      std::vector<std::string> removed = lines;
      removed.erase(removed.begin() + static_cast<std::ptrdiff_t>(i));
      Tree tree = whole;
      tree[path] = join(removed);
      ASSERT_TRUE(finds(tree)) << path << " without line " << i;
      std::vector<std::string> repeated = lines;
      repeated.insert(repeated.begin() + static_cast<std::ptrdiff_t>(i), lines[i]);
      tree[path] = join(repeated);
      ASSERT_TRUE(finds(tree)) << path << " with line " << i << " twice";
    }
    for (std::size_t i = 0; i <= lines.size(); ++i) {
      for (const char* added : {"\n", "{}\n", " ", "\"", "{\"event\":\"tool.request\"}\n"}) {
        std::vector<std::string> more = lines;
        more.insert(more.begin() + static_cast<std::ptrdiff_t>(i), added);
        Tree tree = whole;
        tree[path] = join(more);
        ASSERT_TRUE(finds(tree)) << path << " with " << added << " before line " << i;
      }
    }
  }
}

// REQ-EL-013, REQ-EL-014, REQ-EL-041.
TEST(Verify, FindsEveryFileAndSegmentRemoved) {
  for (const Tree& whole : {closed_tree(), died_tree()}) {
    for (const auto& [path, bytes] : whole) {
      Tree tree = whole;
      tree.erase(path);
      ASSERT_TRUE(finds(tree)) << path;
    }
    // Each row of segments of one writer, from any one to any later one.
    const std::vector<std::string> names = segments(whole);
    for (std::size_t from = 0; from < names.size(); ++from) {
      Tree tree = whole;
      for (std::size_t to = from; to < names.size(); ++to) {
        if (names[to].substr(0, 13) != names[from].substr(0, 13)) break;
        tree.erase(names[to] + std::string{kLinesSuffix});
        tree.erase(names[to] + std::string{kRootsSuffix});
        tree[names[from].substr(0, 14) + "left"] = "so that the directory is there";
        ASSERT_TRUE(finds(tree)) << names[from] << " to " << names[to];
      }
    }
  }
}

// REQ-EL-010, REQ-EL-014, REQ-EL-041.
TEST(Verify, FindsEverySegmentSwappedOrCopied) {
  for (const Tree& whole : {closed_tree(), died_tree()}) {
    const std::vector<std::string> names = segments(whole);
    for (std::size_t a = 0; a < names.size(); ++a) {
      for (std::size_t b = a + 1; b < names.size(); ++b) {
        Tree tree = whole;
        swap_segments(tree, names[a], names[b]);
        ASSERT_TRUE(finds(tree)) << names[a] << " and " << names[b];
        for (const std::string_view suffix : {kLinesSuffix, kRootsSuffix}) {
          tree = whole;
          std::swap(tree[names[a] + std::string{suffix}], tree[names[b] + std::string{suffix}]);
          ASSERT_TRUE(finds(tree)) << names[a] << " and " << names[b] << ": " << suffix;
        }
      }
      for (const std::string writer : {"writer-000001/", "writer-000002/"}) {
        for (int number = 1; number <= 6; ++number) {
          const std::string copy = writer + numbered(static_cast<std::uint64_t>(number));
          if (copy == names[a]) continue;
          Tree tree = whole;
          tree[copy + ".jsonl"] = whole.at(names[a] + ".jsonl");
          tree[copy + ".roots"] = whole.at(names[a] + ".roots");
          ASSERT_TRUE(finds(tree)) << names[a] << " copied to " << copy;
        }
      }
    }
  }
}

// REQ-EL-041, REQ-EL-043.
TEST(Verify, FindsWritersSwappedAndAMissingOneButTheLast) {
  const Tree whole = closed_tree();
  Tree swapped;
  Tree without_first;
  Tree without_last;
  for (const auto& [path, bytes] : whole) {
    std::string other = path;
    other[12] = path[12] == '1' ? '2' : '1';
    swapped[other] = bytes;
    if (path[12] != '1') without_first[path] = bytes;
    if (path[12] != '2') without_last[path] = bytes;
  }
  EXPECT_TRUE(finds(swapped));
  EXPECT_EQ(verify_tree(without_first).damage->kind, DamageKind::kWriterMissing);
  // That the last writers are gone only a head can show.
  EXPECT_FALSE(finds(without_last));
  const Head head = verify_tree(whole).head;
  EXPECT_EQ(verify_tree(without_last, head).damage->kind, DamageKind::kHeadRolledBack);
}

// REQ-EL-041.
TEST(Verify, FindsEveryFileOfAClosedLogCutAnywhere) {
  FaultyFileSystem files;
  write_log(files, 1, 5, Ending::kClosed);
  const Tree whole = read_tree(files);
  for (const auto& [path, bytes] : whole) {
    const std::string file = std::string{kRoot} + "/" + path;
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      ASSERT_TRUE(files.replace(file, bytes.substr(0, size)));
      const auto report = verify(files, kRoot);
      ASSERT_TRUE(report && report->damage) << path << " cut to " << size;
    }
    ASSERT_TRUE(files.replace(file, bytes));
  }
}

// REQ-EL-003, REQ-EL-043.
TEST(Verify, FindsAClosedLogCutTogetherWithItsRoots) {
  const Tree whole = closed_tree();
  const Head head = verify_tree(whole).head;
  const std::string lines_path = "writer-000002/000003.jsonl";
  const std::string roots_path = "writer-000002/000003.roots";
  const std::vector<std::string> lines = split_lines(whole.at(lines_path));
  const std::vector<std::string> roots = split_lines(whole.at(roots_path));
  ASSERT_EQ(lines.size(), 1U);
  ASSERT_EQ(roots.size(), 3U);
  Tree tree = whole;
  tree[lines_path] = "";
  tree[roots_path] = roots[0];
  EXPECT_EQ(verify_tree(tree).damage->kind, DamageKind::kRootsCut);
  // With a lock file made for it, it looks like a writer at work; the head says that it is not.
  tree["writer-000002/lock"] = "";
  EXPECT_FALSE(finds(tree));
  EXPECT_EQ(verify_tree(tree, head).damage->kind, DamageKind::kHeadRolledBack);
}

// REQ-EL-042, REQ-EL-043.
TEST(Verify, SaysOfAnUnclosedLogWhatStandsBehindItsLastRoot) {
  const Tree whole = died_tree();
  const Head head = verify_tree(whole).head;
  const std::string lines_path = "writer-000002/000003.jsonl";
  const std::string roots_path = "writer-000002/000003.roots";
  const std::string& lines = whole.at(lines_path);
  const std::string& roots = whole.at(roots_path);
  for (std::size_t size = 0; size < lines.size(); ++size) {
    Tree tree = whole;
    tree[lines_path].resize(size);
    ASSERT_EQ(verify_tree(tree).damage->kind, DamageKind::kLinesCut) << size;
  }
  // A root cut off, whole or in part, is what a crash leaves too: the lines are counted as
  // unproven, and only a head knows better.
  const std::size_t header = roots.find('\n') + 1;
  for (std::size_t size = 0; size < roots.size(); ++size) {
    Tree tree = whole;
    tree[roots_path].resize(size);
    const VerifyReport report = verify_tree(tree);
    ASSERT_EQ(report.damage.has_value(), size < header) << size;
    if (report.damage) continue;
    EXPECT_EQ(report.writers[1].unrooted_lines, 1U);
    EXPECT_EQ(verify_tree(tree, head).damage->kind, DamageKind::kHeadRolledBack);
  }
  Tree torn = whole;
  torn[lines_path] += R"({"event":"tool.requ)";
  EXPECT_EQ(verify_tree(torn).writers[1].torn_bytes, 19U);
  EXPECT_EQ(verify_tree(torn).writers[1].unrooted_lines, 0U);
  // A whole line is an event of this writer with the next number, or it is torn as well.
  torn[lines_path] = lines + lines;
  EXPECT_EQ(verify_tree(torn).writers[1].unrooted_lines, 0U);
  EXPECT_EQ(verify_tree(torn).writers[1].torn_bytes, lines.size());
}

// REQ-EL-051, REQ-EL-052.
TEST(Verify, AHeadFitsWhatGrewOutOfIt) {
  FaultyFileSystem files;
  write_log(files, 1, 4, Ending::kClosed);
  const FakeClock clock;
  SeededRandom random(7);
  auto log =
      FileEvidenceLog::open(files, clock, random, {.directory = kRoot, .max_segment_bytes = 300});
  ASSERT_TRUE(log);
  std::vector<Head> heads;
  std::vector<Tree> trees;
  for (int i = 0; i < 8; ++i) {
    const auto report = verify(files, kRoot);
    ASSERT_TRUE(report && report->intact());
    heads.push_back(report->head);
    trees.push_back(read_tree(files));
    const std::vector<event::Event> events(3, testing::request("i"));
    ASSERT_TRUE((*log)->commit({events, 0}));
  }
  ASSERT_TRUE((*log)->close());
  heads.push_back(verify(files, kRoot)->head);
  trees.push_back(read_tree(files));
  write_log(files, 9, 2, Ending::kDied);
  heads.push_back(verify(files, kRoot)->head);
  trees.push_back(read_tree(files));
  write_log(files, 10, 1, Ending::kClosed);  // And recovers the one before.
  heads.push_back(verify(files, kRoot)->head);
  trees.push_back(read_tree(files));
  for (std::size_t head = 0; head < heads.size(); ++head) {
    for (std::size_t tree = 0; tree < trees.size(); ++tree) {
      const VerifyReport report = verify_tree(trees[tree], heads[head]);
      EXPECT_EQ(report.intact(), tree >= head)
          << "head " << head << " on tree " << tree << ": "
          << (report.damage ? report.damage->to_string() : "fits");
    }
  }
}

// REQ-EL-043, REQ-EL-051.
TEST(Verify, AHeadContradictsALogMadeAnew) {
  for (const Ending ending : {Ending::kClosed, Ending::kDied}) {
    FaultyFileSystem files;
    write_log(files, 1, 5, ending);
    const Head head = verify(files, kRoot)->head;
    Tree original = read_tree(files);
    FaultyFileSystem forged;
    {
      const FakeClock clock;
      SeededRandom random(1);  // The same writer id.
      auto log = FileEvidenceLog::open(forged, clock, random,
                                       {.directory = kRoot, .max_segment_bytes = 300});
      const std::vector<event::Event> events(1, testing::request("other"));
      for (int i = 0; i < 10; ++i) ASSERT_TRUE((*log)->commit({events, 0}));
    }
    const auto report = verify(forged, kRoot, {.head = head});
    ASSERT_TRUE(report && report->damage);
    EXPECT_EQ(report->damage->kind, DamageKind::kHeadContradicted);
    EXPECT_TRUE(verify_tree(original, head).intact());
  }
}

// REQ-EL-050.
TEST(Head, HasOneSpelling) {
  Head head;
  head.writers = 12;
  head.open = {{3, 400}, {12, 0}};
  head.digest = sha256("x");
  const std::string text = head.to_string();
  EXPECT_EQ(text, "remit-head-1:12:3@400,12@0:" + digest_text(sha256("x")).substr(7));
  const auto parsed = Head::parse(text);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(*parsed, head);
  const std::string hex = digest_text(head.digest).substr(7);
  for (const std::string& other :
       {std::string{}, std::string{"remit-head-1"}, text + " ", text + ":", " " + text,
        "remit-head-2:1:-:" + hex, "remit-head-1:1::" + hex, "remit-head-1:01:-:" + hex,
        "remit-head-1:1:2@1:" + hex, "remit-head-1:2:2@1,1@1:" + hex, "remit-head-1:2:1@1,:" + hex,
        "remit-head-1:2:1@:" + hex, "remit-head-1:2:0@1:" + hex, "remit-head-1:1:-:" + hex + "00",
        "remit-head-1:1:-:" + hex.substr(2), "remit-head-1:-1:-:" + hex}) {
    EXPECT_FALSE(Head::parse(other)) << other;
  }
}

TEST(Verify, AnEmptyDirectoryHoldsNothingAndAMissingOneIsAnError) {
  FaultyFileSystem files;
  EXPECT_EQ(verify(files, kRoot).error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(files.make_directory(kRoot));
  const auto report = verify(files, kRoot);
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->intact());
  EXPECT_TRUE(report->writers.empty());
}

}  // namespace
}  // namespace remit::evidence
