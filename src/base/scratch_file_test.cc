// Files without a name: read back anywhere, and nothing left.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <span>
#include <string>

#include "base/bytes.h"
#include "base/file_system.h"

namespace remit {
namespace {

TEST(ScratchFile, IsReadBackAndLeavesNothing) {
  std::string folder = testing::TempDir() + "remit-scratch-XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  PosixFileSystem files;
  auto file = files.open_scratch(folder);
  ASSERT_TRUE(file) << file.error().to_string();
  EXPECT_TRUE(files.list(folder)->empty());
  EXPECT_TRUE((*file)->append(bytes_of("hello, ")));
  EXPECT_TRUE((*file)->append(bytes_of("world")));
  EXPECT_TRUE(files.list(folder)->empty());
  std::string out(5, '\0');
  const auto bytes = std::as_writable_bytes(std::span{out});
  EXPECT_TRUE((*file)->read_at(7, bytes));
  EXPECT_EQ(out, "world");
  EXPECT_TRUE((*file)->read_at(0, bytes));
  EXPECT_EQ(out, "hello");
  EXPECT_EQ((*file)->read_at(8, bytes).error().code, ErrorCode::kDataLoss);
  EXPECT_EQ(::rmdir(folder.c_str()), 0);  // it is empty
}

TEST(ScratchFile, NeedsItsDirectory) {
  PosixFileSystem files;
  const auto file = files.open_scratch("/nowhere/at/all");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace remit
