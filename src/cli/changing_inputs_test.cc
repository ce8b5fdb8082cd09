// Inputs that change while a command reads them: none is taken for whole, whatever the command, the
// form and the change.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "cli/command.h"
#include "cli/files_over.h"
#include "cli/world.h"
#include "evidence/file_evidence_log.h"
#include "tests/support/evidence_events.h"
#include "tests/support/packed_text.h"

namespace remit::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::AnyOf;
using ::testing::HasSubstr;

using Words = std::vector<std::string>;
using Change = std::function<void(const fs::path&)>;

class Text final : public Output {
 public:
  Status write(std::string_view text) override {
    said.append(text);
    return {};
  }
  std::string said;
};

/// Does something to one file once: in front of its `at_read`th read, 0 for before it is opened.
class Meddler final : public FilesOver {
 public:
  Meddler(FileSystem& files, fs::path path, std::size_t at_read, Change change)
      : FilesOver(files), path_(std::move(path)), at_read_(at_read), change_(std::move(change)) {}

  Result<std::unique_ptr<ReadFile>> open_read(const std::string& path) override {
    if (path_ != path) return FilesOver::open_read(path);
    // What is verified first is opened twice: the second time it is read for good.
    meddle(0);
    REMIT_TRY_ASSIGN(std::unique_ptr<ReadFile> file, FilesOver::open_read(path));
    return std::unique_ptr<ReadFile>(std::make_unique<Meddled>(*this, std::move(file)));
  }
  [[nodiscard]] bool is_done() const { return is_done_; }

 private:
  class Meddled final : public ReadFile {
   public:
    Meddled(Meddler& meddler, std::unique_ptr<ReadFile> file)
        : meddler_(meddler), file_(std::move(file)) {}
    Result<std::size_t> read(std::span<std::byte> out) override {
      if (out.empty()) return std::size_t{0};
      meddler_.meddle(++reads_);
      // Small pieces, so that there is a middle.
      return file_->read(out.first(std::min<std::size_t>(out.size(), 4096)));
    }

   private:
    Meddler& meddler_;
    std::unique_ptr<ReadFile> file_;
    std::size_t reads_ = 0;
  };

  void meddle(std::size_t read) {
    if (read != at_read_ || std::exchange(is_done_, true)) return;
    change_(path_);
  }

  fs::path path_;
  std::size_t at_read_;
  Change change_;
  bool is_done_ = false;
};

std::string trace_text() {
  std::string out;
  for (int i = 0; i < 400; ++i) {
    for (const char* event : {"tool.request", "authorization.decision"}) {
      out +=
          std::string(R"({"event":")") + event + R"(","invocation_id":"i)" + std::to_string(i) +
          R"(","tool":"invoice.read","decision":"deny","reason":"forbidden","policy_version":"1"})" +
          "\n";
    }
  }
  return out + R"({"event":"run.finished","run_id":"r"})" + "\n";
}

/// Members of some lines each, so that a cut at a member's end is a whole file.
std::string packed(const std::string& text, const std::function<std::string(std::string)>& pack) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', std::min(at + 8000, text.size() - 1)) + 1;
    out += pack(text.substr(at, end - at));
    at = end;
  }
  return out;
}

std::string bytes_of_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void put(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

class ChangingInputs : public ::testing::Test {
 public:
  ChangingInputs() {
    std::string pattern = ::testing::TempDir() + "changing.XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    folder_ = pattern;
  }
  ~ChangingInputs() override { fs::remove_all(folder_); }

 protected:
  /// Written long ago, so that being written again is seen.
  void put_old(const std::string& name, const std::string& bytes) const {
    fs::create_directories((folder_ / name).parent_path());
    put(folder_ / name, bytes);
    age(folder_ / name);
  }
  static void age(const fs::path& path) {
    const timespec long_ago[] = {{1'000'000, 0}, {1'000'000, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), long_ago, 0), 0);
  }
  /// The only segment of an evidence directory with many events.
  fs::path record_evidence() {
    const SystemClock clock;
    SystemRandom random;
    const std::string root = folder_ / "evidence";
    auto log = evidence::FileEvidenceLog::open(files_, clock, random, {.directory = root});
    EXPECT_TRUE(log);
    const std::vector<event::Event> events(400, testing::request("i1"));
    EXPECT_TRUE((*log)->append({.events = events}));
    (*log).reset();
    const auto writers = evidence::list_segments(files_, root);
    EXPECT_TRUE(writers && writers->size() == 1);
    const fs::path segment = writers->front().segments.front();
    age(segment);
    return segment;
  }

  /// Runs a command while `path` is meddled with.
  int run(const Words& words, const fs::path& path, std::size_t at_read, const Change& change) {
    out_.said.clear();
    err_.said.clear();
    Meddler meddler(files_, path, at_read, change);
    const SystemClock clock;
    SystemRandom random;
    World world{.files = meddler, .clock = clock, .random = random, .out = out_, .err = err_};
    const int code = run_command_line(words, world);
    is_meddled_ = meddler.is_done();
    return code;
  }

  fs::path folder_;
  PosixFileSystem files_;
  Text out_;
  Text err_;
  bool is_meddled_ = false;
};

struct Case {
  const char* what;
  Change change;
  bool is_harmless;             // once the file is open
  bool is_whole_again = false;  // and longer: before anything was read, it might have grown
};

std::vector<Case> changes() {
  return {
      {"emptied", [](const fs::path& path) { fs::resize_file(path, 0); }, false},
      {"cut to a third",
       [](const fs::path& path) { fs::resize_file(path, fs::file_size(path) / 3); }, false},
      {"cut by a byte",
       [](const fs::path& path) { fs::resize_file(path, fs::file_size(path) - 1); }, false},
      {"emptied and filled by another of its size",
       [](const fs::path& path) {
         const std::string bytes = bytes_of_file(path);
         put(path, std::string(bytes.rbegin(), bytes.rend()));
       },
       false},
      {"emptied and filled with more",
       [](const fs::path& path) { put(path, "another" + bytes_of_file(path)); }, false, true},
      {"renamed", [](const fs::path& path) { fs::rename(path, path.string() + ".1"); }, true},
      {"replaced by a shorter one",
       [](const fs::path& path) {
         put(path.string() + ".new", "");
         fs::rename(path.string() + ".new", path);
       },
       true},
  };
}

// REQ-IN-009
TEST_F(ChangingInputs, AreTakenForWholeByNoCommandInNoForm) {
  const std::string text = trace_text();
  const std::map<std::string, std::string> forms = {
      {"trace.jsonl", text},
      {"trace.gz", packed(text, testing::gzip)},
      {"trace.zst", packed(text, testing::zstd)},
      {"otlp.json", R"({"resourceSpans":[)" + std::string(100'000, ' ') + "]}"},
  };
  for (const auto& [name, bytes] : forms) {
    const std::string path = folder_ / name;
    const std::vector<Words> commands = {
        {"grade", path},
        {"grade", "--threads", "2", path},
        {"grade", "--progress", "always", path},
        {"explain", "--from", path},
        {"case", "from-trace", path},
        {"baseline", "suggest", path},
        {"rollout", "report", path},
    };
    for (const Words& words : commands) {
      for (const Case& one : changes()) {
        for (std::size_t at_read = 1; at_read <= 3; ++at_read) {
          if (at_read == 1 && one.is_whole_again) continue;
          SCOPED_TRACE(words[0] + " " + words[1] + " " + name + ": " + one.what + " at " +
                       std::to_string(at_read));
          put_old(name, bytes);
          const int code = run(words, path, at_read, one.change);
          ASSERT_TRUE(is_meddled_);
          if (one.is_harmless) {
            EXPECT_NE(code, kExitBadInput) << err_.said;
            continue;
          }
          EXPECT_EQ(code, kExitBadInput) << err_.said;
          EXPECT_EQ(out_.said, "");
          EXPECT_THAT(err_.said, HasSubstr("remit: " + path + ": "));
          EXPECT_THAT(err_.said, AnyOf(HasSubstr("while it was read"), HasSubstr("compressed")));
        }
      }
    }
  }
}

// Between being named and being opened nothing but growing is harmless.
TEST_F(ChangingInputs, AreComparedWithWhatWasNamed) {  // REQ-IN-009
  const std::string path = folder_ / "second.jsonl";
  const std::string first = folder_ / "first.jsonl";
  for (const Case& one : changes()) {
    if (one.is_whole_again) continue;
    SCOPED_TRACE(one.what);
    put_old("first.jsonl", "");
    put_old("second.jsonl", trace_text());
    // The first is opened when both have been named.
    const int code =
        run({"grade", first, path}, first, 0, [&](const fs::path&) { one.change(path); });
    ASSERT_TRUE(is_meddled_);
    EXPECT_EQ(code, kExitBadInput) << err_.said;
    EXPECT_EQ(out_.said, "");
    EXPECT_THAT(err_.said, HasSubstr("remit: " + path + ": "));
  }
  put_old("first.jsonl", "");
  put_old("second.jsonl", trace_text());
  EXPECT_NE(run({"grade", first, path}, first, 0,
                [&](const fs::path&) { std::ofstream(path, std::ios::app) << "\n"; }),
            kExitBadInput)
      << err_.said;
}

// Whatever happens between or within verifying and reading.
TEST_F(ChangingInputs, AreNotReadOtherThanTheyWereVerified) {  // REQ-IN-009
  for (const char* command : {"grade", "explain", "verify", "show"}) {
    for (const Case& one : changes()) {
      for (std::size_t at_read = 1; at_read <= 3; ++at_read) {
        SCOPED_TRACE(std::string(command) + ": " + one.what + " at " + std::to_string(at_read));
        fs::remove_all(folder_ / "evidence");
        const fs::path segment = record_evidence();
        const std::string root = folder_ / "evidence";
        const std::map<std::string, Words> words = {{"grade", {"grade", root}},
                                                    {"explain", {"explain", "--from", root}},
                                                    {"verify", {"evidence", "verify", root}},
                                                    {"show", {"evidence", "show", root}}};
        const int code = run(words.at(command), segment, at_read, one.change);
        ASSERT_TRUE(is_meddled_);
        if (one.is_harmless &&
            (command == std::string("verify") || command == std::string("show"))) {
          EXPECT_EQ(code, kExitOk) << err_.said;  // opened once, and read to its end
        } else {
          // What is opened again after it was verified may be gone or another.
          EXPECT_THAT(code, AnyOf(kExitBadInput, kExitFailed)) << err_.said << out_.said;
        }
      }
    }
  }
}

TEST_F(ChangingInputs, MustBeSeenToChange) {  // else the cases above would prove nothing
  put_old("trace.jsonl", trace_text());
  const std::string path = folder_ / "trace.jsonl";
  EXPECT_EQ(run({"grade", path}, path, 2, [](const fs::path&) {}), kExitOk) << out_.said;
  EXPECT_TRUE(is_meddled_);
}

}  // namespace
}  // namespace remit::cli
