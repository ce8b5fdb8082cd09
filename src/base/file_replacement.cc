// Beside its place, synced, renamed.
#include "base/file_replacement.h"

#include <span>

namespace remit {
namespace {

/// The place that people know; the name beside it tells them nothing.
Error at_path(const Error& error, const std::string& path) {
  return {error.code, error.message, path};
}

}  // namespace

Result<FileReplacement> FileReplacement::open(FileSystem& files, Random& random,
                                              const std::string& path) {
  const Result<FileInfo> found = files.info(path);
  if (found && found->kind != FileInfo::Kind::kFile) {
    return Error{ErrorCode::kAlreadyExists, "is there and is not a plain file", path};
  }
  if (!found && found.error().code != ErrorCode::kNotFound) return found.error();
  FileReplacement out(files, random, path);
  Result<std::unique_ptr<AppendFile>> made = files.open_append(out.beside_, OpenMode::kMustCreate);
  if (!made) return at_path(made.error(), path);
  out.file_ = std::move(*made);
  return out;
}

FileReplacement::~FileReplacement() {
  if (file_ == nullptr) return;
  file_.reset();
  (void)files_->remove(beside_);  // what stays has a name that is in nobody's way
}

Status FileReplacement::append(std::string_view piece) {
  const Status written = file_->append(std::as_bytes(std::span{piece.data(), piece.size()}));
  if (!written) return at_path(written.error(), path_);
  return {};
}

Status FileReplacement::commit() {
  Status placed = file_->sync();
  if (placed) placed = files_->adopt_access(beside_, path_);
  if (placed) placed = files_->rename(beside_, path_);
  if (!placed) return at_path(placed.error(), path_);
  file_.reset();
  return files_->sync_directory(directory_of(path_));
}

}  // namespace remit
