// The tree's accessors.
#include "yaml/yaml.h"

#include <fmt/format.h>

#include <algorithm>

namespace remit::yaml {

std::string Node::describe() const {
  switch (kind_) {
    case Kind::kNull:
      return "nothing";
    case Kind::kBool:
      return bool_ ? "true" : "false";
    case Kind::kInteger:
    case Kind::kNumber:
      return fmt::format("the number {}", quoted(text_));
    case Kind::kString:
      return fmt::format("the text {}", quoted(text_));
    case Kind::kList:
      return "a list";
    case Kind::kMap:
      return "a map";
  }
  return "nothing";
}

std::optional<bool> Node::if_bool() const {
  if (kind_ != Kind::kBool) return std::nullopt;
  return bool_;
}

std::optional<std::int64_t> Node::if_integer() const {
  if (kind_ != Kind::kInteger) return std::nullopt;
  return integer_;
}

const std::string* Node::if_string() const {
  return kind_ == Kind::kString ? &text_ : nullptr;
}

std::span<const Node> Node::items() const {
  if (kind_ != Kind::kList) return {};
  return children_;
}

std::span<const Key> Node::keys() const {
  return keys_;
}

std::span<const Node> Node::values() const {
  if (kind_ != Kind::kMap) return {};
  return children_;
}

const Node* Node::find(std::string_view key) const {
  const auto found =
      std::find_if(keys_.begin(), keys_.end(), [&](const Key& each) { return each.text == key; });
  if (found == keys_.end()) return nullptr;
  return &children_[static_cast<std::size_t>(found - keys_.begin())];
}

}  // namespace remit::yaml
