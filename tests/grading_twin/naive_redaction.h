// Looking for canaries and forbidden fields naively: every text that a line can be read as is
// written out, every encoding decoded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "event/event.h"

namespace remit::twin {

/// What a contract's `redaction` asks for (spec/redaction.md).
struct NaiveRedaction {
  std::vector<std::pair<std::string, std::string>> canaries;  // name and value
  std::vector<std::string> forbid_fields;
};

/// A canary or a forbidden field in a line. Where a canary can be told in several ways that are
/// equally good, each is a way.
struct NaiveSighting {
  bool is_canary = false;
  std::string subject;  // `canary "db"`
  struct Way {
    std::string what, where;
    friend auto operator<=>(const Way&, const Way&) = default;
  };
  std::vector<Way> ways;
};

/// Whether forbidden fields are looked for (REQ-RD-013).
enum class Searched : std::uint8_t { kLine, kDocument };

/// What must not stand in `line`.
std::vector<NaiveSighting> sightings_in(const std::string& line, const NaiveRedaction& wanted,
                                        Searched searched = Searched::kLine);

/// The keys of an object that stand at its top, as they are written.
std::vector<std::string> top_keys(const std::string& line);

/// Whether the canary of this value has halves that are reported (REQ-RD-011).
bool has_halves(const std::string& value);

}  // namespace remit::twin
