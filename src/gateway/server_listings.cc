// The turns and their bounds.
#include "gateway/server_listings.h"

#include <algorithm>
#include <utility>

namespace remit::gateway {
namespace {

// Listings in a row that come without a pause, the first pause after them, and the longest.
constexpr std::size_t kWithoutPause = 3;
constexpr std::chrono::milliseconds kFirstPause{20};
constexpr std::chrono::milliseconds kLongestPause{1000};

}  // namespace

ServerListings::Listing ServerListings::find(const std::string& server) const {
  const auto found = listings_.find(server);
  return found == listings_.end() ? Listing{} : found->second;
}

bool ServerListings::begin(const std::string& server) {
  const MutexLock lock(mutex_);
  Listing& listing = listings_[server];
  if (listing.has_turn || listing.is_ready || listing.is_given_up) return false;
  listing.has_turn = true;
  listing.is_changed = false;
  return true;
}

void ServerListings::abandon(const std::string& server) {
  const MutexLock lock(mutex_);
  listings_[server].has_turn = false;
  changed_.notify_all();
}

ServerListings::Next ServerListings::end(const std::string& server, bool is_listed) {
  const MutexLock lock(mutex_);
  Listing& listing = listings_[server];
  ++listing.in_a_row;
  listing.last_end = clock_.monotonic_now();
  const bool is_changed = std::exchange(listing.is_changed, false);
  if (is_changed && listing.in_a_row < kMaxListingsInARow) return Next::kList;
  listing.has_turn = false;
  listing.is_given_up = is_changed;
  if (is_listed && !is_changed) listing.is_ready = true;
  changed_.notify_all();
  return is_changed ? Next::kGiveUp : Next::kNothing;
}

ServerListings::Next ServerListings::note_change(const std::string& server) {
  const MutexLock lock(mutex_);
  Listing& listing = listings_[server];
  if (listing.has_turn) {
    listing.is_changed = true;  // the listing under way may have missed it
    return Next::kNothing;
  }
  // One that is not ready is listed once it is.
  if (!listing.is_ready || listing.is_given_up) return Next::kNothing;
  if (clock_.monotonic_now() - listing.last_end >= kListingRest) listing.in_a_row = 0;
  if (listing.in_a_row >= kMaxListingsInARow) {
    listing.is_given_up = true;
    return Next::kGiveUp;
  }
  listing.has_turn = true;
  return Next::kList;
}

std::chrono::milliseconds ServerListings::pause_before(const std::string& server) const {
  const MutexLock lock(mutex_);
  const std::size_t in_a_row = find(server).in_a_row;
  if (in_a_row < kWithoutPause) return std::chrono::milliseconds{0};
  auto pause = kFirstPause;
  for (std::size_t i = kWithoutPause; i < in_a_row && pause < kLongestPause; ++i) pause *= 2;
  return std::min(pause, kLongestPause);
}

bool ServerListings::is_ready(const std::string& server) const {
  const MutexLock lock(mutex_);
  return find(server).is_ready;
}

bool ServerListings::is_settled(const std::string& server) const {
  const MutexLock lock(mutex_);
  return is_settled(find(server));
}

bool ServerListings::wait_until_settled(const std::string& server, std::chrono::milliseconds span,
                                        std::stop_token stop) {
  const MonotonicTime deadline = clock_.monotonic_now() + span;
  // Not made under the lock: it may run its function at once.
  const std::stop_callback on_stop(stop, [this] {
    const MutexLock lock(mutex_);
    changed_.notify_all();
  });
  MutexLock lock(mutex_);
  while (true) {
    const Listing listing = find(server);
    const Duration left = deadline - clock_.monotonic_now();
    const bool is_over = left.count() <= 0 || stop.stop_requested();
    if (is_over || !listing.is_ready || !listing.has_turn) return is_settled(listing);
    changed_.wait_for(mutex_, left);
  }
}

}  // namespace remit::gateway
