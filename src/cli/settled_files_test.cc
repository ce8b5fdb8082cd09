// Files in the making: what is read of them, and what is left for later.
#include "cli/settled_files.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/limits.h"

namespace remit::cli {
namespace {

std::string read_whole(ReadFile& file, std::size_t piece_bytes) {
  std::string out;
  std::string piece(piece_bytes, '\0');
  while (true) {
    const Result<std::size_t> count = file.read(std::as_writable_bytes(std::span(piece)));
    if (!count || *count == 0) return out;
    out.append(piece, 0, *count);
  }
}

TEST(SettledFiles, EndBehindTheLastLineFeed) {  // REQ-GR-112
  const std::string block(std::size_t{64} * 1024, 'x');
  const std::pair<std::string, std::string> rows[] = {
      {"", ""},
      {"a", ""},
      {"\n", "\n"},
      {"a\nb", "a\n"},
      {"a\nb\n", "a\nb\n"},
      {block, ""},
      {block + "\n", block + "\n"},
      {"a\n" + block + block, "a\n"},
      {"a\n" + block + block + "\nb", "a\n" + block + block + "\n"},
      {"\x1f\x8b\x08\x01 packed, no line feed", "\x1f\x8b\x08\x01 packed, no line feed"},
      {"\x28\xb5\x2f\xfd packed", "\x28\xb5\x2f\xfd packed"},
  };
  PosixFileSystem files;
  SettledFiles settled(files);
  const std::string path = ::testing::TempDir() + "/settled_files_test";
  for (const auto& [content, expected] : rows) {
    ASSERT_TRUE(files.replace(path, content));
    for (const std::size_t piece_bytes : {std::size_t{1}, std::size_t{7}, std::size_t{100'000}}) {
      if (content.size() > 1000 && piece_bytes == 1) continue;
      EXPECT_EQ(read_whole(*settled.open_read(path).value(), piece_bytes), expected);
    }
  }
  EXPECT_EQ(settled.read(path, 100).value(), "");
  ASSERT_TRUE(files.replace(path, "a\nb"));
  EXPECT_EQ(settled.read(path, 100).value(), "a\n");
}

TEST(SettledFiles, KeepNoLineOverTheLimit) {
  PosixFileSystem files;
  SettledFiles settled(files);
  const std::string path = ::testing::TempDir() + "/settled_files_test";
  const std::string long_line(kMaxEventLineBytes + std::size_t{3} * 64 * 1024, 'x');
  ASSERT_TRUE(files.replace(path, long_line));
  const std::string read = read_whole(*settled.open_read(path).value(), 100'000);
  EXPECT_GT(read.size(), kMaxEventLineBytes);  // enough to be seen as too long
}

}  // namespace
}  // namespace remit::cli
