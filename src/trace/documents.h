// JSON documents of a file: one a line, or one for the whole file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/file_system.h"
#include "base/line_splitter.h"
#include "base/result.h"
#include "trace/form.h"

namespace remit::trace {

/// One document. `text` is valid until the next is read and readable for event::kScanPadding bytes
/// past its end.
struct Document {
  std::string_view text;
  std::uint64_t offset = 0;  ///< of its first byte in the file
  std::uint64_t number = 0;  ///< of its first line
  bool over_limit = false;   ///< longer than the limit: `text` is its beginning
};

/// Reads documents one after the other. Memory is the longest document. Not thread-safe.
class DocumentReader {
 public:
  /// `file` outlives the reader.
  DocumentReader(ReadFile& file, Layout layout, std::size_t max_bytes);

  /// The next document that is not blank; false at the end. Errors: those of reading.
  Result<bool> next(Document& document);

 private:
  Result<bool> read_whole(Document& document);

  ReadFile& file_;
  Layout layout_;
  std::size_t max_bytes_;
  LineSplitter lines_;
  std::unique_ptr<char[]> whole_;
  bool is_read_ = false;
};

}  // namespace remit::trace
