// References by RFC 6901 pointer.
#include "enforcement/references.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "base/limits.h"

namespace remit::enforcement {
namespace {

// The last token of a pointer, unescaped, and the pointer to what holds it.
struct Place {
  std::string_view parent;
  std::string key;
};

std::optional<Place> split(std::string_view pointer) {
  const std::size_t slash = pointer.rfind('/');
  if (slash == std::string_view::npos) return std::nullopt;
  Place out{pointer.substr(0, slash), {}};
  const std::string_view token = pointer.substr(slash + 1);
  out.key.reserve(token.size());
  for (std::size_t i = 0; i < token.size(); ++i) {
    const bool escaped = token[i] == '~' && i + 1 < token.size();
    if (escaped && token[i + 1] == '0') {
      out.key += '~';
      ++i;
    } else if (escaped && token[i + 1] == '1') {
      out.key += '/';
      ++i;
    } else {
      out.key += token[i];
    }
  }
  return out;
}

std::optional<std::size_t> index_of(std::string_view key) {
  std::size_t index = 0;
  const auto [end, fault] = std::from_chars(key.data(), key.data() + key.size(), index);
  if (fault != std::errc{} || end != key.data() + key.size()) return std::nullopt;
  return index;
}

// The value at `pointer`, moved out; null if there is none. A null stays where it stands.
json::Value take(json::Value& arguments, std::string_view pointer) {
  const std::optional<Place> place = split(pointer);
  json::Value* found = place ? arguments.at_pointer(pointer) : nullptr;
  if (found == nullptr || found->is_null()) return {};
  json::Value out = std::exchange(*found, json::Value{});
  json::Value* parent = arguments.at_pointer(place->parent);
  json::Object* object = parent == nullptr ? nullptr : parent->if_object();
  if (object != nullptr) object->erase(place->key);
  return out;
}

bool put(json::Value& arguments, std::string_view pointer, json::Value value) {
  std::optional<Place> place = split(pointer);
  json::Value* parent = place ? arguments.at_pointer(place->parent) : nullptr;
  if (parent == nullptr) return false;
  if (json::Object* object = parent->if_object(); object != nullptr) {
    object->set(std::move(place->key), std::move(value));
    return true;
  }
  json::Array* array = parent->if_array();
  const std::optional<std::size_t> index = index_of(place->key);
  if (array == nullptr || !index || *index >= array->size()) return false;
  (*array)[*index] = std::move(value);
  return true;
}

Status add(const policy::ResourceReference& entry, const json::Value& value, References& out) {
  const std::string* text = value.if_string();
  if (text == nullptr) {
    return Error{ErrorCode::kInvalidInput, "a reference must be a string", entry.argument};
  }
  if (text->size() > kMaxReferenceBytes || out.texts.size() >= kMaxResourcesPerCall) {
    return Error{ErrorCode::kLimitExceeded, "references are too long or too many", entry.argument};
  }
  out.texts.push_back(*text);
  out.types.emplace_back(entry.type);
  return {};
}

bool is_present(const ReferenceGroup& group) {
  return group.count > 0 || group.is_list;
}

}  // namespace

Result<References> take_references(const policy::Tool& tool, json::Value& arguments) {
  References out;
  out.groups.reserve(tool.resources.size());
  out.texts.reserve(tool.resources.size());
  out.types.reserve(tool.resources.size());
  for (const policy::ResourceReference& entry : tool.resources) {
    const json::Value value = take(arguments, entry.argument);
    ReferenceGroup group{&entry, false, out.texts.size(), 0};
    if (const json::Array* list = value.if_array(); list != nullptr) {
      group.is_list = true;
      for (const json::Value& element : *list) REMIT_TRY(add(entry, element, out));
    } else if (!value.is_null()) {
      REMIT_TRY(add(entry, value, out));
    }
    group.count = out.texts.size() - group.first;
    out.groups.push_back(group);
  }
  return out;
}

std::string digested_form(const References& references, const json::Value& arguments) {
  std::string out = json::canonical(arguments);
  for (const ReferenceGroup& group : references.groups) {
    if (!is_present(group)) continue;
    out.append("\n").append(group.entry->argument);
    if (group.is_list) out.append("[").append(std::to_string(group.count)).append("]");
  }
  return out;
}

bool has_places(const References& references) {
  return std::any_of(references.groups.begin(), references.groups.end(), is_present);
}

Status put_canonical_ids(const References& references, std::span<const access::Resource> resources,
                         json::Value& arguments) {
  for (const ReferenceGroup& group : references.groups) {
    if (!is_present(group)) continue;
    if (group.first + group.count > resources.size()) {
      return REMIT_BUG("fewer resources than references");
    }
    json::Value value;
    if (group.is_list) {
      json::Array ids;
      ids.reserve(group.count);
      for (std::size_t i = 0; i < group.count; ++i) ids.emplace_back(resources[group.first + i].id);
      value = std::move(ids);
    } else {
      value = resources[group.first].id;
    }
    if (!put(arguments, group.entry->argument, std::move(value))) {
      return REMIT_BUG("the place of a reference is gone");
    }
  }
  return {};
}

}  // namespace remit::enforcement
