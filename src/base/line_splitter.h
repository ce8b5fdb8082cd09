// Lines of a file of any size, one at a time, each with its place, in bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/file_system.h"
#include "base/result.h"

namespace remit {

/// How a line ended.
enum class LineEnd : std::uint8_t {
  kWhole,   ///< with `\n`
  kTorn,    ///< with the file
  kTooLong  ///< longer than the limit: `text` is its beginning, as long as the limit
};

/// One line without its `\n`.
struct SplitLine {
  std::string_view text;     ///< valid until the next call
  std::uint64_t offset = 0;  ///< of its first byte in the file
  std::uint64_t number = 0;  ///< 1 for the file's first line
  LineEnd end = LineEnd::kWhole;
  /// Where the next line begins; not after `kTooLong`.
  [[nodiscard]] std::uint64_t next_offset() const { return offset + text.size() + 1; }
};

/// Reads a file by blocks and cuts it at each `\n`. Memory: the longest line and a block, whatever
/// the file; nothing is allocated per line. Not thread-safe.
class LineSplitter {
 public:
  /// `file` outlives the splitter. `max_line_bytes` counts without the `\n`.
  explicit LineSplitter(ReadFile& file, std::size_t max_line_bytes,
                        std::size_t block_bytes = kBlockBytes);

  /// The next line; false at the end of the file. Its text is readable for `kPadding` bytes past
  /// its end. Errors: those of reading.
  Result<bool> next(SplitLine& line);

  static constexpr std::size_t kPadding = 64;
  /// Small enough that a block stays in the processor's second cache while it is worked on.
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
  std::size_t capacity_ = 0;       ///< of `buffer_`, without the padding
  std::size_t begin_ = 0;          ///< of what was not yielded
  std::size_t end_ = 0;            ///< of what was read
  std::uint64_t base_offset_ = 0;  ///< place of buffer_[0] in the file
  std::uint64_t number_ = 0;       ///< of the last line that was measured
  bool at_end_ = false;
  bool is_torn_ = false;      ///< the line measured last has no `\n`
  bool is_too_long_ = false;  ///< its rest is to be passed over
};

}  // namespace remit
