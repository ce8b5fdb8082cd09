// A file replaced piece by piece: whole or not at all, whichever step fails.
#include "base/file_replacement.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

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

mode_t mode_of(const std::string& path) {
  struct stat found{};
  EXPECT_EQ(::stat(path.c_str(), &found), 0);
  return found.st_mode & 07777U;
}

TEST(FileReplacement, KeepsTheModeAndANewFileHasWhatTheUmaskLeaves) {  // REQ-RP-009
  const Folder folder;
  PosixFileSystem files;
  for (const mode_t mode : {0644U, 0640U, 0600U, 0664U, 0444U, 0777U}) {
    for (const bool at_once : {false, true}) {
      const std::string path = folder.path("old");
      std::filesystem::remove(path);
      ASSERT_TRUE(files.replace(path, "old"));
      ASSERT_EQ(::chmod(path.c_str(), mode), 0);
      ASSERT_TRUE(at_once ? files.replace(path, "new") : write_new(files, path));
      EXPECT_EQ(mode_of(path), mode);
    }
  }
  ASSERT_EQ(::chmod(folder.path("old").c_str(), 04755), 0);
  ASSERT_TRUE(write_new(files, folder.path("old")));
  EXPECT_EQ(mode_of(folder.path("old")), 0755U) << "no right to be another";
  for (const mode_t masked : {022U, 077U, 002U, 0U}) {
    const mode_t before = ::umask(masked);
    const std::string path = folder.path(std::to_string(masked).c_str());
    EXPECT_TRUE(write_new(files, path));
    EXPECT_TRUE(files.replace(path + ".private", "x"));
    ::umask(before);
    EXPECT_EQ(mode_of(path), 0666U & ~masked);
    EXPECT_EQ(mode_of(path + ".private"), 0600U & ~masked);
  }
}

// What somebody put into a folder of others must not become the owner of what is recorded.
TEST(FileReplacement, GivesNothingToAStranger) {  // REQ-RP-009
  if (::geteuid() != 0) GTEST_SKIP() << "not run, only root gives files away";
  const Folder folder;
  PosixFileSystem files;
  const std::string path = folder.path("old");
  const mode_t umask_before = ::umask(022);
  for (const bool at_once : {false, true}) {
    std::filesystem::remove(path);
    ASSERT_TRUE(files.replace(path, "old"));
    ASSERT_EQ(::chmod(path.c_str(), 0662), 0);
    ASSERT_EQ(::chown(path.c_str(), 12'345, 23'456), 0);
    ASSERT_TRUE(at_once ? files.replace(path, "new") : write_new(files, path));
    struct stat found{};
    ASSERT_EQ(::stat(path.c_str(), &found), 0);
    EXPECT_EQ(found.st_uid, ::geteuid());
    EXPECT_NE(found.st_gid, 23'456U);
    EXPECT_EQ(mode_of(path), 0600U) << "neither their write bit nor our group's";
  }
  ::umask(umask_before);
}

bool may_be_entered_by_others(std::filesystem::path place) {
  for (place = std::filesystem::absolute(place); place.has_relative_path();
       place = place.parent_path()) {
    const auto mode = std::filesystem::status(place).permissions();
    if ((mode & std::filesystem::perms::others_exec) == std::filesystem::perms::none) return false;
  }
  return true;
}

// Whoever may give files away: the owner stays, else the others of a group that is not kept get no
// more than everyone.
TEST(FileReplacement, KeepsTheOwnerWhereItMay) {  // REQ-RP-009
  if (::geteuid() != 0) GTEST_SKIP() << "not run, only root gives files away";
  const Folder folder;
  PosixFileSystem files;
  const std::string path = folder.path("old");
  ASSERT_TRUE(files.replace(path, "old"));
  ASSERT_EQ(::chmod(path.c_str(), 0640), 0);
  ASSERT_EQ(::chown(path.c_str(), 12'345, 23'456), 0);
  ASSERT_EQ(::chown(folder.path().c_str(), 12'345, 23'456), 0);
  ASSERT_TRUE(write_new(files, path));
  struct stat found{};
  ASSERT_EQ(::stat(path.c_str(), &found), 0);
  EXPECT_EQ(found.st_uid, 12'345U);
  EXPECT_EQ(found.st_gid, 23'456U);
  EXPECT_EQ(mode_of(path), 0640U);
  // As someone else, who may write in the folder but give nothing away.
  ASSERT_EQ(::chmod(folder.path().c_str(), 0777), 0);
  if (!may_be_entered_by_others(folder.path())) {
    GTEST_SKIP() << "others may not enter a folder above " << folder.path();
  }
  ASSERT_EQ(::chmod(path.c_str(), 0664), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const bool is_other = ::setgid(34'567) == 0 && ::setuid(34'567) == 0;
    ::_exit(is_other && write_new(files, path) ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  ASSERT_EQ(::stat(path.c_str(), &found), 0);
  EXPECT_EQ(found.st_uid, 34'567U);
  EXPECT_EQ(mode_of(path), 0644U);
}

}  // namespace
}  // namespace remit
