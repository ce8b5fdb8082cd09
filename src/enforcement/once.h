// What the ledger has to know of a call: the digests that name it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "access/principal.h"
#include "access/resource.h"
#include "base/digest.h"
#include "policy/bundle.h"

namespace remit::enforcement {

/// A call as the ledger names it (spec/ledger.md). Each is 32 hexadecimal digits of an HMAC under
/// the deployment's digest key, over parts that cannot run into one another.
struct OnceNames {
  std::string principal;  ///< tenant, subject, on behalf of whom
  std::string scope;      ///< principal and tool
  std::string call;       ///< scope, canonical resources, arguments
  std::string request;    ///< call and policy digest: what an approval is for
  std::string key;        ///< scope and the caller's key; empty where it gave none
};

/// What is named. All outlive the call.
struct OnceFacts {
  const access::Principal& principal;
  const policy::Tool& tool;
  const std::vector<access::Resource>& resources;
  std::string_view digested_form;  ///< of the arguments
  std::string_view policy_digest;
  std::string_view idempotency_key;
};

OnceNames once_names(const OnceFacts& facts, const DigestKey& key);

/// What two processes with one digest key agree on, and others do not.
std::string ledger_key_check(const DigestKey& key);

/// `Type::"id"` of each resource, separated by blanks: for the person who is asked to approve.
std::string resources_in_words(const std::vector<access::Resource>& resources);

}  // namespace remit::enforcement
