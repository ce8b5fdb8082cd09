// The three parts of a token.
#include "identity/jws.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/bytes.h"
#include "base/limits.h"
#include "json/value.h"

namespace remit::identity {
namespace {

constexpr std::array<std::string_view, 7> kRefusedMembers = {"jwk",  "jku", "x5u", "x5c",
                                                             "crit", "b64", "zip"};

Error invalid(std::string message) {
  return {ErrorCode::kInvalidInput, std::move(message)};
}

Result<std::string> text_of_part(std::string_view part, const char* name) {
  const auto bytes = from_base64url(part);
  if (!bytes) return invalid(std::string("the token's ") + name + " is no canonical base64url");
  return std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size());
}

// Text, or nothing where the header has no such member.
Result<std::string> header_text(const json::Object& header, const char* name) {
  const json::Value* value = header.find(name);
  if (value == nullptr) return std::string();
  if (value->if_string() == nullptr || value->if_string()->empty() ||
      value->if_string()->size() > kMaxIdBytes) {
    return invalid(std::string("the token's ") + name + " is no text of 1 to " +
                   std::to_string(kMaxIdBytes) + " bytes");
  }
  return *value->if_string();
}

Status read_header(std::string_view part, Jws& out) {
  REMIT_TRY_ASSIGN(const std::string text, text_of_part(part, "header"));
  auto parsed = json::parse(text, {.max_bytes = kMaxTokenHeaderBytes,
                                   .max_depth = kMaxTokenDepth,
                                   .max_members = kMaxTokenMembers});
  if (!parsed) return in_place("the token's header", parsed.error());
  const json::Object* header = parsed->if_object();
  if (header == nullptr) return invalid("the token's header is no object");
  for (const std::string_view member : kRefusedMembers) {
    if (header->find(member) == nullptr) continue;
    return Error{ErrorCode::kUnsupported,
                 "the token's header has a member " + quoted(member) + ", which is not taken"};
  }
  REMIT_TRY_ASSIGN(const std::string algorithm, header_text(*header, "alg"));
  if (algorithm.empty()) return invalid("the token's header names no algorithm");
  const std::optional<JwsAlgorithm> known = parse_jws_algorithm(algorithm);
  if (!known) {
    return Error{ErrorCode::kUnsupported,
                 "the token's algorithm " + quoted(algorithm) + " is not taken"};
  }
  out.algorithm = *known;
  REMIT_TRY_ASSIGN(out.key_id, header_text(*header, "kid"));
  REMIT_TRY_ASSIGN(out.type, header_text(*header, "typ"));
  return {};
}

}  // namespace

Result<Jws> parse_jws(std::string_view token) {
  if (token.size() > kMaxTokenBytes) {
    return Error{ErrorCode::kLimitExceeded,
                 "the token has more than " + std::to_string(kMaxTokenBytes) + " bytes"};
  }
  const std::size_t first = token.find('.');
  const std::size_t second = first == std::string_view::npos ? first : token.find('.', first + 1);
  if (second == std::string_view::npos || token.find('.', second + 1) != std::string_view::npos) {
    return invalid("the token has not three parts");
  }
  Jws out;
  REMIT_TRY(read_header(token.substr(0, first), out));
  REMIT_TRY_ASSIGN(out.payload,
                   text_of_part(token.substr(first + 1, second - first - 1), "payload"));
  auto signature = from_base64url(token.substr(second + 1));
  if (!signature || signature->empty()) {
    return invalid("the token's signature is empty or no canonical base64url");
  }
  out.signature = *std::move(signature);
  out.content = token.substr(0, second);
  return out;
}

JwsVerification verify_jws(const Jws& jws, const KeySet& keys) {
  const JwsKey* key = keys.find(jws.key_id, jws.algorithm);
  if (key == nullptr) return {.verdict = JwsVerdict::kNoSuchKey};
  if (!key->verifies(jws.content, jws.signature))
    return {.verdict = JwsVerdict::kForged, .key = key};
  return {.verdict = JwsVerdict::kVerified, .key = key};
}

}  // namespace remit::identity
