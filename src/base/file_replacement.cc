// Beside its place, synced, renamed.
#include "base/file_replacement.h"

#include <span>

namespace remit {

Result<FileReplacement> FileReplacement::open(FileSystem& files, const std::string& path) {
  const Result<FileInfo> found = files.info(path);
  if (found && found->kind != FileInfo::Kind::kFile) {
    return Error{ErrorCode::kAlreadyExists, "is there and is not a plain file", path};
  }
  if (!found && found.error().code != ErrorCode::kNotFound) return found.error();
  FileReplacement out(files, path);
  const Status removed = files.remove(out.beside_);
  if (!removed && removed.error().code != ErrorCode::kNotFound) return removed.error();
  REMIT_TRY_ASSIGN(out.file_, files.open_append(out.beside_, OpenMode::kMustCreate));
  return out;
}

FileReplacement::~FileReplacement() {
  if (file_ == nullptr) return;
  file_.reset();
  (void)files_->remove(beside_);  // what stays is removed by the next one
}

Status FileReplacement::append(std::string_view piece) {
  return file_->append(std::as_bytes(std::span{piece.data(), piece.size()}));
}

Status FileReplacement::commit() {
  REMIT_TRY(file_->sync());
  REMIT_TRY(files_->rename(beside_, path_));
  file_.reset();
  const std::size_t slash = path_.rfind('/');
  return files_->sync_directory(slash == std::string::npos ? "." : path_.substr(0, slash + 1));
}

}  // namespace remit
