// Entries of known failures, one for each case and route.
#include "conformance/known_failures.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/nearest_word.h"
#include "conformance/case_reader.h"
#include "yaml/yaml.h"

namespace remit::conformance {
namespace {

void read_entry(const yaml::Node& node, const Pack& pack, yaml::Problems& problems,
                std::set<std::pair<std::string, std::string>>& seen, KnownFailures& out) {
  yaml::ObjectReader reader(node, "an entry", problems);
  KnownFailure one;
  one.case_id = reader.required_string("case");
  const std::vector<std::string> routes = read_routes(reader, "routes", node, problems);
  one.owner = reader.required_string("owner");
  one.reason = reader.required_string("reason");
  one.line = node.place().line;
  reader.finish();
  const Case* of = pack.find_case(one.case_id);
  if (of == nullptr) {
    std::vector<std::string_view> names;
    for (const Case& known : pack.cases) names.push_back(known.id);
    return problems.add(node, fmt::format("the pack has no case {}{}", quoted(one.case_id),
                                          suggestion(one.case_id, names)));
  }
  for (const std::string& route : routes) {
    if (std::find(of->routes.begin(), of->routes.end(), route) == of->routes.end()) {
      problems.add(node, fmt::format("{} is not run on {}", quoted(one.case_id), quoted(route)));
    }
    if (!seen.emplace(one.case_id, route).second) {
      problems.add(node,
                   fmt::format("{} on {} is given twice", quoted(one.case_id), quoted(route)));
    }
    one.route = route;
    out.entries.push_back(one);
  }
}

}  // namespace

KnownFailuresParse parse_known_failures(std::string_view text, const std::string& file,
                                        const Pack& pack) {
  yaml::Problems problems(file);
  KnownFailures out;
  out.file = file;
  const Result<yaml::Node> root = yaml::parse(text);
  if (!root) {
    problems.add(root.error());
  } else {
    yaml::ObjectReader reader(*root, "the known failures", problems);
    if (reader.format("known_failures", "remit.known-failures/1")) {
      std::set<std::pair<std::string, std::string>> seen;
      for (const yaml::Node& node : reader.required_list("known")) {
        read_entry(node, pack, problems, seen, out);
      }
      reader.finish();
    }
  }
  KnownFailuresParse parsed;
  if (problems.empty()) {
    parsed.known = std::move(out);
  } else {
    parsed.errors = problems.take();
  }
  return parsed;
}

}  // namespace remit::conformance
