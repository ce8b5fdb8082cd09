// Requests of servers that were passed to the client: whose they are, under ids of ours.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/limits.h"
#include "base/mutex.h"
#include "mcp/message.h"

namespace remit::gateway {

class Upstream;

/// One request that the client has not answered.
struct ServerRequest {
  Upstream* upstream = nullptr;
  mcp::RequestId id{0};  ///< the server's
};

/// Open requests by the id that the client knows. Thread-safe.
class ServerRequests {
 public:
  /// An id for the client, from 1, never given twice; nothing if the server has kMaxServerRequests
  /// open ones or one of the same id.
  std::optional<std::int64_t> open(const ServerRequest& request);

  /// Takes out the request that the client knows by `id`.
  std::optional<ServerRequest> take(const mcp::RequestId& id);
  /// Takes out a request by the server's id; gives the client's.
  std::optional<std::int64_t> take_back(const ServerRequest& request);

  struct Orphan {
    std::int64_t client_id = 0;
    ServerRequest request;
  };
  /// Takes out all requests of a server.
  std::vector<Orphan> take_all(const Upstream& upstream);

 private:
  Mutex mutex_;
  std::map<std::int64_t, ServerRequest> open_ REMIT_GUARDED_BY(mutex_);
  std::int64_t next_id_ REMIT_GUARDED_BY(mutex_) = 1;
};

}  // namespace remit::gateway
