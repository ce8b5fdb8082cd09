// Fuzz target: any key set and any token are an answer; nobody becomes a principal by another text
// than one that an issuer signed.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/check.h"
#include "identity/jws.h"
#include "identity/jwt_authenticator.h"
#include "identity/key_set.h"
#include "identity/pinned_authenticator.h"

namespace {

namespace identity = remit::identity;
using remit::access::Credential;
using remit::access::PrincipalState;

// Keys whose private halves are gone, and all that was ever signed with them; the corpus has these
// tokens.
constexpr std::string_view kKeys =
    R"({"keys":[{"kty":"RSA","kid":"r","alg":"RS256","use":"sig","n":"5p_ReEDuwuNNBOXR__M_q)"
    R"(klo5PHJxtWJk1JpPo2qR1zUjFYoEZ8r5IslsOl4vzTsHIbnRQrGEdPwm_gR2ntOORdR0jPGcvEWzo2_fjUPS)"
    R"(URWuVXCWZ2KtEPdOrnso_Gi6i_lmqFungRaRBuKtmfWLnZsZ_iC7anaVJ5YVM2c-AKJeYrANASM5kVcT4Hyb)"
    R"(XXCQTioEI-0m7vVuqaZulV1HG8ROorpBfKzcIBoCFEQiuLMYv5Ax_lOxbpdhyoPmhiwt7jonDGiu8wc7OYgs)"
    R"(z_nLIBGc-g4WRU4me3m82yVBvcgU7OOD0zjbm0zMpxADaYj2FjZMq9DpkJVH6QtUSb6iw","e":"AQAB"},{)"
    R"("kty":"OKP","crv":"Ed25519","kid":"e","x":"c2852du0OF28RDR1bl-xhKFNJn-kpPSi33nrp11_f)"
    R"(J0"}]})";
constexpr std::string_view kSigned[] = {
    "eyJhbGciOiJSUzI1NiIsImtpZCI6InIifQ.eyJpc3MiOiJodHRwczovL2lkLmV4YW1wbGUvIiwiYXVkIjpbImRlc"
    "2siXSwic3ViIjoiYWxpY2UiLCJleHAiOjI1MzQwMjMwMDc5OSwidGVuYW50IjoidCIsImNsYXNzIjoiYyIsInNjb"
    "3BlIjoiYSBiIiwiYWN0Ijp7InN1YiI6ImFnZW50In0sImp0aSI6IjEifQ.swgRN4LZDJsVaKhFcSYy3s0usMXRc_"
    "ALhmDaC1Ma7ydSbB4oFfDWDQr3g_HjFKRtPk-0SWO4ZlzHAup-dYzXnU-Y2bm_HAVFJKSem3TMe-6wbJmSJei516"
    "Mu2hdQd1kqBR1iI5MuhYl_y64e6wRRNr-yecYAN9kKoONRbllrZ6WjOX6oGd8VepewyITbUy69LmMHPfm-o3c4mO"
    "XGqOcid4z_bWbEvpRv8gq1D8lLZLlXqIs-4oRBmtTFnj14SZiFB4J8i83XkBL0GwVwriMW7cmqCitCUBnjB3WpvC"
    "1n7DyN2byMSzGBszntGysaGxKkAbvRUxzsyTi8SXeI-DtUuw",
    "eyJhbGciOiJFZERTQSIsImtpZCI6ImUifQ.eyJpc3MiOiJodHRwczovL2lkLmV4YW1wbGUvIiwiYXVkIjpbImRlc"
    "2siXSwic3ViIjoiYWxpY2UiLCJleHAiOjI1MzQwMjMwMDc5OSwidGVuYW50IjoidCIsImNsYXNzIjoiYyIsInNjb"
    "3BlIjoiYSBiIiwiYWN0Ijp7InN1YiI6ImFnZW50In0sImp0aSI6IjEifQ.jFlf1FKp46rlc9CTPC-s0j4kSQEB43"
    "t2NkLlm4IQVhmHAjyprvJkElK6npRtQC5Og4LIYw_S60pk-dD0fU6uDQ"};

class FixedKeys final : public identity::KeySource {
 public:
  explicit FixedKeys(identity::KeySet keys)
      : keys_(std::make_shared<const identity::KeySet>(std::move(keys))) {}
  [[nodiscard]] identity::KnownKeys known() const override { return {keys_}; }

 private:
  std::shared_ptr<const identity::KeySet> keys_;
};

const remit::DigestKey& digest_key() {
  static const remit::DigestKey key =
      remit::DigestKey::from_bytes(remit::bytes_of("0123456789abcdef0123456789abcdef")).value();
  return key;
}

identity::Identity identify(const identity::KeySource& keys, std::string_view token) {
  const identity::PinnedAuthenticator nobody(std::nullopt, digest_key());
  const identity::JwtAuthenticator authenticator(
      {.issuer = "https://id.example/", .audiences = {"desk"}}, keys, nullptr, digest_key(),
      nobody);
  const remit::WallTime now{1'796'040'000'000'000'000};
  identity::Identity out = authenticator.authenticate(Credential::bearer(std::string(token)), now);
  REMIT_CHECK(out.principal.has_value() == (out.state == PrincipalState::kAuthenticated));
  REMIT_CHECK(out.state != PrincipalState::kMissing);
  REMIT_CHECK(!out.principal || !out.principal->subject.empty());
  return out;
}

}  // namespace

// The bytes are a token; where they have a line end, what stands before it is the keys.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t end = bytes.find('\n');
  const std::string_view token = end == std::string_view::npos ? bytes : bytes.substr(end + 1);
  static const FixedKeys fixed(identity::KeySet::parse(kKeys).value());
  const bool was_signed = token == kSigned[0] || token == kSigned[1];
  REMIT_CHECK(identify(fixed, token).principal.has_value() == was_signed);
  if (end == std::string_view::npos) return 0;
  remit::Result<identity::KeySet> keys = identity::KeySet::parse(bytes.substr(0, end));
  if (!keys) return 0;
  for (const identity::JwsKey& key : keys->keys()) {
    REMIT_CHECK(!key.verifies("", {}));
    const identity::JwsKey* found = keys->find(key.id(), key.algorithm());
    REMIT_CHECK(found == &key || (found == nullptr && key.id().empty()));
  }
  identify(FixedKeys(*std::move(keys)), token);
  return 0;
}
