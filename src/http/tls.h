// TLS contexts for server and client. Internal to this folder.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <string>

#include "base/result.h"
#include "http/server.h"

namespace remit::http {

/// TLS 1.2 or newer, without compression or renegotiation. Errors: `invalid_input` for a
/// certificate or key that does not parse, needs a password, or does not fit the other.
Result<std::unique_ptr<boost::asio::ssl::context>> make_server_tls(const TlsIdentity& identity);

/// The same for a client that verifies its peer: against the certificates in `trust_pem`, or the
/// system's where that is empty. Errors: `invalid_input` for certificates that do not parse.
Result<std::unique_ptr<boost::asio::ssl::context>> make_client_tls(const std::string& trust_pem);

}  // namespace remit::http
