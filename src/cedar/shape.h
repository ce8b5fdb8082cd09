// What the Cedar schema declares: actions, entity types and the types of their attributes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace remit::cedar {

struct Field;

/// A Cedar type. `fields` belongs to records, `element` to sets, `name` to entities and extensions.
struct Shape {
  enum class Kind : std::uint8_t { kBool, kLong, kString, kSet, kRecord, kEntity, kExtension };

  Kind kind = Kind::kRecord;
  std::string name = {};
  std::shared_ptr<const Shape> element = {};
  std::map<std::string, Field, std::less<>> fields = {};

  /// The field of that name; null if there is none.
  [[nodiscard]] const Field* find(std::string_view field) const;
  /// The type as Cedar writes it, records as `{…}`.
  [[nodiscard]] std::string to_string() const;
};

struct Field {
  Shape shape;
  bool required = false;
};

struct ActionType {
  std::string type;  ///< `Action`, or with its namespace
  std::string id;
  std::vector<std::string> principals;  ///< entity types; sorted
  std::vector<std::string> resources;   ///< sorted
  Shape context;
};

struct EntityType {
  std::string type;
  Shape attributes;
  std::vector<std::string> ancestors;  ///< types that its entities may be `in`; sorted
  bool has_tags = false;
};

/// Positions are the numbers by which the engine knows actions and entity types.
struct SchemaTypes {
  std::vector<ActionType> actions;
  std::vector<EntityType> entities;
};

/// Reads the engine's description (shim/include/remit_shim_cedar.h). Errors: `internal` for another
/// form.
Result<SchemaTypes> read_description(std::string_view text);

}  // namespace remit::cedar
