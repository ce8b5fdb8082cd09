// Whether catalogue and Cedar schema speak of the same things.
#pragma once

#include <string_view>
#include <vector>

#include "base/error.h"
#include "cedar/shape.h"
#include "policy/bundle.h"

namespace remit::cedar {

/// The types that every bundle's schema has (BOUNDARY, Cedar conventions).
inline constexpr std::string_view kPrincipalType = "Principal";
inline constexpr std::string_view kServerType = "Server";
inline constexpr std::string_view kActionType = "Action";

/// Everything in which the bundle's catalogue and its schema disagree: an action or a resource type
/// that the schema lacks, an action that does not apply to its tool's resource, a principal, a
/// resource or a context of another form than the boundary supplies. Without this check such a
/// request would be refused one by one, with `policy_error`.
std::vector<Error> disagreements(const policy::Bundle& bundle, const SchemaTypes& types);

}  // namespace remit::cedar
