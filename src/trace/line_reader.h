// Lines of a file that may be larger than memory, with their byte offsets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/file_system.h"
#include "base/limits.h"
#include "base/result.h"

namespace remit::trace {

/// One line without its `\n`. `text` points into the reader until the next call and is followed by
/// at least event::Decoder::kPadding readable bytes.
struct Line {
  std::string_view text;
  std::uint64_t offset = 0;  ///< of its first byte in the file
  std::uint64_t number = 0;  ///< 1 for the file's first line, skipped lines counted
  bool over_limit = false;   ///< longer than the limit: passed over, `text` is empty
};

/// Reads a file by blocks and yields its lines; a line of nothing but white space is skipped
/// (REQ-EV-002). Memory is one block and one line, whatever the file. Nothing is allocated per
/// line. Not thread-safe.
class LineReader {
 public:
  /// `file` outlives the reader. `max_line_bytes` counts without the `\n`.
  explicit LineReader(ReadFile& file, std::size_t max_line_bytes = kMaxEventLineBytes,
                      std::size_t block_bytes = kBlockBytes);

  /// The next line; false at the end of the file. Errors: those of reading.
  Result<bool> next(Line& line);

  /// Small enough that a block stays in the processor's second cache while it is decoded.
  static constexpr std::size_t kBlockBytes = std::size_t{256} * 1024;

 private:
  /// Length of the line at `begin_`, reading on as needed; kOverLimit if it is too long.
  Result<std::size_t> measure();
  Status read_block();
  Status skip_line();

  static constexpr std::size_t kOverLimit = static_cast<std::size_t>(-1);

  ReadFile& file_;
  std::size_t max_line_bytes_;
  std::size_t block_bytes_;
  std::unique_ptr<char[]> buffer_;
  std::size_t begin_ = 0;          ///< of what was not yielded
  std::size_t end_ = 0;            ///< of what was read
  std::uint64_t base_offset_ = 0;  ///< place of buffer_[0] in the file
  std::uint64_t number_ = 0;       ///< of the last line that was measured
  bool at_end_ = false;
};

}  // namespace remit::trace
