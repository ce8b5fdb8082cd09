// Who may have written a file.
#include "identity/own_file.h"

namespace remit::identity {

Result<std::string> read_own_file(FileSystem& files, const std::string& file,
                                  std::uint64_t max_bytes) {
  REMIT_TRY_ASSIGN(const FileInfo info, files.info(file));
  if (info.kind != FileInfo::Kind::kFile) {
    return Error{ErrorCode::kInvalidInput, "it is not a file", file};
  }
  if (info.writable_by_others || !info.owned_by_us) {
    return Error{ErrorCode::kInvalidInput,
                 "it can be written by others; make it yours and mode 0600", file};
  }
  return files.read(file, max_bytes);
}

}  // namespace remit::identity
