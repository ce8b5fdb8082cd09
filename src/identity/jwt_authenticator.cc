// One token, step by step.
#include "identity/jwt_authenticator.h"

#include <algorithm>
#include <utility>

#include "identity/facts_revision.h"
#include "json/value.h"

namespace remit::identity {
namespace {

using access::PrincipalState;

Identity invalid(std::string detail) {
  return {.state = PrincipalState::kInvalid, .detail = std::move(detail)};
}

Identity expired(std::string detail) {
  return {.state = PrincipalState::kExpired, .detail = std::move(detail)};
}

// `typ` may leave out `application/` (RFC 7515 section 4.1.9); letter case does not count.
std::string media_type(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  constexpr std::string_view kPrefix = "application/";
  return out.starts_with(kPrefix) ? out.substr(kPrefix.size()) : out;
}

const char* revoked_part(const RevocationList& list, const TokenClaims& claims,
                         const std::string& key_id) {
  if (!claims.id.empty() && list.tokens.contains(claims.id)) return "the token is revoked";
  if (list.subjects.contains(claims.subject) || list.subjects.contains(claims.principal.subject)) {
    return "the token's subject is revoked";
  }
  return !key_id.empty() && list.keys.contains(key_id) ? "the token's key is revoked" : nullptr;
}

// The facts, and who vouches for them by which key of which set; nothing that names the subject.
std::string revision_of(const access::Principal& principal, const std::string& issuer,
                        const std::string& key_id, const KeySet& keys, const DigestKey& key) {
  const json::Object vouched{{"facts", facts_revision(principal, key)},
                             {"issuer", issuer},
                             {"key", key_id},
                             {"keys", keys.revision()}};
  return digest_text(sha256(json::canonical(json::Value{vouched})));
}

}  // namespace

JwtAuthenticator::JwtAuthenticator(TokenRules rules, const KeySource& keys,
                                   const Revocations* revocations, DigestKey key,
                                   const Authenticator& others,
                                   std::optional<std::string> local_token)
    : rules_(std::move(rules)),
      keys_(keys),
      revocations_(revocations),
      key_(std::move(key)),
      others_(others),
      local_token_(std::move(local_token)) {}

Result<const JwsKey*> JwtAuthenticator::verified_by(const Jws& jws, const KeySet& keys) const {
  const std::string algorithm(jws_algorithm_name(jws.algorithm));
  const auto& taken = rules_.algorithms;
  if (!taken.empty() && std::find(taken.begin(), taken.end(), jws.algorithm) == taken.end()) {
    return Error{ErrorCode::kUnsupported, "the token's algorithm " + algorithm + " is not taken"};
  }
  const JwsVerification verification = verify_jws(jws, keys);
  switch (verification.verdict) {
    case JwsVerdict::kVerified:
      return verification.key;
    case JwsVerdict::kNoSuchKey:
      keys_.ask_anew();
      return Error{ErrorCode::kNotFound,
                   "the issuer's keys, " + keys.revision() + ", have no " +
                       (jws.key_id.empty() ? "single one" : quoted(jws.key_id)) + " for " +
                       algorithm};
    case JwsVerdict::kForged:
      break;
  }
  return Error{ErrorCode::kInvalidInput, "the token's signature is not that of its key"};
}

Identity JwtAuthenticator::authenticate_token(std::string_view token, WallTime now) const {
  const Result<Jws> jws = parse_jws(token);
  if (!jws) return invalid(jws.error().to_string());
  const KnownKeys known = keys_.known();
  if (known.keys == nullptr) {
    return invalid("the issuer's keys cannot be used: " + known.problem->to_string());
  }
  const Result<const JwsKey*> key = verified_by(*jws, *known.keys);
  if (!key) return invalid(key.error().to_string());
  if (!rules_.type.empty() && media_type(jws->type) != media_type(rules_.type)) {
    return invalid("the token is of another type");
  }
  Result<TokenClaims> claims = read_claims(jws->payload, rules_);
  if (!claims) return invalid(claims.error().to_string());
  if (auto why = out_of_time(*claims, rules_, now)) return expired(*std::move(why));
  if (revocations_ != nullptr) {
    const OwnFileReading<RevocationList> list = revocations_->read();
    if (list.value == nullptr) {
      return invalid("the revocations cannot be used: " + list.problems.front().to_string());
    }
    if (const char* why = revoked_part(*list.value, *claims, (*key)->id())) return expired(why);
  }
  access::Principal principal = with_revision(std::move(claims->principal), key_);
  principal.revision = revision_of(principal, rules_.issuer, (*key)->id(), *known.keys, key_);
  return {.state = PrincipalState::kAuthenticated, .principal = std::move(principal)};
}

Identity JwtAuthenticator::authenticate(const access::Credential& credential, WallTime now) const {
  using Kind = access::Credential::Kind;
  if (credential.kind() == Kind::kBearer) return authenticate_token(credential.secret(), now);
  if (credential.kind() != Kind::kLocal || !local_token_) {
    return others_.authenticate(credential, now);
  }
  if (local_token_->empty()) {
    return {.state = PrincipalState::kMissing, .detail = "no token is in the environment"};
  }
  return authenticate_token(*local_token_, now);
}

}  // namespace remit::identity
