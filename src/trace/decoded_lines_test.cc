// What is decoded ahead is what is decoded one after the other, whatever the threads and pieces.
#include "trace/decoded_lines.h"

#include <gtest/gtest.h>

#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "base/text_hash.h"
#include "tests/support/memory_file.h"
#include "tests/support/no_more_threads.h"

namespace remit::trace {
namespace {

/// Each line as `NUMBER OFFSET ` and its invocation id, tool and determining policies, or its
/// fault.
std::vector<std::string> lines_of(const std::string& text, unsigned threads,
                                  std::size_t piece_bytes, std::size_t max_line_bytes = 4096) {
  testing::MemoryFile file(text, piece_bytes);
  DecodedLines lines(file, max_line_bytes, threads);
  std::vector<std::string> out;
  for (;;) {
    const Result<DecodedLine*> found = lines.next();
    EXPECT_TRUE(found);
    if (!found || *found == nullptr) return out;
    const DecodedLine& one = **found;
    std::string& said = out.emplace_back(std::to_string(one.line.number) + " " +
                                         std::to_string(one.line.offset) + " ");
    if (one.line.end == LineEnd::kTooLong) {
      said += "too long";
    } else if (one.error) {
      said += one.error->where + (one.line.end == LineEnd::kTorn ? " torn" : "");
    } else {
      said += one.event.text(event::Field::kInvocationId);
      said.append(" ").append(one.event.text(event::Field::kTool));
      for (const std::string_view policy : one.event.determining_policies) {
        said.append(" ").append(policy);
      }
    }
  }
}

/// Plain, escaped, blank, malformed and over-long lines, over several blocks.
std::string many_lines() {
  std::string out;
  for (int i = 0; out.size() < 5 * DecodedLines::kBlockBytes; ++i) {
    const std::string id = std::to_string(i);
    if (i % 7 == 0) out += "\n  \r\n";
    if (i % 11 == 0) out += "{\"event\":\"tool.request\"}\n";
    if (i % 101 == 0) out += std::string(5000 + static_cast<std::size_t>(i), 'x') + "\n";
    const char* tool = i % 3 == 0 ? "re\\u0061d \\\"x\\\"" : "read";
    out += R"({"event":"authorization.decision","invocation_id":")" + id + R"(","tool":")" + tool +
           R"(","determining_policies":["p\n)" + id + R"(","q"]})" + "\n";
  }
  return out + "{\"event\":";
}

TEST(DecodedLines, AreTheSameWithAnyThreadsAndPieces) {
  const std::string text = many_lines();
  const std::vector<std::string> expected = lines_of(text, 1, SIZE_MAX);
  EXPECT_GT(expected.size(), 3000U);
  EXPECT_TRUE(expected.back().ends_with(" torn")) << expected.back();
  for (const unsigned threads : {1U, 2U, 3U, 8U}) {
    for (const std::size_t piece : {SIZE_MAX, std::size_t{100'000}, std::size_t{1'777}}) {
      EXPECT_EQ(lines_of(text, threads, piece), expected) << threads << " " << piece;
    }
  }
}

TEST(DecodedLines, HaveTheHashesOfTheirTextAndOfTheirInvocation) {
  const std::string first = R"({"event":"tool.request","invocation_id":"i\u0031","seq":1})";
  const std::string second = R"({"event":"tool.request","invocation_id":"i2"})";
  for (const char* const end : {"\n", "\r\n"}) {
    testing::MemoryFile file(first + end + second + end + "{}", SIZE_MAX);
    DecodedLines lines(file, 4096, 1, 7);
    const Result<DecodedLine*> one = lines.next();
    ASSERT_TRUE(one);
    EXPECT_EQ((*one)->hashes.text, hash_text(first, 7));
    EXPECT_EQ((*one)->hashes.id, hash_text("i1", 7) | 1U << 31U);
    ASSERT_NE(lines.ahead(1), nullptr);
    EXPECT_EQ(lines.ahead(1)->hashes.id, hash_text("i2", 7) | 1U << 31U);
    EXPECT_EQ(lines.ahead(3), nullptr);
    const Result<DecodedLine*> two = lines.next();
    ASSERT_TRUE(two);
    EXPECT_EQ((*two)->hashes.text, 0U);  // without a number it cannot come again
    const Result<DecodedLine*> fault = lines.next();
    ASSERT_TRUE(fault);
    EXPECT_EQ((*fault)->hashes.id, 0U);
  }
}

TEST(DecodedLines, SplitAnywhere) {
  const std::string text = "\n{\"event\":\"x.a\"}\r\n" + std::string(60, 'x') +
                           "\n{\"event\":\"tool.request\",\"invocation_id\":\"i\\u0031\"}\n\n{";
  const std::vector<std::string> expected = {"2 1  ", "3 18 too long", "4 79 i1 ",
                                             "6 131 byte 1 torn"};
  for (std::size_t piece = 1; piece <= text.size(); ++piece) {
    EXPECT_EQ(lines_of(text, 2, piece, 55), expected) << piece;
  }
}

TEST(DecodedLines, MayBeManyAndShort) {
  std::string text;
  for (int i = 0; i < 60'000; ++i) text += "{}\n";
  EXPECT_EQ(lines_of(text, 2, SIZE_MAX).size(), 60'000U);
  EXPECT_EQ(lines_of(text, 2, SIZE_MAX).back(), "60000 179997 byte 0");
}

TEST(DecodedLines, MayBeBlankInLongRuns) {
  const std::string event = "{\"event\":\"x.a\"}\n";
  std::string text;
  std::vector<std::string> expected;
  std::size_t number = 0;
  const auto add = [&](const std::string& line, const char* said) {
    expected.push_back(std::to_string(++number) + " " + std::to_string(text.size()) + " " + said);
    text += line;
  };
  const auto add_blanks = [&](const std::string& line, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) text += line;
    number += count;
  };
  add_blanks("\n", DecodedLines::kBlockBytes + 1);
  add(event, " ");
  add_blanks("\r\n", 70'000);
  add_blanks(std::string(50, ' ') + "\n", 3000);
  add(std::string(51, ' ') + "\n", "too long");
  add(" " + event, " ");
  add_blanks(" \t\n", 2);
  add(" x\n", "byte 1");
  add(event, " ");
  text += "\n \n  ";
  for (const unsigned threads : {1U, 3U}) {
    for (const std::size_t piece : {SIZE_MAX, std::size_t{1'777}}) {
      EXPECT_EQ(lines_of(text, threads, piece, 50), expected) << threads << " " << piece;
    }
  }
}

TEST(DecodedLines, NeedNoThreadThatTheSystemDoesNotGive) {
  const std::string text = many_lines();
  const std::vector<std::string> expected = lines_of(text, 1, SIZE_MAX);
  const testing::NoMoreThreads no_more_threads;
  EXPECT_THROW(std::thread([] {}), std::system_error) << "so that this is a test";
  for (const unsigned threads : {2U, 64U}) {
    EXPECT_EQ(lines_of(text, threads, SIZE_MAX), expected) << threads;
  }
}

TEST(DecodedLines, MayBeLeftBeforeTheEnd) {
  testing::MemoryFile file(many_lines());
  DecodedLines lines(file, 4096, 4);
  ASSERT_TRUE(lines.next());
}

/// Gives blocks of lines, then breaks.
class BreakingFile final : public ReadFile {
 public:
  Result<std::size_t> read(std::span<std::byte> out) override {
    if (++reads_ > 3) return Error{ErrorCode::kUnavailable, "broken"};
    std::fill(out.begin(), out.end(), std::byte{'\n'});
    const std::string line = "{\"event\":\"x.a\"}\n";
    std::memcpy(out.data(), line.data(), line.size());
    return out.size();
  }

 private:
  int reads_ = 0;
};

TEST(DecodedLines, TellsWhatWasReadBeforeItTellsTheError) {
  for (const unsigned threads : {1U, 2U}) {
    BreakingFile file;
    DecodedLines lines(file, 4096, threads);
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(lines.next()) << i;
    const Result<DecodedLine*> found = lines.next();
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().message, "broken");
  }
}

}  // namespace
}  // namespace remit::trace
