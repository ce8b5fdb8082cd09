// Reading the catalogue, with each mistake at its line and column.
#include "policy/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/limits.h"
#include "policy/schema_names.h"

namespace remit::policy {
namespace {

constexpr std::int64_t kMaxPermitLifetimeMs = 300'000;

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// A Cedar entity type: identifiers joined by `::`.
bool is_entity_type(std::string_view text) {
  if (text.size() > kMaxIdBytes) return false;
  while (true) {
    const std::size_t end = text.find("::");
    const std::string_view part = text.substr(0, end);
    if (part.empty() || !is_letter(part.front())) return false;
    const auto wrong = [](char c) { return !is_letter(c) && !is_digit(c); };
    if (std::any_of(part.begin(), part.end(), wrong)) return false;
    if (end == std::string_view::npos) return true;
    text.remove_prefix(end + 2);
  }
}

/// RFC 6901 with at least one token.
bool is_pointer(std::string_view text) {
  if (!text.starts_with('/') || text.size() > kMaxIdBytes) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '~' && (i + 1 == text.size() || (text[i + 1] != '0' && text[i + 1] != '1'))) {
      return false;
    }
  }
  return true;
}

/// Whether one of two pointers is the other, or lies within it.
bool overlap(std::string_view left, std::string_view right) {
  if (left.size() > right.size()) std::swap(left, right);
  return right.starts_with(left) && (left.size() == right.size() || right[left.size()] == '/');
}

class CatalogueReader {
 public:
  CatalogueReader(const std::vector<Route>& routes, const ArgumentSchemas& schemas,
                  yaml::Problems& problems)
      : routes_(routes), schemas_(schemas), problems_(problems) {}

  std::vector<Tool> read(const yaml::Node& root) {
    std::vector<Tool> out;
    yaml::ObjectReader reader(root, "the catalogue", problems_);
    if (!reader.format("catalogue", "remit.catalogue/1")) return out;
    const std::span<const yaml::Node> items = reader.required_list("tools");
    if (items.size() > kMaxTools) {
      reader.problem("tools", fmt::format("more than {} tools", kMaxTools),
                     ErrorCode::kLimitExceeded);
      return out;
    }
    for (const yaml::Node& item : items) out.push_back(read_tool(item));
    reader.finish();
    return out;
  }

 private:
  Tool read_tool(const yaml::Node& node) {
    Tool tool;
    yaml::ObjectReader reader(node, "a tool", problems_);
    tool.name = read_name(reader);
    tool.upstream_tool = tool.name;
    if (const yaml::Node* upstream = reader.optional_node("upstream")) {
      yaml::ObjectReader fields(*upstream, "an upstream", problems_);
      tool.upstream_server = fields.required_string("server");
      if (!tool.upstream_server.empty() && !is_plain_name(tool.upstream_server)) {
        fields.problem("server", fmt::format("{} is no server name: 1 to {} of [A-Za-z0-9_./:-]",
                                             quoted(tool.upstream_server), kMaxToolNameBytes));
      }
      tool.upstream_tool = fields.optional_string("tool").value_or(tool.name);
      fields.finish();
    }
    tool.action = reader.optional_string("action").value_or(tool.name);
    tool.effect = reader
                      .required_choice<Effect>("effect", {{"none", Effect::kNone},
                                                          {"read", Effect::kRead},
                                                          {"write", Effect::kWrite},
                                                          {"destructive", Effect::kDestructive},
                                                          {"external", Effect::kExternal},
                                                          {"delegating", Effect::kDelegating}})
                      .value_or(Effect::kDestructive);
    tool.scopes = reader.optional_strings("scopes");
    std::sort(tool.scopes.begin(), tool.scopes.end());
    read_mode(reader, tool);
    tool.requested_ref_safe = reader.optional_bool("requested_ref_safe").value_or(false);
    tool.permit_lifetime_ms = reader.optional_integer("permit_lifetime_ms", 1, kMaxPermitLifetimeMs)
                                  .value_or(kPermitLifetime.count());
    read_boundary(reader, tool);
    read_once(reader, tool);
    const ArgumentSchema* schema = read_arguments(reader, tool);
    read_resources(reader, schema, tool);
    reader.finish();
    return tool;
  }

  std::string read_name(yaml::ObjectReader& reader) {
    std::string name = reader.required_string("name");
    if (name.empty()) return name;
    if (!is_plain_name(name)) {
      reader.problem("name", fmt::format("{} is no tool name: 1 to {} of [A-Za-z0-9_./:-]",
                                         quoted(name), kMaxToolNameBytes));
    } else if (!names_.insert(name).second) {
      reader.problem("name", fmt::format("the tool {} is given twice", quoted(name)));
    }
    return name;
  }

  /// One mode for every route, or a mode for each route that is named.
  void read_mode(yaml::ObjectReader& reader, Tool& tool) {
    const std::initializer_list<std::pair<std::string_view, Mode>> modes = {
        {"enforce", Mode::kEnforce}, {"shadow", Mode::kShadow}};
    const yaml::Node* node = reader.optional_node("mode");
    if (node == nullptr || node->kind() != yaml::Node::Kind::kMap) {
      tool.mode = reader.optional_choice<Mode>("mode", modes);
      return;
    }
    if (node->keys().empty()) reader.problem("mode", "\"mode\" names no route");
    yaml::ObjectReader fields(*node, "a mode by routes", problems_);
    for (const yaml::Key& key : node->keys()) {
      const std::optional<Mode> mode = fields.optional_choice<Mode>(key.text, modes);
      const bool is_known = routes_.empty() ||
                            std::any_of(routes_.begin(), routes_.end(),
                                        [&](const Route& route) { return route.name == key.text; });
      if (!is_known) {
        problems_.add(key.place, fmt::format("bundle.yaml has no route {}", quoted(key.text)));
      }
      if (mode) tool.route_modes.emplace(key.text, *mode);
    }
  }

  static void read_boundary(yaml::ObjectReader& reader, Tool& tool) {
    tool.has_boundary =
        reader.optional_choice<bool>("boundary", {{"required", true}, {"none", false}})
            .value_or(true);
    if (!tool.has_boundary && tool.effect != Effect::kNone) {
      reader.problem("boundary", "only a tool with \"effect: none\" may be without a boundary");
    }
  }

  /// What may happen once, and on whose word.
  static void read_once(yaml::ObjectReader& reader, Tool& tool) {
    tool.approval_required =
        reader.optional_choice<bool>("approval", {{"none", false}, {"required", true}})
            .value_or(false);
    tool.idempotency = reader
                           .optional_choice<Idempotency>(
                               "idempotency", {{"none", Idempotency::kNone},
                                               {"key_optional", Idempotency::kKeyOptional},
                                               {"key_required", Idempotency::kKeyRequired}})
                           .value_or(Idempotency::kNone);
    tool.idempotent = reader.optional_bool("idempotent").value_or(false);
    if (tool.idempotent && tool.idempotency == Idempotency::kNone) {
      reader.problem("idempotent",
                     "\"idempotent: true\" says what may be repeated by one key; let "
                     "\"idempotency\" take keys");
    }
    if (tool.has_boundary || !tool.needs_ledger()) return;
    reader.problem(tool.approval_required ? "approval" : "idempotency",
                   "a tool without a boundary has nothing to protect, and so neither approvals nor "
                   "keys");
  }

  /// The tool's schema; null if it has none, or one with problems.
  const ArgumentSchema* read_arguments(yaml::ObjectReader& reader, Tool& tool) {
    tool.open_arguments = reader.optional_bool("open_arguments").value_or(false);
    const std::optional<std::string> path = reader.optional_string("arguments");
    if (!path) return nullptr;
    const auto found = schemas_.find(*path);
    if (found == schemas_.end()) {
      reader.problem("arguments", fmt::format("the bundle has no {}; a schema is a file "
                                              "schemas/NAME.json",
                                              quoted(*path)));
      return nullptr;
    }
    if (!found->second) return nullptr;
    const ArgumentSchema& schema = *found->second;
    tool.arguments = schema.compiled;
    tool.argument_names = schema.names;
    tool.arguments_schema = schema.canonical;
    return &schema;
  }

  void read_resources(yaml::ObjectReader& reader, const ArgumentSchema* schema, Tool& tool) {
    const std::span<const yaml::Node> items = reader.optional_list("resources");
    if (items.size() > kMaxResourcesPerCall) {
      reader.problem("resources", fmt::format("more than {} resources", kMaxResourcesPerCall),
                     ErrorCode::kLimitExceeded);
      return;
    }
    if (!items.empty() && !tool.has_boundary) {
      reader.problem("resources",
                     "a tool without a boundary has nothing to protect, and so no "
                     "resources");
      return;
    }
    if (!items.empty() && reader.optional_node("arguments") == nullptr) {
      reader.problem("resources", "a tool with resources needs \"arguments\", which name them");
      return;
    }
    for (const yaml::Node& item : items) {
      yaml::ObjectReader fields(item, "a resource", problems_);
      ResourceReference resource;
      resource.argument = fields.required_string("argument");
      resource.type = fields.required_string("type");
      resource.optional = fields.optional_bool("optional").value_or(false);
      check_resource(fields, resource, schema, tool);
      fields.finish();
      tool.resources.push_back(std::move(resource));
    }
  }

  static void check_resource(yaml::ObjectReader& fields, const ResourceReference& resource,
                             const ArgumentSchema* schema, const Tool& tool) {
    if (!resource.type.empty() && !is_entity_type(resource.type)) {
      fields.problem("type", fmt::format("{} is no Cedar entity type", quoted(resource.type)));
    }
    const std::string& argument = resource.argument;
    if (argument.empty()) return;
    if (!is_pointer(argument)) {
      fields.problem("argument",
                     fmt::format("{} is no JSON pointer, as \"/invoice\" is", quoted(argument)));
      return;
    }
    for (const ResourceReference& other : tool.resources) {
      if (!overlap(argument, other.argument)) continue;
      fields.problem("argument", fmt::format("{} overlaps {}, which names a resource already",
                                             quoted(argument), quoted(other.argument)));
      return;
    }
    if (schema != nullptr && !names_pointer(schema->value, argument)) {
      fields.problem("argument",
                     fmt::format("the argument schema does not name {}", quoted(argument)));
    }
  }

  const std::vector<Route>& routes_;
  const ArgumentSchemas& schemas_;
  yaml::Problems& problems_;
  std::set<std::string> names_;
};

}  // namespace

bool is_plain_name(std::string_view text) {
  const auto wrong = [](char c) {
    return !is_letter(c) && !is_digit(c) && c != '.' && c != '/' && c != ':' && c != '-';
  };
  return !text.empty() && text.size() <= kMaxToolNameBytes &&
         std::none_of(text.begin(), text.end(), wrong);
}

Result<ArgumentSchema> read_argument_schema(std::string_view text) {
  REMIT_TRY_ASSIGN(json::Value value, json::parse(text));
  if (value.if_object() == nullptr) {
    return Error{ErrorCode::kInvalidInput, "an argument schema must be a JSON object"};
  }
  REMIT_TRY_ASSIGN(json::Schema compiled, json::Schema::compile(value));
  std::vector<std::string> names = named_properties(value);
  std::string canonical = json::canonical(value);
  return ArgumentSchema{std::move(value), std::move(compiled), std::move(names),
                        std::move(canonical)};
}

std::vector<Tool> read_catalogue(const yaml::Node& root, const std::vector<Route>& routes,
                                 const ArgumentSchemas& schemas, yaml::Problems& problems) {
  return CatalogueReader(routes, schemas, problems).read(root);
}

}  // namespace remit::policy
