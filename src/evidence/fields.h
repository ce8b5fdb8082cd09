// The words of our own line formats: numbers and digests between blanks.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/digest.h"
#include "evidence/roots.h"

namespace remit::evidence {

/// The number that `text` is, in decimal digits and nothing else; leading zeros are let be, since
/// who minds them compares with the text of the number.
inline std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// The digest that these decoded bytes are, if they were decoded and are as many.
inline std::optional<Sha256Digest> as_digest(const std::optional<std::vector<std::byte>>& bytes) {
  Sha256Digest digest{};
  if (!bytes || bytes->size() != digest.size()) return std::nullopt;
  std::copy(bytes->begin(), bytes->end(), digest.begin());
  return digest;
}

/// Takes the fields of a text from the left, whether a blank or the end of a line stands between
/// them; after one that does not fit, `ok` stays false. Whoever reads by it compares the text with
/// its own encoding afterwards, which refuses every second spelling.
class Fields {
 public:
  /// The text outlives this, and the words that are taken from it.
  explicit Fields(std::string_view text) : rest_(text) {}

  std::string_view word() {
    const std::size_t end = std::min(rest_.find_first_of(" \n"), rest_.size());
    const std::string_view found = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return found;
  }
  std::uint64_t number() {
    const std::optional<std::uint64_t> value = parse_number(word());
    if (!value) ok_ = false;
    return value.value_or(0);
  }
  Sha256Digest digest() {
    const std::optional<Sha256Digest> value = as_digest(from_hex(word()));
    if (!value) ok_ = false;
    return value.value_or(Sha256Digest{});
  }
  SegmentExtent extent() {
    SegmentExtent value;
    value.lines = number();
    value.bytes = number();
    value.root = digest();
    return value;
  }
  [[nodiscard]] bool ok() const { return ok_; }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace remit::evidence
