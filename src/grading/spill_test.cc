// Invocations that wait in a scratch file: the same grade, or an error, and never another grade.
#include "grading/spill.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "event/event.h"
#include "grading/grading.h"
#include "tests/support/faulty_file_system.h"
#include "tests/support/memory_file.h"
#include "tests/support/refusing_file_system.h"

namespace remit::grading {
namespace {

using event::Event;
using event::EventKind;
using event::Field;
using testing::FaultyFileSystem;

constexpr std::size_t kCalls = 60;

/// Calls of which one in ten finishes twice, long after the first time.
std::string trace_text() {
  std::string out;
  std::int64_t seq = 0;
  const auto add = [&](EventKind kind, std::size_t call) {
    const std::string id = "i" + std::to_string(call);
    Event event;
    event.kind = kind;
    event.set(Field::kInvocationId, id);
    event.set(Field::kWriter, "w");
    event.set(Field::kSeq, ++seq);
    event.set(Field::kTool, "read");
    if (kind == EventKind::kAuthorizationDecision) {
      event.set(Field::kDecision, "allow");
      event.set(Field::kPolicyVersion, "v1");
    }
    if (kind == EventKind::kExecutorFinish) event.set(Field::kOutcome, "succeeded");
    event::encode(event, out);
  };
  for (std::size_t call = 0; call < kCalls; ++call) {
    for (const EventKind kind : {EventKind::kToolRequest, EventKind::kAuthorizationDecision,
                                 EventKind::kExecutorStart, EventKind::kExecutorFinish}) {
      add(kind, call);
    }
  }
  for (std::size_t call = 0; call < kCalls; call += 10) add(EventKind::kExecutorFinish, call);
  return out;
}

Result<Grade> grade_in(FileSystem& files, std::size_t memory_bytes) {
  Criteria criteria;
  criteria.memory_bytes = memory_bytes;
  criteria.scratch_directories = {"/"};
  Evidence evidence;
  evidence.inputs.push_back(
      trace::Input::of_stream("t", std::make_unique<testing::MemoryFile>(trace_text())));
  return grade(files, std::move(evidence), std::move(criteria));
}

void expect_whole(const Grade& grade) {
  EXPECT_EQ(grade.population.invocations, kCalls);
  EXPECT_EQ(grade.population.finished, kCalls);
  EXPECT_EQ(grade.invocations.size(), kCalls / 10);
  ASSERT_EQ(grade.findings.size(), kCalls / 10);
  for (const Finding& one : grade.findings) {
    EXPECT_EQ(one.code, Code::kMultipleFinishes);
    EXPECT_EQ(one.events.size(), 2U);
  }
}

TEST(Spill, JoinsWhatWasReopened) {
  for (std::size_t memory_bytes = 1; memory_bytes < 100'000;
       memory_bytes = memory_bytes * 3 / 2 + 1) {
    SCOPED_TRACE(memory_bytes);
    FaultyFileSystem files;
    const Result<Grade> grade = grade_in(files, memory_bytes);
    ASSERT_TRUE(grade) << grade.error().to_string();
    expect_whole(*grade);
  }
}

// REQ-GR-096. A full disk, a failed read: each step in turn, then none.
TEST(Spill, IsAnErrorWhereTheDiskFails) {
  std::uint64_t step = 1;
  for (;; ++step) {
    FaultyFileSystem files;
    files.fail_at(step, FaultyFileSystem::Fault::kError);
    const Result<Grade> grade = grade_in(files, 1'000);
    if (!files.has_failed()) {
      ASSERT_TRUE(grade);
      expect_whole(*grade);
      break;
    }
    ASSERT_FALSE(grade) << step;
    EXPECT_EQ(grade.error().code, ErrorCode::kUnavailable);
  }
  EXPECT_GT(step, 10U);  // it was written and read
}

/// Scratch files whose every read has one bit wrong.
class ForgetfulFileSystem final : public remit::testing::RefusingFileSystem {
 public:
  Result<std::unique_ptr<ScratchFile>> open_scratch(const std::string& directory) override {
    REMIT_TRY_ASSIGN(std::unique_ptr<ScratchFile> file, files_.open_scratch(directory));
    return std::unique_ptr<ScratchFile>(std::make_unique<File>(std::move(file)));
  }

 private:
  class File final : public ScratchFile {
   public:
    explicit File(std::unique_ptr<ScratchFile> file) : file_(std::move(file)) {}
    Status append(std::span<const std::byte> bytes) override { return file_->append(bytes); }
    Status read_at(std::uint64_t offset, std::span<std::byte> out) override {
      REMIT_TRY(file_->read_at(offset, out));
      if (!out.empty()) out.back() ^= std::byte{1};
      return {};
    }

   private:
    std::unique_ptr<ScratchFile> file_;
  };

  FaultyFileSystem files_;
};

TEST(Spill, TrustsNoByteThatChanged) {
  ForgetfulFileSystem files;
  const Result<Grade> grade = grade_in(files, 1'000);
  ASSERT_FALSE(grade);
  EXPECT_EQ(grade.error().code, ErrorCode::kDataLoss);
}

TEST(Spill, TakesTheFirstDirectoryThatWorks) {
  FaultyFileSystem files;
  Spill none(files, {}, 1);
  ASSERT_TRUE(none.write(0, {}, "text"));
  EXPECT_EQ(none.flush().error().code, ErrorCode::kUnavailable);

  files.fail_at(1, FaultyFileSystem::Fault::kError);
  Spill spill(files, {0, {"/full", "/free"}}, 1);
  const FragmentHead head{7, 4, Stage::kFinished, true};
  ASSERT_TRUE(spill.write(7, {&head, 1}, "text"));
  ASSERT_TRUE(spill.flush());
  const Result<std::vector<Spill::Extent>> extents = spill.extents(7);
  ASSERT_TRUE(extents);
  ASSERT_EQ(extents->size(), 1U);
  std::vector<FragmentHead> heads;
  ASSERT_TRUE(spill.read_heads((*extents)[0], heads));
  ASSERT_EQ(heads.size(), 1U);
  EXPECT_EQ(heads[0].id_hash, 7U);
  EXPECT_EQ(heads[0].stage, Stage::kFinished);
  EXPECT_TRUE(heads[0].has_route);
  std::string bytes;
  ASSERT_TRUE(spill.read_fragments((*extents)[0], bytes));
  EXPECT_EQ(bytes, "text");
}

TEST(Spill, FindsEveryExtentInTheOrderOfWriting) {
  constexpr std::size_t kExtents = 1000;
  for (const std::size_t held_bytes : {std::size_t{0}, std::size_t{4000}, std::size_t{1} << 20U}) {
    SCOPED_TRACE(held_bytes);
    FaultyFileSystem files;
    Spill spill(files, {held_bytes, {"/"}}, 1);
    for (std::size_t i = 0; i < kExtents; ++i) {
      for (const std::size_t partition : {3U, 200U}) {
        const std::string text = std::to_string(partition) + " " + std::to_string(i);
        const FragmentHead head{i, static_cast<std::uint32_t>(text.size()), Stage::kFinished, true};
        ASSERT_TRUE(spill.write(partition, {&head, 1}, text));
      }
    }
    ASSERT_TRUE(spill.flush());
    for (const std::size_t partition : {3U, 200U}) {
      const Result<std::vector<Spill::Extent>> extents = spill.extents(partition);
      ASSERT_TRUE(extents);
      ASSERT_EQ(extents->size(), kExtents);
      std::string bytes;
      for (std::size_t i = 0; i < kExtents; ++i) {
        ASSERT_TRUE(spill.read_fragments((*extents)[i], bytes));
        ASSERT_EQ(bytes, std::to_string(partition) + " " + std::to_string(i));
      }
    }
    ASSERT_TRUE(spill.extents(4));
    EXPECT_TRUE(spill.extents(4)->empty());
  }
}

TEST(Spill, HoldsWhatItHasRoomForAndNeedsNoFileForIt) {
  FaultyFileSystem files;
  Spill spill(files, {64, {}}, 1);
  EXPECT_TRUE(spill.is_empty());
  const FragmentHead head{7, 5, Stage::kFinished, true};
  ASSERT_TRUE(spill.write(7, {&head, 1}, "first"));
  EXPECT_FALSE(spill.is_empty());
  ASSERT_TRUE(spill.flush());
  const Result<std::vector<Spill::Extent>> extents = spill.extents(7);
  ASSERT_TRUE(extents);
  std::vector<FragmentHead> heads;
  ASSERT_TRUE(spill.read_heads(extents->at(0), heads));
  EXPECT_EQ(heads.at(0).id_hash, 7U);
  std::string bytes;
  ASSERT_TRUE(spill.read_fragments(extents->at(0), bytes));
  EXPECT_EQ(bytes, "first");
  ASSERT_TRUE(spill.write(7, {}, std::string(100, 'x')));  // there is no directory for it
  EXPECT_EQ(spill.flush().error().code, ErrorCode::kUnavailable);
}

TEST(Fragment, GivesBackEveryValueAndText) {
  const std::uint64_t numbers[] = {0, 1, 127, 128, 300, 1ULL << 35U, ~0ULL};
  FragmentBytes bytes;
  FragmentWriter writer(bytes);
  for (const std::uint64_t number : numbers) writer.value(number);
  writer.text("");
  writer.value(std::uint8_t{7});
  writer.text(std::string(5'000, 'x'));
  FragmentReader reader(bytes.view());
  for (const std::uint64_t number : numbers) EXPECT_EQ(reader.value<std::uint64_t>(), number);
  EXPECT_EQ(reader.text(), "");
  EXPECT_EQ(reader.value<std::uint8_t>(), 7);
  EXPECT_EQ(reader.text(), std::string(5'000, 'x'));
}

}  // namespace
}  // namespace remit::grading
