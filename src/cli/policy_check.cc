// remit policy check: is this bundle whole, and what is in it.
#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cedar/cedar_decision_point.h"
#include "cli/commands.h"
#include "policy/bundle.h"

namespace remit::cli {
namespace {

std::string count(std::size_t number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

/// What a route lets through against policy's word, with route and tools taken together
/// (REQ-BN-015); empty where it enforces for all.
std::string shadow_words(const policy::Bundle& bundle, const policy::Route& route) {
  constexpr std::size_t kMaxNamed = 20;
  std::vector<std::string_view> tools;
  for (const policy::Tool& tool : bundle.tools) {
    if (policy::mode_of(&route, &tool) == policy::Mode::kShadow) tools.push_back(tool.name);
  }
  const bool is_all = tools.size() == bundle.tools.size();
  if (tools.empty() && !(is_all && route.mode == policy::Mode::kShadow)) return {};
  std::string named = "every tool";
  if (!is_all) {
    const std::size_t shown = std::min(tools.size(), kMaxNamed);
    named = fmt::format("{}", fmt::join(std::span(tools).first(shown), ", "));
    if (tools.size() > shown) named += fmt::format(" and {} more", tools.size() - shown);
  }
  return fmt::format(
      "the route {} is in shadow mode for {}: what policy denies there is recorded, not enforced\n",
      route.name, named);
}

std::string summary(const policy::Bundle& bundle) {
  std::string out = fmt::format("version {}, environment {}\ndigest {}\n", quoted(bundle.version),
                                quoted(bundle.environment), bundle.digest);
  out += fmt::format("{}, {}, {}\n", count(bundle.tools.size(), "tool"),
                     count(bundle.policies.size(), "policy file"),
                     count(bundle.routes.size(), "route"));
  for (const policy::Route& route : bundle.routes) out += shadow_words(bundle, route);
  for (const policy::Tool& tool : bundle.tools) {
    if (!tool.has_boundary) out += fmt::format("the tool {} has no boundary\n", tool.name);
  }
  return out;
}

/// A decision point knows the bundle's files by their names within it.
void name_from_here(std::vector<Error>& errors, const std::string& directory) {
  for (Error& error : errors) {
    error.where = error.where.empty() ? directory : directory + "/" + error.where;
  }
}

int report_problems(World& world, const std::vector<Error>& problems) {
  for (const Error& problem : problems) complain(world, problem);
  complain(world, Error{ErrorCode::kInvalidInput, fmt::format("the bundle is refused: {}",
                                                              count(problems.size(), "problem"))});
  return kExitFailed;
}

}  // namespace

int run_policy_check(const Arguments& arguments, World& world) {
  const std::string& directory = arguments.positionals().front();
  if (const Result<FileInfo> info = world.files.info(directory);
      info && info->kind == FileInfo::Kind::kFile) {
    complain(world,
             Error{ErrorCode::kInvalidInput,
                   "is a file; give the bundle's directory, which holds bundle.yaml", directory});
    return kExitBadInput;
  }
  const policy::BundleOutcome loaded = policy::load_bundle(world.files, directory);
  if (loaded.bundle == nullptr) {
    const int exit_code = report_problems(world, loaded.problems);
    return world.files.info(directory) ? exit_code : kExitBadInput;
  }
  decision::DecisionPointOutcome made = cedar::CedarDecisionPointFactory::check(*loaded.bundle);
  if (made.decision_point == nullptr) {
    name_from_here(made.problems, directory);
    return report_problems(world, made.problems);
  }
  name_from_here(made.warnings, directory);
  for (Error& warning : made.warnings) {
    warning.message = "warning: " + warning.message;
    complain(world, warning);
  }
  return print(world, summary(*loaded.bundle), kExitOk);
}

}  // namespace remit::cli
