// Pooling connections, and writing requests.
#include "http/client.h"

#include <algorithm>
#include <list>
#include <utility>

#include "base/mutex.h"
#include "http/connection.h"
#include "http/host_lookup.h"
#include "http/tls.h"

namespace remit::http {
namespace {

std::string origin_of(const Url& url) {
  return (url.is_secure ? "https://" : "http://") + url.authority();
}

Result<std::string> bytes_of_request(const ClientRequest& request) {
  if (!is_token(request.method)) {
    return Error{ErrorCode::kInvalidInput, "the method is no token"};
  }
  std::string out = request.method + " " + request.url.target + " HTTP/1.1\r\nHost: ";
  out.append(request.url.authority()).append("\r\nAccept-Encoding: identity\r\n");
  Headers headers;
  for (const auto& [name, value] : request.headers.fields()) {
    if (!equal_names(name, "Host") && !equal_names(name, "Accept-Encoding")) {
      headers.set(name, value);
    }
  }
  if (write_fields(headers, out) > 0) {
    return Error{ErrorCode::kInvalidInput, "a header that cannot be sent"};
  }
  const bool has_length = !request.body.empty() || request.method == "POST" ||
                          request.method == "PUT" || request.method == "PATCH";
  if (has_length) {
    out.append("Content-Length: ").append(std::to_string(request.body.size())).append("\r\n");
  }
  return out.append("\r\n").append(request.body);
}

}  // namespace

class Client::Impl {
 public:
  Impl(ClientOptions options, const Clock& clock, std::unique_ptr<boost::asio::ssl::context> tls)
      : options_(std::move(options)), clock_(clock), lookup_(clock), tls_(std::move(tls)) {}

  Result<Response> send(const ClientRequest& request, const std::stop_token& stop);
  Status reach(const Url& url, MonotonicTime deadline, const std::stop_token& stop);

 private:
  struct Resting {
    std::string origin;
    MonotonicTime since;
    std::unique_ptr<Connection> connection;
  };
  Status take_place(MonotonicTime deadline, const std::stop_token& stop);
  void leave_place();
  std::unique_ptr<Connection> take_resting(const std::string& origin);
  void keep(const std::string& origin, std::unique_ptr<Connection> connection);
  Result<boost::asio::ssl::context*> tls();
  Result<std::unique_ptr<Connection>> connect(const ClientRequest& request,
                                              const std::stop_token& stop);
  Result<Response> send_in_place(const ClientRequest& request, const std::string& bytes,
                                 const std::stop_token& stop);

  const ClientOptions options_;
  const Clock& clock_;
  HostLookup lookup_;
  Mutex mutex_;
  std::unique_ptr<boost::asio::ssl::context> tls_ REMIT_GUARDED_BY(mutex_);
  CondVar changed_;
  std::size_t in_use_ REMIT_GUARDED_BY(mutex_) = 0;
  std::list<Resting> resting_ REMIT_GUARDED_BY(mutex_);  // the newest first
};

Status Client::Impl::take_place(MonotonicTime deadline, const std::stop_token& stop) {
  const std::stop_callback wake(stop, [this] {
    const MutexLock lock(mutex_);
    changed_.notify_all();
  });
  const MutexLock lock(mutex_);
  while (true) {
    if (stop.stop_requested()) return Error{ErrorCode::kUnavailable, "cancelled"};
    const Duration left = deadline - clock_.monotonic_now();
    if (left <= Duration::zero()) {
      return Error{ErrorCode::kDeadlineExceeded, "no connection was free in time"};
    }
    if (in_use_ < options_.connections) break;
    changed_.wait_for(mutex_, left);
  }
  ++in_use_;
  return {};
}

void Client::Impl::leave_place() {
  const MutexLock lock(mutex_);
  --in_use_;
  changed_.notify_one();
}

// One that rests since a short time; those that rest too long go away here.
std::unique_ptr<Connection> Client::Impl::take_resting(const std::string& origin) {
  std::list<Resting> gone;  // closed without the lock
  std::unique_ptr<Connection> found;
  {
    const MutexLock lock(mutex_);
    const MonotonicTime oldest = clock_.monotonic_now() + -Duration(options_.max_rest);
    for (auto at = resting_.begin(); at != resting_.end();) {
      const auto one = at++;
      if (one->since < oldest) {
        gone.splice(gone.end(), resting_, one);
      } else if (found == nullptr && one->origin == origin) {
        found = std::move(one->connection);
        gone.splice(gone.end(), resting_, one);
      }
    }
  }
  return found;
}

void Client::Impl::keep(const std::string& origin, std::unique_ptr<Connection> connection) {
  std::list<Resting> gone;
  const MutexLock lock(mutex_);
  resting_.push_front({origin, clock_.monotonic_now(), std::move(connection)});
  if (resting_.size() > options_.connections) {
    gone.splice(gone.end(), resting_, std::prev(resting_.end()));
  }
}

// The system's certificates are many, and read only by who needs them.
Result<boost::asio::ssl::context*> Client::Impl::tls() {
  const MutexLock lock(mutex_);
  if (tls_ == nullptr) {
    REMIT_TRY_ASSIGN(tls_, make_client_tls(options_.trust_pem));
  }
  return tls_.get();
}

Result<std::unique_ptr<Connection>> Client::Impl::connect(const ClientRequest& request,
                                                          const std::stop_token& stop) {
  REMIT_TRY_ASSIGN(const std::vector<std::string> addresses,
                   lookup_.addresses(request.url.host, request.deadline, stop));
  Error last{ErrorCode::kUnavailable, "the name has no address"};
  for (const std::string& address : addresses) {
    auto connection = std::make_unique<Connection>(clock_);
    const MonotonicTime deadline =
        std::min(request.deadline, clock_.monotonic_now() + options_.connect_timeout);
    Status connected = connection->connect(address, request.url.port, deadline, stop);
    if (connected) {
      // Who was reached and is not trusted is an answer; another address would only hide it.
      if (request.url.is_secure) {
        REMIT_TRY_ASSIGN(boost::asio::ssl::context* const secured, tls());
        REMIT_TRY(connection->secure(request.url.host, *secured, deadline, stop));
      }
      return connection;
    }
    last = std::move(connected).error();
    if (stop.stop_requested() || clock_.monotonic_now() >= request.deadline) break;
  }
  return last;
}

Result<Response> Client::Impl::send_in_place(const ClientRequest& request, const std::string& bytes,
                                             const std::stop_token& stop) {
  const std::string origin = origin_of(request.url);
  std::unique_ptr<Connection> connection = take_resting(origin);
  while (connection != nullptr && !connection->is_quiet()) connection = take_resting(origin);
  if (connection == nullptr) {
    REMIT_TRY_ASSIGN(connection, connect(request, stop));
  }
  ResponseParser parser(options_.limits, request.method != "HEAD");
  REMIT_TRY(connection->exchange(bytes, parser, request.deadline, stop));
  if (connection->is_reusable()) keep(origin, std::move(connection));
  return std::move(parser.response());
}

Result<Response> Client::Impl::send(const ClientRequest& request, const std::stop_token& stop) {
  REMIT_TRY_ASSIGN(const std::string bytes, bytes_of_request(request));
  Result<Response> out = Error{};
  if (Status placed = take_place(request.deadline, stop); !placed) {
    out = std::move(placed).error();
  } else {
    out = send_in_place(request, bytes, stop);
    leave_place();
  }
  if (!out) out.error().where = request.url.authority();
  return out;
}

Status Client::Impl::reach(const Url& url, MonotonicTime deadline, const std::stop_token& stop) {
  REMIT_TRY(take_place(deadline, stop));
  const auto connection = connect({.url = url, .deadline = deadline}, stop);
  leave_place();
  if (connection) return {};
  Error error = connection.error();
  error.where = url.authority();
  return error;
}

Client::Client(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Client::~Client() = default;

Result<std::unique_ptr<Client>> Client::create(const ClientOptions& options, const Clock& clock) {
  if (options.connections == 0 || options.limits.head_bytes == 0 || options.limits.headers == 0) {
    return Error{ErrorCode::kInvalidInput, "a bound of zero"};
  }
  std::unique_ptr<boost::asio::ssl::context> tls;
  if (!options.trust_pem.empty()) {
    REMIT_TRY_ASSIGN(tls, make_client_tls(options.trust_pem));
  }
  return std::unique_ptr<Client>(
      new Client(std::make_unique<Impl>(options, clock, std::move(tls))));
}

Result<Response> Client::send(const ClientRequest& request, std::stop_token stop) {
  return impl_->send(request, stop);
}

Status Client::reach(const Url& url, MonotonicTime deadline, std::stop_token stop) {
  return impl_->reach(url, deadline, stop);
}

}  // namespace remit::http
