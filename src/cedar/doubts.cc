// Asks about callers that nobody is, and compares what a tool says of itself.
#include "cedar/doubts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "cedar/agreement.h"
#include "json/value.h"

namespace remit::cedar {
namespace {

constexpr std::size_t kMaxWords = 200;  // of the policies, taken for scopes
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

// A tool may ask for several scopes; one that fits its effect is enough.
void compare_effect(const policy::Tool& tool, std::vector<Error>& out) {
  std::optional<std::string_view> odd;
  for (const std::string& scope : tool.scopes) {
    for (const Kind& kind : kKinds) {
      if (!scope.ends_with(kind.ending)) continue;
      if (!kind.contradicts(tool.effect)) return;
      odd = scope;
    }
  }
  if (!odd) return;
  out.push_back(
      warning(kCatalogue, fmt::format("the tool {} asks for the scope {}, which does not go with "
                                      "its effect, {}",
                                      tool.name, quoted(*odd),
                                      is_reading(tool.effect) ? "reading" : "changing things")));
}

class Probe {
 public:
  Probe(const policy::Bundle& bundle, const decision::DecisionPoint& decision_point)
      : bundle_(bundle), decision_point_(decision_point), words_(words_of(bundle)) {}

  void ask_about(const policy::Tool& tool, std::vector<Error>& out) const {
    if (!tool.has_boundary || tool.scopes.empty() || !tool.resources.empty()) return;
    if (allows(tool, tool.scopes) || !allows(tool, with(tool.scopes, words_))) return;
    std::string besides = "with others";
    for (const std::string& word : words_) {
      if (!allows(tool, with(tool.scopes, {word}))) continue;
      besides = fmt::format("with {} besides", quoted(word));
      break;
    }
    out.push_back(warning(
        kCatalogue,
        fmt::format("no policy permits the tool {} to a caller with the scopes that it asks for "
                    "({}), though one does {}: look at its action in {} and at the policies",
                    tool.name, fmt::join(tool.scopes, ", "), besides, bundle_.schema.file)));
  }

 private:
  static std::vector<std::string> with(const std::vector<std::string>& scopes,
                                       const std::vector<std::string>& more) {
    std::set<std::string> out(scopes.begin(), scopes.end());
    out.insert(more.begin(), more.end());
    return {out.begin(), out.end()};
  }

  // On any route, with an approval.
  [[nodiscard]] bool allows(const policy::Tool& tool, std::vector<std::string> scopes) const {
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
};

}  // namespace

std::vector<Error> doubts(const policy::Bundle& bundle, const Engine& engine,
                          const decision::DecisionPoint& decision_point) {
  std::vector<Error> out;
  const bool is_permitting = has_permit(engine);
  if (!is_permitting) {
    out.push_back(warning("policies", "no policy permits anything: every call will be denied"));
  }
  const Probe probe(bundle, decision_point);
  for (const policy::Tool& tool : bundle.tools) {
    compare_effect(tool, out);
    if (is_permitting) probe.ask_about(tool, out);
  }
  return out;
}

}  // namespace remit::cedar
