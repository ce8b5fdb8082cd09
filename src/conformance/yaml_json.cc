// YAML nodes to JSON values.
#include "conformance/yaml_json.h"

#include <string>
#include <utility>

#include "base/limits.h"

namespace remit::conformance {
namespace {

json::Value integer_of(const yaml::Node& node, yaml::Problems& problems) {
  const std::int64_t number = *node.if_integer();
  if (number >= -kMaxSafeInteger && number <= kMaxSafeInteger) return number;
  problems.add(node, "an integer of 2^53 and beyond does not survive JSON");
  return nullptr;
}

}  // namespace

// Depth is bounded by the parser of the YAML.
json::Value to_json(const yaml::Node& node, yaml::Problems& problems) {
  switch (node.kind()) {
    case yaml::Node::Kind::kNull:
      return nullptr;
    case yaml::Node::Kind::kBool:
      return *node.if_bool();
    case yaml::Node::Kind::kInteger:
      return integer_of(node, problems);
    case yaml::Node::Kind::kNumber:
      problems.add(node, "numbers of a case are integers");
      return nullptr;
    case yaml::Node::Kind::kString:
      return *node.if_string();
    case yaml::Node::Kind::kList: {
      json::Array out;
      for (const yaml::Node& item : node.items()) out.push_back(to_json(item, problems));
      return out;
    }
    case yaml::Node::Kind::kMap: {
      json::Object out;
      for (std::size_t i = 0; i < node.keys().size(); ++i) {
        out.set(node.keys()[i].text, to_json(node.values()[i], problems));
      }
      return out;
    }
  }
  return nullptr;
}

}  // namespace remit::conformance
