// Fields that the event contract does not list, as far as they may be told: by the listed one that
// each may be meant for, since no output repeats a name that is not listed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

#include "event/event.h"

namespace remit::grading {

/// So many events of a run are looked at. Where more have such fields nothing is told, as what is
/// told must not depend on which are read first.
inline constexpr std::uint64_t kLookedAtForFields = 10'000;

class UnlistedFields {
 public:
  /// An event and its line.
  void note(const event::Event& event, std::string_view line);
  /// The listed fields that may be meant, by their names; at most kTold.
  [[nodiscard]] std::vector<std::string_view> meant() const;

 private:
  static constexpr std::size_t kTold = 5;
  std::uint64_t events_ = 0;
  std::set<std::string_view> meant_;
};

}  // namespace remit::grading
