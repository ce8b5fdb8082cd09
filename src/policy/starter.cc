// The starter bundle's files, each written for the person who will edit it next.
#include "policy/starter.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <set>
#include <span>

#include "base/limits.h"
#include "base/nearest_word.h"
#include "json/schema.h"
#include "policy/catalogue.h"

namespace remit::policy {
namespace {

constexpr std::size_t kMaxServerNameBytes = 32;
constexpr std::size_t kMaxToolsNamed = 8;  // in a sentence

/// What the starter needs of one tool.
struct StarterTool : StarterEntry {
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

std::optional<bool> hint(const json::Value& tool, std::string_view name) {
  const json::Value* annotations = tool.find("annotations");
  const json::Value* value = annotations == nullptr ? nullptr : annotations->find(name);
  const bool* said = value == nullptr ? nullptr : value->if_bool();
  return said == nullptr ? std::nullopt : std::optional<bool>(*said);
}

// The defaults are the MCP specification's (ToolAnnotations): not read-only, destructive.
void set_kind(const json::Value& tool, const SaidEffects& said, StarterTool& out) {
  if (const auto own = said.find(out.name); own != said.end()) {
    out.kind = own->second;
    out.said_by = EffectSource::kPerson;
    return;
  }
  const std::optional<bool> is_destructive = hint(tool, "destructiveHint");
  const bool reads = hint(tool, "readOnlyHint").value_or(false);
  out.kind = reads ? "read" : is_destructive.value_or(true) ? "destructive" : "write";
  out.said_by = reads || is_destructive ? EffectSource::kServer : EffectSource::kNobody;
}

// The tool that was meant, or those that there are.
std::string hint_at(std::string_view name, const std::vector<std::string_view>& known) {
  std::string out = suggestion(name, known);
  if (!out.empty() || known.empty()) return out;
  const std::size_t shown = std::min(known.size(), kMaxToolsNamed);
  out = fmt::format("; there are {}", fmt::join(std::span(known).first(shown), ", "));
  if (known.size() > shown) out += fmt::format(" and {} more", known.size() - shown);
  return out;
}

Result<std::vector<StarterTool>> read_tools(const json::Value& tools, const SaidEffects& said,
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
    set_kind(tool, said, entry);
  }
  for (const auto& [name, kind] : said) {
    if (!seen.contains(name)) {
      return Error{ErrorCode::kNotFound,
                   fmt::format("the list has no tool {} that a bundle can hold{}", quoted(name),
                               hint_at(name, {seen.begin(), seen.end()}))};
    }
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
      "# The tools that exist: any other name is refused. What a tool does is what the server says "
      "of\n"
      "# itself, and `destructive` where it says nothing: correct it, it is you who knows. To "
      "correct it,\n"
      "# change `effect` and `scopes` here, and the group behind `in` of its action in "
      "schema.cedarschema;\n"
      "# `remit policy check` warns where these disagree. A tool that names a resource in its "
      "arguments\n"
      "# should say so (`resources: [{argument: /path, type: File}]`), so that its owner is looked "
      "up;\n"
      "# until then it acts on the server as a whole.\n"
      "catalogue: remit.catalogue/1\n";
  out += tools.empty() ? "tools: []\n" : "tools:\n";
  for (std::size_t i = 0; i < tools.size(); ++i) {
    const StarterTool& tool = tools[i];
    if (tool.said_by == EffectSource::kNobody) {
      out += "  # The server says nothing of what this one does.\n";
    }
    out += fmt::format(
        "  - {{name: \"{}\", upstream: {{server: \"{}\", tool: \"{}\"}}, effect: {},\n"
        "     scopes: [\"{}:{}\"], arguments: \"{}\"}}\n",
        tool.name, server, tool.name, tool.kind, server, tool.kind, schema_files[i]);
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
      "// Kinds of tools, which policies/scopes.cedar speaks of; a tool's kind goes with its "
      "`effect` and\n"
      "// `scopes` in catalogue.yaml. The blank keeps these names apart from those of tools, which "
      "have none.\n"
      "action \"read tools\", \"write tools\", \"destructive tools\";\n";
  for (const StarterTool& tool : tools) {
    out += fmt::format(
        "action \"{}\" in [\"{} tools\"] appliesTo {{\n"
        "  principal: [Principal],\n  resource: [Server],\n"
        "  context: {{\n    \"route\": String,\n    \"environment\": String,\n    \"now\": "
        "datetime,\n"
        "    \"approval\": {{\"state\": String, \"id\"?: String}},\n    \"arguments\": {},\n  "
        "}},\n}};\n",
        tool.name, tool.kind, arguments_record(*tool.input_schema));
  }
  return out;
}

constexpr std::string_view kTenantIsolation =
    "// Nobody touches another tenant's resources, whatever else is permitted.\n"
    "@id(\"tenant-isolation\")\n@reason(\"tenant_mismatch\")\n"
    "forbid (principal, action, resource)\n"
    "unless { resource has tenant && principal.tenant == resource.tenant };\n";

// One policy for all kinds, whether or not a tool is of them today: tools are corrected later, and
// the engine warns of a policy that fits no tool.
std::string scope_policy(const std::string& server) {
  std::vector<std::string> groups;
  std::vector<std::string> conditions;
  for (const std::string_view kind : kStarterKinds) {
    groups.push_back(fmt::format("Action::\"{} tools\"", kind));
    conditions.push_back(fmt::format("(action in {} && principal.scopes.contains(\"{}:{}\"))",
                                     groups.back(), server, kind));
  }
  return fmt::format(
      "// What is permitted: each kind of tool to those who hold its scope. Everything else is "
      "refused,\n"
      "// because nothing permits it.\n"
      "@id(\"tools-with-scope\")\n"
      "permit (principal, action in [{}], resource)\n"
      "when {{\n  {}\n}};\n",
      fmt::join(groups, ", "), fmt::join(conditions, " ||\n  "));
}

}  // namespace

Result<StarterBundle> starter_bundle(const json::Value& tools, const std::string& server,
                                     const SaidEffects& said) {
  if (!consists_of(server, {kLowerCase, kDigits, "_-"}, kMaxServerNameBytes)) {
    return Error{ErrorCode::kInvalidInput,
                 fmt::format("a server's name is 1 to {} of a-z 0-9 _ -, not {}",
                             kMaxServerNameBytes, quoted(server))};
  }
  StarterBundle out;
  REMIT_TRY_ASSIGN(const std::vector<StarterTool> list, read_tools(tools, said, out.warnings));
  std::set<std::string> used;
  std::vector<std::string> schema_files;
  for (const StarterTool& tool : list) {
    out.tools.push_back(tool);
    schema_files.push_back(schema_file(tool, used));
    out.files.push_back({schema_files.back(), json::canonical(*tool.input_schema) + "\n"});
  }
  out.files.push_back({"bundle.yaml", bundle_file(server)});
  out.files.push_back({"catalogue.yaml", catalogue_file(list, schema_files, server)});
  out.files.push_back({"schema.cedarschema", cedar_schema_file(list)});
  out.files.push_back({"policies/tenant-isolation.cedar", std::string(kTenantIsolation)});
  if (!list.empty()) out.files.push_back({"policies/scopes.cedar", scope_policy(server)});
  out.scopes = {server + ":read"};
  return out;
}

}  // namespace remit::policy
