// A cursor over one JSON document: what is wanted is read, the rest is passed over and checked.
//
// Where strings begin and end is found in a pass of its own (event/quotes.h), a window ahead, so
// that passing over one costs the same whatever its length. What is left between strings is short
// and is read byte by byte, so every fault has its place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "event/quotes.h"

namespace remit::trace {

/// What a JSON string says that is written as `raw`, without its quotation marks; nothing if an
/// escape of it is unknown or a surrogate alone.
std::optional<std::string> plain_text(std::string_view raw);

/// Reads a document from front to back. Every reader returns false where the document is not what
/// was asked for; `fault` and `fault_at` then say what and where, and the cursor is of no further
/// use. Keys of objects that are read are given as what they say. Strings are given as they are
/// written, without their quotation marks and with their escapes: whoever uses one checks its
/// escapes. Not thread-safe; reusable.
class JsonCursor {
 public:
  /// Begins with `text`, which is shorter than 4 GiB and readable for event::kScanPadding bytes
  /// past its end, and outlives the reading.
  void start(std::string_view text);

  /// Offset of the next byte that is no white space.
  std::size_t place() {
    skip_space();
    return at_;
  }
  /// Whether the next value begins with `first`.
  bool is_at(char first) {
    skip_space();
    return peek() == first;
  }

  /// An object: `member(key)` is called for each member and reads or skips its value.
  template <typename Member>
  bool object(Member&& member) {
    if (!enter('{', "expected an object")) return false;
    if (is_at('}')) return leave();
    std::string plain;
    for (;;) {
      std::string_view key;
      if (!string(key)) return false;
      if (!unescape(key, plain)) return false;
      if (!expect(':', "expected `:`")) return false;
      if (!member(key)) return false;
      if (is_at('}')) return leave();
      if (!expect(',', "expected `,` or `}`")) return false;
    }
  }

  /// An array: `element()` is called for each element and reads or skips it.
  template <typename Element>
  bool array(Element&& element) {
    if (!enter('[', "expected an array")) return false;
    if (is_at(']')) return leave();
    for (;;) {
      if (!element()) return false;
      if (is_at(']')) return leave();
      if (!expect(',', "expected `,` or `]`")) return false;
    }
  }

  /// A string.
  bool string(std::string_view& raw);
  /// Makes of a string of the document what it says, kept in `plain` where that is not as written.
  bool unescape(std::string_view& raw, std::string& plain) {
    return raw.find('\\') == std::string_view::npos || unescape_into(raw, plain);
  }
  /// A number, `true`, `false` or `null`, as written.
  bool scalar(std::string_view& raw);
  /// Any value.
  bool skip();
  /// Nothing but white space is left.
  bool end();

  bool fail(std::size_t at, const char* what);
  [[nodiscard]] const char* fault() const { return fault_; }
  [[nodiscard]] std::size_t fault_at() const { return fault_at_; }

 private:
  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_space() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t')) {
      ++at_;
    }
  }
  bool enter(char bracket, const char* what);
  bool leave() {
    ++at_;
    return true;
  }
  bool expect(char wanted, const char* what) {
    skip_space();
    if (peek() != wanted) return fail(at_, what);
    ++at_;
    return true;
  }
  bool unescape_into(std::string_view& raw, std::string& plain);
  bool find_quotes();
  [[nodiscard]] std::size_t behind_backslashes(std::size_t at) const;
  bool number();
  bool digits();
  bool skip_nested();
  bool skip_key();
  [[nodiscard]] std::size_t control_in(std::size_t begin, std::size_t end) const;

  event::FindQuotes find_quotes_ = event::fastest_find_quotes();
  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t scanned_ = 0;            ///< how far quotation marks were looked for
  std::vector<std::uint32_t> quotes_;  ///< offsets in the window that ends at `scanned_`
  std::size_t next_quote_ = 0;
  std::size_t quote_count_ = 0;
  std::size_t window_ = 0;  ///< offset that `quotes_` count from
  bool has_controls_ = false;
  std::size_t invalid_at_ = std::string_view::npos;  ///< the first byte that is not UTF-8
  const char* fault_ = "";
  std::size_t fault_at_ = 0;
};

}  // namespace remit::trace
