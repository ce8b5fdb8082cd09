// getaddrinfo, kept at arm's length.
#include "http/host_lookup.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "base/limits.h"
#include "base/mutex.h"
#include "http/url.h"

namespace remit::http {

using Addresses = HostLookup::Addresses;

Addresses HostLookup::ask_system(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  Addresses out;
  if (::getaddrinfo(host.c_str(), nullptr, &hints, &found) != 0) return out;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    std::array<char, NI_MAXHOST> text{};
    const int error = ::getnameinfo(one->ai_addr, one->ai_addrlen, text.data(), text.size(),
                                    nullptr, 0, NI_NUMERICHOST);
    if (error == 0 && std::find(out.begin(), out.end(), text.data()) == out.end()) {
      out.emplace_back(text.data());
    }
  }
  ::freeaddrinfo(found);
  return out;
}

struct HostLookup::State {
  Mutex mutex;
  CondVar changed;
  std::size_t running REMIT_GUARDED_BY(mutex) = 0;
};

HostLookup::HostLookup(const Clock& clock, Resolver resolver)
    : clock_(clock), resolver_(std::move(resolver)), state_(std::make_shared<State>()) {}

Result<Addresses> HostLookup::addresses(const std::string& host, MonotonicTime deadline,
                                        const std::stop_token& stop) {
  if (is_ip_address(host)) return Addresses{host};
  if (host == "localhost") return Addresses{"127.0.0.1", "::1"};
  const auto answer = std::make_shared<std::optional<Addresses>>();  // guarded by state->mutex
  const std::shared_ptr<State> state = state_;
  {
    const MutexLock lock(state->mutex);
    if (state->running >= kMaxHostLookups) {
      return Error{ErrorCode::kUnavailable, "too many names are being looked up", host};
    }
    ++state->running;
  }
  try {
    std::thread([state, answer, host, resolver = resolver_] {
      Addresses found = resolver(host);
      const MutexLock lock(state->mutex);
      --state->running;
      *answer = std::move(found);
      state->changed.notify_all();
    }).detach();  // NOSTYLE(detach): getaddrinfo has no end that anybody could wait for
  } catch (const std::system_error&) {
    const MutexLock lock(state->mutex);
    --state->running;
    return Error{ErrorCode::kUnavailable, "the system gives no thread", host};
  }
  const std::stop_callback wake(stop, [&state] {
    const MutexLock lock(state->mutex);
    state->changed.notify_all();
  });
  const MutexLock lock(state->mutex);
  while (!answer->has_value()) {
    if (stop.stop_requested()) return Error{ErrorCode::kUnavailable, "cancelled", host};
    const Duration left = deadline - clock_.monotonic_now();
    if (left <= Duration::zero()) {
      return Error{ErrorCode::kDeadlineExceeded, "the name was not looked up in time", host};
    }
    state->changed.wait_for(state->mutex, left);
  }
  if ((*answer)->empty()) return Error{ErrorCode::kUnavailable, "the name is not known", host};
  return std::move(**answer);
}

}  // namespace remit::http
