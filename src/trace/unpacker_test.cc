// Compressed files of every shape, whole and damaged.
#include "trace/unpacker.h"

#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <string>

#include "base/limits.h"
#include "tests/support/memory_file.h"

namespace remit::trace {
namespace {

std::string gzip(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string zstd(const std::string& text) {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  std::string out(ZSTD_compressBound(text.size()), '\0');
  const std::size_t size =
      ZSTD_compress2(context, out.data(), out.size(), text.data(), text.size());
  EXPECT_EQ(ZSTD_isError(size), 0U);
  ZSTD_freeCCtx(context);
  out.resize(size);
  return out;
}

const std::string kSkippable("\x53\x2a\x4d\x18\x03\0\0\0abc", 11);

/// The text, or `! MESSAGE at PLACE` behind what could be read.
std::string unpacked(const std::string& bytes, std::size_t piece = SIZE_MAX,
                     std::size_t room = 4096) {
  testing::MemoryFile file(bytes, piece);
  Unpacker unpacker(file);
  std::string text;
  std::vector<std::byte> buffer(room);
  for (;;) {
    const Result<std::size_t> count = unpacker.read(buffer);
    if (!count) {
      const Result<std::size_t> again = unpacker.read(buffer);
      EXPECT_FALSE(again.has_value());
      return text + "! " + count.error().to_string();
    }
    if (*count == 0) return text;
    text.append(reinterpret_cast<const char*>(buffer.data()), *count);
  }
}

std::string words(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += "line " + std::to_string(i * i) + "\n";
  return text;
}

TEST(Unpacker, ReadsWhatWasPacked) {  // REQ-IN-020, REQ-IN-021
  const std::string text = words(3000);
  const struct {
    const char* name;
    std::string bytes;
    std::string text;
  } cases[] = {
      {"not packed", text, text},
      {"nothing", "", ""},
      {"less than a magic number", "\x1f", "\x1f"},
      {"nearly one", "(\xb5/", "(\xb5/"},
      {"gzip", gzip(text), text},
      {"gzip of nothing", gzip(""), ""},
      {"gzip members", gzip("a\n") + gzip("") + gzip(text) + gzip("b"), "a\n" + text + "b"},
      {"zstd", zstd(text), text},
      {"zstd of nothing", zstd(""), ""},
      {"zstd frames", zstd("a\n") + zstd("") + zstd(text) + zstd("b"), "a\n" + text + "b"},
      {"skippable frames", kSkippable + zstd(text) + kSkippable + zstd("b") + kSkippable,
       text + "b"},
      {"only a skippable frame", kSkippable, ""},
  };
  for (const auto& one : cases) {
    for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{65536}}) {
      for (const std::size_t room : {std::size_t{1}, std::size_t{100}, std::size_t{1} << 20U}) {
        if (piece * room == 1 && one.bytes.size() > 1000) continue;
        EXPECT_EQ(unpacked(one.bytes, piece, room), one.text)
            << one.name << ", pieces of " << piece << ", room of " << room;
      }
    }
  }
}

TEST(Unpacker, EveryCutIsAnError) {  // REQ-IN-022
  const std::string text = words(20);
  for (const std::string& bytes :
       {gzip(text), zstd(text), gzip("a") + gzip(text), zstd("a") + kSkippable + zstd(text)}) {
    const std::string whole = unpacked(bytes);
    for (std::size_t size = 4; size < bytes.size(); ++size) {
      const std::string seen = unpacked(bytes.substr(0, size));
      const bool is_between_members = whole.starts_with(seen) && (seen.empty() || seen == "a");
      EXPECT_TRUE(is_between_members ||
                  seen.find("cannot be decompressed: the ") != std::string::npos)
          << size << " of " << bytes.size() << ": " << seen;
    }
  }
  EXPECT_NE(unpacked(gzip(text).substr(0, 30)).find("cut short"), std::string::npos);
  EXPECT_NE(unpacked(zstd(text).substr(0, 30)).find("cut short"), std::string::npos);
}

TEST(Unpacker, EveryFlippedByteIsAnErrorOrHarmless) {  // REQ-IN-022
  const std::string text = words(20);
  for (const std::string& bytes : {gzip(text), zstd(text)}) {
    for (std::size_t at = 4; at < bytes.size(); ++at) {
      std::string flipped = bytes;
      flipped[at] = static_cast<char>(flipped[at] ^ 0x41);
      const std::string seen = unpacked(flipped);
      EXPECT_TRUE(seen == text || seen.find("cannot be decompressed") != std::string::npos)
          << at << ": " << seen;
    }
  }
}

TEST(Unpacker, NothingMayStandBehind) {  // REQ-IN-022
  for (const std::string& rest :
       {std::string("x"), std::string(10, '\0'), std::string("{}\n{}\n")}) {
    for (const std::string& bytes : {gzip("a\n"), zstd("a\n")}) {
      const std::string seen = unpacked(bytes + rest);
      EXPECT_NE(seen.find("cannot be decompressed"), std::string::npos) << seen;
    }
  }
  EXPECT_NE(unpacked(gzip("a\n") + "{}\n{}\n").find("something that is no gzip"),
            std::string::npos);
  EXPECT_NE(unpacked(zstd("a\n") + "{}\n{}\n").find("something that is no zstd"),
            std::string::npos);
}

TEST(Unpacker, ABombIsRefusedEarly) {  // REQ-IN-023
  const std::string flat(std::size_t{256} << 20U, ' ');
  for (const std::string& bytes : {gzip(flat), zstd(flat)}) {
    testing::MemoryFile file(bytes);
    Unpacker unpacker(file);
    std::vector<std::byte> buffer(std::size_t{1} << 20U);
    std::uint64_t total = 0;
    for (;;) {
      const Result<std::size_t> count = unpacker.read(buffer);
      if (!count) {
        EXPECT_EQ(count.error().code, ErrorCode::kLimitExceeded);
        break;
      }
      ASSERT_NE(*count, 0U) << "a bomb was unpacked";
      total += *count;
    }
    EXPECT_GE(total, kUnpackAlways);
    EXPECT_LT(total, flat.size());
  }
}

}  // namespace
}  // namespace remit::trace
