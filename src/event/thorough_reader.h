// The complete reader of one event line: any JSON, any spelling, and the place of every fault.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "event/event.h"

namespace remit::event {

/// Memory that readers keep from line to line.
struct Scratch {
  std::string text;     ///< strings that were written with escapes
  std::string nesting;  ///< the open brackets of an unknown value
};

/// Reads one line, byte by byte, after REQ-EV-001 to 012. It is the authority: where `read_plain`
/// gives up, this one says what the line is, or what is wrong with it and where. Made for one line.
class ThoroughReader {
 public:
  /// `line` and `scratch` are kept alive by the caller.
  ThoroughReader(std::string_view line, Scratch& scratch) : line_(line), scratch_(scratch) {}

  /// Fills `out`, which must be clear; false if the line is malformed, and then `error` says why.
  /// Text of `out` points into the line, or into the scratch where it had escapes.
  bool read(Event& out);

  /// Passes over one JSON value of any kind that begins at `at`; the offset behind it, or 0 if
  /// there is none (then `error` says why).
  std::size_t skip_value_at(std::size_t at);

  /// Reads the string whose opening quotation mark stands at `at`; the offset behind it, or 0 if it
  /// is malformed. `out` may point into the scratch, whose text the caller has made roomy enough
  /// for all strings of the line.
  std::size_t read_string_at(std::size_t at, std::string_view& out);

  [[nodiscard]] Error error() const;

 private:
  bool fail(std::size_t at, const char* what, std::string_view field = {});
  bool refuse_text(std::size_t at, Field field, std::string_view value);
  bool fail_missing(std::string_view field);
  [[nodiscard]] char peek() const { return at_ < line_.size() ? line_[at_] : '\0'; }
  void skip_space();
  bool expect(char wanted, const char* what);
  bool at_literal(std::string_view literal) const;

  bool read_members(Event& out);
  bool read_member(Event& out);
  bool read_known(std::size_t key, std::size_t key_at, Event& out);
  bool read_kind(std::size_t key_at, Event& out);
  bool read_text(Field field, Event& out);
  bool read_integer(Field field, Event& out);
  bool read_enforced(Event& out);
  bool read_list(Field field, Event& out);
  bool fail_before_object();
  bool check_whole(const Event& out);

  bool read_string(std::string_view& out);
  bool scan_string();
  bool scan_escape();
  bool scan_code_unit(std::uint32_t& unit);
  std::string_view unescape(std::string_view written);
  bool scan_number();
  bool scan_digits();
  bool scan_key();
  bool scan_scalar();
  bool skip_value();
  bool close_brackets(bool& is_done);

  std::string_view line_;
  Scratch& scratch_;
  std::size_t at_ = 0;
  bool has_kind_ = false;
  bool has_escapes_ = false;  // of the string scanned last
  bool is_integer_ = false;   // of the number scanned last
  std::size_t fault_at_ = 0;
  const char* fault_ = "";
  std::string_view fault_field_;
  std::string fault_hint_;  // of our own words, or of a key much like one
  static constexpr std::size_t kKeptKeys = 8;
  std::array<std::pair<std::string_view, std::size_t>, kKeptKeys> unknown_keys_;  // with places
  std::size_t unknown_count_ = 0;
};

}  // namespace remit::event
