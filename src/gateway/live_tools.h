// What the servers really offer, held against what the catalogue pinned.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "gateway/notices.h"
#include "json/value.h"
#include "policy/bundle.h"

namespace remit::gateway {

/// Whether a catalogue's tool can be called on the server that it names. Starts at the safe value.
enum class ToolState : std::uint8_t {
  kAbsent,       ///< the server does not list it (or has no list yet)
  kQuarantined,  ///< it lists one with another input schema, or two of the name
  kTaskOnly,     ///< it wants to run only as a task, which is not spoken here
  kLive,         ///< as pinned
};

/// One tool as its server defines it, with nothing in it that we do not pass on.
struct LiveTool {
  json::Object definition;   ///< Tool of the protocol, without name; our own `_meta` keys taken out
  std::string input_schema;  ///< canonical JSON
  bool has_output_schema = false;
  bool is_task_only = false;
  bool is_repeated = false;
};

/// The lists of all servers. Thread-safe.
class LiveTools {
 public:
  /// Replaces the list of `server`.
  void set(const std::string& server, const std::vector<json::Object>& tools);

  /// The tool as its server defines it; null if it has none of the name. `tool` names server and
  /// tool.
  [[nodiscard]] std::shared_ptr<const LiveTool> find(const policy::Tool& tool) const;

  /// How `tool` stands against the definition found for it (which may be null).
  static ToolState state_of(const policy::Tool& tool, const LiveTool* live);

  /// Says for each tool of the catalogue on `server` that cannot be called why.
  void announce(const policy::Bundle& bundle, const std::string& server,
                const Notices& notices) const;

 private:
  using ToolsByName = std::map<std::string, std::shared_ptr<const LiveTool>, std::less<>>;
  mutable Mutex mutex_;
  std::map<std::string, ToolsByName, std::less<>> servers_ REMIT_GUARDED_BY(mutex_);
};

/// Whether a catalogue entry is a method of the protocol (`mcp:resources/read`), not a tool.
bool is_method_entry(std::string_view name);

/// Takes the keys that only we may write (`io.remit/…`) out of the `_meta` of a server's object.
void strip_own_meta(json::Object& object);

}  // namespace remit::gateway
