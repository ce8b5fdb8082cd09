// Reading JWK Sets.
#include "identity/key_set.h"

#include <utility>

#include "base/digest.h"
#include "base/limits.h"

namespace remit::identity {

Result<KeySet> KeySet::parse(std::string_view text) {
  REMIT_TRY_ASSIGN(const json::Value value, json::parse(text, {.max_bytes = kMaxKeySetBytes,
                                                               .max_depth = kMaxTokenDepth,
                                                               .max_members = kMaxTokenMembers}));
  const json::Value* listed = value.find("keys");
  if (listed == nullptr || listed->if_array() == nullptr) {
    return Error{ErrorCode::kInvalidInput, "a key set is an object with a list \"keys\""};
  }
  if (listed->if_array()->size() > kMaxKeysOfSet) {
    return Error{ErrorCode::kLimitExceeded,
                 "a key set has at most " + std::to_string(kMaxKeysOfSet) + " keys"};
  }
  KeySet out;
  std::size_t at = 0;
  for (const json::Value& item : *listed->if_array()) {
    const std::string place = "keys/" + std::to_string(at++);
    if (item.if_object() == nullptr) {
      return Error{ErrorCode::kInvalidInput, "a key is an object", place};
    }
    Result<JwsKey> key = JwsKey::from_jwk(*item.if_object());
    if (!key) {
      out.unusable_.push_back(in_place(place, std::move(key).error()));
      continue;
    }
    for (const JwsKey& other : out.keys_) {
      if (other.id() != key->id() || other.algorithm() != key->algorithm()) continue;
      return Error{ErrorCode::kInvalidInput,
                   "two keys for " + std::string(jws_algorithm_name(key->algorithm())) +
                       " have the id " + quoted(key->id()),
                   place};
    }
    out.keys_.push_back(*std::move(key));
  }
  out.revision_ = digest_text(sha256(json::canonical(value)));
  return out;
}

const JwsKey* KeySet::find(std::string_view id, JwsAlgorithm algorithm) const {
  const JwsKey* found = nullptr;
  for (const JwsKey& key : keys_) {
    if (key.algorithm() != algorithm || (!id.empty() && key.id() != id)) continue;
    if (found != nullptr) return nullptr;
    found = &key;
  }
  return found;
}

}  // namespace remit::identity
