// Paths beneath a root: what they mean, and every way that should not lead out.
#include "attributes/path_attribute_source.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "base/limits.h"
#include "tests/support/test_folder.h"

namespace remit::attributes {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class PathAttributeSourceTest : public ::testing::Test {
 protected:
  PathAttributeSourceTest() {
    folder_.put("root/a.txt", "a");
    folder_.put("root/sub/b.txt", "b");
    folder_.put("root/sub/deep/c.txt", "c");
    folder_.put("root/\xc3\xbc", "u-umlaut in one code point");
    folder_.put("outside/secret.txt", "s");
    folder_.put("root-beside/x.txt", "x");
    link("a.txt", "root/to_file");
    link("sub/deep", "root/to_folder");
    link(folder_.path("root/sub/b.txt"), "root/to_file_absolute");
    link("../outside", "root/out");
    link(folder_.path("outside/secret.txt"), "root/out_absolute");
    link("sub/../../outside/secret.txt", "root/out_crooked");
    link("/", "root/out_top");
    link("not_yet.txt", "root/to_nothing");
    link("../outside/not_yet.txt", "root/out_to_nothing");
    link("loop", "root/loop");
    link("..", "root/sub/up");
    link("../..", "root/sub/up_twice");
    link("/proc/self/cwd", "root/magic");
    link("root", "named_by_link");
  }
  void link(const std::string& target, const std::string& name) const {
    ASSERT_EQ(::symlink(target.c_str(), folder_.path(name).c_str()), 0);
  }
  [[nodiscard]] std::unique_ptr<PathAttributeSource> open(const std::string& root) const {
    auto source = PathAttributeSource::open(
        {.type = "File", .root = root, .tenant = "tenant-a", .source = "files"}, clock_);
    EXPECT_TRUE(source);
    return std::move(source).value();
  }
  [[nodiscard]] Result<access::Resource> resolve(const PathAttributeSource& source,
                                                 std::string_view path) const {
    return source.resolve({"File", path, clock_.monotonic_now() + 10s});
  }
  /// `path` of the answer with `+` where it exists and `-` where it does not; or the message.
  [[nodiscard]] std::string meaning(const PathAttributeSource& source,
                                    std::string_view path) const {
    const auto found = resolve(source, path);
    if (!found) {
      EXPECT_EQ(found.error().code, ErrorCode::kNotFound) << path;
      return found.error().message;
    }
    EXPECT_EQ(found->attributes[0].first, "exists");
    EXPECT_EQ(found->attributes[1].first, "path");
    const bool exists = std::get<bool>(found->attributes[0].second);
    const auto& relative = std::get<std::string>(found->attributes[1].second);
    const std::string root = folder_.path("root");
    EXPECT_EQ(found->id, relative == "." ? root : root + "/" + relative);
    EXPECT_EQ(found->revision == "absent", !exists);
    EXPECT_EQ(found->tenant, "tenant-a");
    return (exists ? "+" : "-") + relative;
  }

  testing::TestFolder folder_;
  SystemClock clock_;
};

// REQ-BD-045.
TEST_F(PathAttributeSourceTest, PathsAndWhatTheyMean) {
  const auto source = open(folder_.path("root"));
  const std::string root = folder_.path("root");
  const std::string out = "the path leads out of the root";
  const std::string nothing = "nothing is at the path";
  const std::pair<std::string, std::string> cases[] = {
      {"a.txt", "+a.txt"},
      {"./a.txt", "+a.txt"},
      {"sub//deep///c.txt", "+sub/deep/c.txt"},
      {"sub/../a.txt", "+a.txt"},
      {"sub/deep/../../sub/./b.txt", "+sub/b.txt"},
      {"sub", "+sub"},
      {"sub/", "+sub"},
      {".", "+."},
      {"./", "+."},
      {"sub/..", "+."},
      {root, "+."},
      {root + "/", "+."},
      {root + "/a.txt", "+a.txt"},
      {root + "//sub/b.txt", "+sub/b.txt"},
      {"/" + root + "/a.txt", "+a.txt"},
      {"\xc3\xbc", "+\xc3\xbc"},
      {"u\xcc\x88", "-u\xcc\x88"},  // the same letter in two code points is another name
      {"A.txt", "-A.txt"},
      {"~", "-~"},
      {"$HOME", "-$HOME"},
      // What is yet to be made.
      {"new.txt", "-new.txt"},
      {"sub/new", "-sub/new"},
      {"sub/new/", "-sub/new"},
      {"new/..", nothing},
      {"new/.", nothing},
      {"new/new.txt", nothing},
      // A file is no directory.
      {"a.txt/", nothing},
      {"a.txt/.", nothing},
      {"a.txt/..", nothing},
      {"a.txt/../sub", nothing},
      {"a.txt/x", nothing},
      // Links.
      {"to_file", "+a.txt"},
      {"to_file/", nothing},
      {"to_folder/c.txt", "+sub/deep/c.txt"},
      {"to_folder/../b.txt", "+sub/b.txt"},
      {"to_file_absolute", "+sub/b.txt"},
      {"to_nothing", "-not_yet.txt"},
      {"sub/up/a.txt", "+a.txt"},
      {"sub/up/sub/up/sub/up/a.txt", "+a.txt"},
      {"loop", nothing},
      {"loop/x", nothing},
      // Ways out.
      {"..", out},
      {"../root/a.txt", out},
      {"sub/../..", out},
      {"sub/../../root/a.txt", out},
      {"/", out},
      {"/etc/passwd", out},
      {"//etc/passwd", out},
      {folder_.path("root-beside/x.txt"), out},
      {folder_.path("outside/secret.txt"), out},
      {root + "/../outside/secret.txt", out},
      {root + "/..", out},
      {"out", out},
      {"out/secret.txt", out},
      {"out/..", out},
      {"out_absolute", out},
      {"out_crooked", out},
      {"out_top", out},
      {"out_top/etc/passwd", out},
      {"out_to_nothing", out},
      {"sub/up_twice/root/a.txt", out},
      {"magic/x", out},
      // What is no path.
      {"", nothing},
      {std::string("a.txt\0", 6), nothing},
      {std::string("sub\0/b.txt", 10), nothing},
      {std::string(256, 'x'), nothing},
      {std::string(kMaxReferenceBytes + 1, '/'), nothing},
  };
  for (const auto& [path, expected] : cases) EXPECT_EQ(meaning(*source, path), expected) << path;
}

TEST_F(PathAttributeSourceTest, RootNamedByALinkIsTakenByBothItsNames) {
  const auto source = open(folder_.path("named_by_link"));
  EXPECT_EQ(meaning(*source, folder_.path("named_by_link/sub/b.txt")), "+sub/b.txt");
  EXPECT_EQ(meaning(*source, folder_.path("root/sub/b.txt")), "+sub/b.txt");
}

TEST_F(PathAttributeSourceTest, RevisionFollowsTheFile) {
  const auto source = open(folder_.path("root"));
  const std::string before = resolve(*source, "a.txt")->revision;
  EXPECT_EQ(resolve(*source, "a.txt")->revision, before);
  std::ofstream(folder_.path("root/a.txt"), std::ios::app) << "more";
  const std::string longer = resolve(*source, "a.txt")->revision;
  EXPECT_NE(longer, before);
  folder_.put("root/a2.txt", "amore");
  fs::rename(folder_.path("root/a2.txt"), folder_.path("root/a.txt"));
  EXPECT_NE(resolve(*source, "a.txt")->revision, longer);
}

// Neither will ever be better, so that the caller is not told to try again.
TEST_F(PathAttributeSourceTest, WhatNoRecordCanCarryIsNotFound) {
  const auto source = open(folder_.path("root"));
  const std::string unrecordable = "the canonical path is none that a record can carry";
  std::string deep;
  for (int i = 0; i < 20; ++i) {
    deep += "twelve-bytes/";
    fs::create_directories(folder_.path("root/" + deep));
  }
  const std::size_t left = kMaxIdBytes - folder_.path("root/").size();
  const std::string longest(left, 'x');
  EXPECT_EQ(meaning(*source, longest), "-" + longest);
  folder_.put("root/line\nbreak", "x");
  folder_.put("root/bad\xff", "x");
  link("bad\xff", "root/to_bad");
  const std::string paths[] = {deep,      longest + "x",      "line\nbreak", "new\tname",
                               "del\x7f", "./sub/../new\x01", "to_bad",      "new\xff"};
  for (const std::string& path : paths) EXPECT_EQ(meaning(*source, path), unrecordable) << path;
}

TEST_F(PathAttributeSourceTest, RootsThatAreNone) {
  const auto said = [&](const std::string& root) {
    return PathAttributeSource::open({.type = "File", .root = root, .tenant = "t", .source = "f"},
                                     clock_)
        .error();
  };
  EXPECT_EQ(said(folder_.path("missing")).code, ErrorCode::kNotFound);
  EXPECT_EQ(said(folder_.path("root/a.txt")).message, "the root is not a directory");
  for (const std::string& name :
       {std::string(250, 'x'), std::string("two\nlines"), std::string("\xff")}) {
    fs::create_directory(folder_.path(name));
    EXPECT_EQ(said(folder_.path(name)).code, ErrorCode::kInvalidInput) << name;
  }

  const auto source = open(folder_.path("root"));
  fs::rename(folder_.path("root"), folder_.path("moved"));
  auto found = resolve(*source, "a.txt");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::kUnavailable);
  link("outside", "root");  // another directory in its place
  found = resolve(*source, "secret.txt");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::kUnavailable);
}

TEST_F(PathAttributeSourceTest, TheTopOfTheFileSystemCanBeARoot) {
  const auto source = open("/");
  const auto found = resolve(*source, folder_.path("root/out"));
  ASSERT_TRUE(found) << found.error().to_string();
  EXPECT_EQ(found->id, folder_.path("outside"));
  EXPECT_EQ(resolve(*source, "/")->id, "/");
  EXPECT_EQ(resolve(*source, "..").error().message, "the path leads out of the root");
}

}  // namespace
}  // namespace remit::attributes
