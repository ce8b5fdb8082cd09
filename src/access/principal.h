// Who calls: what the credential says, never what an argument says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace remit::access {

/// The safe authentication state that events carry in place of any credential. Three ways of not
/// being authenticated stay apart: no credential, one that does not verify, one out of its time.
enum class PrincipalState : std::uint8_t { kMissing, kInvalid, kExpired, kAuthenticated };

/// `missing`, `invalid`, `expired`, `authenticated`.
std::string_view principal_state_name(PrincipalState state);
std::optional<PrincipalState> parse_principal_state(std::string_view name);

/// An authenticated principal, immutable once made. `subject` stays inside the boundary: events
/// carry a digest of it (`principal_ref`). The agent and the person it acts for are two fields,
/// never merged.
struct Principal {
  std::string subject;
  std::string tenant;
  std::string class_name;           ///< Cedar's `class`, e.g. `support_agent`
  std::vector<std::string> scopes;  ///< sorted, without repeats
  std::string revision;             ///< of the facts above, opaque; empty if the source has none
  std::string on_behalf_of = {};    ///< the person, where the caller is an agent; else empty

  friend bool operator==(const Principal&, const Principal&) = default;
  [[nodiscard]] bool holds(std::string_view scope) const;
};

}  // namespace remit::access
