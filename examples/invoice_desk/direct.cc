// A library call is a door like any other: being in the same process proves nothing.
#include "direct.h"

namespace remit::examples {

Told ask_directly(Office& office, const Asked& asked) {
  return office.ask("direct", asked);
}

std::vector<Told> read_statement(Office& office, const std::string& badge,
                                 const std::vector<std::string>& invoices) {
  std::vector<Told> out;
  for (const std::string& invoice : invoices) {
    const json::Object arguments{{"invoice", invoice}};
    out.push_back(ask_directly(office, {.credential = access::Credential::bearer(badge),
                                        .tool = "invoice.read",
                                        .arguments_json = json::write(arguments)}));
  }
  return out;
}

}  // namespace remit::examples
