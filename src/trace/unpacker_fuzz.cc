// Fuzz target: whatever the bytes, unpacking ends, and cutting the reads differently changes
// nothing.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "base/check.h"
#include "trace/unpacker.h"

namespace {

class Bytes final : public remit::ReadFile {
 public:
  Bytes(const std::uint8_t* data, std::size_t size, std::size_t piece)
      : data_(data), size_(size), piece_(piece) {}
  remit::Result<std::size_t> read(std::span<std::byte> out) override {
    const std::size_t count = std::min({out.size(), size_ - at_, piece_});
    if (count > 0) std::memcpy(out.data(), data_ + at_, count);
    at_ += count;
    return count;
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
  std::size_t piece_;
  std::size_t at_ = 0;
};

constexpr std::size_t kEnough = std::size_t{1} << 20U;  // of text; a bomb need not go off here

/// The text, and `!` behind it if it ended in an error.
std::string unpacked(Bytes file, std::size_t room) {
  remit::trace::Unpacker unpacker(file);
  std::vector<std::byte> buffer(room);
  std::string text;
  while (text.size() < kEnough) {
    const remit::Result<std::size_t> count = unpacker.read(buffer);
    if (!count) {
      REMIT_CHECK(!count.error().message.empty() && !count.error().where.empty());
      return text + "!";
    }
    if (*count == 0) break;
    text.append(reinterpret_cast<const char*>(buffer.data()), *count);
  }
  text.resize(std::min(text.size(), kEnough));
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string whole = unpacked({data, size, size + 1}, std::size_t{64} * 1024);
  const std::string pieces = unpacked({data, size, 3}, 1000);
  if (whole.size() >= kEnough || pieces.size() >= kEnough) return 0;  // one may not have come there
  // How much comes out ahead of an error depends on the pieces; whether there is one does not.
  REMIT_CHECK(whole.ends_with('!') == pieces.ends_with('!'));
  if (!whole.ends_with('!')) REMIT_CHECK(whole == pieces);
  return 0;
}
