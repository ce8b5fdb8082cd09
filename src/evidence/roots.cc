// The text form of a roots file: fields between single blanks.
#include "evidence/roots.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/bytes.h"
#include "evidence/fields.h"

namespace remit::evidence {
namespace {

constexpr std::string_view kFormat = "remit.roots/1";
constexpr std::array<std::pair<RootsKind, std::string_view>, 4> kKinds{{
    {RootsKind::kCommit, "commit"},
    {RootsKind::kRemade, "remade"},
    {RootsKind::kContinued, "continued"},
    {RootsKind::kClosed, "closed"},
}};
constexpr std::size_t kMaxNumberDigits = 20;
constexpr std::size_t kDigestDigits = 64;

std::string_view kind_word(RootsKind kind) {
  return std::find_if(kKinds.begin(), kKinds.end(), [&](auto& row) { return row.first == kind; })
      ->second;
}

std::string extent_text(const SegmentExtent& extent) {
  return fmt::format("{} {} {}", extent.lines, extent.bytes, to_hex(extent.root));
}

std::string header_text(const RootsHeader& header) {
  return fmt::format("{} {} {} {} {} {} {} {}", kFormat, header.directory, header.writer,
                     header.segment, header.first_seq, header.previous,
                     extent_text(header.previous_extent), to_hex(header.previous_chain));
}

/// Whether `line` is `encoded` without its `\n`. Re-encoding what was read refuses every second
/// spelling: leading zeros, capitals, doubled blanks, further fields.
bool is_canonical(std::string_view line, std::string_view encoded) {
  return line == encoded.substr(0, encoded.size() - 1);
}

}  // namespace

Sha256Digest RootsHeader::digest() const {
  return sha256(header_text(*this));
}

Sha256Digest chain_value(const Sha256Digest& header, const SegmentExtent& extent) {
  return sha256(to_hex(header) + " " + extent_text(extent));
}

std::string encode(const RootsHeader& header) {
  const std::string text = header_text(header);
  return fmt::format("{} {}\n", text, to_hex(sha256(text)));
}

std::string encode(const RootsEntry& entry) {
  std::string out =
      fmt::format("{} {} {}", kind_word(entry.kind), entry.number, extent_text(entry.extent));
  if (ends_segment(entry.kind)) out += " " + to_hex(entry.chain);
  return out + '\n';
}

Result<RootsHeader> parse_roots_header(std::string_view line) {
  const Error malformed{ErrorCode::kInvalidInput, "not the first line of a roots file"};
  if (line.size() > kMaxRootsLineBytes) return malformed;
  Fields fields(line);
  if (fields.word() != kFormat) return malformed;
  RootsHeader header;
  header.directory = fields.word();
  header.writer = fields.word();
  header.segment = fields.word();
  header.first_seq = fields.number();
  header.previous = fields.word();
  header.previous_extent = fields.extent();
  header.previous_chain = fields.digest();
  if (!fields.ok() || !is_canonical(line, encode(header))) return malformed;
  return header;
}

Result<RootsEntry> parse_roots_entry(std::string_view line) {
  const Error malformed{ErrorCode::kInvalidInput, "not a line of a roots file"};
  if (line.size() > kMaxRootsLineBytes) return malformed;
  Fields fields(line);
  const std::string_view word = fields.word();
  const auto* const kind =
      std::find_if(kKinds.begin(), kKinds.end(), [&](auto& row) { return row.second == word; });
  if (kind == kKinds.end()) return malformed;
  RootsEntry entry;
  entry.kind = kind->first;
  entry.number = fields.number();
  entry.extent = fields.extent();
  if (ends_segment(entry.kind)) entry.chain = fields.digest();
  if (!fields.ok() || !is_canonical(line, encode(entry))) return malformed;
  return entry;
}

bool TornRoots::take(char byte) {
  // A part of a disk that is written whole or not at all is no smaller than this.
  constexpr std::uint64_t kSectorBytes = 512;
  if (part_ == Part::kBeginning && byte == '\0') {
    if (!is_torn_roots_entry(beginning_)) return false;
    part_ = Part::kZeros;
  } else if (part_ == Part::kBeginning) {
    if (beginning_.size() == kMaxRootsLineBytes) return false;
    beginning_ += byte;
  } else if (part_ == Part::kZeros && byte != '\0') {
    if (at_ % kSectorBytes != 0) return false;
    part_ = Part::kRest;
  }
  ++at_;
  if (part_ != Part::kRest) return true;
  return byte == '\0' || byte == ' ' || byte == '\n' || (byte >= '0' && byte <= '9') ||
         (byte >= 'a' && byte <= 'z');
}

bool TornRoots::take(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(),
                     [&](std::byte byte) { return take(static_cast<char>(byte)); });
}

bool TornRoots::is_torn_at_end() const {
  return part_ != Part::kBeginning || is_torn_roots_entry(beginning_);
}

bool is_torn_roots_entry(std::string_view tail) {
  for (const auto& [kind, word] : kKinds) {
    if (word.starts_with(tail)) return true;
    if (!tail.starts_with(word) || tail[word.size()] != ' ') continue;
    std::string_view rest = tail.substr(word.size() + 1);
    // Each field either ends the tail, unfinished, or is complete and has a blank behind it.
    for (int field = 0; field < 3; ++field) {
      const std::size_t length = std::min(rest.find_first_not_of("0123456789"), rest.size());
      if (length == rest.size()) return length <= kMaxNumberDigits;
      if (length == 0 || length > kMaxNumberDigits || rest[length] != ' ') return false;
      rest.remove_prefix(length + 1);
    }
    for (int left = ends_segment(kind) ? 2 : 1; left > 0; --left) {
      const std::size_t length = std::min(rest.find_first_not_of("0123456789abcdef"), rest.size());
      if (length == rest.size()) return length <= kDigestDigits;
      if (length != kDigestDigits || rest[length] != ' ') return false;
      rest.remove_prefix(length + 1);
      if (left == 1) return false;
    }
  }
  return false;
}

}  // namespace remit::evidence
