// A text in memory as a file, copied out by blocks as the kernel does.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>

#include "base/file_system.h"

namespace remit::bench {

/// Reads `text`, which outlives it; making one copies nothing, so that only the reading is timed.
class TextFile final : public ReadFile {
 public:
  explicit TextFile(std::string_view text) : text_(text) {}
  Result<std::size_t> read(std::span<std::byte> out) override {
    const std::size_t count = std::min(out.size(), text_.size());
    std::memcpy(out.data(), text_.data(), count);
    text_.remove_prefix(count);
    return count;
  }

 private:
  std::string_view text_;
};

}  // namespace remit::bench
