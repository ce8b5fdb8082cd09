// How long a gateway waits for its peers.
#pragma once

#include <chrono>

#include "base/limits.h"

namespace remit::gateway {

/// The waits of one session. The defaults are those of `remit stdio`; tests shorten them.
struct Patience {
  /// A server's handshake and first list, or all pages of a later list.
  std::chrono::milliseconds handshake = kHandshakeDeadline;
  /// For slow servers beside one that is ready, or once the client closed its end.
  std::chrono::milliseconds slow_server = kSlowServerGrace;
  /// For calls in flight once the client closed its end and no signal came.
  std::chrono::milliseconds drain = kDrainDeadline;
  /// For the same after a signal or after `drain`; and for a client that does not read.
  std::chrono::milliseconds last_words = kLastWords;
  /// For a server to end by itself, and again after SIGTERM.
  std::chrono::milliseconds server_end = kServerGrace;
};

}  // namespace remit::gateway
