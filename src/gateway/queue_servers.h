// The servers of a worker of deferred work: nobody is there to be asked, so they only answer.
#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/worker_threads.h"
#include "enforcement/enforcement_point.h"
#include "gateway/answer_bytes.h"
#include "gateway/config.h"
#include "gateway/notices.h"
#include "gateway/patience.h"
#include "gateway/servers.h"
#include "gateway/upstream.h"

namespace remit::gateway {

/// What they stand on. All outlive them.
struct QueueServersParts {
  const decision::CurrentPolicy& policy;
  const Clock& clock;
  const Notices& notices;
  LimitSettings limits;
  Patience patience = {};
};

/// The handler of every tool of a configuration, without a client: what a server asks of one is
/// refused, what it says to one is dropped. `start`, then use from any thread; `get_ready` before
/// calls.
class QueueServers final : public UpstreamListener, public enforcement::ToolHandler {
 public:
  explicit QueueServers(QueueServersParts parts);
  /// Stops the servers in order.
  ~QueueServers() override;
  QueueServers(const QueueServers&) = delete;
  QueueServers& operator=(const QueueServers&) = delete;

  /// Starts the processes in `directory`. Errors: the first that could not be started.
  Status start(const std::vector<UpstreamSettings>& upstreams, const std::string& directory);
  /// Shakes hands with each and lists its tools. Errors: the first that is not ready in time, or
  /// when `stop` is asked for.
  Status get_ready(const std::stop_token& stop);

  /// Whether each server is there and its list is known. Errors: `unavailable`.
  [[nodiscard]] Status is_ready() const;
  /// Whether a server has ended, which no server comes back from.
  [[nodiscard]] bool has_lost_one() const;
  /// False for a tool of the catalogue that its server does not offer as it is pinned.
  [[nodiscard]] bool is_offered(std::string_view tool) const;

  /// Sends the call to its server and waits for what becomes of it; the answer itself is dropped.
  enforcement::HandlerResult run(const enforcement::GrantedCall& call) override;

  void on_request(Upstream& upstream, mcp::Request request) override;
  void on_notification(Upstream& upstream, mcp::Notification notification) override;

 private:
  const QueueServersParts parts_;
  std::stop_source stop_;
  AnswerBytes answers_{kMaxQueuedBytes};
  Servers servers_;
  WorkerThreads workers_{kMaxUpstreams};
};

}  // namespace remit::gateway
