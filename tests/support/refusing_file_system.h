// A file system that does nothing, for tests to give the few operations that their subject needs.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.h"

namespace remit::testing {

/// Every operation is `unsupported` until a class derived from it says otherwise.
class RefusingFileSystem : public FileSystem {
 public:
  Result<std::string> read(const std::string& path, std::uint64_t) override {
    return refused(path);
  }
  Result<std::unique_ptr<ReadFile>> open_read(const std::string& path) override {
    return refused(path);
  }
  Result<std::unique_ptr<AppendFile>> open_append(const std::string& path, OpenMode) override {
    return refused(path);
  }
  Status replace(const std::string& path, std::string_view) override { return refused(path); }
  Status make_directory(const std::string& path) override { return refused(path); }
  Result<std::vector<std::string>> list(const std::string& path) override { return refused(path); }
  Status sync_directory(const std::string& path) override { return refused(path); }
  Status sync_file_system(const std::string& path) override { return refused(path); }
  Status rename(const std::string& from, const std::string&) override { return refused(from); }
  Status remove(const std::string& path) override { return refused(path); }
  Result<FileInfo> info(const std::string& path) override { return refused(path); }
  Result<std::unique_ptr<AppendFile>> lock(const std::string& path) override {
    return refused(path);
  }
  Result<std::unique_ptr<ScratchFile>> open_scratch(const std::string& directory) override {
    return refused(directory);
  }

 private:
  static Error refused(const std::string& path) {
    return {ErrorCode::kUnsupported, "the test has no such operation", path};
  }
};

}  // namespace remit::testing
