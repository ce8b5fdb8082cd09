// What a verified token says, held to what a deployment expects of it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "access/principal.h"
#include "base/clock.h"
#include "base/result.h"
#include "identity/jws.h"
#include "identity/jws_key.h"

namespace remit::identity {

/// Where a fact about the principal comes from: a claim, or the configuration.
struct FactOrigin {
  std::string claim = {};  ///< a claim's name, or an RFC 6901 pointer where it begins with `/`
  std::string value = {};  ///< the fact itself; `claim` is then empty
};

/// Which tokens are for this deployment, and who is behind them.
struct TokenRules {
  std::string issuer;                         ///< `iss`, byte for byte
  std::vector<std::string> audiences;         ///< `aud` has one of them, byte for byte
  std::string type = {};                      ///< `typ` (RFC 8725 section 3.11); empty: any
  std::vector<JwsAlgorithm> algorithms = {};  ///< empty: all
  std::chrono::seconds skew{30};              ///< of the issuer's clock and ours
  FactOrigin tenant{.claim = "tenant"};
  FactOrigin class_name{.claim = "class"};
  /// A text of scopes with spaces between (RFC 8693 section 4.2), or a list of them; of `value` as
  /// well. A claim that is not there is no scopes.
  FactOrigin scopes{.claim = "scope"};
};

/// The claims of one token that count here.
struct TokenClaims {
  access::Principal principal;  ///< without a revision
  std::string subject;          ///< `sub`: the agent, or the person it acts for
  std::string id = {};          ///< `jti`; empty where there is none
  std::int64_t expires_ms = 0;  ///< since 1970, as are the two below
  std::optional<std::int64_t> not_before_ms = std::nullopt;
  std::optional<std::int64_t> issued_ms = std::nullopt;
};

/// Reads the claims of a token that was verified. Errors: `invalid_input` for claims that are no
/// object, malformed, of another issuer or audience, or that lack one that is needed (`iss`, `sub`,
/// `aud`, `exp`, tenant, class); `limit_exceeded`. They name claims, never what stands in them.
///
/// With `act` (RFC 8693 section 4.1) the caller is the actor and acts on behalf of `sub`; without
/// it the caller is `sub`. Earlier actors within `act` count for nothing.
Result<TokenClaims> read_claims(std::string_view payload, const TokenRules& rules);

/// Why a token's time is not now (RFC 7519 section 4.1), with `rules.skew` in its favour; nothing
/// if it is.
std::optional<std::string> out_of_time(const TokenClaims& claims, const TokenRules& rules,
                                       WallTime now);

}  // namespace remit::identity
