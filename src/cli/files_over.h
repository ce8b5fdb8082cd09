// Another file system passed on as it is, for those that change one operation of it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.h"

namespace remit::cli {

/// Does what `files` does. A class derived from it overrides what it does otherwise.
class FilesOver : public FileSystem {
 public:
  /// `files` outlives this.
  explicit FilesOver(FileSystem& files) : files_(files) {}

  Result<std::string> read(const std::string& path, std::uint64_t max_bytes) override {
    return files_.read(path, max_bytes);
  }
  Result<std::unique_ptr<ReadFile>> open_read(const std::string& path) override {
    return files_.open_read(path);
  }
  Result<std::unique_ptr<AppendFile>> open_append(const std::string& path, OpenMode mode) override {
    return files_.open_append(path, mode);
  }
  Status replace(const std::string& path, std::string_view bytes) override {
    return files_.replace(path, bytes);
  }
  Status adopt_access(const std::string& path, const std::string& model) override {
    return files_.adopt_access(path, model);
  }
  Status make_directory(const std::string& path) override { return files_.make_directory(path); }
  Result<std::vector<std::string>> list(const std::string& path) override {
    return files_.list(path);
  }
  Status sync_directory(const std::string& path) override { return files_.sync_directory(path); }
  Status sync_file_system(const std::string& path) override {
    return files_.sync_file_system(path);
  }
  Status rename(const std::string& from, const std::string& to) override {
    return files_.rename(from, to);
  }
  Status remove(const std::string& path) override { return files_.remove(path); }
  Result<FileInfo> info(const std::string& path) override { return files_.info(path); }
  Result<std::unique_ptr<AppendFile>> lock(const std::string& path) override {
    return files_.lock(path);
  }
  Result<std::unique_ptr<ScratchFile>> open_scratch(const std::string& directory) override {
    return files_.open_scratch(directory);
  }

 private:
  FileSystem& files_;
};

}  // namespace remit::cli
