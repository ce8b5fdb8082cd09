// Two unpackers side by side.
#include "trace/same_text.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "trace/unpacker.h"

namespace remit::trace {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{64} * 1024;

/// A file's text in pieces of kPieceBytes; only the last is shorter.
class Pieces {
 public:
  static Result<Pieces> open(FileSystem& files, const std::string& path) {
    Pieces out;
    REMIT_TRY_ASSIGN(out.file_, files.open_read(path));
    out.text_ = std::make_unique<Unpacker>(*out.file_);
    out.bytes_.resize(kPieceBytes);
    return out;
  }

  Result<std::span<const std::byte>> next() {
    std::size_t size = 0;
    while (size < bytes_.size()) {
      REMIT_TRY_ASSIGN(const std::size_t count, text_->read(std::span(bytes_).subspan(size)));
      if (count == 0) break;
      size += count;
    }
    return std::span<const std::byte>(bytes_).first(size);
  }

 private:
  Pieces() = default;

  std::unique_ptr<ReadFile> file_;
  std::unique_ptr<Unpacker> text_;
  std::vector<std::byte> bytes_;
};

}  // namespace

Result<bool> have_same_text(FileSystem& files, const std::string& left, const std::string& right) {
  REMIT_TRY_ASSIGN(Pieces one, Pieces::open(files, left));
  REMIT_TRY_ASSIGN(Pieces other, Pieces::open(files, right));
  for (;;) {
    REMIT_TRY_ASSIGN(const std::span<const std::byte> here, one.next());
    REMIT_TRY_ASSIGN(const std::span<const std::byte> there, other.next());
    if (!std::ranges::equal(here, there)) return false;
    if (here.size() < kPieceBytes) return true;
  }
}

}  // namespace remit::trace
