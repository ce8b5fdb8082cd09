// SHA-256 over OpenSSL, with the algorithm fetched once and HMAC's two pads hashed once per key.
#include "base/digest.h"

#include <openssl/evp.h>

#include <algorithm>

#include "base/bytes.h"

namespace remit {
namespace {

struct FreeContext {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
using Context = std::unique_ptr<EVP_MD_CTX, FreeContext>;

// Fetching the algorithm by name costs more than hashing a short line, so it is done once per
// process.
const EVP_MD* algorithm() {
  static EVP_MD* const fetched = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  REMIT_CHECK(fetched != nullptr);
  return fetched;
}

Context new_context() {
  Context context{EVP_MD_CTX_new()};
  REMIT_CHECK(context != nullptr);
  return context;
}

void start(EVP_MD_CTX* context) {
  REMIT_CHECK(EVP_DigestInit_ex2(context, algorithm(), nullptr) == 1);
}

void add(EVP_MD_CTX* context, std::span<const std::byte> bytes) {
  REMIT_CHECK(EVP_DigestUpdate(context, bytes.data(), bytes.size()) == 1);
}

Sha256Digest finish_context(EVP_MD_CTX* context) {
  Sha256Digest digest{};
  unsigned length = 0;
  auto* out = reinterpret_cast<unsigned char*>(digest.data());
  REMIT_CHECK(EVP_DigestFinal_ex(context, out, &length) == 1 && length == digest.size());
  return digest;
}

// One context per thread: allocating one costs as much as hashing a line.
EVP_MD_CTX* scratch() {
  static thread_local const Context context = new_context();
  return context.get();
}

}  // namespace

Sha256Digest sha256(std::span<const std::byte> bytes) {
  EVP_MD_CTX* context = scratch();
  start(context);
  add(context, bytes);
  return finish_context(context);
}

Sha256Digest sha256(std::string_view text) {
  return sha256(bytes_of(text));
}

struct Sha256::State {
  Context context = new_context();
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  start(state_->context.get());
}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

Sha256& Sha256::update(std::span<const std::byte> bytes) {
  add(state_->context.get(), bytes);
  return *this;
}

Sha256& Sha256::update(std::string_view text) {
  return update(bytes_of(text));
}

Sha256Digest Sha256::finish() {
  const Sha256Digest digest = finish_context(state_->context.get());
  start(state_->context.get());
  return digest;
}

std::string digest_text(const Sha256Digest& digest) {
  return "sha256:" + to_hex(digest);
}

struct DigestKey::Pads {
  Context inner = new_context();  // has hashed key ^ ipad
  Context outer = new_context();  // has hashed key ^ opad
};

Result<DigestKey> DigestKey::from_bytes(std::span<const std::byte> key) {
  constexpr std::size_t kBlock = 64;
  if (key.size() < 32) {
    return Error{ErrorCode::kInvalidInput, "a digest key needs at least 32 bytes"};
  }
  std::array<std::byte, kBlock> block{};
  if (key.size() > kBlock) {
    const Sha256Digest hashed = sha256(key);
    std::copy(hashed.begin(), hashed.end(), block.begin());
  } else {
    std::copy(key.begin(), key.end(), block.begin());
  }
  auto pads = std::make_shared<Pads>();
  std::array<std::byte, kBlock> pad{};
  for (std::size_t i = 0; i < kBlock; ++i) pad[i] = block[i] ^ std::byte{0x36};
  start(pads->inner.get());
  add(pads->inner.get(), pad);
  for (std::size_t i = 0; i < kBlock; ++i) pad[i] = block[i] ^ std::byte{0x5c};
  start(pads->outer.get());
  add(pads->outer.get(), pad);
  return DigestKey{std::move(pads)};
}

Sha256Digest DigestKey::hmac(std::string_view text) const {
  EVP_MD_CTX* context = scratch();
  REMIT_CHECK(EVP_MD_CTX_copy_ex(context, pads_->inner.get()) == 1);
  add(context, bytes_of(text));
  const Sha256Digest inner = finish_context(context);
  REMIT_CHECK(EVP_MD_CTX_copy_ex(context, pads_->outer.get()) == 1);
  add(context, inner);
  return finish_context(context);
}

std::string DigestKey::digest(std::string_view text) const {
  return "hmac-sha256:" + to_hex(hmac(text));
}

}  // namespace remit
