// Sessions by caller, and answers told apart.
#include "conformance/mcp_harness.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"
#include "base/limits.h"

namespace remit::conformance {
namespace {

// The text blocks of a result, one after the other.
std::string words_of(const json::Object& result) {
  std::string out;
  const json::Value* content = result.find("content");
  const json::Array* blocks = content == nullptr ? nullptr : content->if_array();
  if (blocks == nullptr) return out;
  for (const json::Value& block : *blocks) {
    const json::Value* text = block.find("text");
    if (text != nullptr && text->if_string() != nullptr) out += *text->if_string();
  }
  return out;
}

Seen seen_of_result(const json::Object& result, const AnswerMarks& marks) {
  const std::string words = words_of(result);
  const json::Value* is_error = result.find("isError");
  if (is_error == nullptr || is_error->if_bool() == nullptr || !*is_error->if_bool()) {
    return {"result", words};
  }
  const Result<json::Value> structured = json::parse(words);
  const std::string_view status = structured ? status_in(*structured) : std::string_view{};
  if (!status.empty()) return {std::string(status), words};
  return {has_mark(words, marks.denied_texts) ? "denied" : "failed", words};
}

}  // namespace

Seen seen_of(const McpAnswer& answer, const AnswerMarks& marks) {
  if (const auto* result = std::get_if<mcp::ResultResponse>(&answer)) {
    return seen_of_result(result->result, marks);
  }
  const auto& error = std::get<mcp::ErrorResponse>(answer);
  const std::string_view status = error.data ? status_in(*error.data) : std::string_view{};
  const std::string words = fmt::format("error {}: {}", error.code, error.message);
  if (!status.empty()) return {std::string(status), words};
  const bool is_denied =
      is_one_of(error.code, marks.denied_codes) || has_mark(error.message, marks.denied_texts);
  return {is_denied ? "denied" : "failed", words};
}

Result<std::unique_ptr<McpHarness>> McpHarness::start(const Subject& subject, Spy& spy,
                                                      const HarnessWorld& world) {
  std::unique_ptr<McpHarness> out(new McpHarness(subject, spy, world));
  REMIT_TRY(out->greet());
  return out;
}

McpHarness::~McpHarness() {
  sessions_.clear();
}

Status McpHarness::prepare(json::Object& spy_members, Placeholders& values) {
  spy_members.set("command", json::Array{values["remit"], "conform", "spy", values["spy"]});
  return {};
}

Result<McpSession*> McpHarness::session_for(const std::string& caller) {
  std::unique_ptr<McpSession>& session = sessions_[caller];
  if (session == nullptr) {
    Result<std::unique_ptr<McpSession>> started =
        McpSession::start(command_for(caller), spy_, world_.clock, executor().deadline);
    if (!started) return in_place("before anything was asked", started.error());
    session = std::move(*started);
  }
  return session.get();
}

Status McpHarness::plan(const std::string& caller) {
  REMIT_TRY_ASSIGN(McpSession * session, session_for(caller));
  return session->list_tools();
}

Result<Seen> McpHarness::call(const ClientCall& call) {
  REMIT_TRY_ASSIGN(McpSession * session, session_for(call.caller));
  json::Object params{{"name", call.tool}, {"arguments", call.arguments}};
  if (!call.key.empty()) params.set("_meta", json::Object{{executor().key, call.key}});
  const Result<McpAnswer> answer = session->ask("tools/call", params);
  if (answer) return seen_of(*answer, executor().marks);
  // What it did not answer is its own affair; whether the tool was reached, the spy knows.
  sessions_.erase(call.caller);
  return Seen{"unknown", answer.error().to_string()};
}

void McpHarness::end() {
  sessions_.clear();
}

std::vector<std::int64_t> McpHarness::processes() const {
  std::vector<std::int64_t> out;
  for (const auto& [caller, session] : sessions_) {
    if (session != nullptr) out.push_back(session->pid());
  }
  return out;
}

}  // namespace remit::conformance
