// Lines, or everything.
#include "trace/documents.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

namespace remit::trace {
namespace {

constexpr std::size_t kFirstBytes = std::size_t{256} * 1024;

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

}  // namespace

DocumentReader::DocumentReader(ReadFile& file, Layout layout, std::size_t max_bytes)
    : file_(file), layout_(layout), max_bytes_(max_bytes), lines_(file, max_bytes) {}

Result<bool> DocumentReader::next(Document& document) {
  if (layout_ == Layout::kWhole) {
    if (std::exchange(is_read_, true)) return false;
    return read_whole(document);
  }
  SplitLine line;
  do {
    REMIT_TRY_ASSIGN(const bool found, lines_.next(line));
    if (!found) return false;
  } while (line.end != LineEnd::kTooLong && is_blank(line.text));
  document = {line.text, line.offset, line.number, line.end == LineEnd::kTooLong};
  return true;
}

Result<bool> DocumentReader::read_whole(Document& document) {
  std::size_t capacity = kFirstBytes;
  std::size_t size = 0;
  whole_ = std::make_unique_for_overwrite<char[]>(capacity + LineSplitter::kPadding);
  for (;;) {
    REMIT_TRY_ASSIGN(
        const std::size_t count,
        file_.read(std::as_writable_bytes(std::span{whole_.get() + size, capacity - size})));
    size += count;
    if (size > max_bytes_) {
      document = {{whole_.get(), max_bytes_}, 0, 1, true};
      return true;
    }
    if (count == 0) break;
    if (size < capacity) continue;
    auto larger = std::make_unique_for_overwrite<char[]>(2 * capacity + LineSplitter::kPadding);
    std::memcpy(larger.get(), whole_.get(), size);
    whole_ = std::move(larger);
    capacity *= 2;
  }
  document = {{whole_.get(), size}, 0, 1, false};
  return !is_blank(document.text);
}

}  // namespace remit::trace
