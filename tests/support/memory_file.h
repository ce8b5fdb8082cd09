// A file that a test holds in memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "base/file_system.h"

namespace remit::testing {

/// Reads bytes in memory, at most `piece_bytes` at a time, as a pipe does.
class MemoryFile final : public ReadFile {
 public:
  explicit MemoryFile(std::string bytes, std::size_t piece_bytes = SIZE_MAX)
      : bytes_(std::move(bytes)), piece_bytes_(piece_bytes) {}

  Result<std::size_t> read(std::span<std::byte> out) override {
    const std::size_t count = std::min({out.size(), piece_bytes_, bytes_.size() - at_});
    if (count > 0) std::memcpy(out.data(), bytes_.data() + at_, count);
    at_ += count;
    return count;
  }

 private:
  std::string bytes_;
  std::size_t piece_bytes_;
  std::size_t at_ = 0;
};

}  // namespace remit::testing
