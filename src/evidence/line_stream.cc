// Lines of a file, read in chunks.
#include "evidence/line_stream.h"

#include <cstring>
#include <span>
#include <utility>

#include "event/event.h"

namespace remit::evidence {
namespace {
constexpr std::size_t kFirstChunk = std::size_t{4} * 1024;  // Most roots files are not longer.
constexpr std::size_t kChunk = std::size_t{64} * 1024;
}  // namespace

LineStream::LineStream(std::unique_ptr<ReadFile> file, std::size_t max_line_bytes)
    : file_(std::move(file)), max_line_bytes_(max_line_bytes) {}

Result<LineStream> LineStream::open(FileSystem& files, const std::string& path,
                                    std::size_t max_line_bytes) {
  REMIT_TRY_ASSIGN(auto file, files.open_read(path));
  return LineStream{std::move(file), max_line_bytes};
}

Status LineStream::fill() {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  // From small to large, and by doubling where one line is longer still.
  const std::size_t chunk = buffer_.empty() ? kFirstChunk : kChunk;
  if (buffer_.size() < end_ + chunk + event::Decoder::kPadding) {
    buffer_.resize(std::max(2 * end_, end_ + chunk) + event::Decoder::kPadding);
  }
  const std::span<char> room{buffer_.data() + end_,
                             buffer_.size() - event::Decoder::kPadding - end_};
  REMIT_TRY_ASSIGN(const std::size_t got, file_->read(std::as_writable_bytes(room)));
  end_ += got;
  at_end_ = got == 0;
  return {};
}

Result<bool> LineStream::next(Line& line) {
  std::size_t searched = 0;
  while (true) {
    const std::string_view unread{buffer_.data() + begin_, end_ - begin_};
    const std::size_t at = unread.find('\n', searched);
    const bool too_long = (at == std::string_view::npos ? unread.size() : at) > max_line_bytes_;
    if (at == std::string_view::npos && !at_end_ && !too_long) {
      searched = unread.size();
      REMIT_TRY(fill());
      continue;
    }
    if (unread.empty()) return false;
    line.number = ++number_;
    line.offset = offset_;
    line.text = unread.substr(0, at);
    line.end = too_long                       ? LineEnd::kTooLong
               : at == std::string_view::npos ? LineEnd::kTorn
                                              : LineEnd::kWhole;
    const std::size_t used = line.text.size() + (at == std::string_view::npos ? 0 : 1);
    begin_ += used;
    offset_ += used;
    return true;
  }
}

}  // namespace remit::evidence
