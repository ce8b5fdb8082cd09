// Reading one case of a pack, `remit.case/1`.
#pragma once

#include "conformance/pack.h"
#include "json/value.h"
#include "yaml/yaml.h"

namespace remit::conformance {

/// Reads a case that stands in `fixture`. Everything that is wrong becomes a problem; what comes
/// back is then of no use.
Case read_case(const yaml::Node& root, const json::Object& fixture, yaml::Problems& problems);

/// Reads a fixture on top of `below`: whole entries are replaced by name.
json::Object read_fixture(const yaml::Node& node, json::Object below, yaml::Problems& problems);

/// Values of a list that must be routes, none of them given twice.
std::vector<std::string> read_routes(yaml::ObjectReader& reader, std::string_view key,
                                     const yaml::Node& node, yaml::Problems& problems);

}  // namespace remit::conformance
