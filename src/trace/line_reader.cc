// Lines out of blocks.
#include "trace/line_reader.h"

#include <algorithm>
#include <cstring>

#include "event/event.h"

namespace remit::trace {
namespace {

bool is_blank(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c == ' ' || c == '\t' || c == '\r'; });
}

}  // namespace

LineReader::LineReader(ReadFile& file, std::size_t max_line_bytes, std::size_t block_bytes)
    : file_(file),
      max_line_bytes_(max_line_bytes),
      block_bytes_(std::max<std::size_t>(block_bytes, 1)),
      buffer_(std::make_unique_for_overwrite<char[]>(max_line_bytes_ + block_bytes_ +
                                                     event::Decoder::kPadding)) {}

Result<bool> LineReader::next(Line& line) {
  for (;;) {
    REMIT_TRY_ASSIGN(const std::size_t length, measure());
    line.offset = base_offset_ + begin_;
    line.number = ++number_;
    line.over_limit = length == kOverLimit;
    if (line.over_limit) {
      REMIT_TRY(skip_line());
      line.text = {};
      return true;
    }
    if (begin_ + length == end_ && length == 0) return false;
    line.text = {buffer_.get() + begin_, length};
    begin_ = std::min(begin_ + length + 1, end_);  // the last line may lack its newline
    if (line.text.empty() || (line.text.front() != '{' && is_blank(line.text))) continue;
    return true;
  }
}

Result<std::size_t> LineReader::measure() {
  std::size_t searched = 0;
  for (;;) {
    const char* from = buffer_.get() + begin_;
    const std::size_t have = end_ - begin_;
    const void* newline = std::memchr(from + searched, '\n', have - searched);
    if (newline != nullptr) {
      const auto length = static_cast<std::size_t>(static_cast<const char*>(newline) - from);
      return length > max_line_bytes_ ? kOverLimit : length;
    }
    if (have > max_line_bytes_) return kOverLimit;
    if (at_end_) return have;
    searched = have;
    REMIT_TRY(read_block());
  }
}

// Moves what was not yielded (at most one line) to the front and reads a block behind it.
Status LineReader::read_block() {
  const std::size_t have = end_ - begin_;
  std::memmove(buffer_.get(), buffer_.get() + begin_, have);
  base_offset_ += begin_;
  begin_ = 0;
  end_ = have;
  REMIT_TRY_ASSIGN(
      const std::size_t count,
      file_.read(std::as_writable_bytes(std::span{buffer_.get() + end_, block_bytes_})));
  end_ += count;
  at_end_ = count == 0;
  return {};
}

Status LineReader::skip_line() {
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

}  // namespace remit::trace
