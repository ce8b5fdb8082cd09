// Texts are compared to their last byte, however they are packed.
#include "trace/same_text.h"

#include <gtest/gtest.h>

#include "tests/support/test_folder.h"

namespace remit::trace {
namespace {

TEST(SameText, IsTheSameToTheLastByte) {  // REQ-IN-013
  const testing::TestFolder folder;
  const std::string long_text(300'000, 'x');
  folder.put("long", long_text);
  folder.put("same", long_text);
  folder.put("other", long_text.substr(1) + "y");
  folder.put("shorter", long_text.substr(1));
  folder.put("empty", "");
  folder.put("nothing", "");
  PosixFileSystem files;
  const auto is_same = [&](const char* left, const char* right) {
    return have_same_text(files, folder.path(left), folder.path(right)).value();
  };
  EXPECT_TRUE(is_same("long", "same"));
  EXPECT_TRUE(is_same("empty", "nothing"));
  for (const char* other : {"other", "shorter", "empty"}) {
    EXPECT_FALSE(is_same("long", other)) << other;
    EXPECT_FALSE(is_same(other, "long")) << other;
  }
  EXPECT_FALSE(have_same_text(files, folder.path("long"), folder.path("absent")).has_value());
}

}  // namespace
}  // namespace remit::trace
