// A process that is killed while it replaces a file leaves the old or the new one, never half.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>

#include "base/file_system.h"

namespace remit {
namespace {

constexpr std::size_t kBytes = 80'000;

/// The same letter throughout, so that a mixture of two writings is no whole one either.
char letter_of(std::size_t round) {
  return static_cast<char>('a' + round % 26);
}

bool is_whole(std::string_view text) {
  return text.size() == kBytes && text.find_first_not_of(text.front()) == std::string_view::npos;
}

Status write_round(FileSystem& files, const std::string& path, std::size_t round) {
  return files.replace(path, std::string(kBytes, letter_of(round)));
}

/// Writes again and again, and says on `told` that it has begun, until it is killed.
[[noreturn]] void write_until_killed(const std::string& path, int told) {
  PosixFileSystem files;
  const char begun = '!';
  if (::write(told, &begun, 1) != 1) ::_exit(1);
  for (std::size_t round = 1;; ++round) {
    if (!write_round(files, path, round)) ::_exit(1);
  }
}

/// Kills a writer that has written for that long; false if it ended by itself.
bool write_and_kill(const std::string& path, useconds_t writing_us) {
  int ends[2];
  if (::pipe(ends) != 0) return false;
  const pid_t child = ::fork();
  if (child == 0) write_until_killed(path, ends[1]);
  ::close(ends[1]);
  char begun = 0;
  const bool has_begun = child > 0 && ::read(ends[0], &begun, 1) == 1;
  ::close(ends[0]);
  if (child < 0) return false;
  ::usleep(writing_us);
  ::kill(child, SIGKILL);
  int status = 0;
  return ::waitpid(child, &status, 0) == child && has_begun && WIFSIGNALED(status);
}

TEST(KilledWriter, LeavesTheOldFileOrTheNew) {
  std::string folder = ::testing::TempDir() + "killed.XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const std::string path = folder + "/report";
  PosixFileSystem files;
  ASSERT_TRUE(write_round(files, path, 0));
  std::size_t halves = 0;
  for (useconds_t kill = 0; kill < 60; ++kill) {
    ASSERT_TRUE(write_and_kill(path, kill * 97 % 3'000));
    const Result<std::string> text = files.read(path, kBytes + 1);
    ASSERT_TRUE(text);
    EXPECT_TRUE(is_whole(*text)) << kill << ": " << text->size() << " bytes";
    const std::filesystem::directory_iterator entries(folder);
    if (std::distance(begin(entries), end(entries)) > 1) ++halves;
  }
  EXPECT_GT(halves, 0U);                     // some were killed in the middle
  ASSERT_TRUE(write_round(files, path, 1));  // what they left is in nobody's way
  std::filesystem::remove_all(folder);
}

// The comparison can fail.
TEST(KilledWriter, HalfAFileIsNotTakenForAWholeOne) {
  EXPECT_TRUE(is_whole(std::string(kBytes, 'a')));
  EXPECT_FALSE(is_whole(std::string(kBytes / 2, 'a')));
  EXPECT_FALSE(is_whole(std::string(kBytes - 1, 'a') + 'b'));
}

}  // namespace
}  // namespace remit
