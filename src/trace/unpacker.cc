// gzip by zlib, zstd by libzstd, both by pieces.
#include "trace/unpacker.h"

#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>

#include "base/limits.h"

namespace remit::trace {

/// Unpacks by pieces.
class Unpacker::Format {
 public:
  virtual ~Format() = default;

  /// How far one step came.
  struct Step {
    std::size_t taken = 0;        ///< of the packed bytes
    std::size_t given = 0;        ///< of the room
    const char* fault = nullptr;  ///< what is wrong with the packed bytes
    bool lacks_memory = false;    ///< nothing is known of them
  };
  virtual Step step(std::span<const std::byte> packed, std::span<std::byte> room) = 0;
  /// Whether the packed bytes may end here.
  [[nodiscard]] virtual bool is_whole() const = 0;
  [[nodiscard]] virtual const char* cut() const = 0;
};

namespace {

constexpr std::size_t kPackedBlock = std::size_t{128} * 1024;
constexpr std::size_t kMagicBytes = 4;

class Gzip final : public Unpacker::Format {
 public:
  Gzip() : is_made_(inflateInit2(&stream_, kGzipOnly) == Z_OK) {}
  ~Gzip() override { inflateEnd(&stream_); }
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;

  Step step(std::span<const std::byte> packed, std::span<std::byte> room) override {
    if (!is_made_) return {.lacks_memory = true};
    if (is_whole_) {
      if (packed.empty()) return {};
      inflateReset(&stream_);
      is_whole_ = false;
      is_first_ = false;
    }
    stream_.next_in =
        reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data()));  // zlib does not write it
    stream_.avail_in = static_cast<uInt>(std::min(packed.size(), kMost));
    stream_.next_out = reinterpret_cast<Bytef*>(room.data());
    stream_.avail_out = static_cast<uInt>(std::min(room.size(), kMost));
    const uInt had_in = stream_.avail_in;
    const uInt had_out = stream_.avail_out;
    const int code = inflate(&stream_, Z_NO_FLUSH);
    Step out{had_in - stream_.avail_in, had_out - stream_.avail_out};
    if (code == Z_MEM_ERROR) return {.lacks_memory = true};
    is_whole_ = code == Z_STREAM_END;
    if (code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR) return out;
    const bool is_start = stream_.total_out == 0 && !is_first_;
    out.fault = is_start ? "something that is no gzip stands behind the gzip data"
                         : "the gzip data or its checksum is wrong";
    return out;
  }
  [[nodiscard]] bool is_whole() const override { return is_whole_; }
  [[nodiscard]] const char* cut() const override { return "the gzip data is cut short"; }

 private:
  static constexpr int kGzipOnly = 15 + 16;
  static constexpr std::size_t kMost = std::size_t{1} << 30U;
  z_stream stream_{};
  bool is_made_;
  bool is_whole_ = false;
  bool is_first_ = true;  ///< the first member
};

class Zstd final : public Unpacker::Format {
 public:
  Zstd() : stream_(ZSTD_createDStream()) {
    if (stream_ != nullptr) ZSTD_DCtx_setParameter(stream_, ZSTD_d_windowLogMax, kMaxZstdWindowLog);
  }
  ~Zstd() override { ZSTD_freeDStream(stream_); }
  Zstd(const Zstd&) = delete;
  Zstd& operator=(const Zstd&) = delete;

  Step step(std::span<const std::byte> packed, std::span<std::byte> room) override {
    if (stream_ == nullptr) return {.lacks_memory = true};
    ZSTD_inBuffer in{packed.data(), packed.size(), 0};
    ZSTD_outBuffer out{room.data(), room.size(), 0};
    const std::size_t code = ZSTD_decompressStream(stream_, &out, &in);
    Step step{in.pos, out.pos};
    if (ZSTD_getErrorCode(code) == ZSTD_error_memory_allocation) return {.lacks_memory = true};
    if (ZSTD_isError(code) != 0) {
      step.fault = is_whole_ ? "something that is no zstd stands behind the zstd data"
                             : "the zstd data or its checksum is wrong, or its window too large";
      return step;
    }
    // Without input the library asks for the next frame's beginning: that takes nothing back.
    if (in.pos > 0 || out.pos > 0) is_whole_ = code == 0;
    return step;
  }
  [[nodiscard]] bool is_whole() const override { return is_whole_; }
  [[nodiscard]] const char* cut() const override { return "the zstd data is cut short"; }

 private:
  ZSTD_DStream* stream_;
  bool is_whole_ = false;
};

std::unique_ptr<Unpacker::Format> format_of(std::span<const std::byte> head) {
  const auto byte = [&](std::size_t at) {
    return at < head.size() ? std::to_integer<unsigned>(head[at]) : 0U;
  };
  if (byte(0) == 0x1f && byte(1) == 0x8b) return std::make_unique<Gzip>();
  const bool is_frame = byte(0) == 0x28 && byte(1) == 0xb5 && byte(2) == 0x2f && byte(3) == 0xfd;
  const bool is_skippable =
      (byte(0) & 0xf0U) == 0x50 && byte(1) == 0x2a && byte(2) == 0x4d && byte(3) == 0x18;
  if (is_frame || is_skippable) return std::make_unique<Zstd>();
  return nullptr;
}

}  // namespace

Unpacker::Unpacker(ReadFile& file) : file_(file) {}
Unpacker::~Unpacker() = default;

Result<std::size_t> Unpacker::read(std::span<std::byte> out) {
  if (!failure_) return failure_.error();
  Result<std::size_t> count = unpack(out);
  if (!count) failure_ = count.error();
  return count;
}

Result<std::size_t> Unpacker::unpack(std::span<std::byte> out) {
  if (!is_recognised_) REMIT_TRY(recognise());
  if (format_ == nullptr) {
    if (begin_ == end_) return file_.read(out);
    const std::size_t count = std::min(out.size(), end_ - begin_);
    std::memcpy(out.data(), packed_.data() + begin_, count);
    begin_ += count;
    return count;
  }
  while (!out.empty()) {
    const Format::Step step = format_->step(std::span{packed_}.subspan(begin_, end_ - begin_), out);
    begin_ += step.taken;
    unpacked_bytes_ += step.given;
    if (step.lacks_memory) {
      return Error{ErrorCode::kLimitExceeded, "there is not enough memory to unpack it"};
    }
    if (step.fault != nullptr) return damaged(step.fault);
    if (unpacked_bytes_ > kUnpackAlways && unpacked_bytes_ / kMaxUnpackRatio > read_bytes_) {
      return Error{ErrorCode::kLimitExceeded,
                   fmt::format("cannot be decompressed: more than {} times as large as the "
                               "compressed file",
                               kMaxUnpackRatio),
                   fmt::format("byte {} of the compressed file", read_bytes_)};
    }
    if (step.given > 0) return step.given;
    if (begin_ < end_ && step.taken > 0) continue;
    if (at_end_) {
      if (format_->is_whole()) return std::size_t{0};
      return damaged(format_->cut());
    }
    REMIT_TRY(refill());
  }
  return std::size_t{0};
}

// Reads at least the magic bytes, if there are that many.
Status Unpacker::recognise() {
  packed_.resize(kPackedBlock);
  while (end_ < kMagicBytes && !at_end_) {
    REMIT_TRY_ASSIGN(const std::size_t count, file_.read(std::span{packed_}.subspan(end_)));
    end_ += count;
    at_end_ = count == 0;
  }
  read_bytes_ = end_;
  format_ = format_of(std::span{packed_}.first(std::min(end_, kMagicBytes)));
  is_recognised_ = true;
  return {};
}

Status Unpacker::refill() {
  std::memmove(packed_.data(), packed_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  REMIT_TRY_ASSIGN(const std::size_t count, file_.read(std::span{packed_}.subspan(end_)));
  end_ += count;
  read_bytes_ += count;
  at_end_ = count == 0;
  return {};
}

Error Unpacker::damaged(const char* what) const {
  return {ErrorCode::kDataLoss, fmt::format("cannot be decompressed: {}", what),
          fmt::format("byte {} of the compressed file", read_bytes_ - (end_ - begin_))};
}

}  // namespace remit::trace
