// The scanner: looks for canaries in every form that spec/redaction.md names.
//
//     Result<Scanner> scanner = Scanner::make(std::move(canaries));
//     Result<Scanner::Scratch> scratch = scanner->make_scratch();  // one for each thread
//     std::vector<Leak> leaks;
//     scanner->scan_line(line, *scratch, leaks);
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "redaction/canaries.h"
#include "redaction/forms.h"

namespace remit::redaction {

/// A canary that stands in a line.
struct Leak {
  std::uint32_t canary = 0;  ///< index into `Scanner::canaries`
  Encoding encoding = Encoding::kExact;
  Layers layers;
  Extent extent = Extent::kWhole;
  std::size_t at = 0;  ///< byte in the line where it begins; of a split one, where its half does
};

/// Immutable and thread-safe; copies share what is compiled.
class Scanner {
 public:
  /// Memory of one thread's scans.
  class Scratch {
   public:
    Scratch(Scratch&&) noexcept;
    Scratch& operator=(Scratch&&) noexcept;
    ~Scratch();

   private:
    friend class Scanner;
    struct State;
    explicit Scratch(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
  };

  /// Compiles canaries as `parse_canaries` gives them, at least one. Errors: `invalid_input` with
  /// the canary's line as place where its value stands in a word of the event contract or in a
  /// canary's name; `unsupported` where the processor lacks what the matcher needs.
  static Result<Scanner> make(std::vector<Canary> canaries);

  [[nodiscard]] Result<Scratch> make_scratch() const;

  /// Appends each canary found in `line` once: whole if it is there, else split, else a half, and
  /// among these as it is found first with the fewest layers. `line` may be any bytes. Layers:
  /// at most kMaxLayers of JSON and percent escapes around each other, in any order.
  void scan_line(std::string_view line, Scratch& scratch, std::vector<Leak>& out) const;

  /// Looks through `text` once, for lines of it that are given to `scan_line` next, each once and
  /// in their order: those that can hold nothing are then not searched one by one. `text` stays
  /// unchanged until the last of them or the next call; any other line is searched as ever.
  void screen(std::string_view text, Scratch& scratch) const;

  /// The first canary, by index, that a text of ours would show: as `scan_line`, and a half of a
  /// short one as well where it stands at an end of the text, since the rest may stand in the next.
  [[nodiscard]] std::optional<std::uint32_t> shown_by(std::string_view text,
                                                      Scratch& scratch) const;

  [[nodiscard]] const std::vector<Canary>& canaries() const;
  /// Whether half of the canary alone can be told from chance, and so is reported.
  [[nodiscard]] bool reports_halves(std::size_t canary) const;

  static constexpr std::size_t kMaxLayers = 3;

 private:
  struct State;
  class Search;
  explicit Scanner(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace remit::redaction
