// Calls as HTTP requests and back again, by the forms of a subject file.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "conformance/executor.h"
#include "http/message.h"
#include "json/value.h"

namespace remit::conformance {

/// The form by which `tool` is asked for: its own, else that of `*`; null for none.
const HttpForm* form_of(const std::vector<HttpForm>& forms, std::string_view tool);

/// The request for `tool`: arguments that the path names stand there; the others are the query of
/// GET, HEAD and DELETE, and a JSON object as the body of any other method. Errors: `invalid_input`
/// for an argument that the path names and that is missing, or is no text or integer where it must
/// be text.
Result<http::Request> request_of(const HttpForm& form, std::string_view tool,
                                 json::Object arguments);

/// A request read back.
struct FormMatch {
  std::string tool;
  json::Object arguments;
};
/// What `request` asks for by the first of `forms` that it fits, one without a wildcard first; what
/// comes in a path or a query is text. Nothing where it fits none.
std::optional<FormMatch> match_form(const std::vector<HttpForm>& forms,
                                    const http::Request& request);

}  // namespace remit::conformance
