// Requests of MCP, one line each, in order.
#include "mcp_server.h"

#include <iostream>
#include <optional>
#include <utility>

namespace remit::examples {
namespace {

std::string text_of(const json::Value* value) {
  const std::string* text = value == nullptr ? nullptr : value->if_string();
  return text == nullptr ? "" : *text;
}

CallOrigin origin_of(const json::Value& params) {
  CallOrigin origin;
  if (const json::Value* meta = params.find("_meta")) {
    origin.invocation_id = text_of(meta->find("io.remit/invocation-id"));
    origin.run_id = text_of(meta->find("io.remit/run-id"));
    origin.case_id = text_of(meta->find("io.remit/case-id"));
  }
  return origin;
}

// The first resource by its place: the boundary has put its canonical id there.
ToolUse use_of(const json::Value& params) {
  const json::Value* given = params.find("arguments");
  ToolUse out{.tool = text_of(params.find("name")),
              .arguments = given == nullptr ? json::Value(json::Object{}) : *given,
              .origin = origin_of(params)};
  for (const char* place : {"invoice", "from"}) {
    if (out.resource.empty()) out.resource = text_of(out.arguments.find(place));
  }
  return out;
}

json::Value tool_result(const Result<json::Value>& outcome) {
  const std::string text = outcome ? json::write(*outcome) : outcome.error().to_string();
  json::Object result{{"content", json::Array{json::Object{{"type", "text"}, {"text", text}}}}};
  if (!outcome) result.set("isError", true);
  return result;
}

json::Value initialize_result(const json::Value& params) {
  const std::string asked = text_of(params.find("protocolVersion"));
  return json::Object{{"protocolVersion", asked == "2025-06-18" ? "2025-06-18" : "2025-11-25"},
                      {"capabilities", json::Object{{"tools", json::Object{}}}},
                      {"serverInfo", json::Object{{"name", "invoice_desk"}, {"version", "1.0.0"}}}};
}

json::Value tool_list(const std::vector<OfferedTool>& offered) {
  json::Array tools;
  for (const OfferedTool& tool : offered) {
    tools.push_back(json::Object{{"name", tool.name},
                                 {"description", tool.description},
                                 {"inputSchema", json::parse(tool.input_schema).value()}});
  }
  return json::Object{{"tools", std::move(tools)}};
}

// The answer to one request, null for a notification, nothing where a tool's answer was lost.
std::optional<json::Value> answer(Books& books, const std::vector<OfferedTool>& tools,
                                  const json::Value& message) {
  const json::Value* id = message.find("id");
  if (id == nullptr) return json::Value();
  const std::string method = text_of(message.find("method"));
  const json::Value empty = json::Object{};
  const json::Value* given = message.find("params");
  const json::Value& params = given == nullptr ? empty : *given;
  json::Object reply{{"jsonrpc", "2.0"}, {"id", *id}};
  if (method == "initialize") {
    reply.set("result", initialize_result(params));
  } else if (method == "tools/list") {
    reply.set("result", tool_list(tools));
  } else if (method == "tools/call") {
    const Result<json::Value> outcome = books.use(use_of(params));
    if (!outcome && outcome.error().code == ErrorCode::kDataLoss) return std::nullopt;
    reply.set("result", tool_result(outcome));
  } else if (method == "ping") {
    reply.set("result", json::Object{});
  } else {
    reply.set("error", json::Object{{"code", -32601}, {"message", "method not found"}});
  }
  return reply;
}

}  // namespace

int serve_mcp(Books& books, const std::vector<OfferedTool>& tools) {
  std::string line;
  while (std::getline(std::cin, line)) {
    const Result<json::Value> message = json::parse(line);
    if (!message) {
      std::cout << R"({"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error"}})"
                << std::endl;
      continue;
    }
    const std::optional<json::Value> reply = answer(books, tools, *message);
    if (!reply) return 1;
    if (!reply->is_null()) std::cout << json::write(*reply) << std::endl;
  }
  return 0;
}

}  // namespace remit::examples
