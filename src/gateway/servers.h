// The servers of a configuration: their processes, their handshakes, and what they offer.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/worker_threads.h"
#include "decision/decision_point.h"
#include "gateway/answer_bytes.h"
#include "gateway/config.h"
#include "gateway/live_tools.h"
#include "gateway/notices.h"
#include "gateway/server_listings.h"
#include "gateway/upstream.h"
#include "json/value.h"
#include "policy/bundle.h"

namespace remit::gateway {

/// What servers stand on. All outlive them.
struct ServersParts {
  UpstreamListener& listener;
  const Notices& notices;
  const Clock& clock;
  const decision::CurrentPolicy& policy;
  AnswerBytes& answers;
};

/// `start` it, then shake hands with each, then ask. Thread-safe after `start`.
class Servers {
 public:
  explicit Servers(ServersParts parts) : parts_(parts), listings_(parts.clock) {}
  Servers(const Servers&) = delete;
  Servers& operator=(const Servers&) = delete;

  /// Starts the processes in `directory`. Errors: the first that could not be started.
  Status start(const std::vector<UpstreamSettings>& upstreams, const std::string& directory);

  /// Hands and list within `patience` together; then the server is ready. Errors: as of
  /// Upstream::shake_hands and Upstream::list_tools; `unavailable` while another does the same, or
  /// for a server that is given up.
  Status shake_hands(Upstream& upstream, const json::Object& capabilities,
                     std::chrono::milliseconds patience, const std::stop_token& stop);

  /// Lists the server's tools until the list is of a moment after the last reported change, or the
  /// server is given up. The caller has the server's turn (see ServerListings), which is given
  /// back. Without a list nothing is known to be as pinned, and no tool of the server can be
  /// called.
  Status list_tools(Upstream& upstream, MonotonicTime deadline, const std::stop_token& stop);

  /// What follows a change that a server reports.
  struct Relisting {
    WorkerThreads& workers;              ///< one of which lists the server's tools anew
    std::chrono::milliseconds patience;  ///< for one listing
    std::stop_token stop;
    std::function<void()> then = [] {};  ///< called once it is known what the server has now
  };
  /// The server says that its tools changed: from now on none of them is called by its old
  /// definition, and they are listed anew, or given up where they change without end.
  void note_change(Upstream& upstream, Relisting how);

  /// Whether a call of `tool` may go to its server now: its hands are shaken and, for a tool, the
  /// list in hand is of a moment after the last change and has the tool as pinned.
  [[nodiscard]] bool is_offered(const policy::Tool& tool) const;
  /// Waits for a list that is being renewed, at most `span`, then as `is_offered`.
  bool wait_until_offered(const policy::Tool& tool, std::chrono::milliseconds span,
                          const std::stop_token& stop);

  /// Null if there is none of the name.
  [[nodiscard]] Upstream* find(std::string_view name) const;
  [[nodiscard]] const std::vector<std::unique_ptr<Upstream>>& all() const { return upstreams_; }
  [[nodiscard]] LiveTools& tools() { return tools_; }
  [[nodiscard]] const LiveTools& tools() const { return tools_; }
  [[nodiscard]] ServerListings& listings() { return listings_; }
  [[nodiscard]] const ServerListings& listings() const { return listings_; }

  /// The orderly end of all of them, side by side: each may take its whole grace.
  void close(std::chrono::milliseconds grace);

 private:
  [[nodiscard]] std::chrono::milliseconds left_until(MonotonicTime deadline) const;

  const ServersParts parts_;
  LiveTools tools_;
  ServerListings listings_;
  std::vector<std::unique_ptr<Upstream>> upstreams_;
};

}  // namespace remit::gateway
