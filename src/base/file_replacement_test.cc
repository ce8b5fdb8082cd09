// A file replaced piece by piece: whole or not at all, whichever step fails.
#include "base/file_replacement.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/random.h"
#include "tests/support/faulty_file_system.h"

namespace remit {
namespace {

/// Made empty, removed at the end.
class Folder {
 public:
  Folder() {
    std::string pattern = ::testing::TempDir() + "replacement.XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    path_ = pattern;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] std::string path(const char* name = "") const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

Status write_new(FileSystem& files, const std::string& path) {
  SystemRandom random;
  REMIT_TRY_ASSIGN(FileReplacement file, FileReplacement::open(files, random, path));
  REMIT_TRY(file.append("new, first piece;"));
  REMIT_TRY(file.append("second piece"));
  return file.commit();
}

TEST(FileReplacement, IsWholeOrNotThereWhicheverStepFails) {  // REQ-RP-001
  using Fault = testing::FaultyFileSystem::Fault;
  const std::string whole = "new, first piece;second piece";
  for (const Fault fault : {Fault::kError, Fault::kShort, Fault::kCrash}) {
    std::uint64_t step = 1;
    for (;; ++step) {
      testing::FaultyFileSystem files;
      ASSERT_TRUE(files.make_directory("d"));
      ASSERT_TRUE(files.sync_directory("."));
      ASSERT_TRUE(files.replace("d/report", "old"));
      files.fail_at(step, fault);
      const Status written = write_new(files, "d/report");
      const bool has_failed = files.has_failed();
      if (fault == Fault::kCrash) {
        files.restart(testing::FaultyFileSystem::Loss::kHalf);
      } else {
        files.heal();
      }
      const std::string text = files.read("d/report", 1000).value();
      EXPECT_TRUE(text == "old" || text == whole) << text;
      EXPECT_TRUE(!written || text == whole);
      const std::vector<std::string> names = files.list("d").value();
      for (const std::string& name : names) {  // what a crash leaves is known as ours
        EXPECT_TRUE(name == "report" || name.starts_with(".remit-")) << name;
      }
      if (!has_failed) break;
      EXPECT_TRUE(write_new(files, "d/report")) << step;  // what was left is no obstacle
      EXPECT_EQ(files.read("d/report", 1000).value(), whole);
    }
    EXPECT_GT(step, 5U);
  }
}

TEST(FileReplacement, LeavesWhatIsNoPlainFileAlone) {  // REQ-RP-001
  const Folder folder;
  PosixFileSystem files;
  ASSERT_TRUE(files.make_directory(folder.path("directory")));
  for (const std::string& path : {folder.path("directory"), std::string("/dev/null")}) {
    const Status written = write_new(files, path);
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code, ErrorCode::kAlreadyExists);
  }
}

TEST(FileReplacement, LeavesNothingUncommitted) {
  const Folder folder;
  PosixFileSystem files;
  SystemRandom random;
  {
    Result<FileReplacement> file = FileReplacement::open(files, random, folder.path("report"));
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->append("half"));
  }
  EXPECT_TRUE(files.list(folder.path())->empty());
}

TEST(FileReplacement, TwoAtOnceAreBothWhole) {  // REQ-RP-001
  const Folder folder;
  PosixFileSystem files;
  SystemRandom random;
  const std::string path = folder.path("report");
  Result<FileReplacement> first = FileReplacement::open(files, random, path);
  ASSERT_TRUE(first);
  ASSERT_TRUE(first->append("the first, "));
  {
    Result<FileReplacement> second = FileReplacement::open(files, random, path);
    Result<FileReplacement> given_up = FileReplacement::open(files, random, path);
    ASSERT_TRUE(second && given_up);
    ASSERT_TRUE(second->append("the second"));
    ASSERT_TRUE(first->append("whole"));
    ASSERT_TRUE(second->commit());
    EXPECT_EQ(files.read(path, 100).value(), "the second");
  }
  ASSERT_TRUE(first->commit());
  EXPECT_EQ(files.read(path, 100).value(), "the first, whole");
  EXPECT_EQ(files.list(folder.path())->size(), 1U);
}

TEST(FileReplacement, LeavesFilesOfSimilarNamesAlone) {  // REQ-RP-001
  const Folder folder;
  PosixFileSystem files;
  ASSERT_TRUE(files.replace(folder.path("report.new"), "a user's"));
  std::filesystem::create_symlink(folder.path("report.new"), folder.path(".report.new"));
  ASSERT_TRUE(write_new(files, folder.path("report")));
  EXPECT_EQ(files.read(folder.path("report.new"), 100).value(), "a user's");
  EXPECT_EQ(files.info(folder.path(".report.new"))->kind, FileInfo::Kind::kLink);
  EXPECT_EQ(files.list(folder.path())->size(), 3U);
}

TEST(FileReplacement, TellsOfThePlaceThatPeopleKnow) {
  const Folder folder;
  PosixFileSystem files;
  const std::string path = folder.path("absent/report");
  EXPECT_EQ(write_new(files, path).error().where, path);
  EXPECT_EQ(files.replace(path, "text").error().where, path);
}

}  // namespace
}  // namespace remit
