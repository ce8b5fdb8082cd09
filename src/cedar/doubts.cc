// Asks about callers that nobody is, and compares what a tool says of itself.
#include "cedar/doubts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "cedar/agreement.h"
#include "json/value.h"

namespace remit::cedar {
namespace {

constexpr std::size_t kMaxWords = 200;        // of the policies, taken for scopes
constexpr std::size_t kMaxDecisions = 20000;  // about a second
constexpr std::size_t kMaxToolsNamed = 20;    // in a sentence
constexpr std::string_view kCatalogue = "catalogue.yaml";

Error warning(std::string_view file, std::string message) {
  return Error{ErrorCode::kInvalidInput, std::move(message), std::string(file)};
}

bool has_permit(const Engine& engine) {
  return std::any_of(engine.policies().begin(), engine.policies().end(),
                     [](const PolicyFacts& policy) { return policy.permits; });
}

// The texts between quotes in the policies: whichever scopes they ask for are among them.
std::vector<std::string> words_of(const policy::Bundle& bundle) {
  std::set<std::string> out;
  for (const policy::PolicySource& source : bundle.policies) {
    std::size_t open = source.text.find('"');
    while (open != std::string::npos && out.size() < kMaxWords) {
      const std::size_t close = source.text.find('"', open + 1);
      if (close == std::string::npos) break;
      out.insert(source.text.substr(open + 1, close - open - 1));
      open = source.text.find('"', close + 1);
    }
  }
  return {out.begin(), out.end()};
}

bool is_reading(policy::Effect effect) {
  return effect == policy::Effect::kRead || effect == policy::Effect::kNone;
}

bool is_changing(policy::Effect effect) {
  return effect == policy::Effect::kWrite || effect == policy::Effect::kDestructive;
}

/// How scopes end by which the starter bundle, and many another, tells kinds of tools apart.
struct Kind {
  std::string_view ending;
  bool (*contradicts)(policy::Effect effect);
};

constexpr std::array<Kind, 3> kKinds = {
    {{":read", is_changing}, {":write", is_reading}, {":destructive", is_reading}}};

std::string_view ending_of(policy::Effect effect) {
  if (is_reading(effect)) return ":read";
  return effect == policy::Effect::kWrite ? ":write" : ":destructive";
}

/// A scope of a tool that goes with another effect than the tool's own.
struct OddScope {
  std::size_t position;  ///< in the tool's list
  std::string_view ending;
};

// A tool may ask for several scopes; one that fits its effect is enough.
std::optional<OddScope> odd_scope(const policy::Tool& tool) {
  std::optional<OddScope> out;
  for (std::size_t i = 0; i < tool.scopes.size(); ++i) {
    for (const Kind& kind : kKinds) {
      if (!tool.scopes[i].ends_with(kind.ending)) continue;
      if (!kind.contradicts(tool.effect)) return std::nullopt;
      out = OddScope{i, kind.ending};
    }
  }
  return out;
}

Error odd_warning(const policy::Tool& tool, const OddScope& odd) {
  return warning(kCatalogue,
                 fmt::format("the tool {} asks for the scope {}, which does not go with "
                             "its effect, {}",
                             tool.name, quoted(tool.scopes[odd.position]),
                             is_reading(tool.effect) ? "reading" : "changing things"));
}

// As it would be with the scope that goes with its effect.
policy::Tool corrected(policy::Tool tool, const OddScope& odd) {
  std::string& scope = tool.scopes[odd.position];
  scope.replace(scope.size() - odd.ending.size(), odd.ending.size(), ending_of(tool.effect));
  return tool;
}

class Probe {
 public:
  Probe(const policy::Bundle& bundle, const decision::DecisionPoint& decision_point)
      : bundle_(bundle), decision_point_(decision_point), words_(words_of(bundle)) {}

  /// `which` says what the tool's scopes are.
  void ask_about(const policy::Tool& tool, std::string_view which, std::vector<Error>& out) {
    if (!tool.has_boundary || tool.scopes.empty() || !tool.resources.empty()) return;
    if (allows(tool, tool.scopes) || !allows(tool, with(tool.scopes, words_))) return;
    std::string besides = "with others";
    for (const std::string& word : words_) {
      if (!allows(tool, with(tool.scopes, {word}))) continue;
      besides = fmt::format("with {} besides", quoted(word));
      break;
    }
    if (is_spent()) return;
    out.push_back(warning(
        kCatalogue,
        fmt::format("no policy permits the tool {} to a caller with {} ({}), though one does {}: "
                    "look at its action in {} and at the policies",
                    tool.name, which, fmt::join(tool.scopes, ", "), besides, bundle_.schema.file)));
  }

  /// Whether there was more to ask than is asked.
  [[nodiscard]] bool is_spent() const { return decisions_ > kMaxDecisions; }

 private:
  static std::vector<std::string> with(const std::vector<std::string>& scopes,
                                       const std::vector<std::string>& more) {
    std::set<std::string> out(scopes.begin(), scopes.end());
    out.insert(more.begin(), more.end());
    return {out.begin(), out.end()};
  }

  // On any route, with an approval.
  [[nodiscard]] bool allows(const policy::Tool& tool, std::vector<std::string> scopes) {
    const std::string tenant = "remit-policy-check";
    const access::Principal principal{.subject = "somebody",
                                      .tenant = tenant,
                                      .class_name = "any",
                                      .scopes = std::move(scopes),
                                      .revision = {}};
    const access::Resource resource{
        .type = std::string(kServerType),
        .id = tool.upstream_server.empty() ? "server" : tool.upstream_server,
        .tenant = tenant,
        .source = {},
        .revision = {}};
    const json::Value arguments = json::Object{};
    return std::any_of(
        bundle_.routes.begin(), bundle_.routes.end(), [&](const policy::Route& route) {
          if (++decisions_ > kMaxDecisions) return false;
          const auto decision = decision_point_.decide({.principal = principal,
                                                        .action = tool.action,
                                                        .resource = resource,
                                                        .route = route.name,
                                                        .environment = bundle_.environment,
                                                        .now = WallTime{},
                                                        .approval = {.state = "active"},
                                                        .arguments = arguments});
          return decision && decision->allowed();
        });
  }

  const policy::Bundle& bundle_;
  const decision::DecisionPoint& decision_point_;
  std::vector<std::string> words_;
  std::size_t decisions_ = 0;
};

// Tools whose action no permit admits, whoever asks and whatever for; a forbid that names one says
// that it is meant.
void name_out_of_reach(const policy::Bundle& bundle, const Engine& engine,
                       std::vector<Error>& out) {
  std::set<std::string_view> forgotten;
  const std::vector<ActionType>& actions = engine.types().actions;
  for (std::uint32_t i = 0; i < actions.size(); ++i) {
    if (actions[i].type == kActionType && engine.is_out_of_reach(i))
      forgotten.insert(actions[i].id);
  }
  std::vector<std::string_view> tools;
  for (const policy::Tool& tool : bundle.tools) {
    if (tool.has_boundary && forgotten.contains(tool.action)) tools.push_back(tool.name);
  }
  if (tools.empty()) return;
  const std::size_t shown = std::min(tools.size(), kMaxToolsNamed);
  std::string names = fmt::format("{}", fmt::join(std::span(tools).first(shown), ", "));
  if (tools.size() > shown) names += fmt::format(" and {} more", tools.size() - shown);
  out.push_back(warning(
      "policies",
      fmt::format("no policy permits {} to anybody: no permit names {} or a group that {} in; if "
                  "that is meant, say it by a forbid without a condition",
                  names, tools.size() == 1 ? "its action" : "their actions",
                  tools.size() == 1 ? "it is" : "they are")));
}

}  // namespace

std::vector<Error> doubts(const policy::Bundle& bundle, const Engine& engine,
                          const decision::DecisionPoint& decision_point) {
  std::vector<Error> out;
  const bool is_permitting = has_permit(engine);
  if (!is_permitting) {
    out.push_back(warning("policies", "no policy permits anything: every call will be denied"));
  }
  Probe probe(bundle, decision_point);
  for (const policy::Tool& tool : bundle.tools) {
    const std::optional<OddScope> odd = odd_scope(tool);
    if (odd) out.push_back(odd_warning(tool, *odd));
    if (!is_permitting) continue;
    probe.ask_about(tool, "the scopes that it asks for", out);
    if (odd) probe.ask_about(corrected(tool, *odd), "the scope that goes with its effect", out);
  }
  if (is_permitting) name_out_of_reach(bundle, engine, out);
  if (probe.is_spent()) {
    out.push_back(warning(kCatalogue,
                          "there is more to ask of the policies than is asked here: of further "
                          "tools it is not said whether their scopes are enough"));
  }
  return out;
}

}  // namespace remit::cedar
