// Resources of a service that is asked over HTTP.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "attributes/attribute_source.h"
#include "base/clock.h"
#include "http/client.h"

namespace remit::attributes {

struct HttpSourceOptions {
  std::string type;                   ///< Cedar entity type of the resources
  std::string url;                    ///< asked by POST; https, or http to the loopback
  std::chrono::milliseconds timeout;  ///< of one answer; the call's own deadline may be nearer
  std::string trust_pem = {};         ///< certificates to trust in place of the system's; PEM
  std::string credential = {};        ///< a bearer token (RFC 6750) for the service; empty: none
  std::string source;                 ///< what answers name as their source
};

/// Asks a service with `{"type":…,"reference":…}` and takes `{"resources":[…]}`, status 200 and
/// type application/json, for its answer (REQ-BD-047): one resource, or an empty list where there
/// is none. A resource has `id`, `tenant` (null for none), `revision` and, where it has some,
/// `attributes`: true or false is a Bool, an integer a Long, a text a String, a list of texts a
/// Set<String>, null no attribute. The service must not filter by tenant, or a foreign resource
/// becomes a missing one. Thread-safe.
class HttpAttributeSource final : public AttributeSource {
 public:
  /// Makes the source; the service is not asked yet. Errors: `invalid_input` for a URL that is none
  /// or sends plain text beyond the loopback, for certificates that do not parse, and for a
  /// credential that no header can carry. `clock`
  /// outlives the source.
  static Result<std::unique_ptr<HttpAttributeSource>> open(const HttpSourceOptions& options,
                                                           const Clock& clock);

  /// Errors: `not_found` for an empty list; `data_loss` for two resources and for an answer of
  /// another type or shape; `unavailable` for another status, a redirect among them, and with
  /// `deadline_exceeded` and `limit_exceeded` as of http::Client.
  [[nodiscard]] Result<access::Resource> resolve(const ResourceQuery& query) const override;

 private:
  HttpAttributeSource(HttpSourceOptions options, http::Url url,
                      std::unique_ptr<http::Client> client, const Clock& clock)
      : options_(std::move(options)),
        url_(std::move(url)),
        client_(std::move(client)),
        clock_(clock) {}

  const HttpSourceOptions options_;
  const http::Url url_;
  const std::unique_ptr<http::Client> client_;
  const Clock& clock_;
};

}  // namespace remit::attributes
