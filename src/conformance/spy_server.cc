// Requests of an MCP client, one after the other.
#include "conformance/spy_server.h"

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/error.h"
#include "base/limits.h"
#include "conformance/words.h"
#include "mcp/message.h"
#include "process/file_descriptor.h"
#include "process/lines.h"

namespace remit::conformance {
namespace {

class SpyServer {
 public:
  SpyServer(const SpyFacts& facts, int output_fd) : facts_(facts), output_fd_(output_fd) {}

  [[nodiscard]] bool is_lost() const { return is_lost_; }

  Status answer(const mcp::Request& request) {
    if (request.method == "initialize") return send(mcp::result_line(request.id, hello(request)));
    if (request.method == "ping") return send(mcp::result_line(request.id, "{}"));
    if (request.method == "tools/list") return send(mcp::result_line(request.id, tools()));
    if (request.method == "tools/call") return call(request);
    return send(mcp::error_line({.id = request.id,
                                 .code = mcp::kMethodNotFound,
                                 .message = "the spy has tools and nothing else"}));
  }

  Status send(const std::string& line) const {
    return process::write_all(output_fd_, line, kSpyDeadline);
  }

 private:
  static std::string hello(const mcp::Request& request) {
    const std::optional<mcp::Revision> asked =
        mcp::parse_revision(text_of(request.params, "protocolVersion"));
    return json::write(json::Object{
        {"protocolVersion", mcp::revision_name(asked.value_or(mcp::kNewestRevision))},
        {"capabilities", json::Object{{"tools", json::Object{}}}},
        {"serverInfo", json::Object{{"name", "remit-conformance-spy"}, {"version", "1"}}}});
  }

  [[nodiscard]] std::string tools() const {
    json::Array out;
    for (const json::Member& each : facts_.tools.members()) {
      const json::Value* schema = each.second.find("arguments");
      out.emplace_back(json::Object{
          {"name", each.first},
          {"inputSchema",
           schema == nullptr ? json::Value(json::Object{{"type", "object"}}) : *schema}});
    }
    return json::write(json::Object{{"tools", std::move(out)}});
  }

  // Whatever is asked for was done once it came here: an unknown tool counts like any other.
  Status call(const mcp::Request& request) {
    const json::Value* meta = request.params.find("_meta");
    const json::Value* id = meta == nullptr ? nullptr : meta->find(facts_.invocation_id);
    const json::Value* arguments = request.params.find("arguments");
    const Effect effect =
        effect_of(facts_, id == nullptr || id->if_string() == nullptr ? "" : *id->if_string(),
                  text_of(request.params, "name"),
                  arguments == nullptr ? json::Value(json::Object{}) : *arguments);
    REMIT_TRY_ASSIGN(const ToolAnswer answer, tell_spy(facts_.socket, effect, kSpyDeadline));
    is_lost_ = answer == ToolAnswer::kLost;
    if (is_lost_) return {};
    const bool is_error = answer == ToolAnswer::kFailed;
    const json::Object result{
        {"content", json::Array{json::Object{{"type", "text"},
                                             {"text", is_error ? "the tool failed" : "done"}}}},
        {"isError", is_error}};
    return send(mcp::result_line(request.id, json::write(result)));
  }

  const SpyFacts& facts_;
  const int output_fd_;
  bool is_lost_ = false;
};

}  // namespace

Status serve_spy(const SpyFacts& facts, int input_fd, int output_fd) {
  process::ignore_broken_pipes();
  SpyServer server(facts, output_fd);
  process::LineReader reader(input_fd, kMaxMcpLineBytes);
  while (!server.is_lost()) {
    const process::LineRead read = reader.next();
    if (read.event != process::LineEvent::kLine) break;
    const std::variant<mcp::Message, mcp::MessageFault> parsed = mcp::parse_message(read.line);
    if (const auto* fault = std::get_if<mcp::MessageFault>(&parsed)) {
      if (fault->is_response) continue;
      REMIT_TRY(server.send(
          mcp::error_line({.id = fault->id, .code = fault->code, .message = fault->message})));
      continue;
    }
    const auto* request = std::get_if<mcp::Request>(&std::get<mcp::Message>(parsed));
    if (request != nullptr) REMIT_TRY(server.answer(*request));
  }
  return {};
}

}  // namespace remit::conformance
