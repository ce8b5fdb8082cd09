// Certificates for tests of TLS, made on the spot.
#pragma once

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>

#include "base/check.h"

namespace remit::testing {

/// A key and its certificate, as PEM text.
struct Certificate {
  std::string certificate_pem;
  std::string key_pem;
};

/// What a certificate says.
struct CertificateWish {
  std::string names = "DNS:localhost,IP:127.0.0.1";  ///< subjectAltName, as OpenSSL writes it
  int begins_in_days = -1;
  int ends_in_days = 1;
  bool is_authority = false;
};

inline std::string text_of_bio(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  std::string out(data, static_cast<std::size_t>(size));
  BIO_free(bio);
  return out;
}

/// Signed by `issuer`, or by itself where that is null.
inline Certificate make_certificate(const CertificateWish& wish,
                                    const Certificate* issuer = nullptr) {
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_EC_gen("P-256"), EVP_PKEY_free);
  const std::unique_ptr<X509, decltype(&X509_free)> made(X509_new(), X509_free);
  REMIT_CHECK(key != nullptr && made != nullptr);
  X509_set_version(made.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(made.get()), issuer == nullptr ? 1 : 2);
  X509_time_adj_ex(X509_getm_notBefore(made.get()), wish.begins_in_days, 0, nullptr);
  X509_time_adj_ex(X509_getm_notAfter(made.get()), wish.ends_in_days, 0, nullptr);
  X509_set_pubkey(made.get(), key.get());
  X509_NAME_add_entry_by_txt(
      X509_get_subject_name(made.get()), "CN", MBSTRING_ASC,
      reinterpret_cast<const unsigned char*>(wish.is_authority ? "authority" : "server"), -1, -1,
      0);
  const auto read = [](const std::string& text) {
    return BIO_new_mem_buf(text.data(), static_cast<int>(text.size()));
  };
  std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> signer(nullptr, EVP_PKEY_free);
  if (issuer == nullptr) {
    X509_set_issuer_name(made.get(), X509_get_subject_name(made.get()));
  } else {
    BIO* bio = read(issuer->certificate_pem);
    X509* const parent = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr);
    X509_set_issuer_name(made.get(), X509_get_subject_name(parent));
    X509_free(parent);
    BIO_free(bio);
    bio = read(issuer->key_pem);
    signer.reset(PEM_read_bio_PrivateKey(bio, nullptr, nullptr, nullptr));
    BIO_free(bio);
  }
  const auto extend = [&](int id, const char* value) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, made.get(), made.get(), nullptr, nullptr, 0);
    X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, &context, id, value);
    REMIT_CHECK(extension != nullptr);
    X509_add_ext(made.get(), extension, -1);
    X509_EXTENSION_free(extension);
  };
  extend(NID_basic_constraints, wish.is_authority ? "critical,CA:TRUE" : "CA:FALSE");
  if (!wish.is_authority && !wish.names.empty()) extend(NID_subject_alt_name, wish.names.c_str());
  X509_sign(made.get(), signer ? signer.get() : key.get(), EVP_sha256());
  Certificate out;
  BIO* bio = BIO_new(BIO_s_mem());
  PEM_write_bio_X509(bio, made.get());
  out.certificate_pem = text_of_bio(bio);
  bio = BIO_new(BIO_s_mem());
  PEM_write_bio_PrivateKey(bio, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  out.key_pem = text_of_bio(bio);
  return out;
}

}  // namespace remit::testing
