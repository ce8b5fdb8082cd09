// The table of methods, and the shapes of their results.
#include "mcp/methods.h"

#include <array>
#include <string>

namespace remit::mcp {
namespace {

constexpr auto kClient = Sender::kClient;
constexpr auto kServer = Sender::kServer;
constexpr auto kRequest = MethodKind::kRequest;
constexpr auto kNotification = MethodKind::kNotification;
constexpr auto kOld = Revision::k2025_06_18;
constexpr auto kNew = Revision::k2025_11_25;

constexpr std::array kMethods{
    Method{"initialize", kClient, kRequest},
    Method{"ping", kClient, kRequest},
    Method{"tools/list", kClient, kRequest, kOld, "tools"},
    Method{"tools/call", kClient, kRequest, kOld, "tools"},
    Method{"resources/list", kClient, kRequest, kOld, "resources"},
    Method{"resources/templates/list", kClient, kRequest, kOld, "resources"},
    Method{"resources/read", kClient, kRequest, kOld, "resources"},
    Method{"resources/subscribe", kClient, kRequest, kOld, "resources"},
    Method{"resources/unsubscribe", kClient, kRequest, kOld, "resources"},
    Method{"prompts/list", kClient, kRequest, kOld, "prompts"},
    Method{"prompts/get", kClient, kRequest, kOld, "prompts"},
    Method{"completion/complete", kClient, kRequest, kOld, "completions"},
    Method{"logging/setLevel", kClient, kRequest, kOld, "logging"},
    Method{"tasks/get", kClient, kRequest, kNew, "tasks"},
    Method{"tasks/result", kClient, kRequest, kNew, "tasks"},
    Method{"tasks/cancel", kClient, kRequest, kNew, "tasks"},
    Method{"tasks/list", kClient, kRequest, kNew, "tasks"},
    Method{"notifications/initialized", kClient, kNotification},
    Method{"notifications/cancelled", kClient, kNotification},
    Method{"notifications/progress", kClient, kNotification},
    Method{"notifications/roots/list_changed", kClient, kNotification, kOld, "roots"},
    Method{"notifications/tasks/status", kClient, kNotification, kNew, "tasks"},
    Method{"ping", kServer, kRequest},
    Method{"sampling/createMessage", kServer, kRequest, kOld, "sampling"},
    Method{"elicitation/create", kServer, kRequest, kOld, "elicitation"},
    Method{"roots/list", kServer, kRequest, kOld, "roots"},
    Method{"tasks/get", kServer, kRequest, kNew, "tasks"},
    Method{"tasks/result", kServer, kRequest, kNew, "tasks"},
    Method{"tasks/cancel", kServer, kRequest, kNew, "tasks"},
    Method{"tasks/list", kServer, kRequest, kNew, "tasks"},
    Method{"notifications/cancelled", kServer, kNotification},
    Method{"notifications/progress", kServer, kNotification},
    Method{"notifications/message", kServer, kNotification, kOld, "logging"},
    Method{"notifications/tools/list_changed", kServer, kNotification, kOld, "tools"},
    Method{"notifications/resources/list_changed", kServer, kNotification, kOld, "resources"},
    Method{"notifications/resources/updated", kServer, kNotification, kOld, "resources"},
    Method{"notifications/prompts/list_changed", kServer, kNotification, kOld, "prompts"},
    Method{"notifications/elicitation/complete", kServer, kNotification, kNew, "elicitation"},
    Method{"notifications/tasks/status", kServer, kNotification, kNew, "tasks"},
};

Status wrong(std::string_view what) {
  return Error{ErrorCode::kInvalidInput, std::string(what)};
}

bool is_text(const json::Value& object, std::string_view key) {
  const json::Value* value = object.find(key);
  return value != nullptr && value->if_string() != nullptr;
}

bool is_object(const json::Value& object, std::string_view key) {
  const json::Value* value = object.find(key);
  return value != nullptr && value->if_object() != nullptr;
}

// ContentBlock of both revisions.
bool is_content_block(const json::Value& block) {
  if (!is_text(block, "type")) return false;
  const std::string& type = *block.find("type")->if_string();
  if (type == "text") return is_text(block, "text");
  if (type == "image" || type == "audio")
    return is_text(block, "data") && is_text(block, "mimeType");
  if (type == "resource_link") return is_text(block, "uri") && is_text(block, "name");
  if (type != "resource" || !is_object(block, "resource")) return false;
  const json::Value& resource = *block.find("resource");
  return is_text(resource, "uri") && is_text(resource, "text") != is_text(resource, "blob");
}

Status check_tool_result(const json::Object& result) {
  const json::Value* content = result.find("content");
  if (content == nullptr || content->if_array() == nullptr) {
    return wrong("content must be a list");
  }
  for (const json::Value& block : *content->if_array()) {
    if (!is_content_block(block)) return wrong("content has a block of no known shape");
  }
  const json::Value* structured = result.find("structuredContent");
  if (structured != nullptr && structured->if_object() == nullptr) {
    return wrong("structuredContent must be an object");
  }
  const json::Value* is_error = result.find("isError");
  if (is_error != nullptr && is_error->if_bool() == nullptr) {
    return wrong("isError must be true or false");
  }
  return {};
}

Status check_tool_list(const json::Object& result) {
  const json::Value* tools = result.find("tools");
  if (tools == nullptr || tools->if_array() == nullptr) return wrong("tools must be a list");
  for (const json::Value& tool : *tools->if_array()) {
    if (!is_text(tool, "name")) return wrong("a tool needs a name");
    if (!is_object(tool, "inputSchema")) return wrong("a tool needs an inputSchema");
    const json::Value* type = tool.find("inputSchema")->find("type");
    if (type == nullptr || type->if_string() == nullptr || *type->if_string() != "object") {
      return wrong("a tool's inputSchema must have the type object");
    }
  }
  return {};
}

Status check_initialize(const json::Object& result) {
  const json::Value value{result};
  if (!is_text(value, "protocolVersion")) return wrong("protocolVersion must be text");
  if (!is_object(value, "capabilities")) return wrong("capabilities must be an object");
  if (!is_object(value, "serverInfo")) return wrong("serverInfo must be an object");
  const json::Value& info = *value.find("serverInfo");
  if (!is_text(info, "name") || !is_text(info, "version")) {
    return wrong("serverInfo needs a name and a version");
  }
  return {};
}

// Results whose one required member is a list.
struct ListResult {
  std::string_view method;
  std::string_view member;
};
constexpr std::array kListResults{
    ListResult{"resources/list", "resources"},
    ListResult{"resources/templates/list", "resourceTemplates"},
    ListResult{"resources/read", "contents"},
    ListResult{"prompts/list", "prompts"},
    ListResult{"prompts/get", "messages"},
    ListResult{"roots/list", "roots"},
};

Status check_members(std::string_view method, const json::Object& result) {
  for (const ListResult& shape : kListResults) {
    if (shape.method != method) continue;
    const json::Value* list = result.find(shape.member);
    if (list == nullptr || list->if_array() == nullptr) {
      return wrong(std::string(shape.member) + " must be a list");
    }
    for (const json::Value& item : *list->if_array()) {
      if (item.if_object() == nullptr) {
        return wrong(std::string(shape.member) + " must hold objects");
      }
    }
  }
  if (method == "completion/complete") {
    const json::Value* completion = result.find("completion");
    const json::Value* values = completion == nullptr ? nullptr : completion->find("values");
    if (values == nullptr || values->if_array() == nullptr) {
      return wrong("completion must have a list of values");
    }
  }
  return {};
}

}  // namespace

const Method* find_method(Sender sender, MethodKind kind, std::string_view name,
                          Revision revision) {
  for (const Method& method : kMethods) {
    if (method.sender == sender && method.kind == kind && method.name == name &&
        method.since <= revision) {
      return &method;
    }
  }
  return nullptr;
}

Status check_result(std::string_view method, const json::Object& result) {
  const json::Value* meta = result.find("_meta");
  if (meta != nullptr && meta->if_object() == nullptr) return wrong("_meta must be an object");
  const json::Value* cursor = result.find("nextCursor");
  if (cursor != nullptr && cursor->if_string() == nullptr) return wrong("nextCursor must be text");
  if (method == "tools/call") return check_tool_result(result);
  if (method == "tools/list") return check_tool_list(result);
  if (method == "initialize") return check_initialize(result);
  return check_members(method, result);
}

}  // namespace remit::mcp
