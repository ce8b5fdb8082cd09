// A working first bundle for a server that has none: default deny, tenant isolation, scopes by
// effect.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/value.h"

namespace remit::policy {

/// One file of a starter bundle; `path` is relative to the bundle's directory.
struct StarterFile {
  std::string path;
  std::string text;
};

/// Who says what a tool does.
enum class EffectSource : std::uint8_t { kNobody, kServer, kPerson };

/// One tool of a starter bundle.
struct StarterEntry {
  std::string name;
  std::string kind;  ///< `read`, `write` or `destructive`: its effect, group and scope
  EffectSource said_by = EffectSource::kNobody;
};

/// What a person says that tools do: names to `read`, `write` or `destructive`.
using SaidEffects = std::map<std::string, std::string, std::less<>>;
inline constexpr std::string_view kStarterKinds[] = {"read", "write", "destructive"};

/// A starter bundle, and what a person must know about it.
struct StarterBundle {
  std::vector<StarterFile> files;
  std::vector<std::string>
      scopes;  ///< that the starter's pinned principal should hold: reading only
  std::vector<std::string> warnings;  ///< tools left out, and why
  std::vector<StarterEntry> tools;    ///< by name
};

/// Makes a bundle from the tools of one MCP server: `tools` is the `tools` array of a tools/list
/// result, or the whole result. `server` is the upstream's name in the configuration. Tools are
/// sorted by name, so that equal lists give equal bytes. The server's annotations are hints that it
/// gives about itself: a tool that says nothing is taken as destructive, and `said` goes before
/// what the server says. A tool that no bundle can
/// hold is left out with a warning: what comes out passes `remit policy check`. Errors:
/// `invalid_input` when `tools` is not such a list or `server` is not `[a-z0-9_-]{1,32}`;
/// `not_found` where `said` names a tool that the bundle does not hold; `limit_exceeded` for too
/// many tools.
Result<StarterBundle> starter_bundle(const json::Value& tools, const std::string& server,
                                     const SaidEffects& said = {});

}  // namespace remit::policy
