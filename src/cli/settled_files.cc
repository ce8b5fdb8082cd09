// Holding back the beginning of a line until its end is there.
#include "cli/settled_files.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/limits.h"

namespace remit::cli {
namespace {

bool is_packed(std::string_view start) {
  return start.starts_with("\x1f\x8b") || start.starts_with("\x28\xb5\x2f\xfd");
}

class WholeLines final : public ReadFile {
 public:
  explicit WholeLines(std::unique_ptr<ReadFile> file) : file_(std::move(file)) {}

  Result<std::size_t> read(std::span<std::byte> out) override {
    if (out.empty()) return std::size_t{0};
    while (at_ == ready_) {
      REMIT_TRY_ASSIGN(const bool has_more, fill());
      if (!has_more) return std::size_t{0};
    }
    const std::size_t count = std::min(out.size(), ready_ - at_);
    std::memcpy(out.data(), buffer_.data() + at_, count);
    at_ += count;
    return count;
  }

 private:
  // Reads on, and counts as ready what ends with a line feed. A line over the limit is malformed
  // whatever follows, so that it is not kept.
  Result<bool> fill() {
    constexpr std::size_t kBlockBytes = std::size_t{64} * 1024;
    buffer_.erase(0, ready_);
    at_ = ready_ = 0;
    const std::size_t before = buffer_.size();
    buffer_.resize(before + kBlockBytes);
    const Result<std::size_t> count =
        file_->read(std::as_writable_bytes(std::span(buffer_).subspan(before)));
    buffer_.resize(before + (count ? *count : 0));
    if (!count) return count.error();
    if (is_first_ && buffer_.size() >= 4) {
      is_packed_ = is_packed(buffer_);
      is_first_ = false;
    }
    if (is_packed_ || buffer_.size() > kMaxEventLineBytes) {
      ready_ = buffer_.size();
    } else {
      ready_ = buffer_.rfind('\n') + 1;  // npos is -1
      is_first_ = is_first_ && ready_ == 0;
    }
    return *count > 0;
  }

  std::unique_ptr<ReadFile> file_;
  std::string buffer_;
  std::size_t at_ = 0;     // of what was not given yet
  std::size_t ready_ = 0;  // end of what may be given
  bool is_first_ = true;
  bool is_packed_ = false;
};

}  // namespace

Result<std::string> SettledFiles::read(const std::string& path, std::uint64_t max_bytes) {
  REMIT_TRY_ASSIGN(std::string text, FilesOver::read(path, max_bytes));
  text.resize(text.rfind('\n') + 1);
  return text;
}

// Opening a pipe waits for who writes to it, and no signal would end that.
Result<std::unique_ptr<ReadFile>> SettledFiles::open_read(const std::string& path) {
  const Result<FileInfo> info = FilesOver::info(path);
  if (info && info->target_kind == FileInfo::Kind::kOther) {
    return Error{ErrorCode::kUnavailable, "is a pipe, a socket or a device now", path};
  }
  REMIT_TRY_ASSIGN(std::unique_ptr<ReadFile> file, FilesOver::open_read(path));
  return std::unique_ptr<ReadFile>(std::make_unique<WholeLines>(std::move(file)));
}

}  // namespace remit::cli
