// The legacy door: an HTTP handler of earlier days, put behind the adapter as it is.
#pragma once

#include <memory>
#include <vector>

#include "adapter/http_adapter.h"
#include "http/server.h"
#include "office.h"

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

}  // namespace remit::examples
