// What the scanner finds and what it must not: a table of encodings, and near misses beside them.
#include "redaction/scanner.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "redaction/control.h"

namespace remit::redaction {
namespace {

Scanner scanner_of(std::vector<Canary> canaries) {
  for (std::size_t i = 0; i < canaries.size(); ++i) canaries[i].line = i + 1;
  Result<Scanner> scanner = Scanner::make(std::move(canaries));
  EXPECT_TRUE(scanner.has_value()) << scanner.error().to_string();
  return std::move(scanner).value();
}

// Each leak as `name: words at byte`.
std::vector<std::string> finds(const Scanner& scanner, std::string_view line,
                               Scanner::Scratch& scratch) {
  std::vector<Leak> leaks;
  scanner.scan_line(line, scratch, leaks);
  std::vector<std::string> out;
  for (const Leak& leak : leaks) {
    out.push_back(scanner.canaries()[leak.canary].name + ": " +
                  encoding_words(leak.encoding, leak.layers, leak.extent) + " at " +
                  std::to_string(leak.at));
  }
  return out;
}

std::vector<std::string> finds(const Scanner& scanner, std::string_view line) {
  Result<Scanner::Scratch> scratch = scanner.make_scratch();
  return finds(scanner, line, *scratch);
}

using Words = std::vector<std::string>;

const std::vector<Canary> kCanaries = {{"db", "s3cr3t-Canary/7f+Q?>x"},
                                       {"short", "k9-Zq!4w"},
                                       {"spaced", "open sesame, then 42"},
                                       {"quoted", R"(say "hush\hush" 77)"},
                                       {"city",
                                        "Z\xc3\xbcrich-Schl\xc3\xbcssel-\xce\xb2"
                                        "\xf0\x9d\x84\x9e"
                                        "4711"}};

struct Case {
  std::string_view line;
  Words found;
};

TEST(Scanner, FindsEachEncoding) {  // REQ-RD-010
  const Case kCases[] = {
      {R"({"a":"s3cr3t-Canary/7f+Q?>x"})", {"db: exact at 6"}},
      {R"({"a":"xxs3cr3t-Canary/7f+Q?>xxx"})", {"db: exact at 8"}},
      {R"({"s3cr3t-Canary/7f+Q?>x":1})", {"db: exact at 2"}},
      {R"({"a":"S3CR3T-cANARY/7F+q?>X"})", {"db: case_folded at 6"}},
      {R"({"a":"x>?Q+f7/yranaC-t3rc3s"})", {"db: reversed at 6"}},
      {R"({"a":"X>?Q+F7/yRANAc-T3rc3s"})", {"db: reversed at 6"}},
      // Base 64 in three alignments and two alphabets, with and without padding.
      {R"({"a":"czNjcjN0LUNhbmFyeS83ZitRPz54"})", {"db: base64 at 6"}},
      {R"({"a":"YXMzY3IzdC1DYW5hcnkvN2YrUT8+eA=="})", {"db: base64 at 8"}},
      {R"({"a":"YXMzY3IzdC1DYW5hcnkvN2YrUT8-eA"})", {"db: base64 at 8"}},
      {R"({"a":"YWJzM2NyM3QtQ2FuYXJ5LzdmK1E/Png="})", {"db: base64 at 9"}},
      {R"({"a":"YWJzM2NyM3QtQ2FuYXJ5LzdmK1E_Png"})", {"db: base64 at 9"}},
      {R"({"a":"YWJzM2NyM3QtQ2FuYXJ5LzdmK1E\/Png="})", {"db: base64 within json_escapes at 9"}},
      {R"({"a":"YXMzY3IzdC1DYW5hcnkvN2YrUT8%2BeA%3D%3D"})", {"db: base64 within percent at 8"}},
      {R"({"a":"7333637233742d43616e6172792f37662b513f3e78"})", {"db: hex at 6"}},
      {R"({"a":"7333637233742D43616E6172792f37662B513F3E78"})", {"db: hex at 6"}},
      // Percent: every byte, only what must be, mixed case, twice.
      {R"({"a":"%73%33%63%72%33%74%2d%43%61%6e%61%72%79%2f%37%66%2b%51%3f%3e%78"})",
       {"db: percent at 6"}},
      {R"({"a":"s3cr3t-Canary%2F7f%2bQ%3F%3Ex"})", {"db: percent at 6"}},
      {R"({"a":"s3cr3t-Canary%252F7f%252bQ%253F%253Ex"})", {"db: percent at 6"}},
      {R"({"a":"open+sesame,+then+42"})", {"spaced: percent at 6"}},
      {R"({"a":"open%20sesame%2C%20then%2042"})", {"spaced: percent at 6"}},
      // Escapes of JSON: only what must be, any mix, either case, doubly, in an escape of percent.
      {R"({"a":"say \"hush\\hush\" 77"})", {"quoted: json_escapes at 6"}},
      {R"({"a":"\u00733cr3t\u002dCanary\/7f+Q?>\u0078"})", {"db: json_escapes at 6"}},
      {R"({"a":"s3cr3t\u002DCanary/7f\u002bQ?>x"})", {"db: json_escapes at 6"}},
      {R"({"a":"{\"b\":\"s3cr3t\\u002DCanary\\/7f+Q?>x\"}"})", {"db: doubly_escaped_json at 15"}},
      {R"({"a":"s3cr3t%5Cu002DCanary/7f+Q?>x"})", {"db: json_escapes and percent at 6"}},
      {R"({"a":"Z\u00fcrich-Schl\u00FCssel-\u03b2\ud834\udd1e4711"})", {"city: json_escapes at 6"}},
      {"{\"a\":\"Z\xc3\xbcrich-Schl\xc3\xbcssel-\xce\xb2\xf0\x9d\x84\x9e"
       "4711\"}",
       {"city: exact at 6"}},
      {"{\"a\":\"1174\xf0\x9d\x84\x9e\xce\xb2-less\xc3\xbclhcS-hcir\xc3\xbcZ\"}",
       {"city: reversed at 6"}},
      {R"({"a":"WsO8cmljaC1TY2hsw7xzc2VsLc6y8J2EnjQ3MTE="})", {"city: base64 at 6"}},
      // Cut to half.
      {R"({"a":"s3cr3t-Can"})", {"db: exact, the first half at 6"}},
      {R"({"a":"S3CR3T-CAN..."})", {"db: case_folded, the first half at 6"}},
      {R"({"a":"...ry/7f+Q?>x"})", {"db: exact, the second half at 9"}},
      {R"({"a":"czNjcjN0LUNhbm"})", {"db: base64, the first half at 6"}},
      // Split over two values, whatever stands between them but another value.
      {R"({"a":"s3cr3t-Can","b":"ary/7f+Q?>x"})",
       {"db: exact, split over neighbouring values at 6"}},
      {R"({"a":"x s3","b":1,"c":["cr3t-Canary/7f+Q?>x"]})",
       {"db: exact, split over neighbouring values at 33"}},
      {R"({"a":"k9-Z","b":"q!4w"})", {"short: exact, split over neighbouring values at 6"}},
      {R"({"a":"czNjcjN0LUNhbmF","b":"yeS83ZitRPz54"})",
       {"db: base64, split over neighbouring values at 6"}},
      // With another value between them, the half that is whole in one of them is found.
      {R"({"a":"s3cr3t-Canary","b":"and","c":"/7f+Q?>x"})", {"db: exact, the first half at 6"}},
      // Several canaries; whole before half; lines that are no JSON.
      {R"({"a":"k9-Zq!4w s3cr3t-Canary/7f+Q?>x"})", {"db: exact at 15", "short: exact at 6"}},
      {R"({"a":"s3cr3t-Can s3cr3t-Canary/7f+Q?>x"})", {"db: exact at 17"}},
      {"s3cr3t-Canary/7f+Q?>x", {"db: exact at 0"}},
      {R"({"a":"s3cr3t-Canary/7f+Q?>x)", {"db: exact at 6"}},
      {R"("k9-Z":"k9-Z","q!4w)", {"short: exact, split over neighbouring values at 1"}},
  };
  const Scanner scanner = scanner_of(kCanaries);
  for (const Case& one : kCases) EXPECT_EQ(finds(scanner, one.line), one.found) << one.line;
}

TEST(Scanner, FindsNothingThatIsNotThere) {  // REQ-RD-011
  const std::string_view kLines[] = {
      R"({"event":"tool.request","invocation_id":"i1","tool":"invoice.read"})",
      R"({"a":"s3cr3t_Canary/7f+Q?<x"})",                 // one byte off in each half
      R"({"a":"s3cr3t-Ca"})",                             // less than half
      R"({"a":"y/7f+Q?>x"})",                             //
      R"({"a":"s3cr3t_Canary_7f_Q"})",                    //
      R"({"a":"k9-Z"})",                                  // half of one too short for it
      R"({"a":"q!4w","b":"k9-Z"})",                       // its halves the other way round
      R"({"a":"k9-Z","b":"and","c":"q!4w"})",             // and not neighbours
      R"({"k9-Z":1,"q!4w":2})",                           // and not values
      R"({"a":"CZnJCJn0lunHBMfYEs83zITrpZ54"})",          // base 64 has case
      R"({"a":"%7%3%33%6%72%33%74%2d%4%3%61%6e"})",       // no percent escapes
      R"({"a":"\u073\u033cr3t-Ca"})",                     // no escapes of JSON
      R"({"a":"\\\\\\\\u0073\\\\\\\\u0033cr3t-Canar"})",  // more layers than are resolved
      R"({"a":"733363723374 2d43616e61 72792f37662b51"})",
      "",
      R"({"a":"\)",
      "%",
      R"({"a":"\ud834)",
  };
  const Scanner scanner = scanner_of(kCanaries);
  for (const std::string_view line : kLines) EXPECT_EQ(finds(scanner, line), Words{}) << line;
}

TEST(Scanner, TellsCanariesApartThatBeginAlike) {
  const Scanner scanner =
      scanner_of({{"a", "sk-live-same-begin-00000001"}, {"b", "sk-live-same-begin-00000002"}});
  EXPECT_EQ(finds(scanner, "sk-live-same-begin-00000001"), Words{"a: exact at 0"});
  EXPECT_EQ(finds(scanner, "sk-live-same-begin-00000002"), Words{"b: exact at 0"});
  EXPECT_EQ(finds(scanner, "-sk-live-same-"), Words{"a: exact, the first half at 1"});
  EXPECT_EQ(finds(scanner, R"({"a":"sk-live-same-","b":"begin-00000002"})"),
            Words{"b: exact, split over neighbouring values at 6"});
  const Status status = run_control(scanner, scanner.canaries());
  EXPECT_TRUE(status.has_value()) << status.error().to_string();
}

TEST(Scanner, ScansEachLineAfresh) {
  const Scanner scanner = scanner_of(kCanaries);
  Result<Scanner::Scratch> scratch = scanner.make_scratch();
  std::vector<Leak> leaks;
  scanner.scan_line(R"({"a":"k9-Z"})", *scratch, leaks);
  scanner.scan_line(R"({"a":"q!4w"})", *scratch, leaks);
  EXPECT_TRUE(leaks.empty());
  scanner.scan_line("k9-Zq!4w", *scratch, leaks);
  scanner.scan_line(R"({"a":"nothing"})", *scratch, leaks);
  scanner.scan_line("k9-Zq!4w", *scratch, leaks);
  EXPECT_EQ(leaks.size(), 2U);
}

// A text of many lines, looked through at once, hides nothing of what each of them holds.
TEST(Scanner, FindsTheSameInLinesOfAScreenedText) {
  const Scanner scanner = scanner_of(kCanaries);
  const std::string_view kLines[] = {
      "",
      R"({"a":"nothing"})",
      R"({"a":"s3cr3t-Canary/7f+Q?>x"})",
      R"({"a":"s3cr3t-Can"})",
      R"({"a":"s3cr3t-Can","b":"ary/7f+Q?>x"})",
      R"({"a":"czNjcjN0LUNhbmFyeS83ZitRPz54"})",
      R"({"a":"s3cr3t-Canary%2F7f%2bQ%3F%3Ex"})",
      R"({"a":"say \"hush\\hush\" 77"})",
      R"({"a":"k9-Zq!4w"})",
      "k9-Zq",
      "!4w",
      R"({"a":"100%","b":"\\"})",
  };
  std::mt19937 random(5);
  Result<Scanner::Scratch> scratch = scanner.make_scratch();
  std::string text;
  for (int round = 0; round < 500; ++round) {
    text.clear();
    std::vector<std::size_t> ends;
    // Some texts hold more than is told of by place, and then nothing of them may be passed over.
    const std::size_t count = round % 50 == 0 ? 3'000 : random() % 20;
    const std::size_t kinds = round % 3 == 0 ? 2 : std::size(kLines);
    for (std::size_t i = 0; i < count; ++i) {
      text.append(kLines[random() % kinds]).append("\n");
      ends.push_back(text.size());
    }
    scanner.screen(text, *scratch);
    std::size_t begin = 0;
    for (const std::size_t end : ends) {
      const std::string_view line = std::string_view(text).substr(begin, end - begin - 1);
      begin = end;
      if (random() % 10 == 0) continue;  // blank lines are passed over
      ASSERT_EQ(finds(scanner, line, *scratch), finds(scanner, line)) << text;
    }
    const std::string other = text;
    for (const std::string_view line : {std::string_view(kLines[2]), std::string_view(other)}) {
      ASSERT_EQ(finds(scanner, line, *scratch), finds(scanner, line));  // of no screened text
    }
    // The same memory with another text in it is searched from its beginning.
    if (text.size() < kLines[2].size() || begin == 0) continue;
    text.replace(0, kLines[2].size(), kLines[2]);
    const std::string_view again = std::string_view(text).substr(0, kLines[2].size());
    ASSERT_EQ(finds(scanner, again, *scratch).size(), 1U);
  }
}

TEST(Scanner, RefusesCanariesThatStandInEveryRecord) {  // REQ-RD-004
  const struct {
    std::vector<Canary> canaries;
    std::string_view error;
  } kCases[] = {
      {{{"a", "authorization.decision", 7}},
       "7: the value, or a half of it, is a word of the event contract"},
      {{{"a", "planner_policy_v", 3}},
       "3: the value, or a half of it, is a word of the event contract"},
      {{{"a", "determining-it"}, {"b", "determining_pol!?+&%$#~", 4}},
       "4: the value, or a half of it, is a word of the event contract"},
      {{{"x Open-Sesame x", "open-sesame", 2}},
       "2: the value, or a half of it, stands in a name of this file"},
  };
  for (const auto& [canaries, error] : kCases) {
    const Result<Scanner> scanner = Scanner::make(canaries);
    ASSERT_FALSE(scanner.has_value()) << error;
    EXPECT_EQ(scanner.error().to_string(), error);
  }
}

TEST(Scanner, ShowsNoPartOfAShortOneAtAnEnd) {  // REQ-RD-050
  const Scanner scanner = scanner_of(kCanaries);
  Result<Scanner::Scratch> scratch = scanner.make_scratch();
  EXPECT_EQ(scanner.shown_by("i-k9-Zq!4w-1", *scratch), 1U);
  EXPECT_EQ(scanner.shown_by("i-k9-Z", *scratch), 1U);
  EXPECT_EQ(scanner.shown_by("q!4w-1", *scratch), 1U);
  EXPECT_EQ(scanner.shown_by("i-k9-Z-1", *scratch), std::nullopt);
  EXPECT_EQ(scanner.shown_by("k9-Zq!4w s3cr3t-Canary/7f+Q?>x", *scratch), 0U);
}

TEST(Control, FindsEachPlantedCanary) {  // REQ-RD-040
  const Scanner scanner = scanner_of(kCanaries);
  const Status status = run_control(scanner, scanner.canaries());
  EXPECT_TRUE(status.has_value()) << status.error().to_string();
}

TEST(Control, FailsWhereOneIsNotFound) {  // REQ-RD-040; the control can fail
  const Scanner scanner = scanner_of({kCanaries[0]});
  const Status status = run_control(scanner, kCanaries);
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, ErrorCode::kInternal);
  EXPECT_EQ(status.error().message,
            "the control did not find canary \"short\" as exact: no grade is given");
}

TEST(Control, FailsWhereOneIsFoundThatIsNotThere) {
  const Scanner scanner = scanner_of({{"a", R"("a":"nothing")"}});
  const Status status = run_control(scanner, scanner.canaries());
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().message,
            "the control found a canary where there is none: no grade is given");
}

// Values of every length and kind, planted in every encoding that the control knows.
TEST(Scanner, FindsRandomValuesInEveryEncoding) {  // REQ-RD-010
  std::uint64_t state = 4711;
  const auto random = [&](std::uint64_t below) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return (state >> 33U) % below;
  };
  for (int round = 0; round < 200; ++round) {
    std::vector<Canary> canaries;
    for (std::size_t i = 0; i < 1 + random(5); ++i) {
      std::string value;
      const std::size_t length = 8 + random(round % 10 == 0 ? 1000 : 40);
      while (value.size() < length) value += static_cast<char>('!' + random(94));
      canaries.push_back({"n" + std::to_string(i), value});
    }
    const CanaryParse whole = [&] {
      std::string text;
      for (const Canary& one : canaries) text += one.name + "\t" + one.value + "\n";
      return parse_canaries(text, "c");
    }();
    if (!whole.errors.empty()) continue;  // a value of too few different bytes
    const Scanner scanner = scanner_of(canaries);
    const Status status = run_control(scanner, scanner.canaries());
    EXPECT_TRUE(status.has_value()) << status.error().to_string();
  }
}

}  // namespace
}  // namespace remit::redaction
