// YAML that people write as the JSON that drivers read.
#pragma once

#include "json/value.h"
#include "yaml/yaml.h"

namespace remit::conformance {

/// The same value as JSON. What JSON does not carry unharmed (a fraction, an integer beyond 2^53 -
/// 1) is a problem and reads as null.
json::Value to_json(const yaml::Node& node, yaml::Problems& problems);

}  // namespace remit::conformance
