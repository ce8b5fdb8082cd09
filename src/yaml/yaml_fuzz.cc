// Fuzz target: any bytes are a tree within its limits or an error with a place.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/utf8.h"
#include "yaml/yaml.h"

namespace {

std::size_t check(const remit::yaml::Node& node, std::size_t depth) {
  REMIT_CHECK(depth <= remit::kMaxYamlDepth + 1);
  REMIT_CHECK(node.place().line > 0 && node.place().column > 0);
  if (node.if_string() != nullptr) REMIT_CHECK(!remit::first_invalid_utf8(*node.if_string()));
  std::size_t nodes = 1;
  for (const auto& item : node.items()) nodes += check(item, depth + 1);
  REMIT_CHECK(node.keys().size() == node.values().size());
  for (std::size_t i = 0; i < node.keys().size(); ++i) {
    REMIT_CHECK(node.find(node.keys()[i].text) == &node.values()[i]);
    nodes += check(node.values()[i], depth + 1);
  }
  return nodes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const remit::Result<remit::yaml::Node> root = remit::yaml::parse(text);
  if (root) {
    REMIT_CHECK(check(*root, 1) <= remit::kMaxYamlNodes);
  } else {
    REMIT_CHECK(!root.error().message.empty());
    REMIT_CHECK(root.error().code != remit::ErrorCode::kInternal);
  }
  return 0;
}
