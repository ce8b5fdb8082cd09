// References to resources: taken out of the arguments, and canonical ids put in their places.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "access/resource.h"
#include "base/result.h"
#include "json/value.h"
#include "policy/bundle.h"

namespace remit::enforcement {

/// What stood at one pointer of the catalogue: one reference, or a list of them.
struct ReferenceGroup {
  const policy::ResourceReference* entry = nullptr;  ///< lives in the snapshot
  bool is_list = false;
  std::size_t first = 0;  ///< into `References::texts`
  std::size_t count = 0;
};

/// The references of one call, in catalogue order; the first is the primary's.
struct References {
  std::vector<ReferenceGroup> groups = {};
  std::vector<std::string> texts = {};       ///< untrusted
  std::vector<std::string_view> types = {};  ///< Cedar type of each text; lives in the snapshot
};

/// Takes every reference that `tool` names out of `arguments`: a member is removed, an element of
/// an array becomes null, so that its neighbours keep their places. A reference is a string, or an
/// array of strings, each of which names one resource. Absent, null or an empty array names none.
/// Errors, with the pointer as place: `invalid_input` for another kind of value; `limit_exceeded`
/// beyond kMaxReferenceBytes or kMaxResourcesPerCall.
Result<References> take_references(const policy::Tool& tool, json::Value& arguments);

/// What is digested of a call (REQ-EV-034): the canonical form of `arguments`, from which
/// `references` were taken, and behind it, for each reference that was there, a line with its
/// pointer, and `[n]` after the pointer of an array of n. Without the lines, moving a reference
/// from one argument to another would change nothing.
std::string digested_form(const References& references, const json::Value& arguments);

/// Whether a place in the arguments is to be filled by `put_canonical_ids`, with an empty array at
/// least.
bool has_places(const References& references);

/// Puts the canonical ids of `resources`, in the order of `references.texts`, where the references
/// stood. Errors: `internal` if `arguments` no longer has the places.
Status put_canonical_ids(const References& references, std::span<const access::Resource> resources,
                         json::Value& arguments);

}  // namespace remit::enforcement
