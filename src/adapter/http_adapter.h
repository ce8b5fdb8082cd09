// An old HTTP handler behind the boundary: the legacy route.
//
//     adapter::HttpAdapterOptions options{.endpoints = {
//         {"POST", "/invoices/{invoice}/refund", "refund.create"},
//         {"GET", "/invoices/{invoice}", "invoice.read"}}};
//     REMIT_TRY_ASSIGN(auto guarded, adapter::HttpAdapter::create(options, boundary, old, clock));
//     REMIT_TRY_ASSIGN(auto server, http::Server::start({.port = 8808}, *guarded, clock));
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "adapter/denial_response.h"
#include "adapter/endpoint.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/result.h"
#include "base/token_bucket.h"
#include "enforcement/enforcement_point.h"
#include "http/server.h"

namespace remit::adapter {

struct HttpAdapterOptions {
  std::vector<Endpoint> endpoints;
  std::string route = "legacy";  ///< in the bundle's inventory
  /// Headers of the caller that the old handler may see, beside what the adapter writes itself.
  std::vector<std::string> passed_headers = {"Accept", "Accept-Language"};
  /// Of one address, whoever it says it is (REQ-BD-126); as many may come at once. 0: no bound.
  /// Behind a proxy all requests have the proxy's address, whose own bound this then has to be. How
  /// often one principal may call is the boundary's (Surroundings).
  std::int64_t calls_per_second = 1000;
  Challenge challenge = {};
  std::string run_id = {};  ///< of the launcher, for the record
  std::string case_id = {};
};

/// Takes each request through the boundary as a call of its endpoint's tool, and lets the old
/// handler answer what was allowed. The old handler gets a request that is written from what was
/// judged (*our bytes go on*): canonical ids in the place of the caller's references, the headers
/// that were named, `Remit-Invocation-Id`, and `Remit-Resource-Revision` where the primary resource
/// has one. It never sees the caller's credential. Thread-safe.
class HttpAdapter final : public http::Handler {
 public:
  /// `boundary`, `old` and `clock` outlive the adapter. Errors: those of EndpointTable::create;
  /// `invalid_input` for a credential among `passed_headers`, and for a challenge that no header
  /// can carry or whose metadata is not behind `https://`, or on this machine.
  static Result<std::unique_ptr<HttpAdapter>> create(HttpAdapterOptions options,
                                                     enforcement::EnforcementPoint& boundary,
                                                     http::Handler& old, const Clock& clock);

  http::Response handle(const http::Request& request, std::stop_token stop) override;
  /// Records the refusal like any other (REQ-BD-002).
  http::Response refuse(const http::Refusal& refusal) override;

 private:
  HttpAdapter(HttpAdapterOptions options, EndpointTable table,
              enforcement::EnforcementPoint& boundary, http::Handler& old, const Clock& clock)
      : options_(std::move(options)),
        table_(std::move(table)),
        boundary_(boundary),
        old_(old),
        clock_(clock),
        addresses_(options_.calls_per_second, kMaxMeteredCallers) {}
  [[nodiscard]] enforcement::TransportRefusal refusal_of(const http::Request& request,
                                                         const std::string& tool,
                                                         access::ReasonCode reason) const;

  const HttpAdapterOptions options_;
  const EndpointTable table_;
  enforcement::EnforcementPoint& boundary_;
  http::Handler& old_;
  const Clock& clock_;
  TokenBuckets addresses_;
};

}  // namespace remit::adapter
