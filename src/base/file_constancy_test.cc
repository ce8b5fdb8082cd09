// Files that change while they are read, in every way in which others change files.
#include "base/file_constancy.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

#include "base/file_system.h"

namespace remit {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr std::size_t kBytes = 100'000;
constexpr std::size_t kPiece = 30'000;

/// A folder with one file `log` of kBytes, written long ago.
class FileConstancyTest : public testing::Test {
 public:
  FileConstancyTest() {
    std::string pattern = testing::TempDir() + "constancy.XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    folder_ = pattern;
    begin();
  }
  ~FileConstancyTest() override { fs::remove_all(folder_); }

 protected:
  [[nodiscard]] std::string log() const { return folder_ / "log"; }

  void begin() {
    fs::remove_all(folder_ / "log");
    put("log", std::string(kBytes, 'a'));
    const timespec long_ago[] = {{1'000'000, 0}, {1'000'000, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, log().c_str(), long_ago, 0), 0);
  }
  /// Into the file that is there, if one is.
  void put(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  void append(const std::string& text) const {
    std::ofstream(log(), std::ios::binary | std::ios::app) << text;
  }
  /// Reads `log` by pieces, with `change` done behind the first; what was read.
  Result<std::string> read_while(const std::function<void()>& change) {
    REMIT_TRY_ASSIGN(const std::unique_ptr<ReadFile> file, files_.open_read(log()));
    std::string text;
    std::string piece(kPiece, '\0');
    for (bool is_first = true;; is_first = false) {
      REMIT_TRY_ASSIGN(const std::size_t count,
                       file->read(std::as_writable_bytes(std::span{piece})));
      text.append(piece, 0, count);
      if (is_first) change();
      if (count == 0) return text;
    }
  }

  fs::path folder_;
  PosixFileSystem files_;
};

// REQ-IN-009
TEST_F(FileConstancyTest, RefusesWhatDoesAnythingButGrow) {
  const std::string again(kBytes, 'b');
  const struct {
    const char* what;
    std::function<void()> change;
    const char* said;  // null where all is well
    std::size_t read = kBytes;
  } rows[] = {
      {"nothing", [] {}, nullptr},
      {"appended to", [&] { append("bcd"); }, nullptr, kBytes + 3},
      {"renamed", [&] { fs::rename(log(), folder_ / "log.1"); }, nullptr},
      {"removed", [&] { fs::remove(log()); }, nullptr},
      {"replaced by a shorter one",
       [&] {
         put("other", "b");
         fs::rename(folder_ / "other", log());
       },
       nullptr},
      {"mode changed", [&] { fs::permissions(log(), fs::perms::owner_read); }, nullptr},
      {"linked", [&] { fs::create_hard_link(log(), folder_ / "second"); }, nullptr},
      {"emptied", [&] { fs::resize_file(log(), 0); },
       "was cut while it was read: it had 100000 bytes and has 0; 30000 were read"},
      {"cut before what was read", [&] { fs::resize_file(log(), kPiece - 1); },
       "it had 100000 bytes and has 29999; 30000 were read"},
      {"cut at what was read", [&] { fs::resize_file(log(), kPiece); },
       "it had 100000 bytes and has 30000; 30000 were read"},
      {"cut by one byte", [&] { fs::resize_file(log(), kBytes - 1); },
       "it had 100000 bytes and has 99999; 99999 were read"},
      {"emptied and half filled again", [&] { put("log", again.substr(0, kBytes / 2)); },
       "it had 100000 bytes and has 50000; 50000 were read"},
      {"emptied and filled again as far", [&] { put("log", again); },
       "was written while it was read, and not behind its end: it has 100000 bytes as before"},
      {"emptied and filled further", [&] { put("log", again + again); },
       "was written anew while it was read: it had 100000 bytes, has 200000 and begins with "
       "something else"},
      {"written over in its middle",
       [&] {
         std::fstream file(log(), std::ios::binary | std::ios::in | std::ios::out);
         file.seekp(50'000);
         file << "b";
       },
       "was written while it was read"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    begin();
    const Result<std::string> text = read_while(row.change);
    ASSERT_EQ(text.has_value(), row.said == nullptr)
        << (text ? std::string() : text.error().to_string());
    if (row.said == nullptr) {
      EXPECT_EQ(text->size(), row.read);
      continue;
    }
    EXPECT_EQ(text.error().code, ErrorCode::kUnavailable);
    EXPECT_EQ(text.error().where, log());
    EXPECT_THAT(text.error().message, HasSubstr(row.said));
  }
}

TEST_F(FileConstancyTest, GoesOnWhereAFileGrowsBehindItsEnd) {
  const auto file = files_.open_read(log());
  ASSERT_TRUE(file);
  std::string piece(2 * kBytes, '\0');
  const auto read = [&] { return (*file)->read(std::as_writable_bytes(std::span{piece})); };
  EXPECT_EQ(read().value(), kBytes);
  EXPECT_EQ(read().value(), 0U);
  append("more");
  EXPECT_EQ(read().value(), 4U);
  fs::resize_file(log(), kBytes + 2);
  EXPECT_THAT(read().error().message, HasSubstr("it had 100004 bytes and has 100002"));
}

// A writer's time changes before its bytes count: who looks in between sees no growth yet.
TEST_F(FileConstancyTest, GoesOnBesideAWriterThatNeverRests) {
  put("log", "a");
  std::atomic<bool> is_over{false};
  std::thread writer([&] {
    const int fd = ::open(log().c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    for (std::size_t i = 0; i < 50'000 && !is_over; ++i) {
      if (::write(fd, "b", 1) != 1) break;
    }
    ::close(fd);
  });
  bool is_well = true;
  for (int i = 0; i < 300 && is_well; ++i) {
    const Result<std::string> text = files_.read(log(), std::size_t{1} << 20U);
    is_well = text.has_value();
    EXPECT_TRUE(is_well) << text.error().to_string();
  }
  is_over = true;
  writer.join();
}

// The kernel says 0 bytes of it, and makes it as it is read.
TEST_F(FileConstancyTest, ReadsWhatTheKernelMakes) {
  const Result<std::string> text = files_.read("/proc/self/status", std::size_t{1} << 20U);
  ASSERT_TRUE(text) << text.error().to_string();
  EXPECT_THAT(*text, HasSubstr("Name:"));
}

TEST_F(FileConstancyTest, WatchesADescriptorFromItsPlaceAndNoPipe) {
  const int fd = ::open(log().c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  std::string piece(kBytes, '\0');
  ASSERT_EQ(::read(fd, piece.data(), 40'000), 40'000);
  FileConstancy rest(fd);
  ASSERT_EQ(::read(fd, piece.data(), kBytes), 60'000);
  rest.note(std::as_bytes(std::span{piece}.first(60'000)));
  EXPECT_TRUE(rest.at_end("x"));
  append("c");
  EXPECT_TRUE(rest.at_end("x")) << "grew behind the end";
  fs::resize_file(log(), 10);
  EXPECT_THAT(rest.at_end("x").error().to_string(), HasSubstr("x: was cut while it was read"));
  ::close(fd);
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  FileConstancy pipe(ends[0]);
  pipe.note(std::as_bytes(std::span{piece}));
  EXPECT_TRUE(pipe.at_end("x"));
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_F(FileConstancyTest, ComparesWhatAPathLeadsTo) {  // REQ-IN-009
  fs::create_symlink("log", folder_ / "link");
  const struct {
    const char* what;
    std::function<void()> change;
    const char* said;
  } rows[] = {
      {"nothing", [] {}, nullptr},
      {"appended to", [&] { append("b"); }, nullptr},
      {"cut", [&] { fs::resize_file(log(), 7); }, "it had 100000 bytes and has 7"},
      {"written", [&] { put("log", std::string(kBytes, 'b')); }, "it has 100000 bytes as before"},
      {"replaced",
       [&] {
         put("other", std::string(kBytes, 'a'));
         fs::rename(folder_ / "other", log());
       },
       "was replaced by another file"},
  };
  for (const auto& row : rows) {
    for (const std::string& path : {log(), (folder_ / "link").string()}) {
      SCOPED_TRACE(row.what + (" at " + path));
      begin();
      const FileInfo then = files_.info(path).value();
      EXPECT_EQ(then.target_kind, FileInfo::Kind::kFile);
      EXPECT_EQ(then.target_size, kBytes);
      row.change();
      const Status same = only_grown(then, files_.info(path).value(), path);
      ASSERT_EQ(same.has_value(), row.said == nullptr);
      if (row.said == nullptr) continue;
      EXPECT_EQ(same.error().where, path);
      EXPECT_THAT(same.error().message, HasSubstr(row.said));
    }
  }
  fs::remove(log());
  EXPECT_EQ(files_.info(folder_ / "link").value().target_kind, FileInfo::Kind::kLink);
  ASSERT_EQ(::mkfifo(log().c_str(), 0600), 0);
  const FileInfo pipe = files_.info(folder_ / "link").value();
  EXPECT_EQ(pipe.target_kind, FileInfo::Kind::kOther);
  EXPECT_TRUE(only_grown(pipe, FileInfo{}, "x"));
}

}  // namespace
}  // namespace remit
