// Whose turn it is to list a server's tools, how often that may happen, and what came of it.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "base/limits.h"
#include "base/mutex.h"

namespace remit::gateway {

/// The state of each server's list of tools. One thread at a time lists a server: the one to which
/// `begin` or `note_change` gave the turn, until `end` or `abandon` takes it back. A server that
/// changes its list kMaxListingsInARow times with less than kListingRest between is given up for
/// good: it has no list any more. Thread-safe.
class ServerListings {
 public:
  /// What is to be done with a server's list. Starts at what lets nothing through.
  enum class Next : std::uint8_t {
    kGiveUp,  ///< it is given up from now on: forget its list, and say so
    kList,    ///< list it (once more): the turn is the caller's
    kNothing,
  };
  /// `clock` outlives it.
  explicit ServerListings(const Clock& clock) : clock_(clock) {}

  /// Takes the turn for a server that is not ready, before its handshake: a change that it reports
  /// from here on is not missed. False if another thread has the turn, or it is ready or given up.
  bool begin(const std::string& server);
  /// Gives the turn back without a list; the server stays as ready as it was.
  void abandon(const std::string& server);
  /// A listing is over. kNothing: the turn is given back, and the server is ready from now on if
  /// `is_listed`. kList: it changed meanwhile.
  Next end(const std::string& server, bool is_listed);
  /// The server says that its list changed. kNothing: whoever has the turn lists it once more, or
  /// nobody needs to.
  Next note_change(const std::string& server);
  /// How long to wait before the next listing: nothing at first, more for each one in a row, so
  /// that changes that come in a burst share one.
  [[nodiscard]] std::chrono::milliseconds pause_before(const std::string& server) const;

  /// Whether hands were shaken with the server and its list has been in once.
  [[nodiscard]] bool is_ready(const std::string& server) const;
  /// Whether it is ready, no change is open, and it is not given up.
  [[nodiscard]] bool is_settled(const std::string& server) const;
  /// Waits while a ready server's list is being renewed; at most `span`, and no longer than until
  /// `stop` is asked for. Then as `is_settled`.
  bool wait_until_settled(const std::string& server, std::chrono::milliseconds span,
                          std::stop_token stop);

 private:
  struct Listing {
    bool is_ready = false;
    bool has_turn = false;    // some thread
    bool is_changed = false;  // since that listing began
    bool is_given_up = false;
    std::size_t in_a_row = 0;
    MonotonicTime last_end;
  };
  static bool is_settled(const Listing& listing) {
    return listing.is_ready && !listing.has_turn && !listing.is_given_up;
  }
  Listing find(const std::string& server) const REMIT_REQUIRES(mutex_);

  const Clock& clock_;
  mutable Mutex mutex_;
  CondVar changed_;
  std::map<std::string, Listing> listings_ REMIT_GUARDED_BY(mutex_);
};

}  // namespace remit::gateway
