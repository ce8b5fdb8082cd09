// OpenSSL through Asio, with the doors that stay shut.
#include "http/tls.h"

#include <openssl/ssl.h>

#include <boost/asio/buffer.hpp>
#include <utility>

namespace remit::http {
namespace {

namespace asio = boost::asio;
using Context = asio::ssl::context;

std::unique_ptr<Context> strict_context(Context::method method) {
  auto context = std::make_unique<Context>(method);
  ::SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION);
  ::SSL_CTX_set_options(context->native_handle(), SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
  // OpenSSL would ask on the terminal otherwise.
  boost::system::error_code ignored;
  context->set_password_callback([](std::size_t, Context::password_purpose) { return ""; },
                                 ignored);
  return context;
}

}  // namespace

Result<std::unique_ptr<Context>> make_server_tls(const TlsIdentity& identity) {
  std::unique_ptr<Context> context = strict_context(Context::tls_server);
  boost::system::error_code error;
  context->use_certificate_chain(asio::buffer(identity.certificate_pem), error);
  if (error) return Error{ErrorCode::kInvalidInput, "the certificate is no PEM certificate"};
  context->use_private_key(asio::buffer(identity.private_key_pem), Context::pem, error);
  if (error) {
    return Error{ErrorCode::kInvalidInput,
                 "the private key is no PEM key without a password, or not the certificate's"};
  }
  if (::SSL_CTX_check_private_key(context->native_handle()) != 1) {
    return Error{ErrorCode::kInvalidInput, "the private key is not the certificate's"};
  }
  return context;
}

Result<std::unique_ptr<Context>> make_client_tls(const std::string& trust_pem) {
  std::unique_ptr<Context> context = strict_context(Context::tls_client);
  boost::system::error_code error;
  if (trust_pem.empty()) {
    context->set_default_verify_paths(error);
    if (error) return Error{ErrorCode::kUnavailable, "the system's certificates cannot be found"};
  } else {
    context->add_certificate_authority(asio::buffer(trust_pem), error);
    if (error) return Error{ErrorCode::kInvalidInput, "the certificates to trust are no PEM"};
  }
  context->set_verify_mode(asio::ssl::verify_peer, error);
  return context;
}

}  // namespace remit::http
