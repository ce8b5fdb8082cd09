// Names as digests of framed parts.
#include "enforcement/once.h"

#include <fmt/format.h>

#include <cstddef>
#include <initializer_list>

#include "base/error.h"

namespace remit::enforcement {
namespace {

constexpr std::size_t kNameBytes = 16;

/// Each part with its length before it, so that no two lists of parts give the same text.
class Framed {
 public:
  explicit Framed(std::string_view what) { add(what); }
  Framed& add(std::string_view part) {
    text_ += fmt::format("{}:", part.size());
    text_ += part;
    return *this;
  }
  [[nodiscard]] std::string name(const DigestKey& key) const {
    const Sha256Digest digest = key.hmac(text_);
    std::string out;
    for (std::size_t i = 0; i < kNameBytes; ++i) {
      out += fmt::format("{:02x}", static_cast<unsigned>(digest[i]));
    }
    return out;
  }

 private:
  std::string text_;
};

}  // namespace

OnceNames once_names(const OnceFacts& facts, const DigestKey& key) {
  OnceNames out;
  out.principal = Framed("principal")
                      .add(facts.principal.tenant)
                      .add(facts.principal.subject)
                      .add(facts.principal.on_behalf_of)
                      .name(key);
  out.scope = Framed("scope").add(out.principal).add(facts.tool.name).name(key);
  Framed call("call");
  call.add(out.scope).add(std::to_string(facts.resources.size()));
  for (const access::Resource& resource : facts.resources) {
    call.add(resource.type).add(resource.id).add(resource.tenant);
  }
  out.call = call.add(facts.digested_form).name(key);
  out.request = Framed("request").add(out.call).add(facts.policy_digest).name(key);
  if (!facts.idempotency_key.empty()) {
    out.key = Framed("key").add(out.scope).add(facts.idempotency_key).name(key);
  }
  return out;
}

std::string ledger_key_check(const DigestKey& key) {
  return Framed("remit.ledger/1").name(key);
}

std::string resources_in_words(const std::vector<access::Resource>& resources) {
  std::string out;
  for (const access::Resource& resource : resources) {
    if (!out.empty()) out += ' ';
    out += resource.type + "::" + quoted(resource.id, resource.id.size());
  }
  return out;
}

}  // namespace remit::enforcement
