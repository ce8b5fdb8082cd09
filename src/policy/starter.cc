// The starter bundle's files, each written for the person who will edit it next.
#include "policy/starter.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <set>

#include "base/limits.h"
#include "json/schema.h"
#include "policy/catalogue.h"

namespace remit::policy {
namespace {

constexpr std::size_t kMaxServerNameBytes = 32;

/// What the starter needs of one tool.
struct StarterTool {
  std::string name;
  std::string effect;  // read, write, external or destructive
  std::string group;   // the scope's second half: read, write or destructive
  const json::Value* input_schema = nullptr;
};

constexpr std::string_view kLowerCase = "abcdefghijklmnopqrstuvwxyz";
constexpr std::string_view kUpperCase = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
constexpr std::string_view kDigits = "0123456789";

bool consists_of(std::string_view name, std::initializer_list<std::string_view> allowed,
                 std::size_t limit) {
  if (name.empty() || name.size() > limit) return false;
  return std::all_of(name.begin(), name.end(), [&](char c) {
    return std::any_of(allowed.begin(), allowed.end(), [&](std::string_view characters) {
      return characters.find(c) != std::string_view::npos;
    });
  });
}

/// Why a tool cannot stand in the bundle; empty if it can.
std::string unfit(const std::string& name, const json::Value& schema) {
  if (!is_plain_name(name)) {
    return fmt::format("a name is 1 to {} of A-Z a-z 0-9 _ . / : -", kMaxToolNameBytes);
  }
  if (name.starts_with("mcp:")) return "names that begin with mcp: mean methods of the protocol";
  const Result<json::Schema> compiled = json::Schema::compile(schema);
  if (compiled) return {};
  return "its argument schema cannot be used: " + compiled.error().to_string();
}

bool hint(const json::Value& tool, std::string_view name, bool otherwise) {
  const json::Value* annotations = tool.find("annotations");
  const json::Value* value = annotations == nullptr ? nullptr : annotations->find(name);
  const bool* said = value == nullptr ? nullptr : value->if_bool();
  return said == nullptr ? otherwise : *said;
}

// The defaults are the MCP specification's (ToolAnnotations): not read-only, destructive.
void set_effect(const json::Value& tool, StarterTool& out) {
  if (hint(tool, "readOnlyHint", false)) {
    out.effect = out.group = "read";
  } else if (hint(tool, "destructiveHint", true)) {
    out.effect = out.group = "destructive";
  } else {
    out.effect = out.group = "write";
  }
}

Result<std::vector<StarterTool>> read_tools(const json::Value& tools,
                                            std::vector<std::string>& warnings) {
  const json::Value* list = tools.if_object() != nullptr ? tools.find("tools") : &tools;
  const json::Array* array = list == nullptr ? nullptr : list->if_array();
  if (array == nullptr) {
    return Error{ErrorCode::kInvalidInput,
                 "not a tool list: expected an array, or an object whose \"tools\" is one"};
  }
  if (array->size() > kMaxTools) {
    return Error{ErrorCode::kLimitExceeded, fmt::format("more than {} tools", kMaxTools)};
  }
  std::vector<StarterTool> out;
  std::set<std::string> seen;
  for (std::size_t i = 0; i < array->size(); ++i) {
    const json::Value& tool = (*array)[i];
    const json::Value* name = tool.find("name");
    const std::string* text = name == nullptr ? nullptr : name->if_string();
    const json::Value* schema = tool.find("inputSchema");
    if (text == nullptr || schema == nullptr || schema->if_object() == nullptr) {
      return Error{ErrorCode::kInvalidInput,
                   "not a tool: \"name\" (text) and \"inputSchema\" (object) are needed",
                   fmt::format("/tools/{}", i)};
    }
    if (const std::string why = unfit(*text, *schema); !why.empty()) {
      warnings.push_back(fmt::format("left out the tool {}: {}", quoted(*text), why));
      continue;
    }
    if (!seen.insert(*text).second) {
      warnings.push_back(fmt::format("left out the second tool named {}", *text));
      continue;
    }
    StarterTool& entry = out.emplace_back();
    entry.name = *text;
    entry.input_schema = schema;
    set_effect(tool, entry);
  }
  std::sort(out.begin(), out.end(), [](const StarterTool& left, const StarterTool& right) {
    return left.name < right.name;
  });
  return out;
}

// A file name of the tool's: `/` and `:` have a meaning there. The index keeps names apart that
// would fall together.
std::string schema_file(const StarterTool& tool, std::set<std::string>& used) {
  constexpr std::size_t kRoomForIndex = 8;
  std::string stem = tool.name;
  std::replace_if(stem.begin(), stem.end(), [](char c) { return c == '/' || c == ':'; }, '_');
  if (stem.front() == '.') stem.front() = '_';
  std::string file = fmt::format("schemas/{}.json", stem);
  stem.resize(std::min(stem.size(), kMaxToolNameBytes - kRoomForIndex));
  for (int i = 2; !used.insert(file).second; ++i) file = fmt::format("schemas/{}-{}.json", stem, i);
  return file;
}

// The Cedar type of a JSON Schema property, or empty where none fits.
std::string_view cedar_type(const json::Value& property) {
  const json::Value* type = property.find("type");
  const std::string* name = type == nullptr ? nullptr : type->if_string();
  if (name == nullptr) return {};
  if (*name == "string") return "String";
  if (*name == "integer") return "Long";
  if (*name == "boolean") return "Bool";
  if (*name == "array") {
    const json::Value* items = property.find("items");
    return items != nullptr && cedar_type(*items) == "String" ? "Set<String>" : std::string_view{};
  }
  return {};
}

// The record type of `context.arguments`: what Cedar can type, all of it optional.
std::string arguments_record(const json::Value& schema) {
  std::string out;
  const json::Value* properties = schema.find("properties");
  if (properties != nullptr && properties->if_object() != nullptr) {
    for (const auto& [name, property] : properties->if_object()->members()) {
      const std::string_view type = cedar_type(property);
      if (type.empty() ||
          !consists_of(name, {kLowerCase, kUpperCase, kDigits, "_"}, kMaxToolNameBytes))
        continue;
      out += fmt::format("{}\"{}\"?: {}", out.empty() ? "" : ", ", name, type);
    }
  }
  return out.empty() ? "{}" : "{" + out + "}";
}

std::string bundle_file(const std::string& server) {
  return fmt::format(
      "# What is in force: give every change a new version. Edit freely; `remit policy check` "
      "proves it.\n"
      "bundle: remit.bundle/1\n"
      "version: \"1\"\n"
      "description: starter for the server {}\n"
      "environment: local\n"
      "routes:\n"
      "  - {{name: agent, transport: stdio, mode: enforce}}\n",
      server);
}

std::string catalogue_file(const std::vector<StarterTool>& tools,
                           const std::vector<std::string>& schema_files,
                           const std::string& server) {
  std::string out =
      "# The tools that exist: any other name is refused. `effect` is what the server says of "
      "itself, and\n"
      "# `destructive` where it says nothing: correct it, it is you who knows. A tool that names a "
      "resource\n"
      "# in its arguments should say so (`resources: [{argument: /path, type: File}]`), so that "
      "its owner\n"
      "# is looked up; until then it acts on the server as a whole.\n"
      "catalogue: remit.catalogue/1\n";
  out += tools.empty() ? "tools: []\n" : "tools:\n";
  for (std::size_t i = 0; i < tools.size(); ++i) {
    const StarterTool& tool = tools[i];
    out += fmt::format(
        "  - {{name: \"{}\", upstream: {{server: \"{}\", tool: \"{}\"}}, effect: {},\n"
        "     scopes: [\"{}:{}\"], arguments: \"{}\"}}\n",
        tool.name, server, tool.name, tool.effect, server, tool.group, schema_files[i]);
  }
  return out;
}

std::string cedar_schema_file(const std::vector<StarterTool>& tools) {
  std::string out =
      "// Types that policies speak of. A resource's attributes are the columns of its trusted "
      "store.\n"
      "entity Principal = {\n"
      "  \"tenant\": String,\n  \"class\": String,\n  \"scopes\": Set<String>,\n"
      "  \"on_behalf_of\"?: String,\n};\n"
      "entity Server = {\n  \"tenant\": String,\n};\n"
      "// Kinds of tools. The blank keeps these names apart from those of tools, which have none.\n"
      "action \"read tools\", \"write tools\", \"destructive tools\";\n";
  for (const StarterTool& tool : tools) {
    out += fmt::format(
        "action \"{}\" in [\"{} tools\"] appliesTo {{\n"
        "  principal: [Principal],\n  resource: [Server],\n"
        "  context: {{\n    \"route\": String,\n    \"environment\": String,\n    \"now\": "
        "datetime,\n"
        "    \"approval\": {{\"state\": String, \"id\"?: String}},\n    \"arguments\": {},\n  "
        "}},\n}};\n",
        tool.name, tool.group, arguments_record(*tool.input_schema));
  }
  return out;
}

constexpr std::string_view kTenantIsolation =
    "// Nobody touches another tenant's resources, whatever else is permitted.\n"
    "@id(\"tenant-isolation\")\n@reason(\"tenant_mismatch\")\n"
    "forbid (principal, action, resource)\n"
    "unless { resource has tenant && principal.tenant == resource.tenant };\n";

std::string scope_policies(const std::set<std::string>& groups, const std::string& server) {
  std::string out =
      "// What is permitted: each kind of tool to those who hold its scope. Everything else is "
      "refused,\n"
      "// because nothing permits it.\n";
  for (const std::string& group : groups) {
    out += fmt::format(
        "@id(\"{0}-with-scope\")\npermit (principal, action in Action::\"{0} tools\", resource)\n"
        "when {{ principal.scopes.contains(\"{1}:{0}\") }};\n",
        group, server);
  }
  return out;
}

}  // namespace

Result<StarterBundle> starter_bundle(const json::Value& tools, const std::string& server) {
  if (!consists_of(server, {kLowerCase, kDigits, "_-"}, kMaxServerNameBytes)) {
    return Error{ErrorCode::kInvalidInput,
                 fmt::format("a server's name is 1 to {} of a-z 0-9 _ -, not {}",
                             kMaxServerNameBytes, quoted(server))};
  }
  StarterBundle out;
  REMIT_TRY_ASSIGN(const std::vector<StarterTool> list, read_tools(tools, out.warnings));
  out.tool_count = list.size();
  std::set<std::string> used;
  std::set<std::string> groups;
  std::vector<std::string> schema_files;
  for (const StarterTool& tool : list) {
    groups.insert(tool.group);
    schema_files.push_back(schema_file(tool, used));
    out.files.push_back({schema_files.back(), json::canonical(*tool.input_schema) + "\n"});
  }
  out.files.push_back({"bundle.yaml", bundle_file(server)});
  out.files.push_back({"catalogue.yaml", catalogue_file(list, schema_files, server)});
  out.files.push_back({"schema.cedarschema", cedar_schema_file(list)});
  out.files.push_back({"policies/tenant-isolation.cedar", std::string(kTenantIsolation)});
  if (!groups.empty()) {
    out.files.push_back({"policies/scopes.cedar", scope_policies(groups, server)});
  }
  out.scopes = {server + ":read"};
  return out;
}

}  // namespace remit::policy
