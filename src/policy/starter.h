// A working first bundle for a server that has none: default deny, tenant isolation, scopes by
// effect.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "json/value.h"

namespace remit::policy {

/// One file of a starter bundle; `path` is relative to the bundle's directory.
struct StarterFile {
  std::string path;
  std::string text;
};

/// A starter bundle, and what a person must know about it.
struct StarterBundle {
  std::vector<StarterFile> files;
  std::vector<std::string>
      scopes;  ///< that the starter's pinned principal should hold: reading only
  std::vector<std::string> warnings;  ///< tools left out, and why
  std::size_t tool_count = 0;
};

/// Makes a bundle from the tools of one MCP server: `tools` is the `tools` array of a tools/list
/// result, or the whole result. `server` is the upstream's name in the configuration. Tools are
/// sorted by name, so that equal lists give equal bytes. The server's annotations are hints that it
/// gives about itself: a tool that says nothing is taken as destructive. A tool that no bundle can
/// hold is left out with a warning: what comes out passes `remit policy check`. Errors:
/// `invalid_input` when `tools` is not such a list or `server` is not `[a-z0-9_-]{1,32}`;
/// `limit_exceeded` for too many tools.
Result<StarterBundle> starter_bundle(const json::Value& tools, const std::string& server);

}  // namespace remit::policy
