// A bearer token to a principal, beside the bare verification of its signature by OpenSSL, in one
// run and by the same keys. Times are those of the processor.
#include <openssl/evp.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <memory>
#include <string>

#include "base/bytes.h"
#include "bench/run_size.h"
#include "identity/jwt_authenticator.h"
#include "identity/pinned_authenticator.h"
#include "tests/support/tokens.h"

namespace {

namespace identity = remit::identity;
using remit::testing::SigningKey;

constexpr int kRounds = 5;
constexpr remit::WallTime kNow{1'796'040'000'000'000'000};

class FixedKeys final : public identity::KeySource {
 public:
  explicit FixedKeys(const SigningKey& key)
      : keys_(std::make_shared<const identity::KeySet>(
            identity::KeySet::parse(remit::testing::key_set_text({key.jwk()})).value())) {}
  [[nodiscard]] identity::KnownKeys known() const override { return {keys_}; }

 private:
  std::shared_ptr<const identity::KeySet> keys_;
};

// A second of the processor's time has so many of `run`, at best.
double rate(const std::function<bool()>& run, int times) {
  double best = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    const std::clock_t start = std::clock();
    for (int i = 0; i < times; ++i) {
      if (!run()) std::abort();
    }
    best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return times / std::max(best, 1e-9);
}

// The signature over `content` as OpenSSL's own programs verify it: in DER, by a context of its
// own.
bool verify_bare(const SigningKey& key, const std::string& content, const std::string& signature) {
  EVP_MD_CTX* const context = EVP_MD_CTX_new();
  const char* digest = key.algorithm() == "EdDSA" ? nullptr : "SHA256";
  const bool verified =
      EVP_DigestVerifyInit_ex(context, nullptr, digest, nullptr, nullptr, key.pkey(), nullptr) ==
          1 &&
      EVP_DigestVerify(context, reinterpret_cast<const unsigned char*>(signature.data()),
                       signature.size(), reinterpret_cast<const unsigned char*>(content.data()),
                       content.size()) == 1;
  EVP_MD_CTX_free(context);
  return verified;
}

void measure(const char* algorithm, int times) {
  const SigningKey key(algorithm);
  const std::string token = key.token({{"iss", "https://id.example/"},
                                       {"aud", "desk"},
                                       {"sub", "alice"},
                                       {"exp", 1'796'050'000},
                                       {"iat", 1'796'039'000},
                                       {"jti", "3f9c1e"},
                                       {"tenant", "tenant-a"},
                                       {"class", "support_agent"},
                                       {"scope", "invoice:read refund:create"},
                                       {"act", remit::json::Object{{"sub", "agent-7"}}}});
  const std::string content = token.substr(0, token.rfind('.'));
  const std::string signature = key.sign_as_openssl(content);
  const double bare = rate([&] { return verify_bare(key, content, signature); }, times);
  const FixedKeys keys(key);
  const remit::DigestKey digest_key =
      remit::DigestKey::from_bytes(remit::bytes_of("0123456789abcdef0123456789abcdef")).value();
  const identity::PinnedAuthenticator nobody(std::nullopt, digest_key);
  const identity::JwtAuthenticator who({.issuer = "https://id.example/", .audiences = {"desk"}},
                                       keys, nullptr, digest_key, nobody);
  const auto credential = remit::access::Credential::bearer(token);
  const double whole =
      rate([&] { return who.authenticate(credential, kNow).principal.has_value(); }, times);
  std::printf("%s: bare %9.0f /s %7.1f us, token to principal %9.0f /s %7.1f us, ratio %.2f\n",
              algorithm, bare, 1e6 / bare, whole, 1e6 / whole, whole / bare);
}

}  // namespace

int main(int argc, char** argv) {
  const remit::bench::RunSize size(argc, argv);
  for (const char* algorithm : {"RS256", "ES256", "EdDSA"}) measure(algorithm, size.of(4000, 5));
  return 0;
}
