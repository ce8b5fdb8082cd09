// Signing keys and tokens for tests, made by OpenSSL; some of them wrong on purpose.
#pragma once

#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "json/value.h"

namespace remit::testing {

/// Unpadded base64url.
inline std::string base64url(std::string_view bytes) {
  std::string out = to_base64(bytes_of(bytes));
  while (out.ends_with('=')) out.pop_back();
  for (char& c : out) {
    if (c == '+') c = '-';
    if (c == '/') c = '_';
  }
  return out;
}

/// The private key of an issuer, for one algorithm.
class SigningKey {
 public:
  /// `algorithm` as in RS256, PS384, ES512, EdDSA; `bits` of an RSA key.
  explicit SigningKey(std::string algorithm, std::string id = "k1", unsigned bits = 2048)
      : algorithm_(std::move(algorithm)), id_(std::move(id)), key_(made(algorithm_, bits)) {
    REMIT_CHECK(key_ != nullptr);
  }

  [[nodiscard]] const std::string& algorithm() const { return algorithm_; }
  [[nodiscard]] const std::string& id() const { return id_; }
  [[nodiscard]] EVP_PKEY* pkey() const { return key_.get(); }

  /// The public key, with `alg`, `kid` and `use`.
  [[nodiscard]] json::Object jwk() const {
    json::Object out{{"kid", id_}, {"alg", algorithm_}, {"use", "sig"}};
    if (algorithm_ == "EdDSA") {
      std::size_t size = 32;
      std::string x(size, '\0');
      EVP_PKEY_get_raw_public_key(key_.get(), reinterpret_cast<unsigned char*>(x.data()), &size);
      out.set("kty", "OKP");
      out.set("crv", "Ed25519");
      out.set("x", base64url(x));
    } else if (algorithm_[0] == 'E') {
      out.set("kty", "EC");
      out.set("crv", curve_of(algorithm_));
      out.set("x", number(OSSL_PKEY_PARAM_EC_PUB_X, field_bytes()));
      out.set("y", number(OSSL_PKEY_PARAM_EC_PUB_Y, field_bytes()));
    } else {
      out.set("kty", "RSA");
      out.set("n", number(OSSL_PKEY_PARAM_RSA_N, 0));
      out.set("e", number(OSSL_PKEY_PARAM_RSA_E, 0));
    }
    return out;
  }

  /// The signature over `message`, as a token has it.
  [[nodiscard]] std::string sign(std::string_view message) const {
    const std::string out = sign_as_openssl(message);
    return algorithm_[0] == 'E' && algorithm_ != "EdDSA" ? side_by_side(out) : out;
  }
  /// The same, of ECDSA in DER.
  [[nodiscard]] std::string sign_as_openssl(std::string_view message) const {
    EVP_MD_CTX* const context = EVP_MD_CTX_new();
    EVP_PKEY_CTX* options = nullptr;
    REMIT_CHECK(EVP_DigestSignInit_ex(context, &options, digest(), nullptr, nullptr, key_.get(),
                                      nullptr) == 1);
    if (algorithm_[0] == 'P') {
      EVP_PKEY_CTX_set_rsa_padding(options, RSA_PKCS1_PSS_PADDING);
      EVP_PKEY_CTX_set_rsa_pss_saltlen(options, RSA_PSS_SALTLEN_DIGEST);
    }
    const auto* bytes = reinterpret_cast<const unsigned char*>(message.data());
    std::size_t size = 0;
    REMIT_CHECK(EVP_DigestSign(context, nullptr, &size, bytes, message.size()) == 1);
    std::string out(size, '\0');
    REMIT_CHECK(EVP_DigestSign(context, reinterpret_cast<unsigned char*>(out.data()), &size, bytes,
                               message.size()) == 1);
    out.resize(size);
    EVP_MD_CTX_free(context);
    return out;
  }

  /// A token of any header and payload.
  [[nodiscard]] std::string token_of(std::string_view header, std::string_view payload) const {
    const std::string content = base64url(header) + "." + base64url(payload);
    return content + "." + base64url(sign(content));
  }
  /// A token as an issuer makes it.
  [[nodiscard]] std::string token(const json::Object& claims) const {
    const json::Object header{{"alg", algorithm_}, {"kid", id_}};
    return token_of(json::write(json::Value{header}), json::write(json::Value{claims}));
  }
  /// The public key as a PEM file has it: what algorithm confusion takes for a secret.
  [[nodiscard]] std::string public_pem() const {
    BIO* const bio = BIO_new(BIO_s_mem());
    PEM_write_bio_PUBKEY(bio, key_.get());
    char* data = nullptr;
    const long size = BIO_get_mem_data(bio, &data);
    std::string out(data, static_cast<std::size_t>(size));
    BIO_free(bio);
    return out;
  }

 private:
  using Pkey = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;

  static const char* curve_of(std::string_view algorithm) {
    return algorithm == "ES256" ? "P-256" : algorithm == "ES384" ? "P-384" : "P-521";
  }
  static Pkey made(std::string_view algorithm, unsigned bits) {
    EVP_PKEY* const key = algorithm == "EdDSA"  ? EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519")
                          : algorithm[0] == 'E' ? EVP_EC_gen(curve_of(algorithm))
                                                : EVP_RSA_gen(bits);
    return {key, EVP_PKEY_free};
  }
  [[nodiscard]] const char* digest() const {
    if (algorithm_ == "EdDSA") return nullptr;
    return algorithm_.ends_with("256")   ? "SHA256"
           : algorithm_.ends_with("384") ? "SHA384"
                                         : "SHA512";
  }
  [[nodiscard]] int field_bytes() const {
    return algorithm_ == "ES256" ? 32 : algorithm_ == "ES384" ? 48 : 66;
  }
  // Of `bytes` bytes, or as few as it needs.
  [[nodiscard]] std::string number(const char* name, int bytes) const {
    BIGNUM* value = nullptr;
    REMIT_CHECK(EVP_PKEY_get_bn_param(key_.get(), name, &value) == 1);
    std::string out(static_cast<std::size_t>(bytes == 0 ? BN_num_bytes(value) : bytes), '\0');
    BN_bn2binpad(value, reinterpret_cast<unsigned char*>(out.data()), static_cast<int>(out.size()));
    BN_free(value);
    return base64url(out);
  }
  [[nodiscard]] std::string side_by_side(const std::string& der) const {
    const auto* at = reinterpret_cast<const unsigned char*>(der.data());
    ECDSA_SIG* const pair = d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(der.size()));
    const auto half = static_cast<std::size_t>(field_bytes());
    std::string out(2 * half, '\0');
    auto* to = reinterpret_cast<unsigned char*>(out.data());
    BN_bn2binpad(ECDSA_SIG_get0_r(pair), to, field_bytes());
    BN_bn2binpad(ECDSA_SIG_get0_s(pair), to + half, field_bytes());
    ECDSA_SIG_free(pair);
    return out;
  }

  std::string algorithm_;
  std::string id_;
  Pkey key_;
};

/// A JWK Set of `keys`.
inline std::string key_set_text(const json::Array& keys) {
  return json::write(json::Object{{"keys", keys}});
}

/// A token under HS256 with `secret`.
inline std::string symmetric_token(std::string_view header, std::string_view payload,
                                   std::string_view secret) {
  const std::string content = base64url(header) + "." + base64url(payload);
  std::string mac(32, '\0');
  HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
       reinterpret_cast<const unsigned char*>(content.data()), content.size(),
       reinterpret_cast<unsigned char*>(mac.data()), nullptr);
  return content + "." + base64url(mac);
}

}  // namespace remit::testing
