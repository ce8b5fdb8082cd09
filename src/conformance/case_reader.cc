// Cases as people write them: every mistake is told with its place.
#include "conformance/case_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "base/error.h"
#include "conformance/yaml_json.h"
#include "grading/contract.h"

namespace remit::conformance {
namespace {

constexpr StepKind kStepKinds[] = {
    StepKind::kCall,           StepKind::kSubmit,       StepKind::kRun,
    StepKind::kPlant,          StepKind::kRetry,        StepKind::kForceStart,
    StepKind::kSetPolicy,      StepKind::kSetPrincipal, StepKind::kSetResource,
    StepKind::kRevokeApproval, StepKind::kTakeDown,     StepKind::kBringUp,
    StepKind::kRestart,        StepKind::kDownstream};

constexpr std::array<std::string_view, 5> kSections = {"tools", "principals", "resources",
                                                       "approvals", "policy"};

template <class Words>
bool is_one_of(std::string_view word, const Words& words) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

template <class Words>
std::string listed(const Words& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

json::Value& section(json::Object& fixture, std::string_view name) {
  if (fixture.find(name) == nullptr) fixture.set(std::string(name), json::Object{});
  return *fixture.find(name);
}

class CaseReader {
 public:
  CaseReader(const json::Object& fixture, yaml::Problems& problems)
      : fixture_(fixture), problems_(problems) {}

  Case read(const yaml::Node& root) {
    Case out;
    yaml::ObjectReader reader(root, "the case", problems_);
    if (!reader.format("case", "remit.case/1")) return out;
    out.id = reader.required_string("id");
    out.title = reader.required_string("title");
    out.proves = reader.required_string("proves");
    out.does_not_prove = reader.required_string("does_not_prove");
    out.routes = read_routes(reader, "routes", root, problems_);
    out.is_task =
        reader.optional_choice<bool>("kind", {{"security", false}, {"task", true}}).value_or(false);
    out.is_control = reader.optional_bool("control").value_or(false);
    out.contract = reader.optional_string("contract").value_or("sequential");
    if (!grading::built_in_contract(out.contract)) {
      reader.problem("contract",
                     fmt::format("'contract' is one of {}", grading::kBuiltInContracts));
    }
    out.needs = words(reader, "needs", kAbilities);
    out.allowed_requests = reader.optional_strings("allowed_requests");
    out.forbidden_requests = reader.optional_strings("forbidden_requests");
    out.fixture = fixture_;
    if (const yaml::Node* own = reader.optional_node("fixture")) {
      out.fixture = read_fixture(*own, fixture_, problems_);
      out.has_own_fixture = true;
    }
    read_verdicts(reader.optional_node("verdicts"), out);
    for (const yaml::Node& node : reader.required_list("steps")) {
      out.steps.push_back(step(node, out));
    }
    reader.finish();
    const bool expects = std::any_of(out.steps.begin(), out.steps.end(),
                                     [](const Step& each) { return each.expect.has_value(); });
    if (!expects) problems_.add(root, "no step of the case expects anything");
    return out;
  }

 private:
  template <class Words>
  std::vector<std::string> words(yaml::ObjectReader& reader, std::string_view key,
                                 const Words& known) {
    std::vector<std::string> out = reader.optional_strings(key);
    for (const std::string& word : out) {
      if (!is_one_of(word, known)) {
        reader.problem(key, fmt::format("{} is none of {}", quoted(word), listed(known)));
      }
    }
    return out;
  }

  void read_verdicts(const yaml::Node* node, Case& out) {
    out.verdicts.fill({grading::Value::kPassed});
    if (node == nullptr) return;
    yaml::ObjectReader reader(*node, "'verdicts'", problems_);
    for (const grading::Verdict verdict : grading::kVerdicts) {
      const std::string_view name = grading::verdict_name(verdict);
      if (reader.optional_node(name) == nullptr) continue;
      std::vector<grading::Value> values;
      for (const std::string& word : reader.optional_strings(name)) {
        const std::optional<grading::Value> value = value_of(word);
        if (value) {
          values.push_back(*value);
        } else {
          reader.problem(name, fmt::format("{} is no value of a verdict", quoted(word)));
        }
      }
      if (values.empty()) reader.problem(name, "no value would be right");
      out.verdicts[static_cast<std::size_t>(verdict)] = std::move(values);
    }
    reader.finish();
  }

  static std::optional<grading::Value> value_of(std::string_view word) {
    for (const grading::Value value :
         {grading::Value::kPassed, grading::Value::kFailed, grading::Value::kUndetermined,
          grading::Value::kNotExercised}) {
      if (grading::value_name(value) == word) return value;
    }
    return std::nullopt;
  }

  Step step(const yaml::Node& node, const Case& of) {
    Step out;
    yaml::ObjectReader reader(node, "a step", problems_);
    const yaml::Node* what = nullptr;
    for (const StepKind kind : kStepKinds) {
      const yaml::Node* found = reader.optional_node(step_name(kind));
      if (found == nullptr) continue;
      if (what != nullptr) problems_.add(*found, "a step does one thing");
      what = found;
      out.kind = kind;
    }
    if (what == nullptr) {
      problems_.add(node, "the step does nothing: it has none of the known keys");
    } else {
      read_members(*what, of, out);
    }
    if (const yaml::Node* node_of_expect = reader.optional_node("expect")) {
      out.expect = expected(*node_of_expect);
      if (out.call.empty()) problems_.add(node, "only what is seen of a call can be expected");
    }
    reader.finish();
    return out;
  }

  void read_members(const yaml::Node& node, const Case& of, Step& out) {
    switch (out.kind) {
      case StepKind::kCall:
      case StepKind::kSubmit:
      case StepKind::kPlant:
        return read_call(node, of, out);
      case StepKind::kRun:
      case StepKind::kRetry:
      case StepKind::kForceStart:
        return read_later(node, out);
      case StepKind::kSetPolicy:
        out.members.set("policy", to_json(node, problems_));
        return;
      case StepKind::kSetPrincipal:
        return read_entry(node, "principal", out);
      case StepKind::kSetResource:
        return read_entry(node, "resource", out);
      case StepKind::kRevokeApproval:
        out.members.set("approval", text_of(node));
        require(node, of.fixture, "approvals", text_of(node));
        return;
      case StepKind::kTakeDown:
      case StepKind::kBringUp:
        return read_word(node, "part", kParts, out);
      case StepKind::kDownstream:
        return read_word(node, "answer", std::array<std::string_view, 2>{"failed", "lost"}, out);
      case StepKind::kRestart: {
        yaml::ObjectReader(node, "'restart'", problems_).finish();
        return;
      }
    }
  }

  void read_call(const yaml::Node& node, const Case& of, Step& out) {
    yaml::ObjectReader reader(node, "a call", problems_);
    out.call = reader.required_string("call");
    out.tool = reader.required_string("tool");
    const std::optional<std::string> as = reader.optional_string("as");
    const yaml::Node* arguments = reader.required_node("arguments");
    const std::optional<std::string> key = reader.optional_string("key");
    reader.finish();
    if (as) {
      out.principal = *as;
      require(node, of.fixture, "principals", *as);
      if (out.kind == StepKind::kPlant) problems_.add(node, "a planted row has no principal");
    }
    out.members.set("as", as ? json::Value(*as) : json::Value(nullptr));
    out.members.set("tool", out.tool);
    out.members.set("arguments",
                    arguments == nullptr ? json::Value() : to_json(*arguments, problems_));
    if (key) out.members.set("key", *key);
    if (!calls_.emplace(out.call, std::pair(out.tool, out.principal)).second) {
      problems_.add(node, fmt::format("the call {} is there already", quoted(out.call)));
    }
  }

  void read_later(const yaml::Node& node, Step& out) {
    yaml::ObjectReader reader(node, "a step", problems_);
    out.call = reader.required_string("call");
    std::string of = out.call;
    if (out.kind != StepKind::kRun) {
      of = reader.required_string("of");
      out.members.set("of", of);
    }
    reader.finish();
    const auto found = calls_.find(of);
    if (found == calls_.end()) {
      problems_.add(node, fmt::format("no earlier step makes the call {}", quoted(of)));
      return;
    }
    out.tool = found->second.first;
    out.principal = found->second.second;
    if (out.kind != StepKind::kRun && !calls_.emplace(out.call, found->second).second) {
      problems_.add(node, fmt::format("the call {} is there already", quoted(out.call)));
    }
  }

  // A principal or a resource, under its name, as it is from here on.
  void read_entry(const yaml::Node& node, std::string_view what, Step& out) {
    json::Value entry = to_json(node, problems_);
    json::Object* object = entry.if_object();
    const json::Value* name = entry.find(what);
    if (object == nullptr || name == nullptr || name->if_string() == nullptr) {
      problems_.add(node, fmt::format("'{}' is missing", what));
      return;
    }
    out.members.set("name", *name);
    object->erase(what);
    out.members.set(std::string(what), std::move(entry));
  }

  template <class Words>
  void read_word(const yaml::Node& node, std::string_view key, const Words& known, Step& out) {
    const std::string word = text_of(node);
    if (!is_one_of(word, known)) problems_.add(node, fmt::format("is one of {}", listed(known)));
    out.members.set(std::string(key), word);
  }

  static std::string text_of(const yaml::Node& node) {
    const std::string* text = node.if_string();
    return text == nullptr ? "" : *text;
  }

  void require(const yaml::Node& node, const json::Object& fixture, std::string_view section_name,
               const std::string& name) {
    const json::Value* entries = fixture.find(section_name);
    if (entries == nullptr || entries->find(name) == nullptr) {
      problems_.add(node,
                    fmt::format("{} is not in '{}' of the fixture", quoted(name), section_name));
    }
  }

  Expected expected(const yaml::Node& node) {
    Expected out;
    yaml::ObjectReader reader(node, "'expect'", problems_);
    out.sees = words(reader, "sees", kSights);
    out.is_recorded = reader.optional_bool("is_recorded").value_or(true);
    out.decision =
        reader.optional_choice<std::string>("decision", {{"allow", "allow"}, {"deny", "deny"}});
    out.reason = reader.optional_string("reason");
    out.resource = reader.optional_string("resource");
    out.effects = reader.required_integer("effects", 0);
    out.same_answer_as = reader.optional_string("same_answer_as");
    out.outcome = reader.optional_choice<std::string>(
        "outcome", {{"succeeded", "succeeded"}, {"failed", "failed"}, {"unknown", "unknown"}});
    if (const yaml::Node* arguments = reader.optional_node("tool_arguments")) {
      out.tool_arguments = to_json(*arguments, problems_);
    }
    if (out.is_recorded != out.decision.has_value()) {
      reader.problem("decision", "what is recorded has a decision, and nothing else has");
    }
    if (out.same_answer_as && !calls_.contains(*out.same_answer_as)) {
      reader.problem("same_answer_as", "no earlier step makes that call");
    }
    reader.finish();
    return out;
  }

  const json::Object& fixture_;
  yaml::Problems& problems_;
  std::map<std::string, std::pair<std::string, std::string>, std::less<>> calls_;
};

}  // namespace

std::vector<std::string> read_routes(yaml::ObjectReader& reader, std::string_view key,
                                     const yaml::Node& node, yaml::Problems& problems) {
  std::vector<std::string> out = reader.required_strings(key);
  for (const std::string& route : out) {
    if (!is_route(route)) {
      reader.problem(key, fmt::format("{} is none of {}", quoted(route), listed(kRoutes)));
    }
  }
  if (out.empty()) problems.add(node, fmt::format("'{}' names no route", key));
  return out;
}

json::Object read_fixture(const yaml::Node& node, json::Object below, yaml::Problems& problems) {
  yaml::ObjectReader reader(node, "the fixture", problems);
  for (const std::string_view name : kSections) {
    const yaml::Node* own = reader.optional_node(name);
    if (own == nullptr) {
      section(below, name);
      continue;
    }
    if (own->kind() != yaml::Node::Kind::kMap) {
      problems.add(*own, fmt::format("'{}' is a map", name));
      continue;
    }
    json::Object* entries = section(below, name).if_object();
    for (std::size_t i = 0; i < own->keys().size(); ++i) {
      entries->set(own->keys()[i].text, to_json(own->values()[i], problems));
    }
  }
  reader.finish();
  return below;
}

Case read_case(const yaml::Node& root, const json::Object& fixture, yaml::Problems& problems) {
  return CaseReader(fixture, problems).read(root);
}

}  // namespace remit::conformance
