// The text form of tombstones: fields between single blanks, as in roots files.
#include "evidence/tombstone.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "base/bytes.h"
#include "base/limits.h"
#include "base/rfc3339.h"
#include "evidence/fields.h"
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

}  // namespace

std::string encode(const Tombstone& tombstone) {
  const std::string text = text_of(tombstone);
  return fmt::format("{}digest {}\n", text, to_hex(sha256(text)));
}

Result<Tombstone> parse_tombstone(std::string_view text) {
  const Error malformed{ErrorCode::kInvalidInput, "not a tombstone"};
  if (text.size() > kMaxTombstoneBytes) return malformed;
  Fields fields(text);
  if (fields.word() != kFormat) return malformed;
  Tombstone out;
  out.directory = fields.word();
  out.writer = fields.word();
  out.segments = fields.number();
  out.events = fields.number();
  out.bytes = fields.number();
  out.first_time = fields.word();
  out.last_time = fields.word();
  out.is_end = fields.word() == "closed";
  fields.word();
  out.extent = fields.extent();
  out.chain = fields.digest();
  for (int left = std::popcount(out.events); left > 0; --left) {
    fields.word();
    out.subtrees.push_back(fields.digest());
  }
  const bool is_sound = fields.ok() && out.segments > 0 && out.events > 0 && out.extent.lines > 0 &&
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
