// Lines out of blocks.
#include "base/line_splitter.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace remit {
namespace {
constexpr std::size_t kFirstBlock = std::size_t{4} * 1024;  // many files are not longer
}  // namespace

LineSplitter::LineSplitter(ReadFile& file, std::size_t max_line_bytes, std::size_t block_bytes)
    : file_(file),
      max_line_bytes_(max_line_bytes),
      block_bytes_(std::max<std::size_t>(block_bytes, 1)) {}

Result<bool> LineSplitter::next(SplitLine& line) {
  if (is_too_long_) REMIT_TRY(skip_line());
  REMIT_TRY_ASSIGN(const std::size_t length, measure());
  if (length == 0 && is_torn_) return false;
  line.offset = base_offset_ + begin_;
  line.number = ++number_;
  if (length == kOverLimit) {
    line.end = LineEnd::kTooLong;
    line.text = {buffer_.get() + begin_, max_line_bytes_};
    is_too_long_ = true;
    return true;
  }
  line.end = is_torn_ ? LineEnd::kTorn : LineEnd::kWhole;
  line.text = {buffer_.get() + begin_, length};
  begin_ += length + (is_torn_ ? 0 : 1);
  return true;
}

Result<std::size_t> LineSplitter::measure() {
  std::size_t searched = 0;
  for (;;) {
    const std::size_t have = end_ - begin_;
    if (have > searched) {
      const char* from = buffer_.get() + begin_;
      const void* newline = std::memchr(from + searched, '\n', have - searched);
      if (newline != nullptr) {
        is_torn_ = false;
        const auto length = static_cast<std::size_t>(static_cast<const char*>(newline) - from);
        return length > max_line_bytes_ ? kOverLimit : length;
      }
    }
    is_torn_ = true;
    if (have > max_line_bytes_) return kOverLimit;
    if (at_end_) return have;
    searched = have;
    REMIT_TRY(read_block());
  }
}

// Moves what was not yielded (at most one line) to the front and reads a block behind it.
Status LineSplitter::read_block() {
  const std::size_t have = end_ - begin_;
  const std::size_t block = capacity_ == 0 ? std::min(kFirstBlock, block_bytes_) : block_bytes_;
  if (capacity_ < have + block) {
    // By doubling where one line is longer than a block.
    const std::size_t wanted = std::max(have + block, std::min(2 * have, max_line_bytes_) + block);
    auto larger = std::make_unique_for_overwrite<char[]>(wanted + kPadding);
    if (have > 0) std::memcpy(larger.get(), buffer_.get() + begin_, have);
    buffer_ = std::move(larger);
    capacity_ = wanted;
  } else if (have > 0 && begin_ > 0) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, have);
  }
  base_offset_ += begin_;
  begin_ = 0;
  end_ = have;
  REMIT_TRY_ASSIGN(const std::size_t count,
                   file_.read(std::as_writable_bytes(std::span{buffer_.get() + end_, block})));
  end_ += count;
  at_end_ = count == 0;
  return {};
}

Status LineSplitter::skip_line() {
  is_too_long_ = false;
  for (;;) {
    const void* newline = std::memchr(buffer_.get() + begin_, '\n', end_ - begin_);
    if (newline != nullptr) {
      begin_ = static_cast<std::size_t>(static_cast<const char*>(newline) - buffer_.get()) + 1;
      return {};
    }
    begin_ = end_;
    if (at_end_) return {};
    REMIT_TRY(read_block());
  }
}

}  // namespace remit
