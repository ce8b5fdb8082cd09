// Subject files.
#include "conformance/subject.h"

#include <fmt/format.h>

#include <algorithm>

#include "conformance/case_reader.h"
#include "conformance/limits.h"
#include "conformance/pack.h"
#include "yaml/yaml.h"

namespace remit::conformance {
namespace {

std::vector<std::string> all_routes() {
  return {kRoutes.begin(), kRoutes.end()};
}

// The case of the name does not matter here: what is no ability is told with those that are.
void check_abilities(const std::vector<std::string>& words, yaml::ObjectReader& reader) {
  for (const std::string& word : words) {
    if (std::find(kAbilities.begin(), kAbilities.end(), word) == kAbilities.end()) {
      reader.problem("without",
                     fmt::format("{} is none of {}", quoted(word), fmt::join(kAbilities, ", ")));
    }
  }
}

}  // namespace

SubjectParse parse_subject(std::string_view text, const std::string& file,
                           const std::string& directory) {
  yaml::Problems problems(file);
  Subject out;
  const Result<yaml::Node> root = yaml::parse(text);
  if (!root) {
    problems.add(root.error());
  } else {
    yaml::ObjectReader reader(*root, "the subject", problems);
    if (reader.format("subject", "remit.subject/1")) {
      out.name = reader.required_string("name");
      if (const yaml::Node* node = reader.required_node("driver")) {
        yaml::ObjectReader driver(*node, "the driver", problems);
        for (const yaml::Node& word : driver.required_list("command")) {
          if (word.if_string() == nullptr) problems.add(word, "is text");
          out.command.push_back(word.if_string() == nullptr ? "" : *word.if_string());
        }
        if (out.command.empty()) driver.problem("command", "names no program");
        out.environment = driver.optional_strings("environment");
        out.deadline = std::chrono::milliseconds{
            driver.optional_integer("deadline_ms", 1, kMaxDriverDeadline.count())
                .value_or(kDriverDeadline.count())};
        driver.finish();
      }
      out.routes = reader.optional_node("routes") == nullptr
                       ? all_routes()
                       : read_routes(reader, "routes", *root, problems);
      out.without = reader.optional_strings("without");
      check_abilities(out.without, reader);
      reader.finish();
    }
  }
  out.working_directory = directory;
  out.file = file;
  SubjectParse parsed;
  if (problems.empty()) {
    parsed.subject = std::move(out);
  } else {
    parsed.errors = problems.take();
  }
  return parsed;
}

Subject subject_of_command(std::vector<std::string> command) {
  Subject out;
  out.name = command.empty() ? "" : command.front();
  out.command = std::move(command);
  out.routes = all_routes();
  out.deadline = kDriverDeadline;
  return out;
}

}  // namespace remit::conformance
