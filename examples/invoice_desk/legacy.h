// The legacy door: an HTTP handler of earlier days, put behind the adapter as it is.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "adapter/http_adapter.h"
#include "http/server.h"
#include "office.h"
#include "process/file_descriptor.h"

namespace remit::examples {

/// The handler as it was written before there was a boundary: it does what it is asked. Nothing in
/// it was changed; served by itself it is a hole.
class OldDesk final : public http::Handler {
 public:
  /// `books` outlives it.
  explicit OldDesk(Books& books) : books_(books) {}
  http::Response handle(const http::Request& request, std::stop_token stop) override;

 private:
  Books& books_;
};

/// Which of its endpoints is which tool. What is not listed here is closed.
std::vector<adapter::Endpoint> old_endpoints();

/// `old` behind the office's boundary. Both outlive the adapter. Errors: of HttpAdapter::create.
Result<std::unique_ptr<adapter::HttpAdapter>> guard_old_desk(
    Office& office, http::Handler& old, std::vector<adapter::Endpoint> endpoints);

/// A port as it is written on a command line; nothing for what is none.
std::optional<std::uint16_t> read_port(std::string_view word);

/// Serves `front` on this machine until a signal comes, and says first on standard output which
/// port it listens on. Errors: of http::Server::start.
Status serve_until_told(http::Handler& front, std::uint16_t port, const Clock& clock,
                        const process::TerminationSignals& signals);

}  // namespace remit::examples
