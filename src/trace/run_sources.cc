// The shortest ends of paths that differ.
#include "trace/run_sources.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "trace/event_lines.h"

namespace remit::trace {
namespace {

enum class Ending : bool { kWithout, kWith };

/// The last name of `path` behind the `depth` directories in front of it, each as part of an id.
std::string path_end(std::string_view path, std::size_t depth, Ending ending) {
  const std::size_t name_at = path.rfind('/') + 1;  // npos + 1 is 0
  std::string out = id_part(ending == Ending::kWith ? path.substr(name_at) : file_stem(path));
  path = path.substr(0, name_at);
  while (depth > 0 && !path.empty()) {
    path.remove_suffix(1);
    const std::string_view name = path.substr(path.rfind('/') + 1);
    path.remove_suffix(name.size());
    if (name.empty() || name == ".") continue;
    out.insert(0, id_part(name) + "/");
    --depth;
  }
  return out;
}

std::string_view path_of(const Input& input) {
  return input.paths.empty() ? std::string_view(input.name) : input.paths.front();
}

/// The names of `inputs` at the first depth at which no two are equal; at none, the longest.
std::vector<std::string> different_ends(const std::vector<Input*>& inputs) {
  std::ptrdiff_t depths = 0;
  for (const Input* input : inputs) {
    depths = std::max(depths, std::ranges::count(path_of(*input), '/'));
  }
  std::vector<std::string> names(inputs.size());
  for (const Ending ending : {Ending::kWithout, Ending::kWith}) {
    for (std::size_t depth = 0; depth <= static_cast<std::size_t>(depths); ++depth) {
      std::set<std::string_view> seen;
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        names[i] = path_end(path_of(*inputs[i]), depth, ending);
        seen.insert(names[i]);
      }
      if (seen.size() == inputs.size()) return names;
    }
  }
  return names;
}

}  // namespace

std::string_view file_stem(std::string_view path) {
  path.remove_prefix(path.rfind('/') + 1);  // npos + 1 is 0
  for (const std::string_view ending : {".gz", ".zst", ".jsonl", ".ndjson", ".json"}) {
    if (path.size() > ending.size() && path.ends_with(ending)) path.remove_suffix(ending.size());
  }
  return path;
}

void tell_runs_apart(std::vector<Input>& inputs) {
  std::map<std::string, std::vector<Input*>> by_stem;
  for (Input& input : inputs) {
    // The segments of a log hold no recorded runs.
    if (input.form == Form::kJsonLines || input.paths.size() > 1) continue;
    by_stem[id_part(file_stem(path_of(input)))].push_back(&input);
  }
  std::set<std::string> taken;
  for (const auto& [stem, group] : by_stem) taken.insert(stem);
  for (const auto& [stem, group] : by_stem) {
    if (group.size() == 1) continue;
    std::vector<std::string> names = different_ends(group);
    for (std::size_t i = 0; i < group.size(); ++i) {
      // Names that differ in what an id may not hold, and none else, are numbered.
      std::string name = names[i];
      for (int number = 2; !taken.insert(name).second; ++number) {
        name = names[i] + "-" + std::to_string(number);
      }
      group[i]->run_source = std::move(name);
    }
  }
}

}  // namespace remit::trace
