// Names to enums and back.
#include "event/names.h"

namespace remit::event {

std::size_t key_meant_by(std::string_view name) {
  std::array<char, kMaxNameBytes> words{};
  std::size_t length = 0;
  bool was_small = false;
  for (const char c : name) {
    const bool is_capital = c >= 'A' && c <= 'Z';
    if (length + 2 > words.size()) return kKeys.kNone;
    if (is_capital && was_small) words[length++] = '_';
    const bool parts = c == '-' || c == '.' || c == ' ';
    words[length++] = is_capital ? static_cast<char>(c | 0x20) : parts ? '_' : c;
    was_small = c >= 'a' && c <= 'z';
  }
  return kKeys.find_padded(words.data(), length);
}

std::string_view event_kind_name(EventKind kind) {
  return kKindNames[static_cast<std::size_t>(kind)];
}

std::optional<EventKind> parse_event_kind(std::string_view name) {
  if (name.substr(0, 2) == "x.") return EventKind::kExtension;
  const std::size_t index = kKinds.find(name);
  if (index >= kEventKindCount) return std::nullopt;
  return static_cast<EventKind>(index);
}

bool is_call_event(EventKind kind) {
  return kind >= EventKind::kToolRequest && kind <= EventKind::kQueueDenied;
}

std::string_view field_name(Field field) {
  return kKeyNames[static_cast<std::size_t>(field)];
}

std::optional<Field> parse_field(std::string_view name) {
  const std::size_t index = kKeys.find(name);
  if (index >= kFieldCount) return std::nullopt;
  return static_cast<Field>(index);
}

}  // namespace remit::event
