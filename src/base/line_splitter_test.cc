// Lines at every block size, at their places, whatever the ends of lines.
#include "base/line_splitter.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/memory_file.h"

namespace remit {
namespace {

class BrokenFile final : public ReadFile {
 public:
  Result<std::size_t> read(std::span<std::byte>) override {
    return Error{ErrorCode::kUnavailable, "input/output error", "trace.jsonl"};
  }
};

/// Lines as `NUMBER@OFFSET:TEXT`, an over-long one ends with `!` and a torn one with `~`.
std::vector<std::string> lines_of(const std::string& text, std::size_t limit, std::size_t block,
                                  std::size_t piece) {
  testing::MemoryFile file(text, piece);
  LineSplitter splitter(file, limit, block);
  std::vector<std::string> lines;
  SplitLine line;
  for (;;) {
    Result<bool> found = splitter.next(line);
    EXPECT_TRUE(found.has_value());
    if (!found || !*found) return lines;
    std::string one = std::to_string(line.number) + "@" + std::to_string(line.offset) + ":";
    one += line.text;
    if (line.end == LineEnd::kTooLong) one += "!";
    if (line.end == LineEnd::kTorn) one += "~";
    lines.push_back(one);
  }
}

struct LineCase {
  std::string text;
  std::vector<std::string> lines;
};

TEST(LineSplitter, SplitsAtEveryBlockSize) {  // REQ-EV-002, REQ-EV-003
  const LineCase cases[] = {
      {"", {}},
      {"\n\n \t\r\n", {"1@0:", "2@1:", "3@2: \t\r"}},
      {"{a}\n{b}\n", {"1@0:{a}", "2@4:{b}"}},
      {"{a}\n{b}", {"1@0:{a}", "2@4:{b}~"}},
      {"{a}\r\n\r\n{b}\r\n", {"1@0:{a}\r", "2@5:\r", "3@7:{b}\r"}},
      {"12345678\n123456789\n{c}\n", {"1@0:12345678", "2@9:12345678!", "3@19:{c}"}},
      {"12345678901234567890123", {"1@0:12345678!"}},
      {"12345678901234567890123\n{c}", {"1@0:12345678!", "2@24:{c}~"}},
      {"1234567890\n\n", {"1@0:12345678!", "2@11:"}},
      {"12345678", {"1@0:12345678~"}},
      {std::string("a\0b\nc", 5), {std::string("1@0:a\0b", 7), "2@4:c~"}},
  };
  for (const LineCase& one : cases) {
    for (const std::size_t block : {1U, 2U, 3U, 5U, 8U, 64U}) {
      for (const std::size_t piece : {1U, 2U, 7U, 64U}) {
        EXPECT_EQ(lines_of(one.text, 8, block, piece), one.lines)
            << one.text << " block " << block << " piece " << piece;
      }
    }
  }
}

TEST(LineSplitter, GrowsToTheLimitAndNotBeyond) {
  const std::string longest(100'000, 'x');
  EXPECT_EQ(
      lines_of(longest + "\n" + longest + "y\n{}\n", 100'000, 4096, SIZE_MAX),
      (std::vector<std::string>{"1@0:" + longest, "2@100001:" + longest + "!", "3@200003:{}"}));
}

TEST(LineSplitter, LeavesReadablePaddingBehindEachLine) {
  testing::MemoryFile file("ab\ncd");
  LineSplitter splitter(file, 8, 1);
  SplitLine line;
  while (splitter.next(line).value()) {
    volatile unsigned sum = 0;  // what stands there is nobody's business; that it can be read is
    for (std::size_t i = 0; i < LineSplitter::kPadding; ++i) {
      sum = sum + (line.text.data()[line.text.size() + i] != 0 ? 1U : 0U);
    }
  }
}

TEST(LineSplitter, PassesOnWhatReadingSays) {
  BrokenFile file;
  LineSplitter splitter(file, 100);
  SplitLine line;
  const Result<bool> found = splitter.next(line);
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().code, ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace remit
