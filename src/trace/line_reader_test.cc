// Lines at every block size, at their offsets, whatever the ends of lines.
#include "trace/line_reader.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/memory_file.h"

namespace remit::trace {
namespace {

class BrokenFile final : public ReadFile {
 public:
  Result<std::size_t> read(std::span<std::byte>) override {
    return Error{ErrorCode::kUnavailable, "input/output error", "trace.jsonl"};
  }
};

/// Lines as `OFFSET:TEXT`, over-long ones as `OFFSET!`.
std::vector<std::string> lines_of(const std::string& text, std::size_t limit, std::size_t block,
                                  std::size_t piece) {
  testing::MemoryFile file(text, piece);
  LineReader reader(file, limit, block);
  std::vector<std::string> lines;
  Line line;
  for (;;) {
    Result<bool> found = reader.next(line);
    EXPECT_TRUE(found.has_value());
    if (!found || !*found) return lines;
    lines.push_back(std::to_string(line.offset) +
                    (line.over_limit ? "!" : ":" + std::string(line.text)));
  }
}

std::vector<std::uint64_t> numbers_of(const std::string& text, std::size_t block) {
  testing::MemoryFile file(text, block);
  LineReader reader(file, 8, block);
  std::vector<std::uint64_t> numbers;
  Line line;
  while (reader.next(line).value()) numbers.push_back(line.number);
  return numbers;
}

struct LineCase {
  const char* text;
  std::vector<std::string> lines;
};

TEST(LineReader, SplitsAtEveryBlockSize) {  // REQ-EV-002, REQ-EV-003
  const LineCase cases[] = {
      {"", {}},
      {"\n\n \t\r\n", {}},
      {"{a}\n{b}\n", {"0:{a}", "4:{b}"}},
      {"{a}\n{b}", {"0:{a}", "4:{b}"}},
      {"{a}\r\n\r\n{b}\r\n", {"0:{a}\r", "7:{b}\r"}},
      {"12345678\n123456789\n{c}\n", {"0:12345678", "9!", "19:{c}"}},
      {"12345678901234567890123", {"0!"}},
      {"1234567890\n\n", {"0!"}},
      {"12345678", {"0:12345678"}},
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

TEST(LineReader, KeepsZeroBytes) {
  const std::string text("a\0b\nc", 5);
  EXPECT_EQ(lines_of(text, 8, 2, 2), (std::vector<std::string>{std::string("0:a\0b", 5), "4:c"}));
}

TEST(LineReader, PassesOnWhatReadingSays) {
  BrokenFile file;
  LineReader reader(file);
  Line line;
  const Result<bool> found = reader.next(line);
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().code, ErrorCode::kUnavailable);
}

TEST(LineReader, NumbersLinesAsEditorsDo) {  // blank and over-long lines have numbers too
  const std::string text = "{a}\n\n \r\n{b}\n1234567890123456\n{c}\n{d}";
  for (std::size_t block = 1; block < text.size() + 2; ++block) {
    EXPECT_EQ(numbers_of(text, block), (std::vector<std::uint64_t>{1, 4, 5, 6, 7})) << block;
  }
}

}  // namespace
}  // namespace remit::trace
