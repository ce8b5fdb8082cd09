// The fast reader: every quotation mark is known, so a string costs no search.
#include "event/plain_reader.h"

#include <cstring>

#include "base/limits.h"
#include "event/names.h"
#include "event/rules.h"

namespace remit::event {
namespace {

template <Escapes kEscapes>
class PlainReader {
 public:
  PlainReader(std::string_view line, const std::uint32_t* quotes, KeyOrder& order, Scratch& scratch,
              Event& out)
      : line_(line),
        text_(line.data()),
        quote_(quotes),
        order_(order),
        openings_(&kOpenings[static_cast<std::size_t>(order.spacing)]),
        scratch_(scratch),
        out_(out) {}

  bool read() {
    if (line_.size() < 2 || text_[0] != '{' || quote_[0] != 1) return false;
    // Marks pair up because each opening one is met where the grammar wants it.
    std::size_t key = KeyOrder::kStart;
    unsigned bracket = 1;  // stands where others have a comma
    do {
      const std::size_t guess = order_.behind(out_.kind, key);
      const Opening& opening = (*openings_)[guess];
      if (opening.is_at(text_ + at_, bracket)) {
        if (!read_guessed(guess, opening.size())) return false;
        key = guess;
      } else {
        const EventKind kind = out_.kind;
        std::size_t found = KeyOrder::kStart;
        if (!read_member(found)) return false;
        order_.note(kind, key, found);
        key = found;
      }
      bracket = 0;
    } while (text_[at_] == ',');
    return text_[at_] == '}' && at_ + 1 == line_.size() && has_kind_ && is_whole(out_);
  }

 private:
  // The member whose key was guessed: what opens its value ends `opening` bytes behind at_.
  [[gnu::always_inline]] bool read_guessed(std::size_t key, std::size_t opening) {
    at_ += opening;
    if (key >= kTextFieldCount && key != kEventKey) {
      quote_ += 2;
      return at_ < line_.size() && take_other(key);
    }
    const std::size_t end = quote_[3];
    if (end >= line_.size()) return false;
    std::string_view value(text_ + at_, end - at_);
    --at_;
    if (!unescape(value) || !take_text(key, value)) return false;
    at_ = end + 1;
    quote_ += 4;
    return true;
  }

  // Any member: what parts it from the one before stands at at_. `found` is its key, kStart for one
  // that is not known.
  [[gnu::noinline]] bool read_member(std::size_t& found) {
    ++at_;
    at_ += text_[at_] == ' ';
    if (quote_[0] != at_) return false;
    const std::size_t key = quote_[0] + std::size_t{1};
    const std::size_t key_end = quote_[1];
    at_ = key_end + 1;
    if (text_[at_] != ':') return false;
    ++at_;
    const bool is_spaced = text_[at_] == ' ';
    at_ += is_spaced;
    if (has_escape(key, key_end)) return false;
    const std::size_t index = kKeys.find_padded(text_ + key, key_end - key);
    order_.spacing = is_spaced ? Spacing::kOne : Spacing::kNone;
    found = index == kKeys.kNone ? KeyOrder::kStart : index;
    if (text_[at_] == '"') {
      std::string_view value(text_ + at_ + 1, quote_[3] - at_ - 1);
      if (quote_[2] != at_ || !unescape(value) || !take_text(index, value)) return false;
      at_ = quote_[3] + std::size_t{1};
      quote_ += 4;
      return true;
    }
    quote_ += 2;
    return at_ < line_.size() && take_other(index);
  }

  [[nodiscard]] bool has_escape(std::size_t begin, std::size_t end) const {
    if constexpr (kEscapes == Escapes::kNone) return false;
    return begin < end && end <= line_.size() &&
           std::memchr(text_ + begin, '\\', end - begin) != nullptr;
  }

  // Makes `value`, which stands at at_, what it says; false if its escapes are malformed.
  bool unescape(std::string_view& value) {
    const std::size_t begin = at_ + 1;
    const std::size_t end = begin + value.size();
    if (!has_escape(begin, end)) return true;
    return ThoroughReader(line_, scratch_).read_string_at(at_, value) == end + 1;
  }

  [[gnu::always_inline]] bool take_text(std::size_t index, std::string_view value) {
    if (index < kTextFieldCount) {
      const auto field = static_cast<Field>(index);
      if (out_.has(field)) return false;
      out_.set(field, value);
      const TextRule rule = kTextRules[index];
      return rule == TextRule::kAny || keeps_rule_padded(rule, value);
    }
    if (index == kEventKey) return take_kind(value);
    ++out_.ignored_fields;
    return index == kKeys.kNone;
  }

  static bool keeps_rule_padded(TextRule rule, std::string_view value) {
    // The table of states stands in every decision; the others are rare or need no table. Only
    // text of the line is padded.
    if (kEscapes == Escapes::kNone && rule == TextRule::kPrincipalState) {
      return kPrincipalStateTable.find_padded(value.data(), value.size()) !=
             kPrincipalStateTable.kNone;
    }
    return keeps_rule(rule, value);
  }

  bool take_kind(std::string_view name) {
    if (has_kind_) return false;
    has_kind_ = true;
    if (name.substr(0, 2) == "x.") return true;  // kExtension is what a clear event has
    const std::size_t kind = kEscapes == Escapes::kNone
                                 ? kKinds.find_padded(name.data(), name.size())
                                 : kKinds.find(name);
    if (kind == kKinds.kNone) return false;
    out_.kind = static_cast<EventKind>(kind);
    return true;
  }

  // A value that is no string, from at_ on.
  [[gnu::always_inline]] bool take_other(std::size_t index) {
    if (index == kKeys.kNone) {
      ++out_.ignored_fields;
      return skip_unknown();
    }
    if (index == kEventKey || out_.has(static_cast<Field>(index))) return false;
    const auto field = static_cast<Field>(index);
    if (field <= Field::kLastText) return field == Field::kResourceId && take_null();
    if (field <= Field::kLastInteger) return take_integer(field);
    return field == Field::kEnforced ? take_enforced() : take_list(field);
  }

  bool take_null() {
    if (line_.substr(at_, 4) != "null") return false;
    at_ += 4;
    out_.resource_id_is_null = true;
    out_.set(Field::kResourceId, std::string_view{});
    return true;
  }

  bool take_integer(Field field) {
    constexpr std::size_t kMaxDigits = 15;  // below 2^53 - 1 whatever they are
    const std::size_t start = at_;
    std::int64_t value = 0;
    for (; text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      if (at_ - start == kMaxDigits) return false;
      value = value * 10 + (text_[at_] - '0');
    }
    const std::size_t digits = at_ - start;
    if (digits == 0 || (digits > 1 && text_[start] == '0')) return false;
    out_.set(field, value);
    return value >= least_integer(field);
  }

  bool take_enforced() {
    out_.enforced = text_[at_] == 't';
    const std::string_view literal = out_.enforced ? "true" : "false";
    if (line_.substr(at_, literal.size()) != literal) return false;
    at_ += literal.size();
    out_.mark(Field::kEnforced);
    return true;
  }

  bool take_list(Field field) {
    auto& list =
        field == Field::kFurtherResources ? out_.further_resources : out_.determining_policies;
    if (text_[at_] != '[') return false;
    out_.mark(field);
    ++at_;
    if (text_[at_] == ']') {
      ++at_;
      return true;
    }
    while (true) {
      if (quote_[0] != at_ || quote_[1] >= line_.size()) return false;
      if (has_escape(at_ + 1, quote_[1])) return false;
      list.emplace_back(text_ + at_ + 1, quote_[1] - at_ - 1);
      at_ = quote_[1] + std::size_t{1};
      quote_ += 2;
      if (text_[at_] == ']') {
        ++at_;
        return true;
      }
      if (text_[at_] != ',') return false;
      ++at_;
      at_ += text_[at_] == ' ';
    }
  }

  bool skip_unknown() {
    const std::size_t end = ThoroughReader(line_, scratch_).skip_value_at(at_);
    if (end == 0) return false;
    at_ = end;
    while (*quote_ < end && *quote_ < line_.size()) ++quote_;
    return true;
  }

  std::string_view line_;
  const char* text_;
  std::size_t at_ = 0;
  const std::uint32_t* quote_;
  KeyOrder& order_;
  const Openings* openings_;
  Scratch& scratch_;
  Event& out_;
  bool has_kind_ = false;
};

}  // namespace

bool read_plain(std::string_view line, const std::uint32_t* quotes, Escapes escapes,
                KeyOrder& order, Scratch& scratch, Event& out) {
  if (escapes == Escapes::kNone) {
    return PlainReader<Escapes::kNone>(line, quotes, order, scratch, out).read();
  }
  return PlainReader<Escapes::kSome>(line, quotes, order, scratch, out).read();
}

}  // namespace remit::event
