// Keys from JWKs, and signatures by OpenSSL.
#include "identity/jws_key.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/rsa.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/bytes.h"
#include "base/limits.h"

namespace remit::identity {
namespace {

enum class Family : std::uint8_t { kRsa, kRsaPss, kEc, kEd25519 };

struct Algorithm {
  JwsAlgorithm id;
  std::string_view name;
  Family family;
  const char* digest;       // null where the algorithm has its own
  const char* curve;        // as a JWK names it; null where there is none
  const char* group;        // as OpenSSL names it
  std::size_t field_bytes;  // of a coordinate, and of R and of S
};

constexpr std::array<Algorithm, 10> kAlgorithms = {{
    {JwsAlgorithm::kRs256, "RS256", Family::kRsa, "SHA256", nullptr, nullptr, 0},
    {JwsAlgorithm::kRs384, "RS384", Family::kRsa, "SHA384", nullptr, nullptr, 0},
    {JwsAlgorithm::kRs512, "RS512", Family::kRsa, "SHA512", nullptr, nullptr, 0},
    {JwsAlgorithm::kPs256, "PS256", Family::kRsaPss, "SHA256", nullptr, nullptr, 0},
    {JwsAlgorithm::kPs384, "PS384", Family::kRsaPss, "SHA384", nullptr, nullptr, 0},
    {JwsAlgorithm::kPs512, "PS512", Family::kRsaPss, "SHA512", nullptr, nullptr, 0},
    {JwsAlgorithm::kEs256, "ES256", Family::kEc, "SHA256", "P-256", "P-256", 32},
    {JwsAlgorithm::kEs384, "ES384", Family::kEc, "SHA384", "P-384", "P-384", 48},
    {JwsAlgorithm::kEs512, "ES512", Family::kEc, "SHA512", "P-521", "P-521", 66},
    {JwsAlgorithm::kEdDsa, "EdDSA", Family::kEd25519, nullptr, "Ed25519", nullptr, 32},
}};
constexpr std::size_t kEd25519SignatureBytes = 64;

const Algorithm& algorithm_of(JwsAlgorithm id) {
  return kAlgorithms[static_cast<std::size_t>(id)];
}

template <auto Free>
struct Freed {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};
using Pkey = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using PkeyContext = std::unique_ptr<EVP_PKEY_CTX, Freed<EVP_PKEY_CTX_free>>;
using DigestContext = std::unique_ptr<EVP_MD_CTX, Freed<EVP_MD_CTX_free>>;
using Number = std::unique_ptr<BIGNUM, Freed<BN_free>>;
using ParameterBuilder = std::unique_ptr<OSSL_PARAM_BLD, Freed<OSSL_PARAM_BLD_free>>;
using Parameters = std::unique_ptr<OSSL_PARAM, Freed<OSSL_PARAM_free>>;
using EcdsaSignature = std::unique_ptr<ECDSA_SIG, Freed<ECDSA_SIG_free>>;

const unsigned char* data_of(std::span<const std::byte> bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

Number number_of(std::span<const std::byte> bytes) {
  return Number(BN_bin2bn(data_of(bytes), static_cast<int>(bytes.size()), nullptr));
}

Error invalid(std::string message) {
  return {ErrorCode::kInvalidInput, std::move(message)};
}

Error unsupported(std::string message) {
  return {ErrorCode::kUnsupported, std::move(message)};
}

// A member that is text, or absent (null).
Result<const std::string*> text_member(const json::Object& jwk, const char* name) {
  const json::Value* value = jwk.find(name);
  if (value == nullptr) return nullptr;
  if (value->if_string() == nullptr) return invalid(std::string(name) + " is no text");
  return value->if_string();
}

Result<std::vector<std::byte>> bytes_member(const json::Object& jwk, const char* name) {
  REMIT_TRY_ASSIGN(const std::string* const text, text_member(jwk, name));
  if (text == nullptr) return invalid(std::string(name) + " is missing");
  auto bytes = from_base64url(*text);
  if (!bytes) return invalid(std::string(name) + " is no canonical base64url");
  return *std::move(bytes);
}

// A public key of OpenSSL's `type`, checked as far as OpenSSL can (RFC 8725 section 3.4).
Result<Pkey> make_key(const char* type, OSSL_PARAM* parameters) {
  const PkeyContext maker(EVP_PKEY_CTX_new_from_name(nullptr, type, nullptr));
  EVP_PKEY* made = nullptr;
  const bool is_made = maker != nullptr && EVP_PKEY_fromdata_init(maker.get()) == 1 &&
                       EVP_PKEY_fromdata(maker.get(), &made, EVP_PKEY_PUBLIC_KEY, parameters) == 1;
  Pkey key(made);
  if (is_made) {
    const PkeyContext checker(EVP_PKEY_CTX_new_from_pkey(nullptr, key.get(), nullptr));
    if (checker != nullptr && EVP_PKEY_public_check(checker.get()) == 1) return key;
  }
  ERR_clear_error();
  return invalid("it is no public key");
}

Result<Pkey> rsa_key(const json::Object& jwk) {
  REMIT_TRY_ASSIGN(const std::vector<std::byte> modulus, bytes_member(jwk, "n"));
  REMIT_TRY_ASSIGN(const std::vector<std::byte> exponent, bytes_member(jwk, "e"));
  for (const auto* bytes : {&modulus, &exponent}) {
    // RFC 7518 sections 2 and 6.3.1.1: the fewest octets.
    if (bytes->empty() || bytes->front() == std::byte{0}) {
      return invalid("n or e is empty or begins with zeros");
    }
  }
  if (modulus.size() * 8 > kMostRsaBits) {
    return Error{ErrorCode::kLimitExceeded,
                 "an RSA key has at most " + std::to_string(kMostRsaBits) + " bits"};
  }
  const Number n = number_of(modulus);
  const Number e = number_of(exponent);
  if (n == nullptr || e == nullptr) return invalid("it is no public key");
  if (BN_num_bits(n.get()) < kLeastRsaBits) {
    return invalid("an RSA key has " + std::to_string(kLeastRsaBits) + " bits or more");
  }
  // A larger exponent only makes each verification slower.
  if (BN_is_odd(n.get()) == 0 || BN_is_odd(e.get()) == 0 || BN_is_one(e.get()) == 1 ||
      BN_num_bits(e.get()) > 32) {
    return invalid("an RSA key has an odd modulus and an odd exponent from 3 to 32 bits");
  }
  const ParameterBuilder builder(OSSL_PARAM_BLD_new());
  if (builder == nullptr ||
      OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, n.get()) != 1 ||
      OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, e.get()) != 1) {
    return invalid("it is no public key");
  }
  const Parameters parameters(OSSL_PARAM_BLD_to_param(builder.get()));
  return make_key("RSA", parameters.get());
}

Result<Pkey> ec_key(const json::Object& jwk, const Algorithm& algorithm) {
  REMIT_TRY_ASSIGN(const std::vector<std::byte> x, bytes_member(jwk, "x"));
  REMIT_TRY_ASSIGN(const std::vector<std::byte> y, bytes_member(jwk, "y"));
  // RFC 7518 section 6.2.1.2: the full size of a coordinate.
  if (x.size() != algorithm.field_bytes || y.size() != algorithm.field_bytes) {
    return invalid("a coordinate has another length than the curve's");
  }
  std::vector<std::byte> point{std::byte{4}};  // uncompressed (SEC 1 section 2.3.3)
  point.insert(point.end(), x.begin(), x.end());
  point.insert(point.end(), y.begin(), y.end());
  const ParameterBuilder builder(OSSL_PARAM_BLD_new());
  if (builder == nullptr ||
      OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, algorithm.group,
                                      0) != 1 ||
      OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(),
                                       point.size()) != 1) {
    return invalid("it is no public key");
  }
  const Parameters parameters(OSSL_PARAM_BLD_to_param(builder.get()));
  return make_key("EC", parameters.get());
}

Result<Pkey> ed25519_key(const json::Object& jwk, const Algorithm& algorithm) {
  REMIT_TRY_ASSIGN(const std::vector<std::byte> x, bytes_member(jwk, "x"));
  if (x.size() != algorithm.field_bytes) return invalid("x has another length than the curve's");
  Pkey key(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, data_of(x), x.size()));
  if (key == nullptr) {
    ERR_clear_error();
    return invalid("it is no public key");
  }
  return key;
}

// What the key says that it is for (RFC 7517 sections 4.2 and 4.3).
Status check_use(const json::Object& jwk) {
  REMIT_TRY_ASSIGN(const std::string* const use, text_member(jwk, "use"));
  if (use != nullptr && *use != "sig") return unsupported("its use is " + quoted(*use));
  const json::Value* operations = jwk.find("key_ops");
  if (operations == nullptr) return {};
  if (operations->if_array() == nullptr) return invalid("key_ops is no list");
  for (const json::Value& operation : *operations->if_array()) {
    if (operation.if_string() != nullptr && *operation.if_string() == "verify") return {};
  }
  return unsupported("verify is not among its key_ops");
}

// The algorithm of a key of `type`; what the key says must fit what it is.
Result<const Algorithm*> algorithm_for(const json::Object& jwk, const std::string& type) {
  REMIT_TRY_ASSIGN(const std::string* const curve, text_member(jwk, "crv"));
  REMIT_TRY_ASSIGN(const std::string* const name, text_member(jwk, "alg"));
  for (const Algorithm& each : kAlgorithms) {
    const bool is_type = type == "RSA"
                             ? each.family == Family::kRsa || each.family == Family::kRsaPss
                         : type == "EC" ? each.family == Family::kEc
                                        : type == "OKP" && each.family == Family::kEd25519;
    if (!is_type) continue;
    if (each.curve != nullptr && (curve == nullptr || *curve != each.curve)) continue;
    if (name == nullptr || *name == each.name) return &each;
  }
  return unsupported("no algorithm here is for kty " + quoted(type) +
                     (curve == nullptr ? "" : ", crv " + quoted(*curve)) +
                     (name == nullptr ? "" : ", alg " + quoted(*name)));
}

std::vector<unsigned char> der_signature(std::span<const std::byte> signature) {
  const std::size_t half = signature.size() / 2;
  const EcdsaSignature pair(ECDSA_SIG_new());
  BIGNUM* const r = number_of(signature.first(half)).release();
  BIGNUM* const s = number_of(signature.subspan(half)).release();
  if (pair == nullptr || ECDSA_SIG_set0(pair.get(), r, s) != 1) {  // else they are the pair's
    BN_free(r);
    BN_free(s);
    return {};
  }
  const int size = i2d_ECDSA_SIG(pair.get(), nullptr);
  if (size <= 0) return {};
  std::vector<unsigned char> out(static_cast<std::size_t>(size));
  unsigned char* at = out.data();
  i2d_ECDSA_SIG(pair.get(), &at);
  return out;
}

}  // namespace

struct JwsKey::Key {
  Pkey pkey;
};

std::string_view jws_algorithm_name(JwsAlgorithm algorithm) {
  return algorithm_of(algorithm).name;
}

std::optional<JwsAlgorithm> parse_jws_algorithm(std::string_view name) {
  for (const Algorithm& each : kAlgorithms) {
    if (each.name == name) return each.id;
  }
  return std::nullopt;
}

Result<JwsKey> JwsKey::from_jwk(const json::Object& jwk) {
  REMIT_TRY_ASSIGN(const std::string* const type, text_member(jwk, "kty"));
  if (type == nullptr) return invalid("kty is missing");
  if (*type == "oct") return unsupported("a symmetric key verifies nothing here");
  if (jwk.find("d") != nullptr) {
    return invalid("it carries its private part, so it is nobody's alone any more");
  }
  REMIT_TRY(check_use(jwk));
  REMIT_TRY_ASSIGN(const Algorithm* const algorithm, algorithm_for(jwk, *type));
  REMIT_TRY_ASSIGN(const std::string* const id, text_member(jwk, "kid"));
  if (id != nullptr && id->empty()) return invalid("kid is empty");
  Result<Pkey> key = algorithm->family == Family::kEc        ? ec_key(jwk, *algorithm)
                     : algorithm->family == Family::kEd25519 ? ed25519_key(jwk, *algorithm)
                                                             : rsa_key(jwk);
  if (!key) return key.error();
  return JwsKey(id == nullptr ? std::string() : *id, algorithm->id,
                std::make_shared<const Key>(Key{*std::move(key)}));
}

bool JwsKey::verifies(std::string_view message, std::span<const std::byte> signature) const {
  const Algorithm& algorithm = algorithm_of(algorithm_);
  const unsigned char* bytes = data_of(signature);
  std::size_t size = signature.size();
  std::vector<unsigned char> der;
  if (algorithm.family == Family::kEc) {
    if (size != 2 * algorithm.field_bytes) return false;
    der = der_signature(signature);
    bytes = der.data();
    size = der.size();
  } else if (algorithm.family == Family::kEd25519) {
    if (size != kEd25519SignatureBytes) return false;
  } else if (size != static_cast<std::size_t>(EVP_PKEY_get_size(key_->pkey.get()))) {
    return false;  // RFC 8017 sections 8.1.2 and 8.2.2, step 1
  }
  const DigestContext context(EVP_MD_CTX_new());
  EVP_PKEY_CTX* options = nullptr;  // the context's
  bool is_ready = context != nullptr &&
                  EVP_DigestVerifyInit_ex(context.get(), &options, algorithm.digest, nullptr,
                                          nullptr, key_->pkey.get(), nullptr) == 1;
  if (is_ready && algorithm.family == Family::kRsaPss) {
    // RFC 7518 section 3.5: MGF1 with the same digest, a salt of its length.
    is_ready = EVP_PKEY_CTX_set_rsa_padding(options, RSA_PKCS1_PSS_PADDING) == 1 &&
               EVP_PKEY_CTX_set_rsa_pss_saltlen(options, RSA_PSS_SALTLEN_DIGEST) == 1;
  }
  const bool verified =
      is_ready &&
      EVP_DigestVerify(context.get(), bytes, size,
                       reinterpret_cast<const unsigned char*>(message.data()), message.size()) == 1;
  if (!verified) ERR_clear_error();
  return verified;
}

}  // namespace remit::identity
