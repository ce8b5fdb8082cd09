// The complete reader: a scalar pass that accepts all of JSON and names the first fault.
#include "event/thorough_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <span>

#include "base/error.h"
#include "base/limits.h"
#include "base/nearest_word.h"
#include "base/utf8.h"
#include "event/names.h"
#include "event/rules.h"

namespace remit::event {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// The length of the run from `at` on of bytes that stand for themselves in a string. It may be cut
// short by less than a word at the line's end.
std::size_t plain_run(std::string_view line, std::size_t at) {
  constexpr std::uint64_t kOnes = 0x0101010101010101U;
  constexpr std::uint64_t kLows = 0x7f7f7f7f7f7f7f7fU;
  constexpr std::uint64_t kTops = 0x8080808080808080U;
  const auto has_no = [](std::uint64_t word, std::uint64_t byte) {  // all tops set: byte is absent
    const std::uint64_t difference = word ^ (kOnes * byte);
    return ((difference & kLows) + kLows) | difference;
  };
  std::size_t run = 0;
  while (at + run + sizeof(std::uint64_t) <= line.size()) {
    std::uint64_t word = 0;
    std::memcpy(&word, line.data() + at + run, sizeof word);
    const std::uint64_t is_printable = (word & kLows) + kOnes * 0x60;
    const std::uint64_t plain = is_printable & has_no(word, '"') & has_no(word, '\\') & ~word;
    const std::uint64_t others = ~plain & kTops;
    if (others != 0) return run + static_cast<std::size_t>(std::countr_zero(others)) / 8;
    run += sizeof word;
  }
  return run;
}

// A time that is right but for its zone: an offset, `+00:00` too, or none.
bool is_rfc3339_elsewhere(std::string_view value) {
  constexpr std::size_t kOffset = std::string_view("+00:00").size();
  std::string in_utc(value);
  const std::size_t sign = value.size() < kOffset ? 0 : value.size() - kOffset;
  if (sign > 0 && (value[sign] == '+' || value[sign] == '-') && value[sign + 3] == ':') {
    in_utc.resize(sign);
  }
  return is_rfc3339(in_utc + "Z");
}

}  // namespace

bool ThoroughReader::fail(std::size_t at, const char* what, std::string_view field) {
  fault_at_ = at;
  fault_ = at >= line_.size() && field.empty() ? "the line is cut short" : what;
  fault_field_ = field;
  return false;
}

Error ThoroughReader::error() const {
  const std::string what =
      fault_field_.empty() ? fault_ : fmt::format("{}: {}{}", fault_field_, fault_, fault_hint_);
  return Error{ErrorCode::kInvalidInput, what, fmt::format("byte {}", fault_at_)};
}

void ThoroughReader::skip_space() {
  while (at_ < line_.size() &&
         (line_[at_] == ' ' || line_[at_] == '\t' || line_[at_] == '\r' || line_[at_] == '\n')) {
    ++at_;
  }
}

bool ThoroughReader::expect(char wanted, const char* what) {
  if (at_ >= line_.size() || line_[at_] != wanted) return fail(at_, what);
  ++at_;
  return true;
}

bool ThoroughReader::at_literal(std::string_view literal) const {
  return line_.substr(at_, literal.size()) == literal;
}

bool ThoroughReader::read(Event& out) {
  // Unescaped text is never longer than written text, so what points into the scratch stays put.
  scratch_.text.clear();
  scratch_.text.reserve(line_.size());
  if (line_.substr(0, 3) == "\xef\xbb\xbf") {
    return fail(0, "a byte order mark: write UTF-8 without one");
  }
  skip_space();
  if (peek() != '{') return fail_before_object();
  ++at_;
  if (!read_members(out)) return false;
  skip_space();
  if (at_ < line_.size()) return fail(at_, "text after the end of the event");
  return check_whole(out);
}

// Most often a log's prefix stands in front of the event.
bool ThoroughReader::fail_before_object() {
  const bool has_event = line_.find("{\"event\"") != line_.npos;
  return fail(at_, has_event ? "not a JSON object: other text stands in front of the event"
                             : "not a JSON object");
}

bool ThoroughReader::check_whole(const Event& out) {
  if (!has_kind_) return fail_missing("event");
  if (is_whole(out)) return true;
  if (out.integer(Field::kEvents) < 0) return fail(0, "is negative", "events");
  return fail_missing("invocation_id");
}

// Where a key that is ignored looks like the one that is missing, it is told of.
bool ThoroughReader::fail_missing(std::string_view field) {
  for (std::size_t i = 0; i < unknown_count_; ++i) {
    const auto& [name, place] = unknown_keys_[i];
    const std::size_t meant = key_meant_by(name);
    const bool is_it = (meant != kKeys.kNone && kKeyNames[meant] == field) ||
                       nearest_word(name, std::span{&field, 1}) == field;
    if (!is_it) continue;
    fault_hint_ = fmt::format("; is it meant by {}?", quoted(name));
    return fail(place, "is missing", field);
  }
  return fail(0, "is missing", field);
}

bool ThoroughReader::read_members(Event& out) {
  skip_space();
  if (peek() == '}') {
    ++at_;
    return true;
  }
  while (true) {
    if (!read_member(out)) return false;
    skip_space();
    if (peek() == '}') {
      ++at_;
      return true;
    }
    if (!expect(',', "expected `,` or `}`")) return false;
    skip_space();
  }
}

bool ThoroughReader::read_member(Event& out) {
  const std::size_t key_at = at_;
  if (peek() == '\'') {
    return fail(at_, "expected a key in double quotes: write JSON, as json.dumps does, no dict");
  }
  if (peek() != '"') return fail(at_, "expected a key");
  std::string_view name;
  if (!read_string(name)) return false;
  skip_space();
  if (!expect(':', "expected `:`")) return false;
  skip_space();
  const std::size_t key = kKeys.find(name);
  if (key != kKeys.kNone) return read_known(key, key_at, out);
  ++out.ignored_fields;
  if (unknown_count_ < kKeptKeys) unknown_keys_[unknown_count_++] = {name, key_at};
  return skip_value();
}

bool ThoroughReader::read_known(std::size_t key, std::size_t key_at, Event& out) {
  if (key == kEventKey) return read_kind(key_at, out);
  const auto field = static_cast<Field>(key);
  if (out.has(field)) return fail(key_at, "is given twice", field_name(field));
  if (field <= Field::kLastText) return read_text(field, out);
  if (field <= Field::kLastInteger) return read_integer(field, out);
  if (field == Field::kEnforced) return read_enforced(out);
  return read_list(field, out);
}

bool ThoroughReader::read_kind(std::size_t key_at, Event& out) {
  if (has_kind_) return fail(key_at, "is given twice", "event");
  const std::size_t value_at = at_;
  if (peek() != '"') return fail(value_at, "is not a string", "event");
  std::string_view name;
  if (!read_string(name)) return false;
  const std::optional<EventKind> kind = parse_event_kind(name);
  if (!kind) {
    fault_hint_ = suggestion(name, std::span{kKindNames}.subspan(1));
    return fail(value_at, "is not the name of an event", "event");
  }
  out.kind = *kind;
  has_kind_ = true;
  return true;
}

bool ThoroughReader::read_text(Field field, Event& out) {
  const std::size_t value_at = at_;
  if (field == Field::kResourceId && at_literal("null")) {
    at_ += 4;
    out.resource_id_is_null = true;
    out.set(field, std::string_view{});
    return true;
  }
  if (peek() != '"') return fail(value_at, "is not a string", field_name(field));
  std::string_view value;
  if (!read_string(value)) return false;
  if (!keeps_rule(kTextRules[static_cast<std::size_t>(field)], value)) {
    return refuse_text(value_at, field, value);
  }
  out.set(field, value);
  return true;
}

bool ThoroughReader::refuse_text(std::size_t at, Field field, std::string_view value) {
  const auto none_of = [&](std::span<const std::string_view> words) {
    fault_hint_ = fmt::format(" {}", fmt::join(words, ", "));
    return fail(at, "is none of", field_name(field));
  };
  switch (kTextRules[static_cast<std::size_t>(field)]) {
    case TextRule::kPrincipalState:
      return none_of(kPrincipalStates);
    case TextRule::kApprovalState:
      return none_of(kApprovalStates);
    case TextRule::kMode:
      return none_of(kModes);
    case TextRule::kTime:
      if (is_rfc3339_elsewhere(value)) {
        return fail(at, "is not in UTC: it must end in Z, not in an offset", field_name(field));
      }
      return fail(at, "is not an RFC 3339 time in UTC, such as 2026-11-30T12:00:00Z",
                  field_name(field));
    case TextRule::kNotEmpty:
    case TextRule::kAny:
      break;
  }
  return fail(at, "is empty", field_name(field));
}

bool ThoroughReader::read_integer(Field field, Event& out) {
  const std::size_t value_at = at_;
  if (peek() != '-' && !is_digit(peek())) {
    return fail(value_at, "is not an integer", field_name(field));
  }
  if (!scan_number()) return false;
  std::int64_t value = 0;
  const auto read = std::from_chars(line_.data() + value_at, line_.data() + at_, value);
  if (!is_integer_ || read.ec != std::errc() || value > kMaxSafeInteger) {
    return fail(value_at, "is not an integer of at most 2^53 - 1", field_name(field));
  }
  if (value < least_integer(field)) return fail(value_at, "is too small", field_name(field));
  out.set(field, value);
  return true;
}

bool ThoroughReader::read_enforced(Event& out) {
  if (!at_literal("true") && !at_literal("false")) {
    return fail(at_, "is not true or false", field_name(Field::kEnforced));
  }
  out.enforced = line_[at_] == 't';
  out.mark(Field::kEnforced);
  at_ += out.enforced ? 4 : 5;
  return true;
}

bool ThoroughReader::read_list(Field field, Event& out) {
  auto& list = field == Field::kFurtherResources ? out.further_resources : out.determining_policies;
  if (peek() != '[') return fail(at_, "is not a list of strings", field_name(field));
  out.mark(field);
  ++at_;
  skip_space();
  if (peek() == ']') {
    ++at_;
    return true;
  }
  while (true) {
    if (peek() != '"') return fail(at_, "is not a list of strings", field_name(field));
    if (!read_string(list.emplace_back())) return false;
    skip_space();
    if (peek() == ']') {
      ++at_;
      return true;
    }
    if (!expect(',', "expected `,` or `]`")) return false;
    skip_space();
  }
}

bool ThoroughReader::read_string(std::string_view& out) {
  const std::size_t start = at_ + 1;
  if (!scan_string()) return false;
  out = line_.substr(start, at_ - 1 - start);
  if (has_escapes_) out = unescape(out);
  return true;
}

// From the opening quote to behind the closing one.
bool ThoroughReader::scan_string() {
  has_escapes_ = false;
  ++at_;
  while (true) {
    at_ += plain_run(line_, at_);
    if (at_ >= line_.size()) return fail(at_, "the line is cut short");
    const auto byte = static_cast<unsigned char>(line_[at_]);
    if (byte == '"') {
      ++at_;
      return true;
    }
    if (byte == '\\') {
      has_escapes_ = true;
      if (!scan_escape()) return false;
    } else if (byte < 0x20) {
      return fail(at_, "a control character in a string");
    } else {
      const std::size_t length = utf8_sequence_length(line_.substr(at_));
      if (length == 0) return fail(at_, "invalid UTF-8");
      at_ += length;
    }
  }
}

bool ThoroughReader::scan_escape() {
  const std::size_t start = at_;
  ++at_;
  if (peek() != 'u') {
    const bool is_known =
        at_ < line_.size() && std::string_view("\"\\/bfnrt").find(peek()) != std::string_view::npos;
    if (!is_known) return fail(start, "an unknown escape");
    ++at_;
    return true;
  }
  std::uint32_t unit = 0;
  if (!scan_code_unit(unit)) return fail(start, "an unknown escape");
  if (unit < 0xd800 || unit > 0xdfff) return true;
  std::uint32_t low = 0;
  const bool has_pair = unit < 0xdc00 && at_literal("\\u");
  if (has_pair) ++at_;
  if (!has_pair || !scan_code_unit(low) || low < 0xdc00 || low > 0xdfff) {
    return fail(start, "a lone surrogate");
  }
  return true;
}

// From the `u` to behind its four digits.
bool ThoroughReader::scan_code_unit(std::uint32_t& unit) {
  if (line_.size() - at_ < 5) return false;
  for (std::size_t i = 1; i <= 4; ++i) {
    const int digit = hex_digit(line_[at_ + i]);
    if (digit < 0) return false;
    unit = unit * 16 + static_cast<std::uint32_t>(digit);
  }
  at_ += 5;
  return true;
}

// `written` was scanned: its escapes are known and its surrogates paired.
std::string_view ThoroughReader::unescape(std::string_view written) {
  const std::size_t start = scratch_.text.size();
  const auto unit_at = [&](std::size_t at) {
    std::uint32_t unit = 0;
    for (const char c : written.substr(at, 4)) {
      unit = unit * 16 + static_cast<std::uint32_t>(hex_digit(c));
    }
    return unit;
  };
  for (std::size_t i = 0; i < written.size(); ++i) {
    const std::size_t end = std::min(written.find('\\', i), written.size());
    scratch_.text.append(written, i, end - i);
    i = end;
    if (i == written.size()) break;
    const char name = written[++i];
    if (name != 'u') {
      constexpr std::string_view kNames = "\"\\/bfnrt";
      constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
      scratch_.text += kMeanings[kNames.find(name)];
      continue;
    }
    std::uint32_t code_point = unit_at(i + 1);
    i += 4;
    if (code_point >= 0xd800 && code_point <= 0xdfff) {
      code_point = 0x10000 + ((code_point - 0xd800) << 10U) + (unit_at(i + 3) - 0xdc00);
      i += 6;
    }
    append_utf8(code_point, scratch_.text);
  }
  return std::string_view(scratch_.text).substr(start);
}

bool ThoroughReader::scan_digits() {
  if (!is_digit(peek())) return fail(at_, "expected a digit");
  while (is_digit(peek())) ++at_;
  return true;
}

bool ThoroughReader::scan_number() {
  const std::size_t start = at_;
  is_integer_ = true;
  if (peek() == '-') ++at_;
  const bool begins_with_zero = peek() == '0';
  const std::size_t first_digit = at_;
  if (!scan_digits()) return false;
  if (begins_with_zero && at_ > first_digit + 1) return fail(start, "a number with a leading zero");
  if (peek() == '.') {
    is_integer_ = false;
    ++at_;
    if (!scan_digits()) return false;
  }
  if (peek() == 'e' || peek() == 'E') {
    is_integer_ = false;
    ++at_;
    if (peek() == '+' || peek() == '-') ++at_;
    if (!scan_digits()) return false;
  }
  return true;
}

// A key with its colon, up to where the value begins.
bool ThoroughReader::scan_key() {
  if (peek() != '"') return fail(at_, "expected a key");
  if (!scan_string()) return false;
  skip_space();
  if (!expect(':', "expected `:`")) return false;
  skip_space();
  return true;
}

bool ThoroughReader::scan_scalar() {
  if (peek() == '"') return scan_string();
  for (const std::string_view literal : {"true", "false", "null"}) {
    if (!at_literal(literal)) continue;
    at_ += literal.size();
    return true;
  }
  if (peek() != '-' && !is_digit(peek())) return fail(at_, "expected a value");
  return scan_number();
}

std::size_t ThoroughReader::skip_value_at(std::size_t at) {
  at_ = at;
  return skip_value() ? at_ : 0;
}

std::size_t ThoroughReader::read_string_at(std::size_t at, std::string_view& out) {
  at_ = at;
  return read_string(out) ? at_ : 0;
}

// Without recursion, so that depth is bounded by the line and by nothing else.
bool ThoroughReader::skip_value() {
  scratch_.nesting.clear();
  while (true) {
    const char open = peek();
    if (open == '{' || open == '[') {
      ++at_;
      skip_space();
      if (peek() != (open == '{' ? '}' : ']')) {
        scratch_.nesting += open;
        if (open == '{' && !scan_key()) return false;
        continue;
      }
      ++at_;
    } else if (!scan_scalar()) {
      return false;
    }
    bool is_done = false;
    if (!close_brackets(is_done)) return false;
    if (is_done) return true;
  }
}

// After a value: passes the brackets that end here, then the comma (and key) before the next value.
bool ThoroughReader::close_brackets(bool& is_done) {
  std::string& nesting = scratch_.nesting;
  while (!nesting.empty()) {
    const bool is_object = nesting.back() == '{';
    skip_space();
    if (peek() == (is_object ? '}' : ']')) {
      ++at_;
      nesting.pop_back();
      continue;
    }
    if (!expect(',', is_object ? "expected `,` or `}`" : "expected `,` or `]`")) return false;
    skip_space();
    return !is_object || scan_key();
  }
  is_done = true;
  return true;
}

}  // namespace remit::event
