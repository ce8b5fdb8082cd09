// The catalogue of a bundle: which tools exist, and what each of them is.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "json/schema.h"
#include "json/value.h"
#include "policy/bundle.h"
#include "yaml/yaml.h"

namespace remit::policy {

/// An argument schema of the bundle, parsed and compiled.
struct ArgumentSchema {
  json::Value value;
  json::Schema compiled;
  std::vector<std::string> names;  ///< see schema_names.h
  std::string canonical;
};

/// Argument schemas by path within the bundle; null for a file that is there and broken, whose
/// problem is told already.
using ArgumentSchemas = std::map<std::string, std::optional<ArgumentSchema>, std::less<>>;

/// Parses and compiles one schema file. Errors: `byte N` or a JSON pointer as place.
Result<ArgumentSchema> read_argument_schema(std::string_view text);

/// The tools of a parsed `catalogue.yaml`, those with problems left out or incomplete. `routes` are
/// those of the bundle; none where its description is broken, whose problems are told already.
std::vector<Tool> read_catalogue(const yaml::Node& root, const std::vector<Route>& routes,
                                 const ArgumentSchemas& schemas, yaml::Problems& problems);

/// Whether `text` is 1 to kMaxToolNameBytes of `[A-Za-z0-9_./:-]`: a name that may stand in
/// evidence as it is.
bool is_plain_name(std::string_view text);

}  // namespace remit::policy
