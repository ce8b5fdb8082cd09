// What is meant and who owns it: facts of the trusted store, never of an argument.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace remit::access {

/// One attribute as policy sees it: Cedar's Bool, Long, String or Set<String>.
using AttributeValue = std::variant<bool, std::int64_t, std::string, std::vector<std::string>>;

/// A resolved resource. `id` is canonical; `tenant` is the owner's. `attributes` holds the store's
/// further columns by name, sorted by name, without `tenant`, which stands apart because every
/// policy needs it.
struct Resource {
  std::string type;
  std::string id;
  std::string tenant;    ///< empty: the store names none, and tenant isolation will refuse
  std::string source;    ///< which trusted store said so
  std::string revision;  ///< of the facts, opaque
  std::vector<std::pair<std::string, AttributeValue>> attributes = {};

  friend bool operator==(const Resource&, const Resource&) = default;
};

}  // namespace remit::access
