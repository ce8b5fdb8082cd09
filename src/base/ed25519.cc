// Ed25519 over OpenSSL.
#include "base/ed25519.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "base/check.h"

namespace remit {
namespace {

struct FreeKey {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
using Key = std::unique_ptr<EVP_PKEY, FreeKey>;

struct FreeContext {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

using Context = std::unique_ptr<EVP_MD_CTX, FreeContext>;

const unsigned char* raw(const std::byte* bytes) {
  return reinterpret_cast<const unsigned char*>(bytes);
}

const unsigned char* raw(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

struct Ed25519Key::Handle {
  Key key;
};

Result<Ed25519Key> Ed25519Key::from_seed(std::span<const std::byte> seed) {
  if (seed.size() != kSeedBytes) {
    return Error{ErrorCode::kInvalidInput, "the seed of an Ed25519 key has 32 bytes"};
  }
  auto handle = std::make_shared<Handle>();
  handle->key.reset(
      EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, raw(seed.data()), seed.size()));
  REMIT_CHECK(handle->key != nullptr);
  Ed25519PublicKey public_key{};
  std::size_t size = public_key.size();
  REMIT_CHECK(EVP_PKEY_get_raw_public_key(handle->key.get(),
                                          reinterpret_cast<unsigned char*>(public_key.data()),
                                          &size) == 1 &&
              size == public_key.size());
  return Ed25519Key(std::move(handle), public_key);
}

Ed25519Signature Ed25519Key::sign(std::string_view message) const {
  const Context context{EVP_MD_CTX_new()};
  REMIT_CHECK(context != nullptr);
  REMIT_CHECK(EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, handle_->key.get()) ==
              1);
  Ed25519Signature signature{};
  std::size_t size = signature.size();
  REMIT_CHECK(EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()),
                             &size, raw(message), message.size()) == 1 &&
              size == signature.size());
  return signature;
}

bool ed25519_verifies(const Ed25519PublicKey& key, std::string_view message,
                      const Ed25519Signature& signature) {
  const Key handle{
      EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, raw(key.data()), key.size())};
  const Context context{EVP_MD_CTX_new()};
  REMIT_CHECK(context != nullptr);
  return handle != nullptr &&
         EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, handle.get()) == 1 &&
         EVP_DigestVerify(context.get(), raw(signature.data()), signature.size(), raw(message),
                          message.size()) == 1;
}

void wipe(std::span<std::byte> secret) {
  OPENSSL_cleanse(secret.data(), secret.size());
}

}  // namespace remit
