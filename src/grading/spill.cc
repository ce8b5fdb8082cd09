// Writing and reading fragments.
#include "grading/spill.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/text_hash.h"

namespace remit::grading {
namespace {

template <class T>
std::string_view text_of(std::span<T> items) {
  return {reinterpret_cast<const char*>(items.data()), items.size_bytes()};
}

}  // namespace

Status Spill::open() {
  if (file_ != nullptr) return {};
  Error refused{ErrorCode::kUnavailable, "there is no directory for scratch files"};
  for (const std::string& directory : room_.directories) {
    Result<std::unique_ptr<ScratchFile>> made = files_.open_scratch(directory);
    if (made) {
      file_ = std::move(*made);
      return {};
    }
    refused = std::move(made).error();
  }
  return refused;
}

Status Spill::write(std::size_t partition, std::span<const FragmentHead> heads,
                    std::string_view bytes) {
  REMIT_TRY_ASSIGN(const Extent extent, place(heads, bytes));
  Listing& listing = listings_[partition];
  listing.latest.push_back(extent);
  if (listing.latest.size() < kListed) return {};
  REMIT_TRY_ASSIGN(const Extent list, put(text_of(std::span{listing.latest})));
  listing.lists.push_back(list);
  listing.latest.clear();
  return {};
}

Result<std::vector<Spill::Extent>> Spill::extents(std::size_t partition) {
  const Listing& listing = listings_[partition];
  std::vector<Extent> out(listing.lists.size() * kListed);
  std::string bytes;
  for (std::size_t i = 0; i < listing.lists.size(); ++i) {
    REMIT_TRY(read_fragments(listing.lists[i], bytes));
    std::memcpy(&out[i * kListed], bytes.data(), bytes.size());
  }
  out.insert(out.end(), listing.latest.begin(), listing.latest.end());
  return out;
}

Result<Spill::Extent> Spill::put(std::string_view bytes) {
  return place({}, bytes);
}

Result<Spill::Extent> Spill::place(std::span<const FragmentHead> heads, std::string_view bytes) {
  Extent extent;
  extent.heads = heads.size();
  extent.bytes = bytes.size();
  const std::size_t size = heads.size_bytes() + bytes.size();
  if (end_ == 0 && held_.used_bytes() + size <= room_.held_bytes) {
    if (const Ref held = held_.allocate(size); held != 0) {
      const std::string_view first = text_of(heads);
      std::copy(first.begin(), first.end(), held_.at(held));
      std::copy(bytes.begin(), bytes.end(), held_.at(held) + first.size());
      extent.held = held_.at(held);
      return extent;
    }
  }
  extent.offset = end_;
  extent.heads_checksum = hash_text(text_of(heads), seed_);
  extent.checksum = hash_text(bytes, seed_);
  buffer_.append(text_of(heads));
  buffer_.append(bytes);
  end_ += size;
  if (buffer_.size() >= kBufferBytes) REMIT_TRY(flush());
  return extent;
}

Status Spill::flush() {
  if (buffer_.empty()) return {};
  REMIT_TRY(open());
  REMIT_TRY(file_->append(std::as_bytes(std::span{buffer_})));
  buffer_.clear();
  return {};
}

Status Spill::read(std::uint64_t offset, std::span<std::byte> out, std::uint64_t checksum) {
  REMIT_TRY(file_->read_at(offset, out));
  if (hash_text(text_of(out), seed_) == checksum) return {};
  return Error{ErrorCode::kDataLoss, "a scratch file does not hold what was written to it"};
}

Status Spill::read_heads(const Extent& extent, std::vector<FragmentHead>& out) {
  out.resize(extent.heads);
  if (extent.held != nullptr) {
    if (!out.empty()) std::memcpy(out.data(), extent.held, extent.heads * sizeof(FragmentHead));
    return {};
  }
  return read(extent.offset, std::as_writable_bytes(std::span{out}), extent.heads_checksum);
}

Status Spill::read_fragments(const Extent& extent, std::string& out) {
  const std::size_t heads_bytes = extent.heads * sizeof(FragmentHead);
  if (extent.held != nullptr) {
    out.assign(extent.held + heads_bytes, extent.bytes);
    return {};
  }
  out.resize(extent.bytes);
  return read(extent.offset + heads_bytes, std::as_writable_bytes(std::span{out}), extent.checksum);
}

void FragmentBytes::grow(std::size_t wanted) {
  const std::size_t capacity = std::max({wanted, 2 * capacity_, std::size_t{1024}});
  auto larger = std::make_unique_for_overwrite<char[]>(capacity);
  if (size_ > 0) std::memcpy(larger.get(), bytes_.get(), size_);
  bytes_ = std::move(larger);
  capacity_ = capacity;
}

}  // namespace remit::grading
