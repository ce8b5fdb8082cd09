// The loop that reads what a peer says, line by line, until it ends or is given up.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

namespace remit::gateway {

/// What is done with the lines of one peer, on the thread that reads them.
struct LineTakers {
  std::function<void(std::string_view)> line;  ///< one that is not blank
  std::function<void()> too_long;              ///< instead of one beyond the bound
  std::function<void()> cut;                   ///< the end came within a line; empty: no matter
  /// Asked after each of the above; false ends the reading. Empty: it goes on.
  std::function<bool()> goes_on;
};

/// Reads lines of at most `max_line_bytes` from `fd` until it ends or fails, `wake_fd` is readable,
/// or `goes_on` says no.
void read_peer_lines(int fd, std::size_t max_line_bytes, int wake_fd, const LineTakers& takers);

}  // namespace remit::gateway
