// Lines of events decoded ahead, by as many threads as there are to do it, and given out in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/file_system.h"
#include "base/line_splitter.h"
#include "base/mutex.h"
#include "base/result.h"
#include "event/event.h"

namespace remit::trace {

/// By `hash_text`, so that whoever compares lines and finds invocations need not.
struct LineHashes {
  std::uint64_t text = 0;  ///< of the line without a `\r` at its end
  std::uint64_t id = 0;    ///< of its `invocation_id`; 0 for none

  static LineHashes of(std::string_view line, const event::Event& event, std::uint64_t seed);
};

/// A line and what the decoder made of it.
struct DecodedLine {
  SplitLine line;
  event::Event event;          ///< if there is no error
  std::optional<Error> error;  ///< of the decoder; none for a line over the limit
  LineHashes hashes;           ///< of the event
};

/// Reads a file by blocks of whole lines. The caller reads and takes; blocks that wait are decoded
/// by threads that do nothing else, and by the caller where it would wait. So nothing is ever
/// blocked by a file but the caller, and what is given out does not depend on the number of
/// threads. Blank lines are passed over. Memory: a few blocks and their events for each thread, and
/// the longest line. Threads that the system does not give are done without. Only one thread may
/// use it.
class DecodedLines {
 public:
  /// `file` outlives this. `threads` counts the caller; the others begin with the second block.
  /// `hash_seed` is that of `LineHashes`.
  DecodedLines(ReadFile& file, std::size_t max_line_bytes, unsigned threads,
               std::uint64_t hash_seed = 0);
  ~DecodedLines();
  DecodedLines(const DecodedLines&) = delete;
  DecodedLines& operator=(const DecodedLines&) = delete;

  /// The next line, valid until the next call; null after the last. Errors: those of reading, and
  /// `limit_exceeded` where another thread finds no memory.
  Result<DecodedLine*> next();
  /// If the line given last is the first of what was read at once: all of that, with the line in
  /// it. It stays as it is until it has been given out. Else empty.
  [[nodiscard]] std::string_view fresh_text() const { return fresh_text_; }
  /// The line `count` behind the one given last, if it was decoded with it; else null.
  [[nodiscard]] const DecodedLine* ahead(std::size_t count) const {
    const std::size_t at = taken_ + count - 1;
    return front_ != nullptr && at < front_->count ? &front_->lines[at] : nullptr;
  }

  static constexpr std::size_t kBlockBytes = std::size_t{128} * 1024;

 private:
  /// Lines decoded of a block before they are taken; a block of many short lines is decoded in
  /// several goes. One thread alone decodes few, so that their events stay in its first cache.
  static constexpr std::size_t kLinesAtOnce = 1024;
  static constexpr std::size_t kLinesAtOnceAlone = 16;

  enum class Stage : std::uint8_t { kWaiting, kBusy, kDone };
  struct Block {
    std::unique_ptr<char[]> bytes;
    std::size_t capacity = 0;
    std::size_t size = 0;
    std::size_t at = 0;              ///< up to where it is decoded
    std::uint64_t offset = 0;        ///< of its first byte in the file
    std::vector<DecodedLine> lines;  ///< reused; the first `count` are meant
    std::size_t count = 0;
    std::size_t numbered = 0;       ///< lines up to `at`, blank ones too
    std::deque<std::string> texts;  ///< that stand in no line: unescaped ones
    Stage stage = Stage::kWaiting;
    bool is_beyond_memory = false;  ///< decoding it found no memory: nothing of it is meant
  };

  Result<std::unique_ptr<Block>> next_block();
  void fill(std::size_t wanted);
  void start_workers();
  Result<bool> read(Block& block);
  static void make_room(Block& block, std::size_t bytes);
  Status skip_rest_of_line();
  void decode(Block& block, event::Decoder& decoder) const;
  Block* take_waiting() REMIT_REQUIRES(mutex_);
  void work();

  ReadFile& file_;
  std::size_t max_line_bytes_;
  unsigned threads_;
  std::size_t lines_at_once_;
  std::uint64_t hash_seed_;
  event::Decoder decoder_;
  std::string carried_;          // the beginning of a line whose end was not read yet
  std::uint64_t offset_ = 0;     // of what comes behind the blocks
  std::uint64_t number_ = 0;     // of lines before the front block's current go
  bool at_end_ = false;          // of the file
  bool is_short_ = false;        // the last read gave less than asked for: the next may wait
  std::optional<Error> broken_;  // told once what was read before was taken
  std::vector<std::unique_ptr<Block>> spare_;
  std::unique_ptr<Block> front_;  // the block whose lines are given out
  std::size_t taken_ = 0;         // of its lines
  std::string_view fresh_text_;

  Mutex mutex_;
  CondVar changed_;
  std::deque<std::unique_ptr<Block>> blocks_ REMIT_GUARDED_BY(mutex_);  // in the order of the file
  bool is_over_ REMIT_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> workers_;
};

}  // namespace remit::trace
