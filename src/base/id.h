// Id<Tag>: identifiers that cannot be mistaken for one another.
#pragma once

#include <compare>
#include <functional>
#include <string>
#include <utility>

namespace remit {

/// An opaque identifier, compared byte for byte. `Tag` keeps kinds apart at compile time; an empty
/// one means "none".
template <class Tag>
class Id {
 public:
  Id() = default;
  explicit Id(std::string text) : text_(std::move(text)) {}

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] bool empty() const { return text_.empty(); }

  friend bool operator==(const Id&, const Id&) = default;
  friend auto operator<=>(const Id&, const Id&) = default;

 private:
  std::string text_;
};

}  // namespace remit

template <class Tag>
struct std::hash<remit::Id<Tag>> {
  std::size_t operator()(const remit::Id<Tag>& id) const noexcept {
    return std::hash<std::string>{}(id.text());
  }
};
