// Members that the JSON of both reports has: lists of texts, numbers of calls with examples.
#include "rollout/json_parts.h"

namespace remit::rollout {

void write_texts(std::string_view name, const std::vector<std::string>& texts,
                 report::JsonWriter& json) {
  json.open_member(name, '[');
  for (const std::string& text : texts) {
    json.item();
    json.text(text);
  }
  json.close(']');
}

void write_ids(const Examples& calls, report::JsonWriter& json) {
  json.plain_member("calls", calls.calls());
  write_texts("invocations", {calls.ids().begin(), calls.ids().end()}, json);
}

void write_calls(std::string_view name, const Examples& calls, report::JsonWriter& json) {
  json.open_member(name, '{');
  write_ids(calls, json);
  json.close('}');
}

}  // namespace remit::rollout
