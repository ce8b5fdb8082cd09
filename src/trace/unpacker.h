// Files as they were before gzip or zstd.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/file_system.h"
#include "base/result.h"

namespace remit::trace {

/// Reads a file and unpacks it if its first bytes are those of gzip (RFC 1952) or zstd (RFC 8878);
/// any other file is passed on as it is. Several gzip members or zstd frames one behind the other
/// are one text; zstd's skippable frames are skipped. Not thread-safe.
///
/// Nothing of a damaged file is taken for its end: what is cut short, does not match its checksum,
/// has anything else behind it or unpacks to more than kMaxUnpackRatio times its size is an error.
class Unpacker final : public ReadFile {
 public:
  /// `file` outlives the unpacker.
  explicit Unpacker(ReadFile& file);
  ~Unpacker() override;

  /// Errors: those of reading `file`; `data_loss` with `byte N of the compressed file` for what
  /// cannot be unpacked; `limit_exceeded` for what unpacks to too much. After an error the same
  /// again.
  Result<std::size_t> read(std::span<std::byte> out) override;

  /// One way of packing.
  class Format;

 private:
  Result<std::size_t> unpack(std::span<std::byte> out);
  Status recognise();
  Status refill();
  [[nodiscard]] Error damaged(const char* what) const;

  ReadFile& file_;
  std::vector<std::byte> packed_;
  std::size_t begin_ = 0;  ///< of what was not unpacked yet
  std::size_t end_ = 0;    ///< of what was read
  std::uint64_t read_bytes_ = 0;
  std::uint64_t unpacked_bytes_ = 0;
  bool is_recognised_ = false;
  bool at_end_ = false;
  std::unique_ptr<Format> format_;  ///< null for a file that is not packed
  Status failure_;
};

}  // namespace remit::trace
