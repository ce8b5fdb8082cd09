// How far a grade has come, on one line of a terminal that is gone when the grade is there.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/file_system.h"
#include "cli/files_over.h"
#include "cli/world.h"
#include "trace/event_reader.h"

namespace remit::cli {

/// A moment of a stage, as it is told.
struct StageState {
  std::string_view stage;        ///< `verifying`, `grading`
  std::uint64_t done_bytes = 0;  ///< as the files hold them: packed ones are not unpacked
  std::optional<std::uint64_t> total_bytes = {};  ///< nothing where a stream does not tell its end
  Duration elapsed{};
  std::optional<std::uint64_t> events = {};  ///< nothing in a stage that counts none
};

/// `grading 1.23 GB of 4.56 GB (27 %), 812 MB/s, 5 s left, 1,234,567 events`; the rate is that of
/// the whole stage.
std::string stage_text(const StageState& state);

/// The line. Nothing is drawn in the first half second, nor more often than five times in a second,
/// and only when something was read, so that it costs a look at the clock for each block. Errors of
/// the output are passed over: the grade matters, the line does not. Not thread-safe.
class Progress {
 public:
  /// All outlive it. `columns` is the width of the terminal.
  Progress(const Clock& clock, Output& output, int columns)
      : clock_(clock), output_(output), columns_(columns) {}
  /// Takes the line away.
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// A stage begins, in which `total_bytes` are read. Where it goes on once `files` files are read
  /// to their ends, the line says so then; 0 for a stage that ends with its bytes.
  void begin(std::string_view stage, std::size_t files, std::optional<std::uint64_t> total_bytes);
  /// What this stage counts as events come; to be counted up by who grades, on the same thread.
  std::uint64_t& count_events() { return state_.events.emplace(0); }
  void add(std::uint64_t bytes);
  /// A file was read to its end; after the last one the line says what is done then.
  void end_file();
  void clear();

  static constexpr Duration kPatience = std::chrono::milliseconds{500};
  static constexpr Duration kRest = std::chrono::milliseconds{200};

 private:
  void draw(MonotonicTime now);
  void show(std::string text);

  const Clock& clock_;
  Output& output_;
  int columns_;
  StageState state_;
  std::size_t files_left_ = 0;
  MonotonicTime begun_;
  MonotonicTime drawn_;
  bool is_drawn_ = false;  ///< in this stage
  std::size_t width_ = 0;  ///< of what stands on the line
};

/// A file system that tells what is read of its files. What is read as a whole, which nothing large
/// is, does not count.
class MeteredFiles final : public FilesOver {
 public:
  MeteredFiles(FileSystem& files, Progress& progress) : FilesOver(files), progress_(progress) {}
  Result<std::unique_ptr<ReadFile>> open_read(const std::string& path) override;

 private:
  Progress& progress_;
};

/// Begins the stage in which `inputs` are graded, and counts what is read of their streams.
void meter_inputs(World& world, std::vector<trace::Input>& inputs, Progress& progress);

/// Begins the stage in which the evidence directories among `words` are verified, if there are any.
void meter_verification(World& world, const std::vector<std::string>& words, Progress& progress);

}  // namespace remit::cli
