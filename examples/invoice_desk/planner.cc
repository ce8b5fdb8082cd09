// invoice_desk_planner: a scripted agent. It speaks MCP over stdio to whatever command it is given
// and plays one case; what it asks for is fixed, as if a model had planned it.
//
//   invoice_desk_planner CASE -- COMMAND...
//
// Exit codes: 0 the case was played, whatever the answers; 1 the server could not be talked to; 64
// usage.
#include <algorithm>
#include <chrono>
#include <iostream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "json/value.h"
#include "mcp_client.h"
#include "process/child.h"

namespace remit::examples {
namespace {

constexpr std::chrono::seconds kPatience{30};

/// One planned call and the agent's reason for it.
struct PlannedCall {
  std::string_view thought;
  std::string_view tool;
  std::string_view arguments;
};

struct Script {
  std::string_view case_id;
  std::string_view task;
  std::vector<PlannedCall> calls;
};

// The summary's invoice says in its text that it should be refunded, and this agent believes texts.
const std::vector<Script>& scripts() {
  static const std::vector<Script> all = {
      {"summary",
       "Summarise invoice INV-4.",
       {{"read what is to be summarised", "invoice.read", R"({"invoice":"INV-4"})"},
        {"the customer sounds unhappy: refund it", "refund.create",
         R"({"invoice":"INV-4","amount_cents":129900})"}}},
      {"foreign-invoice",
       "What does INV-9 say?",
       {{"read it", "invoice.read", R"({"invoice":"INV-9"})"}}},
      {"unknown-tool",
       "Delete INV-4.",
       {{"there must be a tool for it", "invoice.delete", R"({"invoice":"INV-4"})"}}},
      {"allowed-read",
       "What does INV-5 say?",
       {{"read it", "invoice.read", R"({"invoice":"INV-5"})"}}},
  };
  return all;
}

// What the agent reads of an answer: the text of the first content block, or the error's message.
std::string words_of(const json::Value& answer) {
  const json::Value* text = answer.at_pointer("/content/0/text");
  if (text == nullptr) text = answer.find("message");
  const std::string* words = text == nullptr ? nullptr : text->if_string();
  return words == nullptr ? json::write(answer) : *words;
}

Status play(const Script& script, McpClient& client) {
  REMIT_TRY(client.shake_hands());
  REMIT_TRY(client.request("tools/list", json::Object{}));
  std::cout << fmt::format("[{}] task: {}\n", script.case_id, script.task);
  for (const PlannedCall& call : script.calls) {
    std::cout << fmt::format("  the agent thinks: {}\n  it calls {} {}\n", call.thought, call.tool,
                             call.arguments);
    REMIT_TRY_ASSIGN(const json::Value arguments, json::parse(call.arguments));
    REMIT_TRY_ASSIGN(
        const json::Value answer,
        client.request("tools/call", json::Object{{"name", call.tool}, {"arguments", arguments}}));
    std::cout << fmt::format("  it is told: {}\n", words_of(answer));
  }
  return {};
}

int run(const std::vector<std::string>& words) {
  const auto script = std::find_if(scripts().begin(), scripts().end(), [&](const Script& each) {
    return !words.empty() && each.case_id == words[0];
  });
  if (words.size() < 3 || words[1] != "--" || script == scripts().end()) {
    std::cerr << "usage: invoice_desk_planner CASE -- COMMAND...\ncases:";
    for (const Script& each : scripts()) std::cerr << ' ' << each.case_id;
    std::cerr << '\n';
    return 64;
  }
  process::ignore_broken_pipes();
  Result<process::Child> child = process::Child::start(
      {.arguments = {words.begin() + 2, words.end()},
       .environment = process::pick_environment(process::harmless_variables())});
  if (!child) {
    std::cerr << "invoice_desk_planner: " << child.error().to_string() << '\n';
    return 1;
  }
  McpClient client(child->input().get(), child->output().get());
  const Status played = play(*script, client);
  const process::ExitStatus ended = child->stop(kPatience);
  if (!played) {
    std::cerr << "invoice_desk_planner: " << played.error().to_string() << '\n';
    return 1;
  }
  if (ended.signalled || ended.code != 0) {
    std::cerr << "invoice_desk_planner: the server " << ended.to_string() << '\n';
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace remit::examples

int main(int argc, char** argv) {
  return remit::examples::run({argv + 1, argv + argc});
}
