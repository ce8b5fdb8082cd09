// From claims to a principal.
#include "identity/token_claims.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/limits.h"
#include "json/value.h"

namespace remit::identity {
namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;
constexpr double kLastSecond = 253'402'300'799.0;  // of the year 9999

Error invalid(std::string message) {
  return {ErrorCode::kInvalidInput, std::move(message)};
}

// What names somebody: bounded, and shown without harm.
bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= kMaxIdBytes &&
         std::none_of(text.begin(), text.end(),
                      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

Result<std::string> name_in(const json::Value* value, const std::string& what) {
  if (value == nullptr) return invalid("the token has no " + what);
  if (value->if_string() == nullptr || !is_name(*value->if_string())) {
    return invalid("the token's " + what + " is no text of 1 to " + std::to_string(kMaxIdBytes) +
                   " bytes without control characters");
  }
  return *value->if_string();
}

// A NumericDate (RFC 7519 section 2) in milliseconds; a fraction of one shortens the token's life.
enum class Rounding : unsigned char { kDown, kUp };
Result<std::optional<std::int64_t>> date_in(const json::Object& claims, const char* name,
                                            Rounding rounding) {
  const json::Value* value = claims.find(name);
  if (value == nullptr) return std::optional<std::int64_t>{};
  double seconds = -1;
  if (value->if_integer() != nullptr) seconds = static_cast<double>(*value->if_integer());
  if (value->if_double() != nullptr) seconds = *value->if_double();
  if (!(seconds >= 0 && seconds <= kLastSecond)) {
    return invalid(std::string("the token's ") + name + " is no number of seconds since 1970");
  }
  const double ms = seconds * 1000;
  return std::optional(
      static_cast<std::int64_t>(rounding == Rounding::kDown ? std::floor(ms) : std::ceil(ms)));
}

Status check_issuer_and_audience(const json::Object& claims, const TokenRules& rules) {
  const json::Value* issuer = claims.find("iss");
  if (issuer == nullptr) return invalid("the token has no iss");
  if (issuer->if_string() == nullptr || *issuer->if_string() != rules.issuer) {
    return invalid("the token is of another issuer");
  }
  const json::Value* audience = claims.find("aud");
  if (audience == nullptr) return invalid("the token has no aud");
  const auto is_ours = [&](const json::Value& value) {
    return value.if_string() != nullptr && std::find(rules.audiences.begin(), rules.audiences.end(),
                                                     *value.if_string()) != rules.audiences.end();
  };
  const json::Array* several = audience->if_array();
  const bool is_for_us = several == nullptr
                             ? is_ours(*audience)
                             : std::any_of(several->begin(), several->end(), is_ours);
  if (!is_for_us) return invalid("the token is for another audience");
  return {};
}

const json::Value* claim_at(const json::Value& claims, const std::string& claim) {
  return claim.starts_with('/') ? claims.at_pointer(claim) : claims.find(claim);
}

Result<std::string> fact(const json::Value& claims, const FactOrigin& origin) {
  if (origin.claim.empty()) return origin.value;
  return name_in(claim_at(claims, origin.claim), quoted(origin.claim));
}

// RFC 6749 section 3.3.
bool is_scope(std::string_view text) {
  return is_name(text) && std::all_of(text.begin(), text.end(), [](char c) {
           return c > 0x20 && c < 0x7f && c != '"' && c != '\\';
         });
}

Status add_scope(std::string_view scope, const FactOrigin& origin, std::vector<std::string>& out) {
  if (!is_scope(scope)) {
    return invalid("the token's " + quoted(origin.claim) + " has what is no scope");
  }
  if (out.size() >= kMaxTokenScopes) {
    return Error{ErrorCode::kLimitExceeded,
                 "the token has more than " + std::to_string(kMaxTokenScopes) + " scopes"};
  }
  out.emplace_back(scope);
  return {};
}

Status add_scopes(std::string_view text, const FactOrigin& origin, std::vector<std::string>& out) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    REMIT_TRY(add_scope(text.substr(0, end), origin, out));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {};
}

Result<std::vector<std::string>> scopes_of(const json::Value& claims, const FactOrigin& origin) {
  std::vector<std::string> out;
  if (origin.claim.empty()) {
    REMIT_TRY(add_scopes(origin.value, origin, out));
    return out;
  }
  const json::Value* value = claim_at(claims, origin.claim);
  if (value == nullptr) return out;
  if (value->if_string() != nullptr) {
    REMIT_TRY(add_scopes(*value->if_string(), origin, out));
    return out;
  }
  if (value->if_array() == nullptr) {
    return invalid("the token's " + quoted(origin.claim) + " is neither text nor a list");
  }
  for (const json::Value& item : *value->if_array()) {
    REMIT_TRY(add_scope(item.if_string() == nullptr ? "" : *item.if_string(), origin, out));
  }
  return out;
}

// Who calls, and for whom.
Status read_subjects(const json::Object& claims, const TokenRules& rules, TokenClaims& out) {
  REMIT_TRY_ASSIGN(out.subject, name_in(claims.find("sub"), "sub"));
  const json::Value* actor = claims.find("act");
  if (actor == nullptr) {
    out.principal.subject = out.subject;
    return {};
  }
  if (actor->if_object() == nullptr) return invalid("the token's act is no object");
  // A name of another issuer's is not the name of anybody here.
  const json::Value* issuer = actor->find("iss");
  if (issuer != nullptr &&
      (issuer->if_string() == nullptr || *issuer->if_string() != rules.issuer)) {
    return invalid("the token's act is of another issuer");
  }
  REMIT_TRY_ASSIGN(out.principal.subject, name_in(actor->find("sub"), "act.sub"));
  out.principal.on_behalf_of = out.subject;
  return {};
}

std::string seconds_text(std::int64_t ms) {
  return std::to_string(ms / 1000) + " s";
}

}  // namespace

Result<TokenClaims> read_claims(std::string_view payload, const TokenRules& rules) {
  auto parsed =
      json::parse(payload, {.max_depth = kMaxTokenDepth, .max_members = kMaxTokenMembers});
  if (!parsed) return in_place("the token's claims", parsed.error());
  const json::Object* claims = parsed->if_object();
  if (claims == nullptr) return invalid("the token's claims are no object");
  REMIT_TRY(check_issuer_and_audience(*claims, rules));
  TokenClaims out;
  REMIT_TRY_ASSIGN(const std::optional<std::int64_t> expires,
                   date_in(*claims, "exp", Rounding::kDown));
  if (!expires) return invalid("the token has no exp");
  out.expires_ms = *expires;
  REMIT_TRY_ASSIGN(out.not_before_ms, date_in(*claims, "nbf", Rounding::kUp));
  REMIT_TRY_ASSIGN(out.issued_ms, date_in(*claims, "iat", Rounding::kUp));
  if (const json::Value* id = claims->find("jti")) {
    REMIT_TRY_ASSIGN(out.id, name_in(id, "jti"));
  }
  REMIT_TRY(read_subjects(*claims, rules, out));
  REMIT_TRY_ASSIGN(out.principal.tenant, fact(*parsed, rules.tenant));
  REMIT_TRY_ASSIGN(out.principal.class_name, fact(*parsed, rules.class_name));
  REMIT_TRY_ASSIGN(out.principal.scopes, scopes_of(*parsed, rules.scopes));
  return out;
}

std::optional<std::string> out_of_time(const TokenClaims& claims, const TokenRules& rules,
                                       WallTime now) {
  const std::int64_t now_ms = now.unix_ns / kNsPerMs;
  const std::int64_t skew_ms = std::chrono::milliseconds(rules.skew).count();
  if (now_ms - skew_ms >= claims.expires_ms) {
    return "the token expired " + seconds_text(now_ms - claims.expires_ms) + " ago";
  }
  if (claims.not_before_ms && now_ms + skew_ms < *claims.not_before_ms) {
    return "the token begins in " + seconds_text(*claims.not_before_ms - now_ms);
  }
  if (claims.issued_ms && now_ms + skew_ms < *claims.issued_ms) {
    return "the token will be issued in " + seconds_text(*claims.issued_ms - now_ms);
  }
  return std::nullopt;
}

}  // namespace remit::identity
