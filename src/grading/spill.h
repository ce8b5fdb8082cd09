// Where invocations wait that memory has no room for: a file without a name, by partition.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/file_system.h"
#include "base/result.h"
#include "grading/arena.h"
#include "grading/record.h"

namespace remit::grading {

/// What is known of a fragment (the events of one invocation that were in memory together) without
/// reading it.
struct FragmentHead {
  std::uint64_t id_hash = 0;
  std::uint32_t bytes = 0;  ///< of the fragment itself
  Stage stage = Stage::kOdd;
  bool has_route = false;
  std::uint16_t kind = kNoKind;  ///< the number of its tool and route, if it is plain

  static constexpr std::uint16_t kNoKind = 0xffff;
};
static_assert(sizeof(FragmentHead) == 16);

/// How much a Spill holds in memory, and where it puts what is more.
struct SpillRoom {
  std::size_t held_bytes = 0;
  std::vector<std::string> directories = {};
};

/// Fragments in memory, and on disk once these take too much. The events of one invocation are in
/// one partition, in the order of reading. What is read back is what was written, by its checksum,
/// or an error. Not thread-safe.
class Spill {
 public:
  static constexpr std::size_t kPartitions = 256;
  static std::size_t partition_of(std::uint64_t id_hash) { return id_hash % kPartitions; }

  /// The file is made when it is needed, in the first of the directories that takes it. `files`
  /// outlives this.
  Spill(FileSystem& files, SpillRoom room, std::uint64_t seed)
      : files_(files), room_(std::move(room)), seed_(seed) {}

  /// Fragments that were written at once, the heads in front.
  struct Extent {
    const char* held = nullptr;        ///< where it is in memory; else it is in the file
    std::uint64_t offset = 0;          ///< in the file
    std::uint64_t heads = 0;           ///< their number
    std::uint64_t bytes = 0;           ///< of the fragments
    std::uint64_t heads_checksum = 0;  ///< this and the next of what is in the file
    std::uint64_t checksum = 0;
  };

  /// `bytes` are the fragments of `heads` behind each other. Errors: no directory takes the file,
  /// no space, I/O.
  Status write(std::size_t partition, std::span<const FragmentHead> heads, std::string_view bytes);
  /// Writes what waits to be written. Before anything is read.
  Status flush();

  [[nodiscard]] bool is_empty() const { return held_.used_bytes() + end_ == 0; }
  /// All of one partition, in the order of writing. Errors: as `read_heads`.
  Result<std::vector<Extent>> extents(std::size_t partition);
  /// Errors: I/O, `data_loss` where it is not what was written.
  Status read_heads(const Extent& extent, std::vector<FragmentHead>& out);
  Status read_fragments(const Extent& extent, std::string& out);

  /// For what belongs to no partition: puts `bytes` and says where.
  Result<Extent> put(std::string_view bytes);

 private:
  static constexpr std::size_t kBufferBytes = std::size_t{1} << 20U;

  Status open();
  Result<Extent> place(std::span<const FragmentHead> heads, std::string_view bytes);
  Status read(std::uint64_t offset, std::span<std::byte> out, std::uint64_t checksum);

  FileSystem& files_;
  SpillRoom room_;
  Arena held_{0};
  std::uint64_t seed_;
  std::unique_ptr<ScratchFile> file_;
  std::string buffer_;     // not yet in the file
  std::uint64_t end_ = 0;  // of file and buffer
  /// Of the extents of a partition the last few are listed in memory, and the others by lists that
  /// are extents themselves, so that memory hardly grows with what is written.
  struct Listing {
    std::vector<Extent> lists;
    std::vector<Extent> latest;
  };
  static constexpr std::size_t kListed = 64;
  std::array<Listing, kPartitions> listings_;
};

/// Bytes that grow at their end, for fragments: room is asked for once for many small values.
class FragmentBytes {
 public:
  /// `count` more bytes, to be written by the caller. Valid until the next call.
  char* more(std::size_t count) {
    if (size_ + count > capacity_) grow(size_ + count);
    char* const out = bytes_.get() + size_;
    size_ += count;
    return out;
  }
  void clear() { size_ = 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::string_view view() const { return {bytes_.get(), size_}; }

 private:
  void grow(std::size_t wanted);

  std::unique_ptr<char[]> bytes_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

/// Appends values and texts to bytes, values as they are in memory: the scratch file is read by the
/// process that wrote it, and packing them would cost more than it saves.
class FragmentWriter {
 public:
  explicit FragmentWriter(FragmentBytes& out) : out_(out) {}
  template <class Value>
  void value(const Value& value) {
    static_assert(std::is_trivially_copyable_v<Value>);
    std::memcpy(out_.more(sizeof value), &value, sizeof value);
  }
  /// Each by itself: put together before, the copy of the whole would have to wait for its parts.
  template <class... Values>
  void values(const Values&... values) {
    char* to = out_.more((sizeof values + ...));
    const auto put = [&to](const auto& value) {
      static_assert(std::is_trivially_copyable_v<std::remove_cvref_t<decltype(value)>>);
      std::memcpy(to, &value, sizeof value);
      to += sizeof value;
    };
    (put(values), ...);
  }
  void text(std::string_view value) {
    const auto size = static_cast<std::uint32_t>(value.size());
    char* const out = out_.more(sizeof size + value.size());
    std::memcpy(out, &size, sizeof size);
    std::memcpy(out + sizeof size, value.data(), value.size());
  }

 private:
  FragmentBytes& out_;
};

/// Takes them out again. The bytes are those that FragmentWriter wrote: a checksum says so.
class FragmentReader {
 public:
  explicit FragmentReader(std::string_view bytes) : at_(bytes.data()) {}
  template <class Value>
  Value value() {
    static_assert(std::is_trivially_copyable_v<Value>);
    Value out;
    std::memcpy(&out, at_, sizeof out);
    at_ += sizeof out;
    return out;
  }
  std::string_view text() {
    const auto size = value<std::uint32_t>();
    const std::string_view out(at_, size);
    at_ += size;
    return out;
  }

 private:
  const char* at_;
};

}  // namespace remit::grading
