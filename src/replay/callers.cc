// `remit.callers/1`.
#include "replay/callers.h"

#include <utility>

#include <fmt/format.h>

#include "base/limits.h"
#include "yaml/yaml.h"

namespace remit::replay {

CallersOutcome parse_callers(std::string_view text, const std::string& file) {
  yaml::Problems problems(file);
  const Result<yaml::Node> root = yaml::parse(text);
  if (!root) {
    problems.add(root.error());
    return {{}, problems.take()};
  }
  Callers out;
  yaml::ObjectReader reader(*root, "the list of callers", problems);
  if (reader.format("callers", "remit.callers/1")) {
    for (const yaml::Node& node : reader.required_list("runs")) {
      yaml::ObjectReader item(node, "a run", problems);
      const std::string run = item.required_string("run");
      Caller caller{.principal = item.required_string("principal"),
                    .label = item.optional_string("label").value_or("")};
      item.finish();
      if (caller.label.size() > kMaxIdBytes) {
        problems.add(node, fmt::format("a label has at most {} bytes", kMaxIdBytes));
      }
      if (out.emplace(run, std::move(caller)).second || run.empty()) continue;
      problems.add(node, "the run " + quoted(run) + " is named twice");
    }
    reader.finish();
  }
  if (!problems.empty()) return {{}, problems.take()};
  return {std::move(out), {}};
}

}  // namespace remit::replay
