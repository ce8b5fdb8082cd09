// remit manifest check: is this manifest sound, and what does it pin.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "base/limits.h"
#include "cli/commands.h"
#include "grading/counted.h"
#include "grading/manifest.h"

namespace remit::cli {
namespace {

using grading::counted;
using grading::Manifest;

std::string cases_in_words(const Manifest& manifest) {
  const auto security = static_cast<std::uint64_t>(
      std::ranges::count_if(manifest.cases, &grading::Case::is_security));
  std::uint64_t entries = 0;
  std::uint64_t forbidden = 0;
  std::uint64_t allowed = 0;
  for (const grading::Case& one : manifest.cases) {
    entries += one.expect.size();
    forbidden += one.forbidden_requests.size();
    if (one.allowed_requests) allowed += one.allowed_requests->size();
  }
  return fmt::format("{}: {} of kind security, {} of kind task; {}, {}, {}\n",
                     counted(manifest.cases.size(), "case", "cases"), security,
                     manifest.cases.size() - security,
                     counted(entries, "expected request", "expected requests"),
                     counted(allowed, "allowed tool", "allowed tools"),
                     counted(forbidden, "forbidden tool", "forbidden tools"));
}

std::string in_words(const Manifest& manifest) {
  std::string out = "digest " + manifest.digest + "\n" + cases_in_words(manifest);
  out += fmt::format("pinned: {}, {}, {}, {}\n",
                     counted(manifest.policies.size(), "policy version", "policy versions"),
                     counted(manifest.principals.size(), "principal", "principals"),
                     counted(manifest.resources.size(), "resource", "resources"),
                     counted(manifest.approvals.size(), "approval", "approvals"));
  if (manifest.environment) out += "environment " + quoted(*manifest.environment) + "\n";
  if (manifest.fixture_revision) {
    out += "fixture revision " + quoted(*manifest.fixture_revision) + "\n";
  }
  if (manifest.cases.empty()) out += "it has no cases: planning is not judged by it\n";
  return out;
}

}  // namespace

int run_manifest_check(const Arguments& arguments, World& world) {
  const std::string& file = arguments.positionals().front();
  const Result<std::string> text = world.files.read(file, kMaxConfigBytes);
  if (!text) {
    complain(world, text.error());
    return kExitBadInput;
  }
  const grading::ManifestParse parsed = grading::parse_manifest(*text, file);
  if (!parsed.manifest) {
    for (const Error& error : parsed.errors) complain(world, error);
    return kExitFailed;
  }
  return print(world, in_words(*parsed.manifest), kExitOk);
}

}  // namespace remit::cli
