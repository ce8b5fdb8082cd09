// A file replaced piece by piece: whole or not at all, whichever step fails.
#include "base/file_replacement.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

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
  REMIT_TRY_ASSIGN(FileReplacement file, FileReplacement::open(files, path));
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
  {
    Result<FileReplacement> file = FileReplacement::open(files, folder.path("report"));
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->append("half"));
  }
  EXPECT_TRUE(files.list(folder.path())->empty());
}

}  // namespace
}  // namespace remit
