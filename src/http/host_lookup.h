// Names to addresses, by a deadline that the system's resolver does not know.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace remit::http {

/// Asks the system's resolver on a thread of its own, since it cannot be interrupted; one that
/// hangs is left behind, and at most kMaxHostLookups are. Thread-safe.
class HostLookup {
 public:
  using Addresses = std::vector<std::string>;
  /// Blocks; nothing for a name that is not known.
  using Resolver = std::function<Addresses(const std::string& host)>;
  /// What the system says.
  static Addresses ask_system(const std::string& host);

  explicit HostLookup(const Clock& clock, Resolver resolver = ask_system);
  /// Addresses of `host` as text, in the resolver's order, each once. An address is its own answer,
  /// and `localhost` is the loopback (RFC 6761); neither is looked up. Errors: `unavailable` for a
  /// name that is not known, when too many look-ups hang, and when `stop` is asked for;
  /// `deadline_exceeded`.
  Result<Addresses> addresses(const std::string& host, MonotonicTime deadline,
                              const std::stop_token& stop);

 private:
  struct State;
  const Clock& clock_;
  const Resolver resolver_;
  const std::shared_ptr<State> state_;
};

}  // namespace remit::http
