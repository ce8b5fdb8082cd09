// Subject files.
#include "conformance/subject.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/limits.h"
#include "conformance/case_reader.h"
#include "conformance/pack.h"
#include "yaml/yaml.h"

namespace remit::conformance {
namespace {

std::vector<std::string> all_routes() {
  return {kRoutes.begin(), kRoutes.end()};
}

// Of the usual one a client speaks to: an agent by MCP, an old endpoint by HTTP.
std::vector<std::string> usual_routes(const Subject& subject) {
  if (!subject.executor) return all_routes();
  return {subject.executor->protocol == Protocol::kMcp ? "agent" : "legacy"};
}

void read_driver(const yaml::Node& node, Subject& out, yaml::Problems& problems) {
  yaml::ObjectReader driver(node, "the driver", problems);
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

void need_evidence(const Executor& executor, yaml::ObjectReader& reader) {
  if (!executor.evidence_directory.empty() || !executor.evidence_lines.empty()) return;
  reader.problem("evidence", "is needed where no driver collects the record");
}

void refuse_other_routes(const Subject& subject, yaml::ObjectReader& reader) {
  for (const std::string& route : subject.routes) {
    if (std::find(kClientRoutes.begin(), kClientRoutes.end(), route) != kClientRoutes.end()) {
      continue;
    }
    reader.problem("routes", fmt::format("a client comes by one of {}, and not by {}",
                                         fmt::join(kClientRoutes, ", "), quoted(route)));
  }
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

// What is said of an executor where there is none: most likely the key of the one is misspelt.
bool is_without_executor(const yaml::Node& root, yaml::ObjectReader& reader) {
  bool out = false;
  for (const char* key : {"evidence", "callers", "cannot"}) {
    if (reader.optional_node(key) == nullptr || out) continue;
    reader.problem(key,
                   "is said of an executor over MCP or HTTP, and there is neither 'mcp' nor "
                   "'http'");
    out = true;
  }
  return out && root.find("driver") == nullptr;
}

// A program is easily named in the place of a subject.
Error with_hint(Error error, std::string_view file) {
  for (const char* end : {".yaml", ".yml", ".json"}) {
    if (file.ends_with(end)) return error;
  }
  error.message += "; a subject is a YAML file, the command of a driver goes behind --";
  return error;
}

}  // namespace

SubjectParse parse_subject(std::string_view text, const std::string& file,
                           const std::string& directory, const Pack& pack) {
  yaml::Problems problems(file);
  Subject out;
  const Result<yaml::Node> root = yaml::parse(text);
  if (!root) {
    problems.add(with_hint(root.error(), file));
  } else if (root->kind() != yaml::Node::Kind::kMap) {
    const std::string what = fmt::format("the subject must be a map, not {}", root->describe());
    problems.add(with_hint(Error{ErrorCode::kInvalidInput, what, "1:1"}, file));
  } else {
    yaml::ObjectReader reader(*root, "the subject", problems);
    if (reader.format("subject", "remit.subject/1")) {
      out.name = reader.required_string("name");
      out.executor = read_executor(reader, words_of(pack), problems);
      const bool has_driver = !out.executor && !is_without_executor(*root, reader);
      const yaml::Node* node =
          has_driver ? reader.required_node("driver") : reader.optional_node("driver");
      out.deadline = kDriverDeadline;
      if (node != nullptr) read_driver(*node, out, problems);
      if (out.executor && out.command.empty()) need_evidence(*out.executor, reader);
      out.routes = reader.optional_node("routes") == nullptr
                       ? usual_routes(out)
                       : read_routes(reader, "routes", *root, problems);
      if (out.executor) refuse_other_routes(out, reader);
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

std::vector<std::string> needs_of_subject(const Subject& subject, const Case& of) {
  if (subject.executor) return needs_of(of);
  std::set<std::string> out(of.needs.begin(), of.needs.end());
  for (const Step& step : of.steps) {
    if (is_asked_of_driver(step.kind)) out.emplace(step_name(step.kind));
  }
  return {out.begin(), out.end()};
}

const std::string* why_not(const Subject& subject, std::string_view need) {
  if (!subject.executor) return nullptr;
  const auto found = subject.executor->cannot.find(need);
  return found == subject.executor->cannot.end() ? nullptr : &found->second;
}

}  // namespace remit::conformance
