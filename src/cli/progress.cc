// Bytes counted where files are read, told now and then.
#include "cli/progress.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "evidence/verify.h"

namespace remit::cli {
namespace {

constexpr std::string_view kName = "remit: ";

/// Three digits and a unit: `812 B`, `1.23 GB`.
std::string bytes_text(double bytes) {
  constexpr std::string_view kUnits[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  std::size_t unit = 0;
  // From where three digits would round up to a thousand.
  while (bytes >= 999.5 && unit + 1 < std::size(kUnits)) {
    bytes /= 1000;
    ++unit;
  }
  if (unit == 0 || bytes >= 99.95) return fmt::format("{:.0f} {}", bytes, kUnits[unit]);
  return fmt::format("{:.{}f} {}", bytes, bytes >= 9.995 ? 1 : 2, kUnits[unit]);
}

std::string time_text(double seconds) {
  constexpr double kMost = 99.0 * 3600;
  if (seconds >= kMost) return "more than 99 h";
  const auto whole = std::llround(seconds);
  if (whole < 1) return "less than 1 s";
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

/// `, 1,234,567 events`.
std::string events_text(std::uint64_t events) {
  std::string digits = std::to_string(events);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, 1, ',');
  return fmt::format(", {} {}", digits, events == 1 ? "event" : "events");
}

/// A file that tells what is read of it.
class MeteredFile final : public ReadFile {
 public:
  MeteredFile(std::unique_ptr<ReadFile> file, Progress& progress)
      : file_(std::move(file)), progress_(progress) {}

  Result<std::size_t> read(std::span<std::byte> out) override {
    Result<std::size_t> count = file_->read(out);
    if (!count || out.empty()) return count;
    if (*count > 0) {
      progress_.add(*count);
    } else if (!std::exchange(has_ended_, true)) {
      progress_.end_file();
    }
    return count;
  }

 private:
  std::unique_ptr<ReadFile> file_;
  Progress& progress_;
  bool has_ended_ = false;
};

/// What is left to read of a descriptor; nothing where it does not tell, as a pipe.
std::optional<std::uint64_t> rest_of(int descriptor) {
  struct stat found{};
  if (::fstat(descriptor, &found) != 0 || !S_ISREG(found.st_mode)) return std::nullopt;
  const off_t at = ::lseek(descriptor, 0, SEEK_CUR);
  if (at < 0 || at > found.st_size) return std::nullopt;
  return static_cast<std::uint64_t>(found.st_size - at);
}

/// The sizes of files together; nothing where one does not tell, as a pipe.
class Sizes {
 public:
  explicit Sizes(FileSystem& looked_at) : looked_at_(looked_at) {}

  void add(const std::string& path) {
    const Result<FileInfo> info = looked_at_.info(path);
    const bool is_known = info && info->target_kind == FileInfo::Kind::kFile;
    add(is_known ? std::optional(info->target_size) : std::nullopt);
  }
  void add(std::optional<std::uint64_t> bytes) {
    ++files;
    total = total && bytes ? std::optional(*total + *bytes) : std::nullopt;
  }

  std::size_t files = 0;
  std::optional<std::uint64_t> total = 0;

 private:
  FileSystem& looked_at_;
};

}  // namespace

std::string stage_text(const StageState& state) {
  const auto done = static_cast<double>(state.done_bytes);
  const double seconds = std::chrono::duration<double>(state.elapsed).count();
  const double rate = seconds > 0 ? done / seconds : 0;
  std::string out = fmt::format("{} {}", state.stage, bytes_text(done));
  const std::string events = state.events ? events_text(*state.events) : "";
  if (!state.total_bytes) return fmt::format("{}, {}/s{}", out, bytes_text(rate), events);
  // A file that grows while it is read has more than it said.
  const double total = std::max(done, static_cast<double>(*state.total_bytes));
  const double part = total > 0 ? done / total : 1;
  // 100 % is what nothing is missing of.
  out += fmt::format(" of {} ({} %), {}/s", bytes_text(total), static_cast<int>(part * 100),
                     bytes_text(rate));
  if (rate > 0) out += fmt::format(", {} left", time_text((total - done) / rate));
  return out + events;
}

void Progress::begin(std::string_view stage, std::size_t files,
                     std::optional<std::uint64_t> total_bytes) {
  state_ = {.stage = stage, .total_bytes = total_bytes};
  files_left_ = files;
  begun_ = clock_.monotonic_now();
  is_drawn_ = false;
}

void Progress::add(std::uint64_t bytes) {
  state_.done_bytes += bytes;
  const MonotonicTime now = clock_.monotonic_now();
  // The line of the stage before stays until this one has something to say.
  const bool is_time = is_drawn_ ? now - drawn_ >= kRest : now - begun_ >= kPatience;
  if (is_time) draw(now);
}

void Progress::end_file() {
  if (files_left_ == 0) return;
  --files_left_;
  if (files_left_ > 0) return;
  // What follows takes long only where reading did.
  if (!is_drawn_) return;
  show(fmt::format("{}: all {} are read", state_.stage,
                   bytes_text(static_cast<double>(state_.done_bytes))));
}

void Progress::draw(MonotonicTime now) {
  state_.elapsed = now - begun_;
  drawn_ = now;
  is_drawn_ = true;
  std::string text = stage_text(state_);
  // Half a number would be another number.
  if (kName.size() + text.size() >= static_cast<std::size_t>(std::max(columns_, 0))) {
    StageState shorter = state_;
    shorter.events.reset();
    text = stage_text(shorter);
  }
  show(std::move(text));
}

// Over what stands there, whose end is written over by spaces: any terminal can do that.
void Progress::show(std::string text) {
  text.insert(0, kName);
  // In the last column some terminals go on to the next line.
  text.resize(std::min(text.size(), static_cast<std::size_t>(std::max(columns_ - 1, 0))));
  const std::size_t width = text.size();
  if (width < width_) text.append(width_ - width, ' ');
  width_ = width;
  (void)output_.write("\r" + text);
}

void Progress::clear() {
  if (width_ == 0) return;
  (void)output_.write("\r" + std::string(width_, ' ') + "\r");
  width_ = 0;
}

Result<std::unique_ptr<ReadFile>> MeteredFiles::open_read(const std::string& path) {
  REMIT_TRY_ASSIGN(std::unique_ptr<ReadFile> file, FilesOver::open_read(path));
  return std::unique_ptr<ReadFile>(std::make_unique<MeteredFile>(std::move(file), progress_));
}

void meter_inputs(World& world, std::vector<trace::Input>& inputs, Progress& progress) {
  Sizes sizes(world.files);
  for (trace::Input& input : inputs) {
    if (input.stream != nullptr) {
      sizes.add(rest_of(world.input_fd));
      input.stream = std::make_unique<MeteredFile>(std::move(input.stream), progress);
    }
    for (const std::string& path : input.paths) sizes.add(path);
  }
  progress.begin("grading", sizes.files, sizes.total);
}

void meter_verification(World& world, const std::vector<std::string>& words, Progress& progress) {
  Sizes sizes(world.files);
  for (const std::string& word : words) {
    if (word == "-") continue;
    const auto writers = evidence::list_segments(world.files, word);
    if (!writers) continue;  // a file, or what is told of when it is opened
    for (const evidence::WriterSegments& writer : *writers) {
      for (const std::string& segment : writer.segments) sizes.add(segment);
    }
  }
  if (sizes.files > 0) progress.begin("verifying", 0, sizes.total);
}

}  // namespace remit::cli
