// One MCP client on pipes, its servers behind the boundary, and everything that passes between.
//
// Threads: `serve` reads the client on its caller's thread; each server has a reader; each call in
// flight has a worker that goes through the enforcement point and waits for the server's answer;
// each peer has a writer. No lock is held while any of them waits for a peer, a store or the log.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/worker_threads.h"
#include "decision/decision_point.h"
#include "enforcement/enforcement_point.h"
#include "gateway/config.h"
#include "gateway/live_calls.h"
#include "gateway/notices.h"
#include "gateway/outbox.h"
#include "gateway/patience.h"
#include "gateway/replies.h"
#include "gateway/server_requests.h"
#include "gateway/servers.h"
#include "gateway/upstream.h"
#include "mcp/message.h"
#include "mcp/methods.h"
#include "process/file_descriptor.h"

namespace remit::gateway {

/// What a gateway stands on. All outlive it.
struct GatewayParts {
  enforcement::EnforcementPoint& point;
  const decision::CurrentPolicy& policy;
  const Clock& clock;
  const Notices& notices;
  LimitSettings limits;
  std::string route;
  std::string run_id;
  std::string case_id;
  Patience patience = {};
  std::string scopes_from = "the configuration, identity";  ///< where an operator gives them
};

/// The gateway of one client. `start`, `serve`, then destroy.
class StdioGateway final : public UpstreamListener {
 public:
  StdioGateway(GatewayParts parts, int output_fd);
  /// Stops the servers in order and sends the client what is still queued.
  ~StdioGateway() override;
  StdioGateway(const StdioGateway&) = delete;
  StdioGateway& operator=(const StdioGateway&) = delete;

  /// Starts the servers' processes in `directory`. Errors: the first that could not be started;
  /// `unavailable` where there is no thread to write to the client.
  Status start(const std::vector<UpstreamSettings>& upstreams, const std::string& directory);

  /// Serves until `input_fd` ends or a signal comes, then until the calls in flight are recorded:
  /// those that outlast their time are cancelled.
  void serve(int input_fd, const process::TerminationSignals& signals);

  void on_request(Upstream& upstream, mcp::Request request) override;
  void on_notification(Upstream& upstream, mcp::Notification notification) override;

 private:
  friend class ServerCall;

  /// What the client said of itself, once it did.
  struct ClientFacts {
    mcp::Revision revision = mcp::kNewestRevision;
    json::Object capabilities;  ///< passed to servers: only what can be passed through here
    std::set<std::string, std::less<>> offered;  ///< server capabilities that we declared
  };
  /// A request that may become a call.
  struct Proposal {
    mcp::RequestId id;
    std::string method;      ///< of the protocol
    std::string tool;        ///< catalogue name
    json::Object arguments;  ///< untrusted
    json::Object params;     ///< for `_meta`
  };

  // Messages of the client, on the thread of `serve`.
  void take_line(std::string_view line);
  void take_fault(const mcp::MessageFault& fault);
  void take_request(mcp::Request request);
  void take_ready_request(mcp::Request request, const ClientFacts& facts);
  void take_notification(const mcp::Notification& notification);
  void take_answer(const mcp::RequestId& id, std::string_view member);
  void call_tool(mcp::Request request);
  void call_method(mcp::Request request);
  bool admits_knock(const mcp::Request& request);
  ReplyForm tool_reply_form(std::string_view tool) const;
  void start_call(Proposal proposal);
  void list_tools(const mcp::Request& request);
  void set_log_level(const mcp::Request& request);
  void refuse_version(const mcp::Request& request, const std::string& version);
  void drain(const process::TerminationSignals& signals);

  // The handshake, on the same thread.
  void initialize(const mcp::Request& request);
  struct HandRound;
  std::size_t shake_all_hands(const json::Object& capabilities);
  bool wait_for_hands(const HandRound& round);
  json::Object offered_capabilities(std::set<std::string, std::less<>>& offered) const;
  json::Object initialize_result(const ClientFacts& facts, json::Object capabilities) const;

  // Calls, on workers.
  void run_call(const std::shared_ptr<LiveCall>& call, const access::ProposedCall& proposed,
                const std::string& method, const std::optional<mcp::RequestId>& progress_token,
                ReplyForm form);
  std::string answer_of(LiveCall& call, const access::ProposedCall& proposed,
                        const std::string& method,
                        const std::optional<mcp::RequestId>& progress_token, ReplyForm form);
  void end_of_call(Upstream& upstream);
  void note_subscription(const std::string& method, const enforcement::GrantedCall& call,
                         const Upstream& upstream);
  void tell_changed_tools();

  // What servers say.
  void pass_progress(Upstream& upstream, const json::Object& params);
  void pass_log_message(Upstream& upstream, const json::Object& params);
  void pass_cancellation(Upstream& upstream, const json::Object& params);
  void pass_update(Upstream& upstream, const json::Object& params);
  void pass_list_change(const std::string& method);
  void note_changed_tools(Upstream& upstream);
  std::string refusal_of(Upstream& upstream, const mcp::Request& request);

  // Answers to the client.
  bool wait_until_offered(const access::ProposedCall& proposed, const LiveCall& call);
  void say_denied(const enforcement::Denial& denial, std::string_view tool) const;
  enforcement::Denial refuse(access::ReasonCode reason, const std::string& tool);
  void send(std::string line);
  void send_error(mcp::ErrorResponse error);
  std::shared_ptr<const ClientFacts> client() const;

  const GatewayParts parts_;
  LiveCalls calls_;
  ServerRequests server_requests_;
  std::atomic<int> log_level_{0};
  Tally stray_answers_;         // of the client
  Tally faulty_answers_;        // likewise
  Tally client_notifications_;  // not passed on
  Tally server_notifications_;  // not passed on
  Tally stray_progress_;
  std::stop_source stop_;                                 ///< of what is no call: handshakes, lists
  const process::TerminationSignals* signals_ = nullptr;  // while `serve` runs
  int input_fd_ = -1;                                     // likewise
  mutable Mutex mutex_;
  CondVar hand_shaken_;
  std::shared_ptr<const ClientFacts> client_ REMIT_GUARDED_BY(mutex_);  // null until initialized
  std::set<std::pair<std::string, std::string>> subscriptions_ REMIT_GUARDED_BY(mutex_);
  Outbox outbox_;
  AnswerBytes answers_{kMaxQueuedBytes};  // beside what the outbox holds
  Servers servers_;
  WorkerThreads workers_;
};

}  // namespace remit::gateway
