// Files that others are still writing, read as far as their lines are whole.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/file_system.h"
#include "cli/files_over.h"

namespace remit::cli {

/// Another file system, in which each file ends behind its last line feed; a packed file (gzip,
/// zstd) ends where it ends, and what is no file cannot be opened. Only for reading: what writes
/// goes through unchanged.
class SettledFiles final : public FilesOver {
 public:
  using FilesOver::FilesOver;

  Result<std::string> read(const std::string& path, std::uint64_t max_bytes) override;
  Result<std::unique_ptr<ReadFile>> open_read(const std::string& path) override;
};

}  // namespace remit::cli
