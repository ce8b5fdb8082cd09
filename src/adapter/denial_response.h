// What a caller is told over HTTP: a denial's status, its challenge, and its body.
#pragma once

#include <string>
#include <string_view>

#include "enforcement/enforcement_point.h"
#include "http/message.h"

namespace remit::adapter {

/// What every challenge says of the server beside its error (RFC 6750 section 3).
struct Challenge {
  std::string realm = "remit";
  /// Address of the metadata that names the authorization servers (RFC 9728 section 5.1); empty:
  /// none.
  std::string resource_metadata = {};
};

/// Whether a header can carry `text` between quotation marks as it is.
bool fits_quotes(std::string_view text);

/// The response to a denial (REQ-BD-121): its status, `WWW-Authenticate` for 401 and for missing
/// scopes, `Retry-After` where waiting helps, and `enforcement::denial_json` as the body. Two
/// denials of one code have the same bytes, but for what that body says. `is_too_large` tells the
/// limit of a size from the limit of a rate.
http::Response denial_response(const enforcement::Denial& denial, const Challenge& challenge = {},
                               bool is_too_large = false);

/// The response of a call that was allowed and has none of its own: `status`, and what is known of
/// its outcome.
http::Response outcome_response(int status, enforcement::HandlerOutcome outcome,
                                enforcement::Retry retry);

}  // namespace remit::adapter
