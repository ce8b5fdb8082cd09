// Objects and RFC 6901 pointers over the value tree.
#include "json/value.h"

#include <algorithm>
#include <optional>

namespace remit::json {
namespace {

// One reference token with `~1` and `~0` undone; nothing if a `~` stands for neither.
std::optional<std::string> unescape_token(std::string_view token) {
  std::string out;
  out.reserve(token.size());
  for (std::size_t i = 0; i < token.size(); ++i) {
    if (token[i] != '~') {
      out += token[i];
      continue;
    }
    ++i;
    if (i >= token.size() || (token[i] != '0' && token[i] != '1')) return std::nullopt;
    out += token[i] == '0' ? '~' : '/';
  }
  return out;
}

// An array index as RFC 6901 writes it: digits, no leading zero.
std::optional<std::size_t> parse_index(std::string_view token) {
  constexpr std::size_t kMaxDigits = 9;
  if (token.empty() || token.size() > kMaxDigits) return std::nullopt;
  if (token.size() > 1 && token[0] == '0') return std::nullopt;
  std::size_t index = 0;
  for (const char c : token) {
    if (c < '0' || c > '9') return std::nullopt;
    index = index * 10 + static_cast<std::size_t>(c - '0');
  }
  return index;
}

const Value* step(const Value& value, std::string_view token) {
  const std::optional<std::string> key = unescape_token(token);
  if (!key) return nullptr;
  if (const Array* array = value.if_array()) {
    const std::optional<std::size_t> index = parse_index(*key);
    return index && *index < array->size() ? &(*array)[*index] : nullptr;
  }
  return value.find(*key);
}

}  // namespace

Object::Object(std::initializer_list<Member> members) {
  members_.reserve(members.size());
  for (const Member& member : members) set(member.first, member.second);
}

const Value* Object::find(std::string_view key) const {
  const auto at = std::find_if(members_.begin(), members_.end(),
                               [&](const Member& member) { return member.first == key; });
  return at == members_.end() ? nullptr : &at->second;
}

Value* Object::find(std::string_view key) {
  return const_cast<Value*>(std::as_const(*this).find(key));
}

void Object::set(std::string key, Value value) {
  if (Value* present = find(key)) {
    *present = std::move(value);
    return;
  }
  members_.emplace_back(std::move(key), std::move(value));
}

bool Object::erase(std::string_view key) {
  return std::erase_if(members_, [&](const Member& member) { return member.first == key; }) > 0;
}

const Value* Value::at_pointer(std::string_view pointer) const {
  const Value* value = this;
  while (!pointer.empty()) {
    if (pointer.front() != '/') return nullptr;
    pointer.remove_prefix(1);
    const std::string_view token = pointer.substr(0, pointer.find('/'));
    value = step(*value, token);
    if (value == nullptr) return nullptr;
    pointer.remove_prefix(token.size());
  }
  return value;
}

Value* Value::at_pointer(std::string_view pointer) {
  return const_cast<Value*>(std::as_const(*this).at_pointer(pointer));
}

std::string pointer_to(std::string_view parent, std::string_view name) {
  std::string out(parent);
  out += '/';
  for (const char c : name) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace remit::json
