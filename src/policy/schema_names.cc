// Walking the subschemas that apply to one instance.
#include "policy/schema_names.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

namespace remit::policy {
namespace {

using Schemas = std::vector<const json::Value*>;

void append(Schemas& to, const json::Value* schema) {
  if (schema != nullptr) to.push_back(schema);
}

/// The subschemas that `schema` applies to its own instance.
Schemas applied_in_place(const json::Value& root, const json::Value& schema) {
  Schemas out;
  for (const char* const keyword : {"if", "then", "else"}) append(out, schema.find(keyword));
  for (const char* const keyword : {"allOf", "anyOf", "oneOf"}) {
    const json::Value* list = schema.find(keyword);
    const json::Array* items = list == nullptr ? nullptr : list->if_array();
    if (items == nullptr) continue;
    for (const json::Value& item : *items) out.push_back(&item);
  }
  if (const json::Value* dependent = schema.find("dependentSchemas")) {
    if (const json::Object* object = dependent->if_object()) {
      for (const json::Member& member : object->members()) out.push_back(&member.second);
    }
  }
  if (const json::Value* reference = schema.find("$ref")) {
    const std::string* text = reference->if_string();
    // Percent-encoded fragments are not decoded: what they name is then not named.
    if (text != nullptr && text->starts_with('#')) {
      append(out, root.at_pointer(std::string_view(*text).substr(1)));
    }
  }
  return out;
}

/// `start` and everything that applies to the same instance, each once.
Schemas reachable(const json::Value& root, Schemas start) {
  std::set<const json::Value*> seen;
  Schemas out;
  while (!start.empty()) {
    const json::Value* schema = start.back();
    start.pop_back();
    if (!seen.insert(schema).second) continue;
    out.push_back(schema);
    for (const json::Value* next : applied_in_place(root, *schema)) start.push_back(next);
  }
  return out;
}

std::optional<std::size_t> as_index(std::string_view token) {
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), index);
  const bool whole = error == std::errc{} && end == token.data() + token.size();
  if (!whole || (token.size() > 1 && token.front() == '0')) return std::nullopt;
  return index;
}

/// The subschemas that name the child `token` of an instance of `schema`.
void append_children(const json::Value& schema, std::string_view token, Schemas& out) {
  if (const json::Value* properties = schema.find("properties")) {
    append(out, properties->find(token));
  }
  const std::optional<std::size_t> index = as_index(token);
  if (!index) return;
  for (const char* const keyword : {"prefixItems", "items"}) {
    const json::Value* items = schema.find(keyword);
    if (items == nullptr) continue;
    const json::Array* list = items->if_array();
    if (list == nullptr) {
      out.push_back(items);
    } else if (*index < list->size()) {
      out.push_back(&(*list)[*index]);
    }
  }
}

/// The next token of a pointer, unescaped; takes it off the front.
std::string take_token(std::string_view& pointer) {
  pointer.remove_prefix(1);
  const std::string_view raw = pointer.substr(0, pointer.find('/'));
  pointer.remove_prefix(raw.size());
  std::string token;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    const bool escape = raw[i] == '~' && i + 1 < raw.size();
    token += escape ? (raw[++i] == '1' ? '/' : '~') : raw[i];
  }
  return token;
}

}  // namespace

std::vector<std::string> named_properties(const json::Value& schema) {
  std::set<std::string> names;
  for (const json::Value* each : reachable(schema, {&schema})) {
    const json::Value* properties = each->find("properties");
    const json::Object* object = properties == nullptr ? nullptr : properties->if_object();
    if (object == nullptr) continue;
    for (const json::Member& member : object->members()) names.insert(member.first);
  }
  return {names.begin(), names.end()};
}

bool names_pointer(const json::Value& schema, std::string_view pointer) {
  if (!pointer.starts_with('/')) return false;
  Schemas here{&schema};
  while (!pointer.empty()) {
    const std::string token = take_token(pointer);
    Schemas next;
    for (const json::Value* each : reachable(schema, here)) append_children(*each, token, next);
    if (next.empty()) return false;
    here = std::move(next);
  }
  return true;
}

}  // namespace remit::policy
