// What is meant and who owns it: the interface to trusted stores.
#pragma once

#include <string_view>

#include "access/resource.h"
#include "base/clock.h"
#include "base/result.h"

namespace remit::attributes {

/// One reference to resolve. `reference` is untrusted text of the caller; `deadline` bounds the
/// answer.
struct ResourceQuery {
  std::string_view type;
  std::string_view reference;
  MonotonicTime deadline;
};

/// A trusted store of resources of one type. It answers with the owner's tenant and never filters
/// by the caller's, so that a foreign resource is a tenant mismatch and not a missing one.
/// Implementations are thread-safe and answer by the deadline.
class AttributeSource {
 public:
  virtual ~AttributeSource() = default;
  /// The resource that `query` names. Errors: `not_found` (-> `resource_not_found`); every other
  /// code
  /// (-> `resolver_unavailable`): `deadline_exceeded`, `unavailable`, `data_loss` for two rows
  /// where one is meant, a wrong type or a missing column.
  virtual Result<access::Resource> resolve(const ResourceQuery& query) const = 0;
};

}  // namespace remit::attributes
