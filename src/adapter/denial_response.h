// What a caller is told over HTTP: a denial's status, its challenge, and its body.
#pragma once

#include "enforcement/enforcement_point.h"
#include "http/message.h"

namespace remit::adapter {

/// The response to a denial (REQ-BD-121): its status, `WWW-Authenticate` for 401 and for missing
/// scopes, `Retry-After` where waiting helps, and `enforcement::denial_json` as the body. Two
/// denials of one code have the same bytes, but for what that body says. `is_too_large` tells the
/// limit of a size from the limit of a rate.
http::Response denial_response(const enforcement::Denial& denial, bool is_too_large = false);

/// The response of a call that was allowed and has none of its own: `status`, and what is known of
/// its outcome.
http::Response outcome_response(int status, enforcement::HandlerOutcome outcome,
                                enforcement::Retry retry);

}  // namespace remit::adapter
