// invoice_desk_server: the desk as an MCP server over stdio, in front of which Remit stands.
//
//   invoice_desk_server --create DATABASE          make the database
//   invoice_desk_server --effects RUN DATABASE     print the audit table as events
//   invoice_desk_server DATABASE                   serve MCP on standard input and output
#include <iostream>
#include <string>
#include <vector>

#include "desk.h"
#include "mcp_server.h"

namespace remit::examples {
namespace {

const std::vector<OfferedTool>& desk_tools() {
  static const std::vector<OfferedTool> all = {
      {"invoice.read", "Read one invoice.",
       R"({"type":"object","properties":{"invoice":{"type":"string"}},"required":["invoice"],"additionalProperties":false})"},
      {"invoice.list", "List all invoices.",
       R"({"type":"object","properties":{},"additionalProperties":false})"},
      {"refund.create", "Refund an invoice, in whole or in part.",
       R"({"type":"object","properties":{"invoice":{"type":"string"},"amount_cents":{"type":"integer","minimum":1}},"required":["invoice","amount_cents"],"additionalProperties":false})"},
      {"admin.export", "Export the books of every tenant.",
       R"({"type":"object","properties":{},"additionalProperties":false})"},
  };
  return all;
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
    return desk ? serve_mcp(*desk, desk_tools()) : fail(desk.error());
  }
  std::cerr << "usage: invoice_desk_server [--create | --effects RUN] DATABASE\n";
  return 64;
}

}  // namespace
}  // namespace remit::examples

int main(int argc, char** argv) {
  return remit::examples::run({argv + 1, argv + argc});
}
