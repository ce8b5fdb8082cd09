// Masks are numbered in the order of the texts that they hide.
#include "redaction/masks.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace remit::redaction {

Result<Masks> Masks::make(const Scanner& scanner) {
  REMIT_TRY_ASSIGN(Scanner::Scratch scratch, scanner.make_scratch());
  return Masks(scanner, std::move(scratch));
}

void Masks::note(const std::string& text) {
  if (showing_.contains(text)) return;
  if (const auto canary = scanner_->shown_by(text, scratch_)) {
    showing_.emplace(text, *canary);
  } else if (text.starts_with("[canary ")) {
    taken_.insert(text);
  }
}

void Masks::settle() {
  std::vector<std::size_t> numbers(scanner_->canaries().size());
  for (const auto& [text, canary] : showing_) {
    std::string mask;
    do {
      mask = fmt::format("[canary {} #{}]", scanner_->canaries()[canary].name, ++numbers[canary]);
    } while (taken_.contains(mask));
    masks_.emplace(text, std::move(mask));
  }
}

void Masks::mask(std::string& text) const {
  if (const auto found = masks_.find(text); found != masks_.end()) text = found->second;
}

std::optional<std::string_view> Masks::shown_by(std::string_view text) {
  const auto canary = scanner_->shown_by(text, scratch_);
  if (!canary) return std::nullopt;
  return scanner_->canaries()[*canary].name;
}

}  // namespace remit::redaction
