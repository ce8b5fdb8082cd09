// What the Cedar schema declares, read from the engine's description.
#include "cedar/shape.h"

#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "json/value.h"

namespace remit::cedar {
namespace {

// The description is ours and may be larger than what an agent may send.
constexpr json::ParseLimits kDescriptionLimits{
    .max_bytes = std::size_t{256} * 1024 * 1024,
    .max_depth = 512,  // a type nests at most 64 deep, with up to three levels of JSON each
    .max_members = std::numeric_limits<std::size_t>::max()};

constexpr std::array<std::pair<std::string_view, Shape::Kind>, 7> kKinds = {
    {{"bool", Shape::Kind::kBool},
     {"long", Shape::Kind::kLong},
     {"string", Shape::Kind::kString},
     {"set", Shape::Kind::kSet},
     {"record", Shape::Kind::kRecord},
     {"entity", Shape::Kind::kEntity},
     {"extension", Shape::Kind::kExtension}}};

Error unexpected() {
  return REMIT_BUG("the engine's description has another form");
}

const std::string* text_at(const json::Value& value, std::string_view key) {
  const json::Value* found = value.find(key);
  return found == nullptr ? nullptr : found->if_string();
}

const json::Array* array_at(const json::Value& value, std::string_view key) {
  const json::Value* found = value.find(key);
  return found == nullptr ? nullptr : found->if_array();
}

std::optional<Shape::Kind> kind_of(std::string_view name) {
  for (const auto& [known, kind] : kKinds) {
    if (known == name) return kind;
  }
  return std::nullopt;
}

Result<Shape> read_shape(const json::Value* value);

Result<Field> read_field(const json::Value& value) {
  const json::Value* required = value.find("required");
  if (required == nullptr || required->if_bool() == nullptr) return unexpected();
  REMIT_TRY_ASSIGN(Shape shape, read_shape(value.find("type")));
  return Field{std::move(shape), *required->if_bool()};
}

Result<Shape> read_shape(const json::Value* value) {
  const std::string* name = value == nullptr ? nullptr : text_at(*value, "kind");
  const std::optional<Shape::Kind> kind = name == nullptr ? std::nullopt : kind_of(*name);
  if (!kind) return unexpected();
  Shape out{.kind = *kind};
  if (const std::string* type = text_at(*value, "name")) out.name = *type;
  if (*kind == Shape::Kind::kSet) {
    REMIT_TRY_ASSIGN(Shape element, read_shape(value->find("element")));
    out.element = std::make_shared<const Shape>(std::move(element));
  }
  if (*kind == Shape::Kind::kRecord) {
    const json::Value* fields = value->find("fields");
    if (fields == nullptr || fields->if_object() == nullptr) return unexpected();
    for (const auto& [key, field] : fields->if_object()->members()) {
      REMIT_TRY_ASSIGN(Field read, read_field(field));
      out.fields.emplace(key, std::move(read));
    }
  }
  return out;
}

Result<std::vector<std::string>> read_names(const json::Array* array) {
  if (array == nullptr) return unexpected();
  std::vector<std::string> out;
  for (const json::Value& name : *array) {
    if (name.if_string() == nullptr) return unexpected();
    out.push_back(*name.if_string());
  }
  return out;
}

Result<ActionType> read_action(const json::Value& value) {
  ActionType out;
  const std::string* type = text_at(value, "type");
  const std::string* id = text_at(value, "id");
  if (type == nullptr || id == nullptr) return unexpected();
  out.type = *type;
  out.id = *id;
  REMIT_TRY_ASSIGN(out.principals, read_names(array_at(value, "principals")));
  REMIT_TRY_ASSIGN(out.resources, read_names(array_at(value, "resources")));
  REMIT_TRY_ASSIGN(out.context, read_shape(value.find("context")));
  return out;
}

Result<EntityType> read_entity(const json::Value& value) {
  EntityType out;
  const std::string* type = text_at(value, "type");
  const json::Value* tags = value.find("has_tags");
  if (type == nullptr || tags == nullptr || tags->if_bool() == nullptr) return unexpected();
  out.type = *type;
  out.has_tags = *tags->if_bool();
  REMIT_TRY_ASSIGN(out.attributes, read_shape(value.find("attributes")));
  REMIT_TRY_ASSIGN(out.ancestors, read_names(array_at(value, "ancestors")));
  return out;
}

}  // namespace

const Field* Shape::find(std::string_view field) const {
  const auto found = fields.find(field);
  return found == fields.end() ? nullptr : &found->second;
}

std::string Shape::to_string() const {
  switch (kind) {
    case Kind::kBool:
      return "Bool";
    case Kind::kLong:
      return "Long";
    case Kind::kString:
      return "String";
    case Kind::kSet:
      return "Set<" + element->to_string() + ">";
    case Kind::kRecord:
      return "{…}";
    case Kind::kEntity:
    case Kind::kExtension:
      return name;
  }
  return "?";
}

Result<SchemaTypes> read_description(std::string_view text) {
  REMIT_TRY_ASSIGN(const json::Value value, json::parse(text, kDescriptionLimits));
  const json::Array* actions = array_at(value, "actions");
  const json::Array* entities = array_at(value, "entities");
  if (actions == nullptr || entities == nullptr) return unexpected();
  SchemaTypes out;
  for (const json::Value& action : *actions) {
    REMIT_TRY_ASSIGN(ActionType read, read_action(action));
    out.actions.push_back(std::move(read));
  }
  for (const json::Value& entity : *entities) {
    REMIT_TRY_ASSIGN(EntityType read, read_entity(entity));
    out.entities.push_back(std::move(read));
  }
  return out;
}

}  // namespace remit::cedar
