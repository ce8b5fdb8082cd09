// Members that the JSON of both reports has: lists of texts, numbers of calls with examples.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/json_writer.h"
#include "rollout/examples.h"

namespace remit::rollout {

/// The member `name`: an array of `texts`.
void write_texts(std::string_view name, const std::vector<std::string>& texts,
                 report::JsonWriter& json);

/// The members `calls`, a number, and `invocations`, the ids kept of them.
void write_ids(const Examples& calls, report::JsonWriter& json);

/// The member `name`: an object of what `write_ids` writes.
void write_calls(std::string_view name, const Examples& calls, report::JsonWriter& json);

}  // namespace remit::rollout
