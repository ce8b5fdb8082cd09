// The text forms in an evidence directory: each value has one spelling.
#include "evidence/roots.h"

#include <gtest/gtest.h>

#include <string>

#include "base/bytes.h"
#include "evidence/layout.h"

namespace remit::evidence {
namespace {

RootsHeader example_header() {
  RootsHeader header;
  header.directory = "writer-000003";
  header.writer = "mfrggzdfmztwq2lk";
  header.segment = "000002";
  header.first_seq = 43;
  header.previous = "000001";
  header.previous_extent = {42, 9001, sha256("root")};
  header.previous_chain = sha256("chain");
  return header;
}

std::string without_newline(std::string text) {
  EXPECT_EQ(text.back(), '\n');
  text.pop_back();
  return text;
}

// REQ-EL-010.
TEST(Roots, TheHeaderComesBackAndNoOtherSpellingDoes) {
  const std::string line = without_newline(encode(example_header()));
  const auto parsed = parse_roots_header(line);
  ASSERT_TRUE(parsed) << parsed.error().to_string();
  EXPECT_EQ(*parsed, example_header());
  for (std::size_t at = 0; at < line.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = line;
      changed[at] = static_cast<char>(changed[at] ^ (1 << bit));
      EXPECT_FALSE(parse_roots_header(changed)) << changed;
    }
    EXPECT_FALSE(parse_roots_header(line.substr(0, at)));
  }
  EXPECT_FALSE(parse_roots_header(line + " "));
  EXPECT_FALSE(parse_roots_header(line + "\r"));
}

// REQ-EL-011, REQ-EL-013.
TEST(Roots, AnEntryComesBackAndNoOtherSpellingDoes) {
  const SegmentExtent extent{4, 1111, sha256("x")};
  for (const RootsKind kind :
       {RootsKind::kCommit, RootsKind::kRemade, RootsKind::kContinued, RootsKind::kClosed}) {
    RootsEntry entry{kind, 12, extent, {}};
    if (ends_segment(kind)) entry.chain = sha256("y");
    const std::string line = without_newline(encode(entry));
    const auto parsed = parse_roots_entry(line);
    ASSERT_TRUE(parsed) << line;
    EXPECT_EQ(*parsed, entry);
    for (const std::string& other :
         {line + " ", " " + line, line + "\r", line + " 1", "0" + line, line.substr(1),
          line.substr(0, line.size() - 1), std::string{line}.replace(line.find(' '), 1, "  "),
          std::string{line}.replace(line.find(" 12"), 3, " 012"),
          std::string{line}.replace(line.find(" 12"), 3, " 18446744073709551616"),
          std::string{line}.replace(line.find(" 12"), 3, " -12")}) {
      EXPECT_FALSE(parse_roots_entry(other)) << other;
    }
  }
  EXPECT_FALSE(parse_roots_entry(""));
  EXPECT_FALSE(parse_roots_entry(std::string(kMaxRootsLineBytes + 1, ' ')));
}

// REQ-EL-031.
TEST(Roots, OnlyTheBeginningOfAnEntryIsTorn) {
  for (const RootsKind kind : {RootsKind::kCommit, RootsKind::kClosed}) {
    RootsEntry entry{kind, 12, {4, 1111, sha256("x")}, {}};
    const std::string line = without_newline(encode(entry));
    for (std::size_t length = 0; length <= line.size(); ++length) {
      EXPECT_TRUE(is_torn_roots_entry(line.substr(0, length))) << line.substr(0, length);
    }
    for (int byte = 1; byte < 256; ++byte) {
      EXPECT_FALSE(is_torn_roots_entry(line + static_cast<char>(byte))) << byte;
    }
  }
  for (const char* tail : {"x", "commit  ", "commit 1 x", "commit 1 2 3 g", "commit 1 2 3 4 ",
                           "commit 123456789012345678901", "commits", "closed\t"}) {
    EXPECT_FALSE(is_torn_roots_entry(tail)) << tail;
  }
}

/// Whether a crash can have left this behind the last whole entry, which ends at `offset`. The same
/// whether the bytes come at once or one by one.
bool is_torn(std::uint64_t offset, const std::string& tail) {
  TornRoots whole(offset);
  const bool at_once = whole.take(bytes_of(tail)) && whole.is_torn_at_end();
  TornRoots pieces(offset);
  bool one_by_one = true;
  for (std::size_t i = 0; i < tail.size() && one_by_one; ++i) {
    one_by_one = pieces.take(bytes_of(std::string_view{tail}.substr(i, 1)));
  }
  EXPECT_EQ(one_by_one && pieces.is_torn_at_end(), at_once);
  return at_once;
}

// REQ-EL-031, REQ-EL-034.
TEST(Roots, AHoleEndsWithASectorOrTheFile) {
  const RootsEntry entry{RootsKind::kCommit, 12, {4, 1111, sha256("x")}, {}};
  const std::string line = encode(entry);
  for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{300}, std::uint64_t{5000}}) {
    for (const std::size_t length : {std::size_t{0}, std::size_t{3}, line.size() - 1}) {
      const std::string start = line.substr(0, length);
      EXPECT_TRUE(is_torn(offset, start));
      for (const std::size_t zeros : {std::size_t{1}, std::size_t{5}, std::size_t{100'000}}) {
        EXPECT_TRUE(is_torn(offset, start + std::string(zeros, '\0'))) << length << " " << zeros;
      }
      const std::size_t to_sector = 1024 - (offset + length) % 512;
      const std::string hole = start + std::string(to_sector, '\0');
      EXPECT_TRUE(is_torn(offset, hole + line + line)) << length;
      EXPECT_TRUE(is_torn(offset, hole + line.substr(20) + line + std::string(700, '\0') + "c"));
      EXPECT_FALSE(is_torn(offset, hole + "{}"));
      EXPECT_FALSE(is_torn(offset, hole + '\0' + line)) << "not behind a sector's end";
      EXPECT_FALSE(is_torn(offset, hole.substr(1) + line)) << "not behind a sector's end";
    }
    EXPECT_FALSE(is_torn(offset, "x" + std::string(5000, '\0')));
    EXPECT_FALSE(is_torn(offset, line)) << "whole";
    EXPECT_FALSE(is_torn(offset, std::string(kMaxRootsLineBytes + 1, '1')));
  }
}

TEST(Layout, NumbersHaveOneSpelling) {
  EXPECT_EQ(numbered(7), "000007");
  EXPECT_EQ(numbered(1234567), "1234567");
  EXPECT_EQ(parse_numbered("000007"), 7U);
  EXPECT_EQ(parse_numbered("1234567"), 1234567U);
  for (const char* text : {"", "7", "0000007", "000000", "00000x", "-00007", "000007 "}) {
    EXPECT_FALSE(parse_numbered(text)) << text;
  }
  EXPECT_EQ(parse_writer_directory("writer-000012"), 12U);
  EXPECT_FALSE(parse_writer_directory("writer-12"));
  EXPECT_FALSE(parse_writer_directory("new-000012"));
}

}  // namespace
}  // namespace remit::evidence
