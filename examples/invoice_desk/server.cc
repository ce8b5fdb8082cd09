// invoice_desk_server: the desk as an MCP server over stdio, in front of which Remit stands.
//
//   invoice_desk_server --create DATABASE          make the database
//   invoice_desk_server --effects RUN DATABASE     print the audit table as events
//   invoice_desk_server DATABASE                   serve MCP on standard input and output
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "desk.h"
#include "json/value.h"

namespace remit::examples {
namespace {

struct DeskTool {
  std::string_view name;
  std::string_view description;
  std::string_view input_schema;
};

constexpr DeskTool kTools[] = {
    {"invoice.read", "Read one invoice.",
     R"({"type":"object","properties":{"invoice":{"type":"string"}},"required":["invoice"],"additionalProperties":false})"},
    {"invoice.list", "List all invoices.",
     R"({"type":"object","properties":{},"additionalProperties":false})"},
    {"refund.create", "Refund an invoice, in whole or in part.",
     R"({"type":"object","properties":{"invoice":{"type":"string"},"amount_cents":{"type":"integer","minimum":1}},"required":["invoice","amount_cents"],"additionalProperties":false})"},
    {"admin.export", "Export the books of every tenant.",
     R"({"type":"object","properties":{},"additionalProperties":false})"},
};

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

Result<json::Value> call_tool(Desk& desk, const json::Value& params) {
  const std::string name = text_of(params.find("name"));
  const CallOrigin origin = origin_of(params);
  const json::Value empty = json::Object{};
  const json::Value* given = params.find("arguments");
  const json::Value& arguments = given == nullptr ? empty : *given;
  const std::string invoice = text_of(arguments.find("invoice"));
  if (name == "invoice.read") return desk.read_invoice(invoice, origin);
  if (name == "invoice.list") return desk.list_invoices(origin);
  if (name == "admin.export") return desk.export_all(origin);
  if (name == "refund.create") {
    const json::Value* amount = arguments.find("amount_cents");
    const std::int64_t* cents = amount == nullptr ? nullptr : amount->if_integer();
    if (cents == nullptr || *cents < 1) {
      return Error{ErrorCode::kInvalidInput, "amount_cents must be a positive integer"};
    }
    return desk.create_refund(invoice, *cents, origin);
  }
  return Error{ErrorCode::kNotFound, "unknown tool"};
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

json::Value tool_list() {
  json::Array tools;
  for (const DeskTool& tool : kTools) {
    tools.push_back(json::Object{{"name", tool.name},
                                 {"description", tool.description},
                                 {"inputSchema", json::parse(tool.input_schema).value()}});
  }
  return json::Object{{"tools", std::move(tools)}};
}

// The answer to one request, or null for a notification.
json::Value answer(Desk& desk, const json::Value& message) {
  const json::Value* id = message.find("id");
  if (id == nullptr) return nullptr;
  const std::string method = text_of(message.find("method"));
  const json::Value empty = json::Object{};
  const json::Value* given = message.find("params");
  const json::Value& params = given == nullptr ? empty : *given;
  json::Object reply{{"jsonrpc", "2.0"}, {"id", *id}};
  if (method == "initialize") {
    reply.set("result", initialize_result(params));
  } else if (method == "tools/list") {
    reply.set("result", tool_list());
  } else if (method == "tools/call") {
    reply.set("result", tool_result(call_tool(desk, params)));
  } else if (method == "ping") {
    reply.set("result", json::Object{});
  } else {
    reply.set("error", json::Object{{"code", -32601}, {"message", "method not found"}});
  }
  return reply;
}

int serve(Desk& desk) {
  std::string line;
  while (std::getline(std::cin, line)) {
    const Result<json::Value> message = json::parse(line);
    if (!message) {
      std::cout << R"({"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error"}})"
                << std::endl;
      continue;
    }
    const json::Value reply = answer(desk, *message);
    if (!reply.is_null()) std::cout << json::write(reply) << std::endl;
  }
  return 0;
}

int fail(const Error& error) {
  std::cerr << "invoice_desk_server: " << error.to_string() << '\n';
  return 1;
}

int run(const std::vector<std::string>& words) {
  if (words.size() == 2 && words[0] == "--create") {
    const Result<Desk> made = Desk::create(words[1]);
    return made ? 0 : fail(made.error());
  }
  if (words.size() == 3 && words[0] == "--effects") {
    Result<Desk> desk = Desk::open(words[2]);
    if (!desk) return fail(desk.error());
    const Result<std::string> events = desk->effects_as_events(words[1]);
    if (!events) return fail(events.error());
    std::cout << *events;
    return std::cout.flush() ? 0 : 1;
  }
  if (words.size() == 1 && !words[0].starts_with("-")) {
    Result<Desk> desk = Desk::open(words[0]);
    return desk ? serve(*desk) : fail(desk.error());
  }
  std::cerr << "usage: invoice_desk_server [--create | --effects RUN] DATABASE\n";
  return 64;
}

}  // namespace
}  // namespace remit::examples

int main(int argc, char** argv) {
  return remit::examples::run({argv + 1, argv + argc});
}
