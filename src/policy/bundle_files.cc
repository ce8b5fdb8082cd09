// Reading a bundle's files, with distrust of whoever else can reach them.
#include "policy/bundle_files.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/digest.h"
#include "base/limits.h"
#include "base/utf8.h"

namespace remit::policy {

std::string BundleFiles::name(std::string_view path) const {
  return path.empty() ? directory_ : fmt::format("{}/{}", directory_, path);
}

Status BundleFiles::check(const std::string& path, const FileInfo& info,
                          FileInfo::Kind wanted) const {
  // No links at all: one that stays inside today may be turned outside tomorrow.
  if (info.kind == FileInfo::Kind::kLink) {
    return Error{ErrorCode::kInvalidInput, "is a link; a bundle holds its files itself",
                 name(path)};
  }
  if (info.kind != wanted) {
    const bool folder = wanted == FileInfo::Kind::kDirectory;
    return Error{ErrorCode::kInvalidInput, folder ? "is not a directory" : "is not a file",
                 name(path)};
  }
  if (!info.owned_by_us) {
    return Error{ErrorCode::kFailedPrecondition,
                 "belongs to another user, who could change the policy", name(path)};
  }
  if (info.writable_by_others) {
    return Error{ErrorCode::kFailedPrecondition,
                 "others may write it, and so change the policy; remove that right (chmod go-w)",
                 name(path)};
  }
  return {};
}

Status BundleFiles::check_root() {
  // The directory itself may be named by a link, as deployments do: `/.` looks behind it.
  const Result<FileInfo> info = files_.info(directory_ + "/.");
  if (!info) return Error{info.error().code, info.error().message, directory_};
  return check("", *info, FileInfo::Kind::kDirectory);
}

Result<std::vector<std::string>> BundleFiles::list(const std::string& folder) {
  REMIT_TRY_ASSIGN(const FileInfo info, files_.info(name(folder)));
  REMIT_TRY(check(folder, info, FileInfo::Kind::kDirectory));
  return files_.list(name(folder));
}

Result<std::string> BundleFiles::read(const std::string& path) {
  REMIT_TRY_ASSIGN(const FileInfo info, files_.info(name(path)));
  REMIT_TRY(check(path, info, FileInfo::Kind::kFile));
  REMIT_TRY_ASSIGN(std::string text, files_.read(name(path), kMaxConfigBytes));
  bytes_ += text.size();
  if (bytes_ > kMaxBundleBytes) {
    return Error{ErrorCode::kLimitExceeded,
                 fmt::format("the bundle is larger than {} bytes", kMaxBundleBytes), name(path)};
  }
  if (const auto bad = first_invalid_utf8(text)) {
    return Error{ErrorCode::kInvalidInput, "not UTF-8",
                 fmt::format("{}: byte {}", name(path), *bad)};
  }
  listing_[path] = to_hex(sha256(text));
  return text;
}

std::string BundleFiles::digest() const {
  Sha256 hash;
  for (const auto& [path, hex] : listing_) hash.update(fmt::format("{}  {}\n", hex, path));
  return digest_text(hash.finish());
}

}  // namespace remit::policy
