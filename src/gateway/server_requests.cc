// The table of requests in the other direction.
#include "gateway/server_requests.h"

#include <utility>

namespace remit::gateway {

std::optional<std::int64_t> ServerRequests::open(const ServerRequest& request) {
  const MutexLock lock(mutex_);
  std::size_t of_server = 0;
  for (const auto& [id, other] : open_) {
    if (other.upstream != request.upstream) continue;
    if (other.id == request.id) return std::nullopt;
    ++of_server;
  }
  if (of_server >= kMaxServerRequests) return std::nullopt;
  const std::int64_t id = next_id_++;
  open_.emplace(id, request);
  return id;
}

std::optional<ServerRequest> ServerRequests::take(const mcp::RequestId& id) {
  const std::int64_t* number = id.if_number();
  if (number == nullptr) return std::nullopt;
  const MutexLock lock(mutex_);
  auto node = open_.extract(*number);
  if (node.empty()) return std::nullopt;
  return std::move(node.mapped());
}

std::optional<std::int64_t> ServerRequests::take_back(const ServerRequest& request) {
  const MutexLock lock(mutex_);
  for (auto at = open_.begin(); at != open_.end(); ++at) {
    if (at->second.upstream != request.upstream || at->second.id != request.id) continue;
    const std::int64_t id = at->first;
    open_.erase(at);
    return id;
  }
  return std::nullopt;
}

std::vector<ServerRequests::Orphan> ServerRequests::take_all(const Upstream& upstream) {
  std::vector<Orphan> out;
  const MutexLock lock(mutex_);
  for (auto at = open_.begin(); at != open_.end();) {
    if (at->second.upstream != &upstream) {
      ++at;
      continue;
    }
    out.push_back({at->first, std::move(at->second)});
    at = open_.erase(at);
  }
  return out;
}

}  // namespace remit::gateway
