// Fields that a contract forbids: names that must not stand in a record, whatever their values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "event/event.h"

namespace remit::redaction {

/// A forbidden name that stands in a line.
struct ForbiddenField {
  std::uint32_t entry = 0;  ///< index into `FieldRules::names`
  std::size_t at = 0;       ///< byte of the first such key in the line
  std::uint64_t count = 0;  ///< how many such keys there are
};

/// The names of `forbid_fields`. Immutable and thread-safe.
class FieldRules {
 public:
  FieldRules() = default;

  /// A name forbids the key of that name, at any depth and but for the case of ASCII letters,
  /// whether or not the event contract lists it. One that ends in `*` forbids every key that
  /// begins so, stands at top level and is not listed, or stands deeper. Errors: `invalid_input`
  /// for an empty name, one given twice, and a `*` elsewhere; `limit_exceeded` beyond
  /// kMaxForbiddenFields.
  static Result<FieldRules> make(std::vector<std::string> names);

  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] bool empty() const { return names_.empty(); }

  /// Whether `line`, which decoded to `event`, can have a forbidden field: `find` is needed only
  /// then, and for a line that is no event.
  [[nodiscard]] bool concern(const event::Event& event) const;

  /// Appends each entry of which a key stands in `line`, any bytes, once. Keys inside of strings
  /// (JSON within JSON) are text. `buffer` is memory for keys with escapes.
  void find(std::string_view line, std::string& buffer, std::vector<ForbiddenField>& out) const;

 private:
  struct Entry {
    std::string name;  // folded, without `*`
    bool is_prefix = false;
  };
  [[nodiscard]] static bool fits(const Entry& entry, std::string_view key, bool is_listed);

  std::vector<std::string> names_;  // as they were given
  std::vector<Entry> entries_;
  std::vector<event::Field> known_;  // fields of the event contract that are forbidden by name
};

}  // namespace remit::redaction
