// The text form of tombstones: fields between single blanks, as in roots files.
#include "evidence/tombstone.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <optional>

#include "base/bytes.h"
#include "base/limits.h"
#include "base/rfc3339.h"
#include "evidence/layout.h"

namespace remit::evidence {
namespace {

constexpr std::string_view kFormat = "remit.tombstone/1";

std::string text_of(const Tombstone& tombstone) {
  std::string out = fmt::format(
      "{} {} {} {} {} {} {} {} {}\nlast {} {} {} {}\n", kFormat, tombstone.directory,
      tombstone.writer, tombstone.segments, tombstone.events, tombstone.bytes, tombstone.first_time,
      tombstone.last_time, tombstone.is_end ? "closed" : "continued", tombstone.extent.lines,
      tombstone.extent.bytes, to_hex(tombstone.extent.root), to_hex(tombstone.chain));
  for (const Sha256Digest& subtree : tombstone.subtrees) {
    out += fmt::format("subtree {}\n", to_hex(subtree));
  }
  return out;
}

/// The words of a text, whatever stands between them: the text is compared with its own encoding
/// afterwards.
class Words {
 public:
  explicit Words(std::string_view text) : rest_(text) {}

  std::string_view next() {
    const std::size_t end = std::min(rest_.find_first_of(" \n"), rest_.size());
    const std::string_view word = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return word;
  }
  std::uint64_t number() {
    const std::string_view word = next();
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc{} || end != word.data() + word.size()) ok_ = false;
    return value;
  }
  Sha256Digest digest() {
    const auto bytes = from_hex(next());
    Sha256Digest value{};
    if (bytes && bytes->size() == value.size()) {
      std::copy(bytes->begin(), bytes->end(), value.begin());
    } else {
      ok_ = false;
    }
    return value;
  }
  [[nodiscard]] bool ok() const { return ok_; }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace

std::string encode(const Tombstone& tombstone) {
  const std::string text = text_of(tombstone);
  return fmt::format("{}digest {}\n", text, to_hex(sha256(text)));
}

Result<Tombstone> parse_tombstone(std::string_view text) {
  const Error malformed{ErrorCode::kInvalidInput, "not a tombstone"};
  if (text.size() > kMaxTombstoneBytes) return malformed;
  Words words(text);
  if (words.next() != kFormat) return malformed;
  Tombstone out;
  out.directory = words.next();
  out.writer = words.next();
  out.segments = words.number();
  out.events = words.number();
  out.bytes = words.number();
  out.first_time = words.next();
  out.last_time = words.next();
  out.is_end = words.next() == "closed";
  words.next();
  out.extent.lines = words.number();
  out.extent.bytes = words.number();
  out.extent.root = words.digest();
  out.chain = words.digest();
  for (int left = std::popcount(out.events); left > 0; --left) {
    words.next();
    out.subtrees.push_back(words.digest());
  }
  const bool is_sound = words.ok() && out.segments > 0 && out.events > 0 && out.extent.lines > 0 &&
                        out.extent.lines <= out.events && is_rfc3339(out.first_time) &&
                        is_rfc3339(out.last_time);
  if (!is_sound || encode(out) != text) return malformed;
  return out;
}

Result<std::string> read_tombstone(FileSystem& files, const std::string& path) {
  const std::string file = fmt::format("{}/{}", path, kTombstoneName);
  const auto info = files.info(file);
  if (!info && info.error().code == ErrorCode::kNotFound) return std::string{};
  if (!info) return info.error();
  // A pipe would hold its reader up; of what is no plain file, no word is taken.
  if (info->kind != FileInfo::Kind::kFile || info->size == 0) return std::string{"\n"};
  auto text = files.read(file, kMaxTombstoneBytes);
  if (!text && text.error().code == ErrorCode::kLimitExceeded) return std::string{"\n"};
  return text;
}

}  // namespace remit::evidence
