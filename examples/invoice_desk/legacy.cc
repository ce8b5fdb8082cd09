// Paths and bodies of an old API; the boundary is not in them but before them.
#include "legacy.h"

#include <poll.h>

#include <charconv>
#include <chrono>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>

namespace remit::examples {
namespace {

http::Response json_answer(const Result<json::Value>& outcome) {
  if (outcome) {
    return {.status = 200,
            .headers = {{"Content-Type", "application/json"}},
            .body = json::write(*outcome)};
  }
  // 500 and beyond says that nobody knows: the adapter records it so.
  if (outcome.error().code == ErrorCode::kDataLoss) return http::text_response(502, "no answer");
  return http::text_response(409, "the desk refused");
}

std::string header(const http::Request& request, std::string_view name) {
  const std::string* value = request.headers.find(name);
  return value == nullptr ? "" : *value;
}

}  // namespace

http::Response OldDesk::handle(const http::Request& request, std::stop_token /*stop*/) {
  const std::string path(request.path());
  ToolUse use;
  use.arguments = json::Object{};
  use.origin.invocation_id = header(request, "Remit-Invocation-Id");
  if (request.method == "GET" && path == "/invoices") {
    use.tool = "invoice.list";
    return json_answer(books_.use(use));
  }
  constexpr std::string_view kInvoice = "/invoices/";
  if (!path.starts_with(kInvoice)) return http::text_response(404, "no such page");
  std::string invoice = path.substr(kInvoice.size());
  if (request.method == "GET") {
    use.tool = "invoice.read";
  } else if (request.method == "POST" && invoice.ends_with("/refund")) {
    use.tool = "refund.create";
    invoice.resize(invoice.rfind('/'));
    const Result<json::Value> body = json::parse(request.body);
    if (!body || body->if_object() == nullptr) return http::text_response(400, "no such body");
    use.arguments = *body;
  } else {
    return http::text_response(405, "not here");
  }
  use.resource = invoice;
  use.arguments.if_object()->set("invoice", invoice);
  return json_answer(books_.use(use));
}

std::vector<adapter::Endpoint> old_endpoints() {
  return {{"GET", "/invoices", "invoice.list"},
          {"GET", "/invoices/{invoice}", "invoice.read"},
          {"POST", "/invoices/{invoice}/refund", "refund.create"}};
}

Result<std::unique_ptr<adapter::HttpAdapter>> guard_old_desk(
    Office& office, http::Handler& old, std::vector<adapter::Endpoint> endpoints) {
  adapter::HttpAdapterOptions options{.endpoints = std::move(endpoints)};
  options.run_id = office.settings().run_id;
  return adapter::HttpAdapter::create(std::move(options), office.point(), old, office.clock());
}

std::optional<std::uint16_t> read_port(std::string_view word) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), port);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return port;
}

Status serve_until_told(http::Handler& front, std::uint16_t port, const Clock& clock,
                        const process::TerminationSignals& signals) {
  http::ServerOptions options;
  options.port = port;
  REMIT_TRY_ASSIGN(const std::unique_ptr<http::Server> server,
                   http::Server::start(options, front, clock));
  std::cout << "listening on " << server->port() << std::endl;
  pollfd told_to_end{signals.fd(), POLLIN, 0};
  while (::poll(&told_to_end, 1, -1) < 0) continue;
  server->stop(std::chrono::seconds(10));
  return {};
}

}  // namespace remit::examples
