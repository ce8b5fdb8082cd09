// The decoder: the fast reader where it can, the complete one where it must.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/limits.h"
#include "base/utf8.h"
#include "event/event.h"
#include "event/names.h"
#include "event/plain_reader.h"
#include "event/quotes.h"
#include "event/thorough_reader.h"

namespace remit::event {

static_assert(Decoder::kPadding >= kScanPadding && Decoder::kPadding >= 2 * kMaxNameBytes);

struct Decoder::State {
  FindQuotes find_quotes = fastest_find_quotes();
  std::vector<std::uint32_t> quotes;
  Scratch scratch;
};

Decoder::Decoder() : max_line_bytes(kMaxEventLineBytes), state_(std::make_unique<State>()) {}
Decoder::~Decoder() = default;
Decoder::Decoder(Decoder&&) noexcept = default;
Decoder& Decoder::operator=(Decoder&&) noexcept = default;

Status Decoder::decode(std::string_view line, Event& out) {
  // However the limit is configured, offsets of quotation marks fit in 32 bits.
  const std::size_t limit = std::min(max_line_bytes, kMaxJsonBytes);
  if (line.size() > limit) {
    return Error{ErrorCode::kLimitExceeded, fmt::format("a line over {} bytes", limit),
                 fmt::format("byte {}", limit)};
  }
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  out.clear();
  State& state = *state_;
  if (state.quotes.size() < line.size() + kScanPadding) {
    state.quotes.resize(2 * line.size() + kScanPadding);
  }
  std::uint32_t* const quotes = state.quotes.data();
  const QuoteScan scan = state.find_quotes(line, quotes);
  if (!scan.has_controls && (scan.is_ascii || !first_invalid_utf8(line))) {
    std::fill_n(quotes + scan.count, 4, static_cast<std::uint32_t>(line.size()));
    if (scan.has_escapes) {
      state.scratch.text.clear();
      state.scratch.text.reserve(line.size());
    }
    const Escapes escapes = scan.has_escapes ? Escapes::kSome : Escapes::kNone;
    if (read_plain(line, quotes, escapes, state.scratch, out)) return {};
  }
  out.clear();
  ThoroughReader reader(line, state.scratch);
  if (reader.read(out)) return {};
  return reader.error();
}

}  // namespace remit::event
