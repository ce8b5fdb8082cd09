// The line of progress: its text, when it is drawn, and that nothing of it stays.
#include "cli/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <string>
#include <vector>

#include "tests/support/fake_clock.h"
#include "tests/support/memory_file.h"
#include "tests/support/refusing_file_system.h"
#include "tests/support/seeded_random.h"

namespace remit::cli {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

class Screen final : public Output {
 public:
  Status write(std::string_view text) override {
    written += text;
    ++writes;
    return {};
  }
  /// What a terminal shows of it.
  [[nodiscard]] std::string line() const {
    std::string out;
    std::size_t at = 0;
    for (const char c : written) {
      if (c == '\r') {
        at = 0;
        continue;
      }
      if (at == out.size()) out += ' ';
      out[at++] = c;
    }
    return out.substr(0, out.find_last_not_of(' ') + 1);
  }

  std::string written;
  int writes = 0;
};

TEST(Progress, SaysHowMuchHowFastAndHowLong) {  // REQ-GR-115
  const std::uint64_t mega = 1'000'000;
  const std::pair<StageState, std::string> rows[] = {
      {{"grading", 0, 100, seconds(0)}, "grading 0 B of 100 B (0 %), 0 B/s"},
      {{"grading", 27 * mega, 100 * mega, seconds(1)},
       "grading 27.0 MB of 100 MB (27 %), 27.0 MB/s, 3 s left"},
      {{"verifying", 999'499, 2 * mega, milliseconds(500)},
       "verifying 999 kB of 2.00 MB (49 %), 2.00 MB/s, 1 s left"},
      {{"grading", 999'999, mega, seconds(1)},
       "grading 1.00 MB of 1.00 MB (99 %), 1.00 MB/s, less than 1 s left"},
      {{"grading", mega, mega, seconds(1)},
       "grading 1.00 MB of 1.00 MB (100 %), 1.00 MB/s, less than 1 s left"},
      {{"grading", 3 * mega, 2 * mega, seconds(1)},  // it grew
       "grading 3.00 MB of 3.00 MB (100 %), 3.00 MB/s, less than 1 s left"},
      {{"grading", mega, 131 * mega, seconds(1)},
       "grading 1.00 MB of 131 MB (0 %), 1.00 MB/s, 2 min 10 s left"},
      {{"grading", mega, 3901 * mega, seconds(1)},
       "grading 1.00 MB of 3.90 GB (0 %), 1.00 MB/s, 1 h 5 min left"},
      {{"grading", 1, 1'000'000'000'000'000'000U, hours(1)},
       "grading 1 B of 1.00 EB (0 %), 0 B/s, more than 99 h left"},
      {{"grading", 0, 0, seconds(1)}, "grading 0 B of 0 B (100 %), 0 B/s"},
      {{"grading", 1'234'000'000, {}, seconds(2)}, "grading 1.23 GB, 617 MB/s"},
      {{"grading", 1'234'000'000, {}, seconds(2), 0}, "grading 1.23 GB, 617 MB/s, 0 events"},
      {{"grading", mega, 2 * mega, seconds(1), 1},
       "grading 1.00 MB of 2.00 MB (50 %), 1.00 MB/s, 1 s left, 1 event"},
      {{"grading", mega, {}, seconds(1), 999}, "grading 1.00 MB, 1.00 MB/s, 999 events"},
      {{"grading", mega, {}, seconds(1), 1'000}, "grading 1.00 MB, 1.00 MB/s, 1,000 events"},
      {{"grading", mega, {}, seconds(1), 12'345'678},
       "grading 1.00 MB, 1.00 MB/s, 12,345,678 events"},
  };
  for (const auto& [state, expected] : rows) EXPECT_EQ(stage_text(state), expected);
}

TEST(Progress, IsDrawnSeldomAndTakenAway) {  // REQ-GR-115
  testing::FakeClock clock;
  Screen screen;
  {
    Progress progress(clock, screen, 80);
    progress.begin("grading", 1, 1000);
    progress.add(100);
    clock.advance(Progress::kPatience - milliseconds(1));
    progress.add(100);
    EXPECT_EQ(screen.writes, 0);
    clock.advance(milliseconds(1));
    progress.add(50);
    EXPECT_EQ(screen.line(), "remit: grading 250 B of 1.00 kB (25 %), 500 B/s, 2 s left");
    for (int i = 0; i < 1000; ++i) progress.add(0);
    EXPECT_EQ(screen.writes, 1);
    clock.advance(milliseconds(500));
    progress.add(750);
    EXPECT_EQ(screen.line(),
              "remit: grading 1.00 kB of 1.00 kB (100 %), 1.00 kB/s, less than 1 s left");
    progress.end_file();
    EXPECT_EQ(screen.line(), "remit: grading: all 1.00 kB are read");
  }
  EXPECT_EQ(screen.line(), "");
  EXPECT_TRUE(screen.written.ends_with('\r'));
}

TEST(Progress, FitsTheTerminalAndIsSilentWhereItIsQuick) {  // REQ-GR-115
  testing::FakeClock clock;
  Screen screen;
  {
    Progress progress(clock, screen, 80);
    progress.begin("grading", 2, 1000);
    progress.add(1000);
    progress.end_file();
    progress.end_file();
  }
  EXPECT_EQ(screen.written, "");
  for (const int columns : {1, 2, 20}) {
    Progress progress(clock, screen, columns);
    progress.begin("grading", 1, 1000);
    clock.advance(seconds(1));
    progress.add(10);
    EXPECT_LT(screen.line().size(), static_cast<std::size_t>(columns));
  }
}

TEST(Progress, CountsEventsWhereTheyFit) {  // REQ-GR-115
  testing::FakeClock clock;
  for (const int columns : {80, 63, 62, 40}) {
    Screen screen;
    Progress progress(clock, screen, columns);
    progress.begin("grading", 1, 1000);
    progress.count_events() += 12'345;
    clock.advance(seconds(1));
    progress.add(250);
    const std::string without = "remit: grading 250 B of 1.00 kB (25 %), 250 B/s";
    const std::string text = without + ", 3 s left, 12,345 events";
    ASSERT_EQ(text.size(), 72U);
    EXPECT_EQ(screen.line(),
              columns > 72
                  ? text
                  : (without + ", 3 s left").substr(0, static_cast<std::size_t>(columns) - 1));
    progress.begin("verifying", 1, 1000);
    clock.advance(seconds(1));
    progress.add(250);
    EXPECT_EQ(screen.line().find("event"), std::string::npos);
  }
}

/// Files that take time to read.
class SlowFiles final : public testing::RefusingFileSystem {
 public:
  explicit SlowFiles(testing::FakeClock& clock) : clock_(clock) {}

  Result<FileInfo> info(const std::string& path) override {
    FileInfo out;
    out.kind = path == "pipe"   ? FileInfo::Kind::kOther
               : path == "link" ? FileInfo::Kind::kLink
                                : FileInfo::Kind::kFile;
    out.target_kind = path == "link" ? FileInfo::Kind::kFile : out.kind;
    out.target_size = 300;
    return out;
  }
  Result<std::unique_ptr<ReadFile>> open_read(const std::string&) override {
    return std::unique_ptr<ReadFile>(std::make_unique<SlowFile>(clock_));
  }

 private:
  class SlowFile final : public ReadFile {
   public:
    explicit SlowFile(testing::FakeClock& clock) : clock_(clock) {}
    Result<std::size_t> read(std::span<std::byte> out) override {
      clock_.advance(seconds(1));
      return file_.read(out);
    }

   private:
    testing::FakeClock& clock_;
    testing::MemoryFile file_{std::string(300, 'x'), 100};
  };

  testing::FakeClock& clock_;
};

/// What the line says after each read of what is named.
std::vector<std::string> told_of(const std::vector<std::string>& paths) {
  testing::FakeClock clock;
  Screen screen;
  Screen out;
  testing::SeededRandom random;
  SlowFiles slow(clock);
  Progress progress(clock, screen, 80);
  MeteredFiles files(slow, progress);
  World world{.files = files, .clock = clock, .random = random, .out = out, .err = screen};
  std::vector<trace::Input> inputs;
  for (const std::string& path : paths) inputs.push_back(trace::Input::of_file(path));
  meter_inputs(world, inputs, progress);
  std::vector<std::string> told;
  for (const std::string& path : paths) {
    const std::unique_ptr<ReadFile> file = files.open_read(path).value();
    std::array<std::byte, 4096> room;
    for (std::size_t count = 1; count > 0;) {
      count = file->read(room).value();
      told.push_back(screen.line());
    }
  }
  return told;
}

TEST(Progress, CountsWhatIsReadOfFiles) {  // REQ-GR-115
  EXPECT_THAT(
      told_of({"a", "b"}),
      ::testing::ElementsAre("remit: grading 100 B of 600 B (16 %), 100 B/s, 5 s left",
                             "remit: grading 200 B of 600 B (33 %), 100 B/s, 4 s left",
                             "remit: grading 300 B of 600 B (50 %), 100 B/s, 3 s left",
                             "remit: grading 300 B of 600 B (50 %), 100 B/s, 3 s left",
                             "remit: grading 400 B of 600 B (66 %), 80 B/s, 3 s left",
                             "remit: grading 500 B of 600 B (83 %), 83 B/s, 1 s left",
                             "remit: grading 600 B of 600 B (100 %), 86 B/s, less than 1 s left",
                             "remit: grading: all 600 B are read"));
  EXPECT_EQ(told_of({"pipe", "b"}).front(), "remit: grading 100 B, 100 B/s");
  EXPECT_EQ(told_of({"link", "b"}).front(),
            "remit: grading 100 B of 600 B (16 %), 100 B/s, 5 s left");
}

}  // namespace
}  // namespace remit::cli
