// The files of a bundle as they lie in its directory: who may write them, their bounds, and the
// digest over them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.h"
#include "base/result.h"

namespace remit::policy {

/// Reads the files of one bundle and keeps the listing of what it read. Paths are relative to the
/// bundle; errors name the whole path. Not thread-safe.
class BundleFiles {
 public:
  BundleFiles(FileSystem& files, std::string directory)
      : files_(files), directory_(std::move(directory)) {}

  /// That the directory is one, and that only we may change what is in it. Errors: `not_found`,
  /// `failed_precondition` for one that others may write.
  Status check_root();

  /// Names in a folder of the bundle, sorted. Errors: as `check_root`; `invalid_input` for a link.
  Result<std::vector<std::string>> list(const std::string& folder);

  /// The text of a file, which then stands in the listing. Errors: `not_found`;
  /// `failed_precondition` for one that others may write; `invalid_input` for a link, or a text
  /// that is not UTF-8; `limit_exceeded` for a file of more than kMaxConfigBytes or a bundle of
  /// more than kMaxBundleBytes.
  Result<std::string> read(const std::string& path);

  /// `sha256:…` of the listing of all files read: for each, in the byte order of their paths, the
  /// line `<64 hex of SHA-256>  <path>\n`, which is what sha256sum prints (spec/bundle.md).
  [[nodiscard]] std::string digest() const;

  /// How messages name a path of the bundle.
  [[nodiscard]] std::string name(std::string_view path) const;

 private:
  Status check(const std::string& path, const FileInfo& info, FileInfo::Kind wanted) const;

  FileSystem& files_;
  std::string directory_;
  std::uint64_t bytes_ = 0;
  std::map<std::string, std::string> listing_;  // path to hexadecimal SHA-256
};

}  // namespace remit::policy
