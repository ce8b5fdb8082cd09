// Tool definitions of servers, cleaned and compared.
#include "gateway/live_tools.h"

#include <algorithm>
#include <array>
#include <utility>

namespace remit::gateway {
namespace {

// Members of a tool's definition that are passed on. `execution` is not: it speaks of tasks.
constexpr std::array<std::string_view, 6> kPassedMembers{
    "title", "description", "inputSchema", "outputSchema", "annotations", "_meta"};

bool is_task_only(const json::Object& tool) {
  const json::Value* execution = tool.find("execution");
  const json::Value* support = execution == nullptr ? nullptr : execution->find("taskSupport");
  return support != nullptr && support->if_string() != nullptr &&
         *support->if_string() == "required";
}

bool has_right_shape(std::string_view member, const json::Value& value) {
  if (member == "title" || member == "description") return value.if_string() != nullptr;
  return value.if_object() != nullptr;
}

LiveTool live_tool(const json::Object& tool) {
  LiveTool out;
  for (const std::string_view member : kPassedMembers) {
    const json::Value* value = tool.find(member);
    if (value != nullptr && has_right_shape(member, *value)) {
      out.definition.set(std::string(member), *value);
    }
  }
  strip_own_meta(out.definition);
  const json::Value* schema = tool.find("inputSchema");
  if (schema != nullptr) out.input_schema = json::canonical(*schema);
  out.has_output_schema = out.definition.find("outputSchema") != nullptr;
  out.is_task_only = is_task_only(tool);
  return out;
}

std::string_view why(ToolState state) {
  switch (state) {
    case ToolState::kAbsent:
      return "the server does not list it";
    case ToolState::kQuarantined:
      return "the server's input schema is not the one that the bundle pinned; it is in quarantine "
             "until the bundle accepts the new one";
    case ToolState::kTaskOnly:
      return "the server runs it only as a task";
    case ToolState::kLive:
      return "it is live";
  }
  return "";
}

}  // namespace

bool is_method_entry(std::string_view name) {
  return name.starts_with("mcp:");
}

void strip_own_meta(json::Object& object) {
  json::Value* meta = object.find("_meta");
  json::Object* members = meta == nullptr ? nullptr : meta->if_object();
  if (members == nullptr) return;
  std::erase_if(members->members(),
                [](const json::Member& member) { return member.first.starts_with("io.remit/"); });
  if (members->empty()) object.erase("_meta");
}

void LiveTools::set(const std::string& server, const std::vector<json::Object>& tools) {
  ToolsByName by_name;
  for (const json::Object& tool : tools) {
    LiveTool live = live_tool(tool);
    const std::string& name = *tool.find("name")->if_string();
    live.is_repeated = by_name.contains(name);
    by_name[name] = std::make_shared<const LiveTool>(std::move(live));
  }
  const MutexLock lock(mutex_);
  servers_[server] = std::move(by_name);
}

std::shared_ptr<const LiveTool> LiveTools::find(const policy::Tool& tool) const {
  const MutexLock lock(mutex_);
  const auto server = servers_.find(tool.upstream_server);
  if (server == servers_.end()) return nullptr;
  const auto found = server->second.find(tool.upstream_tool);
  return found == server->second.end() ? nullptr : found->second;
}

ToolState LiveTools::state_of(const policy::Tool& tool, const LiveTool* live) {
  if (live == nullptr) return ToolState::kAbsent;
  // An entry that pins no schema lets no argument through (`assemble` refuses one that would), so
  // there is nothing to compare.
  const bool is_pinned = tool.arguments.has_value();
  if (live->is_repeated || (is_pinned && live->input_schema != tool.arguments_schema)) {
    return ToolState::kQuarantined;
  }
  return live->is_task_only ? ToolState::kTaskOnly : ToolState::kLive;
}

void LiveTools::announce(const policy::Bundle& bundle, const std::string& server,
                         const Notices& notices) const {
  for (const policy::Tool& tool : bundle.tools) {
    if (tool.upstream_server != server || is_method_entry(tool.name)) continue;
    const ToolState state = state_of(tool, find(tool).get());
    if (state == ToolState::kLive) continue;
    notices.say("tool " + quoted(tool.name) +
                " is neither listed nor called: " + std::string(why(state)));
  }
}

}  // namespace remit::gateway
