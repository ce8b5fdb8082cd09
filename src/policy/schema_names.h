// Which arguments a JSON Schema names, so that those it does not name can be refused.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"

namespace remit::policy {

/// The top-level properties that `schema` names, sorted: the keys of `properties`, there and in
/// every subschema that applies to the same object (`allOf`, `anyOf`, `oneOf`, `if`, `then`,
/// `else`, `dependentSchemas`, and a `$ref` of the form `#` or `#/…`). What is named in another way
/// (`patternProperties`, an `$anchor`, a dynamic reference) is not named, and so refused.
std::vector<std::string> named_properties(const json::Value& schema);

/// Whether `schema` names the place of an RFC 6901 pointer with at least one token: each token is a
/// named property of the one before, or a number where it has `items` or `prefixItems`.
bool names_pointer(const json::Value& schema, std::string_view pointer);

}  // namespace remit::policy
