// Lines of a file of any size, one at a time, in bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/file_system.h"
#include "base/result.h"

namespace remit::evidence {

/// What `LineStream::next` came to.
enum class LineEnd : std::uint8_t {
  kWhole,   ///< a line that ended with `\n`
  kTorn,    ///< bytes at the end of the file without one
  kTooLong  ///< more bytes without `\n` than a line may have; nothing is read beyond
};

/// Reads a file line by line. Not thread-safe. Memory: the line limit plus one chunk.
class LineStream {
 public:
  struct Line {
    std::string_view text;     ///< without `\n`; valid until the next call
    std::uint64_t number = 0;  ///< from 1
    std::uint64_t offset = 0;  ///< of its first byte
    LineEnd end = LineEnd::kWhole;
    [[nodiscard]] std::uint64_t next_offset() const { return offset + text.size() + 1; }
  };

  /// Errors: those of `FileSystem::open_read`.
  static Result<LineStream> open(FileSystem& files, const std::string& path,
                                 std::size_t max_line_bytes);

  /// The next line into `line`; false at the end of the file. `text` is readable for
  /// `event::Decoder::kPadding` bytes past its end. Errors: `unavailable` (I/O).
  Result<bool> next(Line& line);

 private:
  LineStream(std::unique_ptr<ReadFile> file, std::size_t max_line_bytes);
  Status fill();

  std::unique_ptr<ReadFile> file_;
  std::size_t max_line_bytes_;
  std::string buffer_;
  std::size_t begin_ = 0;  ///< unread bytes are [begin_, end_) of buffer_
  std::size_t end_ = 0;
  std::uint64_t offset_ = 0;  ///< of begin_ in the file
  std::uint64_t number_ = 0;
  bool at_end_ = false;
};

}  // namespace remit::evidence
