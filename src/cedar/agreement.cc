// Whether catalogue and Cedar schema speak of the same things.
#include "cedar/agreement.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "json/value.h"

namespace remit::cedar {
namespace {

using Kind = Shape::Kind;

bool is_string(const Shape& shape) {
  return shape.kind == Kind::kString;
}
bool is_strings(const Shape& shape) {
  return shape.kind == Kind::kSet && shape.element->kind == Kind::kString;
}
bool is_datetime(const Shape& shape) {
  return shape.kind == Kind::kExtension && shape.name == "datetime";
}
bool is_record(const Shape& shape) {
  return shape.kind == Kind::kRecord;
}
/// What an attribute of a trusted store can be (access::AttributeValue).
bool is_attribute(const Shape& shape) {
  return shape.kind == Kind::kBool || shape.kind == Kind::kLong || is_string(shape) ||
         is_strings(shape);
}
/// What a JSON value can become.
bool is_argument(const Shape& shape) {
  switch (shape.kind) {
    case Kind::kEntity:
      return false;
    case Kind::kSet:
      return is_argument(*shape.element);
    case Kind::kRecord:
      return std::all_of(shape.fields.begin(), shape.fields.end(),
                         [](const auto& field) { return is_argument(field.second.shape); });
    default:
      return true;
  }
}

/// One field that the boundary supplies.
struct Supplied {
  std::string_view name;
  bool (*fits)(const Shape&);
  std::string_view type;
  bool always;  ///< supplied every time, so that the schema may require it
};

constexpr Supplied kPrincipalFields[] = {{"tenant", is_string, "String", true},
                                         {"class", is_string, "String", true},
                                         {"scopes", is_strings, "Set<String>", true},
                                         {"on_behalf_of", is_string, "String", false}};
constexpr Supplied kContextFields[] = {{"route", is_string, "String", true},
                                       {"environment", is_string, "String", true},
                                       {"now", is_datetime, "datetime", true},
                                       {"approval", is_record, "{…}", true},
                                       {"arguments", is_record, "{…}", true}};
constexpr Supplied kApprovalFields[] = {{"state", is_string, "String", true},
                                        {"id", is_string, "String", false}};

class Agreement {
 public:
  Agreement(const policy::Bundle& bundle, const SchemaTypes& types)
      : bundle_(bundle), types_(types) {}

  std::vector<Error> run() {
    check_principal();
    for (const policy::Tool& tool : bundle_.tools) {
      if (tool.has_boundary) check_tool(tool);
    }
    return std::move(problems_);
  }

 private:
  void refuse(std::string_view file, std::string message) {
    problems_.push_back({ErrorCode::kInvalidInput, std::move(message), std::string(file)});
  }

  /// Whatever a policy says of it would be false without a word, a forbid as well as a permit.
  void refuse_unsupplied(std::string_view what, std::string_view name) {
    refuse(bundle_.schema.file,
           fmt::format("{}: nothing supplies {}; take it out", what, quoted(name)));
  }

  /// A record must have exactly the fields that are supplied, with their types.
  template <std::size_t N>
  void check_record(const std::string& what, const Shape& record, const Supplied (&fields)[N]) {
    for (const Supplied& field : fields) {
      const Field* found = record.find(field.name);
      if (found == nullptr) {
        refuse(bundle_.schema.file,
               fmt::format("{} has no {}; declare it as {}{}: {}", what, field.name, field.name,
                           field.always ? "" : "?", field.type));
      } else if (!field.fits(found->shape)) {
        refuse(bundle_.schema.file, fmt::format("{}: {} is {}, and must be {}", what, field.name,
                                                found->shape.to_string(), field.type));
      } else if (found->required && !field.always) {
        refuse(bundle_.schema.file, fmt::format("{}: {} is not always there; declare it as {}?",
                                                what, field.name, field.name));
      }
    }
    for (const auto& [name, field] : record.fields) {
      const bool known = std::any_of(std::begin(fields), std::end(fields),
                                     [&](const Supplied& each) { return each.name == name; });
      if (!known) refuse_unsupplied(what, name);
    }
  }

  const EntityType* entity(std::string_view type) const {
    const auto found = std::find_if(types_.entities.begin(), types_.entities.end(),
                                    [&](const EntityType& each) { return each.type == type; });
    return found == types_.entities.end() ? nullptr : &*found;
  }

  const ActionType* action(std::string_view id) {
    if (actions_.empty()) {
      for (const ActionType& each : types_.actions) {
        if (each.type == kActionType) actions_.emplace(each.id, &each);
      }
    }
    const auto found = actions_.find(id);
    return found == actions_.end() ? nullptr : found->second;
  }

  void check_principal() {
    const EntityType* principal = entity(kPrincipalType);
    if (principal == nullptr) {
      refuse(bundle_.schema.file, "no entity type Principal");
      return;
    }
    check_record("entity Principal", principal->attributes, kPrincipalFields);
    check_relations(*principal);
  }

  /// Neither credentials nor trusted stores say what an entity is in, or its tags.
  void check_relations(const EntityType& type) {
    for (const std::string& ancestor : type.ancestors) {
      refuse(bundle_.schema.file,
             fmt::format("entity {}: nothing says which {} it is in; take it out of its `in`",
                         type.type, ancestor));
    }
    if (type.has_tags) {
      refuse(bundle_.schema.file,
             fmt::format("entity {}: nothing supplies tags; take them out", type.type));
    }
  }

  void check_tool(const policy::Tool& tool) {
    const ActionType* declared = action(tool.action);
    if (declared == nullptr) {
      refuse("catalogue.yaml", fmt::format("tool {}: the schema has no action {}",
                                           quoted(tool.name), quoted(tool.action)));
      return;
    }
    const std::string what = fmt::format("action {}", quoted(tool.action));
    if (!applies(declared->principals, kPrincipalType)) {
      refuse(bundle_.schema.file, what + " does not apply to the principal Principal");
    }
    check_resources(tool, *declared);
    if (!contexts_.insert(tool.action).second) return;
    check_record("context of " + what, declared->context, kContextFields);
    const Field* approval = declared->context.find("approval");
    if (approval != nullptr && is_record(approval->shape)) {
      check_record("context.approval of " + what, approval->shape, kApprovalFields);
    }
    check_arguments(tool.action, *declared);
  }

  static bool applies(const std::vector<std::string>& types, std::string_view type) {
    return std::find(types.begin(), types.end(), type) != types.end();
  }

  /// The types that the tool's resource can have; its server where it may name none.
  void check_resources(const policy::Tool& tool, const ActionType& declared) {
    std::set<std::string> wanted;
    bool none = true;
    for (const policy::ResourceReference& reference : tool.resources) {
      wanted.insert(reference.type);
      none = none && reference.optional;
    }
    if (none) wanted.insert(std::string(kServerType));
    for (const std::string& type : wanted) {
      const EntityType* found = entity(type);
      if (found == nullptr) {
        refuse("catalogue.yaml", fmt::format("tool {}: the schema has no entity type {}",
                                             quoted(tool.name), quoted(type)));
        continue;
      }
      if (!applies(declared.resources, type)) {
        refuse("catalogue.yaml",
               fmt::format("tool {}: the schema's action {} does not apply to the resource {}",
                           quoted(tool.name), quoted(tool.action), type));
      }
      if (resources_.insert(type).second) check_resource(*found);
    }
  }

  void check_resource(const EntityType& type) {
    check_relations(type);
    const Field* tenant = type.attributes.find("tenant");
    if (tenant == nullptr || !is_string(tenant->shape)) {
      refuse(bundle_.schema.file,
             fmt::format("entity {} has no tenant; declare it as tenant: String", type.type));
    }
    for (const auto& [name, field] : type.attributes.fields) {
      if (!is_attribute(field.shape)) {
        refuse(bundle_.schema.file,
               fmt::format("entity {}: {} is {}, and a trusted store gives Bool, Long, String or "
                           "Set<String>",
                           type.type, quoted(name), field.shape.to_string()));
      } else if (type.type == kServerType && name != "tenant") {
        refuse_unsupplied("entity Server", name);
      }
    }
  }

  /// Whether a call of the tool can have an argument of that name left in `context.arguments`: one
  /// that its schema names, and that is not taken out because it names a resource (REQ-BD-033).
  static bool can_supply(const policy::Tool& tool, std::string_view name) {
    const bool is_named =
        tool.open_arguments ||
        std::binary_search(tool.argument_names.begin(), tool.argument_names.end(), name);
    const std::string pointer = json::pointer_to("", name);
    return is_named && std::none_of(tool.resources.begin(), tool.resources.end(),
                                    [&](const policy::ResourceReference& reference) {
                                      return reference.argument == pointer;
                                    });
  }

  void check_arguments(std::string_view action, const ActionType& declared) {
    const Field* arguments = declared.context.find("arguments");
    if (arguments == nullptr || !is_record(arguments->shape)) return;
    const std::string what = fmt::format("context.arguments of action {}", quoted(action));
    for (const auto& [name, field] : arguments->shape.fields) {
      if (!is_argument(field.shape)) {
        refuse(bundle_.schema.file, fmt::format("{}: {} is {}, which no argument can be", what,
                                                quoted(name), field.shape.to_string()));
      } else if (std::none_of(bundle_.tools.begin(), bundle_.tools.end(),
                              [&](const policy::Tool& tool) {
                                return tool.action == action && can_supply(tool, name);
                              })) {
        refuse(bundle_.schema.file,
               fmt::format("{}: no tool has an argument {} beside its resources; take it out", what,
                           quoted(name)));
      }
    }
  }

  const policy::Bundle& bundle_;
  const SchemaTypes& types_;
  std::map<std::string_view, const ActionType*> actions_;
  std::set<std::string> contexts_;
  std::set<std::string> resources_;
  std::vector<Error> problems_;
};

}  // namespace

std::vector<Error> disagreements(const policy::Bundle& bundle, const SchemaTypes& types) {
  return Agreement(bundle, types).run();
}

}  // namespace remit::cedar
