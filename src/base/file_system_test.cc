// The machine's file system: what each operation does, and what each error is called.
#include "base/file_system.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "base/bytes.h"
#include "base/file_descriptor.h"

namespace remit {
namespace {

// A directory of its own for each test, removed afterwards.
class FileSystemTest : public testing::Test {
 public:
  FileSystemTest() {
    std::string pattern = testing::TempDir() + "remit-files-XXXXXX";
    root_ = ::mkdtemp(pattern.data());
  }
  ~FileSystemTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }

 protected:
  [[nodiscard]] std::string path(const std::string& name) const { return root_ + "/" + name; }

  void write(const std::string& name, std::string_view text) {
    const Result<std::unique_ptr<AppendFile>> file =
        files_.open_append(path(name), OpenMode::kMayCreate);
    ASSERT_TRUE(file);
    ASSERT_TRUE((*file)->append(bytes_of(text)));
  }

  std::string root_;
  PosixFileSystem files_;
};

TEST_F(FileSystemTest, AppendsReadsAndTruncates) {
  auto file = files_.open_append(path("log"), OpenMode::kMustCreate);
  ASSERT_TRUE(file);
  EXPECT_TRUE((*file)->append(bytes_of("hello, ")));
  EXPECT_TRUE((*file)->append(bytes_of("world")));
  EXPECT_TRUE((*file)->append({}));
  EXPECT_TRUE((*file)->sync());
  EXPECT_EQ(*(*file)->size(), 12U);
  EXPECT_EQ(*files_.read(path("log"), 12), "hello, world");
  EXPECT_TRUE((*file)->truncate(5));
  EXPECT_TRUE((*file)->append(bytes_of("!")));
  EXPECT_EQ(*files_.read(path("log"), 100), "hello!");
}

TEST_F(FileSystemTest, AnOpenFileKnowsWhetherItStillStandsAtItsPath) {
  namespace fs = std::filesystem;
  const std::string log = path("log");
  const std::string aside = path("aside");
  const auto file = files_.open_append(log, OpenMode::kMustCreate);
  ASSERT_TRUE(file);
  EXPECT_TRUE(*(*file)->stands_at(log));
  fs::rename(log, aside);
  EXPECT_FALSE(*(*file)->stands_at(log)) << "nothing is there";
  EXPECT_TRUE(*(*file)->stands_at(aside)) << "it moved";
  write("log", "another");
  EXPECT_FALSE(*(*file)->stands_at(log)) << "another is there";
  EXPECT_FALSE(*(*file)->stands_at(log + "/below")) << "no way leads there";
  fs::remove(log);
  fs::create_symlink(aside, log);
  EXPECT_FALSE(*(*file)->stands_at(log)) << "a link to it is there";
  fs::remove(log);
  fs::create_hard_link(aside, log);
  EXPECT_TRUE(*(*file)->stands_at(log)) << "a second name of it";
  fs::remove(log);
  fs::remove(aside);
  EXPECT_FALSE(*(*file)->stands_at(aside)) << "it has no name";
}

TEST_F(FileSystemTest, ReadsNoMoreThanAllowed) {
  write("f", std::string(200'000, 'x'));
  EXPECT_EQ(files_.read(path("f"), 200'000)->size(), 200'000U);
  const Result<std::string> text = files_.read(path("f"), 199'999);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, ErrorCode::kLimitExceeded);
  EXPECT_EQ(text.error().where, path("f"));
  EXPECT_EQ(files_.read("/dev/zero", 1000).error().code, ErrorCode::kLimitExceeded);
}

TEST_F(FileSystemTest, NamesTheErrors) {
  write("file", "x");
  ASSERT_TRUE(files_.make_directory(path("dir")));
  ASSERT_EQ(::symlink(path("file").c_str(), path("link").c_str()), 0);
  EXPECT_EQ(files_.read(path("none"), 1).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(files_.read(path("none"), 1).error().where, path("none"));
  EXPECT_EQ(files_.read(path("file/x"), 1).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(files_.read(path("dir"), 1).error().code, ErrorCode::kInvalidInput);
  EXPECT_EQ(files_.open_append(path("none"), OpenMode::kMustExist).error().code,
            ErrorCode::kNotFound);
  EXPECT_EQ(files_.open_append(path("file"), OpenMode::kMustCreate).error().code,
            ErrorCode::kAlreadyExists);
  EXPECT_EQ(files_.open_append(path("link"), OpenMode::kMayCreate).error().code,
            ErrorCode::kUnavailable);
  EXPECT_EQ(files_.make_directory(path("file")).error().code, ErrorCode::kAlreadyExists);
  EXPECT_EQ(files_.make_directory(path("none/sub")).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(files_.list(path("none")).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(files_.info(path("none")).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(files_.remove(path("none")).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(files_.rename(path("none"), path("b")).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(files_.sync_directory(path("none")).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(files_.sync_directory(path("file")).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(files_.lock(path("none/lock")).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(files_.replace(path("none/x"), "y").error().code, ErrorCode::kNotFound);
}

// Opening a pipe would wait for who opens its other end, for ever.
TEST_F(FileSystemTest, PipesAreNeitherLockedNorAppendedTo) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  const auto refuses = [&] {
    EXPECT_EQ(files_.lock(path("pipe")).error().code, ErrorCode::kInvalidInput);
    for (const OpenMode mode : {OpenMode::kMustExist, OpenMode::kMayCreate}) {
      const auto opened = files_.open_append(path("pipe"), mode);
      ASSERT_FALSE(opened);
      EXPECT_EQ(opened.error().code, ErrorCode::kInvalidInput);
      EXPECT_EQ(opened.error().where, path("pipe"));
    }
  };
  refuses();
  const int reader = ::open(path("pipe").c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  refuses();
  ::close(reader);
}

// As the test above, for reading: what is read whole is a file, or a pipe with someone behind it.
TEST_F(FileSystemTest, APipeThatNobodyWritesIsGivenUp) {
  PosixFileSystem hasty(std::chrono::milliseconds{20});
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  const auto refuses = [&] {
    const auto text = hasty.read(path("pipe"), 100);
    ASSERT_FALSE(text);
    EXPECT_EQ(text.error().code, ErrorCode::kDeadlineExceeded);
    EXPECT_EQ(text.error().where, path("pipe"));
  };
  refuses();  // nobody has opened it
  const FileDescriptor silent{::open(path("pipe").c_str(), O_RDWR)};
  ASSERT_TRUE(silent.is_open());
  refuses();  // somebody has, and says nothing
  ASSERT_EQ(::write(silent.get(), "half", 4), 4);
  refuses();  // or says something and does not end
}

TEST_F(FileSystemTest, APipeIsReadToItsEnd) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  const std::string long_text(300'000, 'x');  // more than a pipe holds
  std::thread writer([&] {
    const FileDescriptor end{::open(path("pipe").c_str(), O_WRONLY)};
    for (std::size_t at = 0; at < long_text.size();) {
      const ssize_t wrote = ::write(end.get(), long_text.data() + at, long_text.size() - at);
      if (wrote <= 0) return;
      at += static_cast<std::size_t>(wrote);
    }
  });
  EXPECT_EQ(*files_.read(path("pipe"), long_text.size()), long_text);
  writer.join();

  // What a shell's `<(command)` is: a pipe without a name, whose writer may have ended already.
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const FileDescriptor read_end{ends[0]};
  FileDescriptor write_end{ends[1]};
  ASSERT_EQ(::write(write_end.get(), "abc", 3), 3);
  write_end.close();
  const std::string name = "/proc/self/fd/" + std::to_string(read_end.get());
  EXPECT_EQ(*files_.read(name, 100), "abc");
  EXPECT_EQ(*files_.read(name, 100), "");

  EXPECT_EQ(*files_.read("/dev/null", 100), "");
  EXPECT_EQ(files_.read("/dev/zero", 100).error().code, ErrorCode::kLimitExceeded);
}

TEST_F(FileSystemTest, AFullDeviceIsUnavailable) {
  const auto file = files_.open_append("/dev/full", OpenMode::kMustExist);
  ASSERT_TRUE(file);
  const Status status = (*file)->append(bytes_of("x"));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(status.error().where, "/dev/full");
}

TEST_F(FileSystemTest, ReplacesWhole) {
  EXPECT_TRUE(files_.replace(path("f"), "first"));
  EXPECT_TRUE(files_.replace(path("f"), "second"));
  EXPECT_EQ(*files_.read(path("f"), 100), "second");
  EXPECT_EQ(*files_.list(root_), std::vector<std::string>{"f"});
}

TEST_F(FileSystemTest, ReplacesOnlyPlainFilesAndWritesIntoNoOnesElse) {
  write("aim", "untouched");
  std::filesystem::create_symlink(path("aim"), path("link"));
  std::filesystem::create_symlink(path("nowhere"), path("dangling"));
  std::filesystem::create_directory(path("folder"));
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  for (const char* name : {"link", "dangling", "folder", "pipe"}) {
    const Status status = files_.replace(path(name), "text");
    ASSERT_FALSE(status) << name;
    EXPECT_EQ(status.error().code, ErrorCode::kAlreadyExists) << name;
  }
  EXPECT_EQ(*files_.read(path("aim"), 100), "untouched");

  // Names that the one beside could have are someone else's.
  std::filesystem::create_symlink(path("aim"), path("f.new"));
  write("g.new", "a user's");
  EXPECT_TRUE(files_.replace(path("f"), "first"));
  EXPECT_TRUE(files_.replace(path("g"), "second"));
  EXPECT_EQ(*files_.read(path("aim"), 100), "untouched");
  EXPECT_EQ(*files_.read(path("g.new"), 100), "a user's");
  EXPECT_EQ(files_.info(path("f.new"))->kind, FileInfo::Kind::kLink);
  EXPECT_EQ(*files_.read(path("g"), 100), "second");
  const std::vector<std::string> names = *files_.list(path("."));
  for (const std::string& name : names) {
    EXPECT_FALSE(name.starts_with(".remit-")) << name;
  }
}

TEST_F(FileSystemTest, NamesBesideAreInTheSameDirectoryAndNeverTheSame) {
  SystemRandom random;
  const std::string one = name_beside("a/b/c", random);
  EXPECT_TRUE(one.starts_with("a/b/.remit-")) << one;
  EXPECT_NE(one, name_beside("a/b/c", random));
  EXPECT_TRUE(name_beside("c", random).starts_with(".remit-"));
  EXPECT_EQ(directory_of("a/b/c"), "a/b/");
  EXPECT_EQ(directory_of("/c"), "/");
  EXPECT_EQ(directory_of("c"), ".");
}

TEST_F(FileSystemTest, RemovesDirectoriesOnlyWhenNothingIsInThem) {
  std::filesystem::create_directory(path("folder"));
  write("folder/f", "text");
  std::filesystem::create_symlink(path("folder"), path("link"));
  EXPECT_EQ(files_.remove(path("folder")).error().code, ErrorCode::kAlreadyExists);
  EXPECT_TRUE(files_.remove(path("link")));
  EXPECT_EQ(*files_.read(path("folder/f"), 100), "text");
  EXPECT_TRUE(files_.remove(path("folder/f")));
  EXPECT_TRUE(files_.sync_file_system(path("folder")));
  EXPECT_TRUE(files_.remove(path("folder")));
  EXPECT_EQ(files_.sync_file_system(path("folder")).error().code, ErrorCode::kNotFound);
}

TEST_F(FileSystemTest, ReadsPieceByPieceAndOnIntoWhatGrew) {
  write("f", "hello");
  auto file = files_.open_read(path("f"));
  ASSERT_TRUE(file);
  std::string piece(3, '\0');
  const auto room = std::as_writable_bytes(std::span{piece});
  EXPECT_EQ(*(*file)->read(room), 3U);
  EXPECT_EQ(piece, "hel");
  EXPECT_EQ(*(*file)->read(room), 2U);
  EXPECT_EQ(piece.substr(0, 2), "lo");
  EXPECT_EQ(*(*file)->read(room), 0U);
  write("f", "!");
  EXPECT_EQ(*(*file)->read(room), 1U);
  EXPECT_EQ(piece[0], '!');
  EXPECT_EQ(files_.open_read(path("none")).error().code, ErrorCode::kNotFound);
  EXPECT_EQ((*files_.open_read(root_))->read(room).error().code, ErrorCode::kUnavailable);
}

TEST_F(FileSystemTest, ADirectoryReplacesOnlyAnEmptyOne) {
  for (const char* name : {"new", "empty", "full"}) ASSERT_TRUE(files_.make_directory(path(name)));
  write("full/f", "");
  EXPECT_EQ(files_.rename(path("new"), path("full")).error().code, ErrorCode::kAlreadyExists);
  EXPECT_TRUE(files_.rename(path("new"), path("empty")));
}

TEST_F(FileSystemTest, ListsInByteOrder) {
  for (const char* name : {"b", "a", "B", ".hidden", "a.b", "aa"}) write(name, "");
  const std::vector<std::string> want = {".hidden", "B", "a", "a.b", "aa", "b"};
  EXPECT_EQ(*files_.list(root_), want);
}

TEST_F(FileSystemTest, MakesDirectoriesOnce) {
  EXPECT_TRUE(files_.make_directory(path("d")));
  EXPECT_TRUE(files_.make_directory(path("d")));
  EXPECT_TRUE(files_.sync_directory(path("d")));
  EXPECT_TRUE(files_.rename(path("d"), path("e")));
  EXPECT_EQ(files_.info(path("e"))->kind, FileInfo::Kind::kDirectory);
}

TEST_F(FileSystemTest, KnowsWhoMayTouchAFile) {
  write("f", "12345");
  ASSERT_TRUE(files_.make_directory(path("d")));
  const Result<FileInfo> made = files_.info(path("f"));
  ASSERT_TRUE(made);
  EXPECT_EQ(made->kind, FileInfo::Kind::kFile);
  EXPECT_EQ(made->size, 5U);
  EXPECT_TRUE(made->owned_by_us);
  EXPECT_FALSE(made->readable_by_others);
  EXPECT_FALSE(made->writable_by_others);
  EXPECT_FALSE(files_.info(path("d"))->readable_by_others);
  const struct {
    mode_t mode;
    bool readable;
    bool writable;
  } kCases[] = {{0600, false, false}, {0640, true, false}, {0604, true, false},
                {0620, false, true},  {0602, false, true}, {0666, true, true}};
  for (const auto& c : kCases) {
    ASSERT_EQ(::chmod(path("f").c_str(), c.mode), 0);
    EXPECT_EQ(files_.info(path("f"))->readable_by_others, c.readable) << c.mode;
    EXPECT_EQ(files_.info(path("f"))->writable_by_others, c.writable) << c.mode;
  }
  ASSERT_EQ(::symlink(path("f").c_str(), path("link").c_str()), 0);
  EXPECT_EQ(files_.info(path("link"))->kind, FileInfo::Kind::kLink);
  EXPECT_EQ(files_.info("/dev/null")->kind, FileInfo::Kind::kOther);
}

TEST_F(FileSystemTest, ALockIsHeldByOne) {
  auto first = files_.lock(path("lock"));
  ASSERT_TRUE(first);
  const auto second = files_.lock(path("lock"));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kFailedPrecondition);
  EXPECT_EQ(second.error().where, path("lock"));
  (*first).reset();
  EXPECT_TRUE(files_.lock(path("lock")));
}

}  // namespace
}  // namespace remit
