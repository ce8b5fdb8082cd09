// The decoder: the fast reader where it can, the complete one where it must.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

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
  FindQuotes find_line = fastest_find_line();
  std::unique_ptr<std::uint32_t[]> quotes;
  std::size_t room = 0;  ///< for quotes
  KeyOrder order;
  Scratch scratch;
  std::string_view found;  ///< the line that was scanned last
  QuoteScan scan;

  void scan_by(FindQuotes find, std::string_view text) {
    if (room < text.size() + kScanPadding) {
      room = 2 * text.size() + kScanPadding;
      quotes = std::make_unique_for_overwrite<std::uint32_t[]>(room);
    }
    scan = find(text, quotes.get());
    found = text.substr(0, scan.length);
  }
};

Decoder::Decoder() : max_line_bytes(kMaxEventLineBytes), state_(std::make_unique<State>()) {}
Decoder::~Decoder() = default;
Decoder::Decoder(Decoder&&) noexcept = default;
Decoder& Decoder::operator=(Decoder&&) noexcept = default;

namespace {

// However the limit is configured, offsets of quotation marks fit in 32 bits.
std::size_t limit_of(const Decoder& decoder) {
  return std::min(decoder.max_line_bytes, kMaxJsonBytes);
}

}  // namespace

Status Decoder::decode(std::string_view line, Event& out) {
  // What is over the limit is not looked at.
  state_->scan_by(state_->find_quotes, line.substr(0, limit_of(*this)));
  state_->found = line;
  return decode_found(out);
}

std::size_t Decoder::find_line(std::string_view text) {
  const std::size_t limit = limit_of(*this);
  State& state = *state_;
  state.scan_by(state.find_line, text.substr(0, limit));
  if (state.scan.length == limit) state.found = text.substr(0, text.find('\n', limit));
  return state.found.size();
}

bool Decoder::has_own_texts() const {
  return state_->scan.has_escapes;
}

Status Decoder::decode_found(Event& out) {
  State& state = *state_;
  std::string_view line = state.found;
  if (line.size() > limit_of(*this)) {
    return Error{ErrorCode::kLimitExceeded, fmt::format("a line over {} bytes", limit_of(*this)),
                 fmt::format("byte {}", limit_of(*this))};
  }
  if (!line.empty() && line.back() == '\r') {
    line.remove_suffix(1);
    state.scan_by(state.find_quotes, line);
  }
  out.clear();
  const QuoteScan& scan = state.scan;
  if (!scan.has_controls && (scan.is_ascii || !first_invalid_utf8(line))) {
    std::uint32_t* const quotes = state.quotes.get();
    std::fill_n(quotes + scan.count, 4, static_cast<std::uint32_t>(line.size()));
    if (scan.has_escapes) {
      state.scratch.text.clear();
      state.scratch.text.reserve(line.size());
    }
    const Escapes escapes = scan.has_escapes ? Escapes::kSome : Escapes::kNone;
    if (read_plain(line, quotes, escapes, state.order, state.scratch, out)) return {};
  }
  out.clear();
  ThoroughReader reader(line, state.scratch);
  if (reader.read(out)) return {};
  return reader.error();
}

}  // namespace remit::event
