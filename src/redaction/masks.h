// Masks: what is written in place of a text that would show a canary.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "redaction/scanner.h"

namespace remit::redaction {

/// Replaces texts of a report that show a canary. A text is replaced as a whole, so that no end of
/// it is left over, and two texts that differ get masks that differ: `[canary db #1]`. First
/// `note` every text, then `settle`, then `mask` every text. Equal sets of texts get equal masks.
/// Not thread-safe.
class Masks {
 public:
  /// `scanner` outlives this.
  static Result<Masks> make(const Scanner& scanner);

  void note(const std::string& text);
  void settle();
  /// Replaces `text`, which was noted, if it shows a canary.
  void mask(std::string& text) const;

  /// The name of the first canary that `text` would show, for texts that are no identities.
  std::optional<std::string_view> shown_by(std::string_view text);

 private:
  Masks(const Scanner& scanner, Scanner::Scratch scratch)
      : scanner_(&scanner), scratch_(std::move(scratch)) {}

  const Scanner* scanner_;
  Scanner::Scratch scratch_;
  std::map<std::string, std::uint32_t, std::less<>> showing_;  // texts and their first canary
  std::map<std::string, std::string, std::less<>> masks_;      // by text, once settled
  std::set<std::string, std::less<>> taken_;  // harmless texts that look like a mask
};

}  // namespace remit::redaction
