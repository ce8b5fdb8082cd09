// Events out: one line each, `event` and `invocation_id` first, the rest in the order of `Field`.
#include <charconv>

#include "event/names.h"
#include "json/value.h"

namespace remit::event {
namespace {

void write_key(Field field, std::string& out) {
  out += ",\"";
  out += field_name(field);
  out += "\":";
}

void write_list(const std::vector<std::string_view>& list, std::string& out) {
  out += '[';
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i > 0) out += ',';
    json::write_string(list[i], out);
  }
  out += ']';
}

void write_integer(std::int64_t value, std::string& out) {
  std::array<char, 24> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value);
  out.append(text.data(), end.ptr);
}

}  // namespace

void encode(const Event& event, std::string& out) {
  out += "{\"event\":";
  json::write_string(event_kind_name(event.kind), out);
  for (std::size_t i = 0; i < kFieldCount; ++i) {
    const auto field = static_cast<Field>(i);
    if (!event.has(field)) continue;
    write_key(field, out);
    if (field == Field::kResourceId && event.resource_id_is_null) {
      out += "null";
    } else if (field <= Field::kLastText) {
      json::write_string(event.text(field), out);
    } else if (field <= Field::kLastInteger) {
      write_integer(event.integer(field), out);
    } else if (field == Field::kEnforced) {
      out += event.enforced ? "true" : "false";
    } else {
      write_list(
          field == Field::kFurtherResources ? event.further_resources : event.determining_policies,
          out);
    }
  }
  out += "}\n";
}

}  // namespace remit::event
