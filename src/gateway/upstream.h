// One MCP server behind the boundary: its process, its ids, its answers.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "gateway/answer_bytes.h"
#include "gateway/notices.h"
#include "gateway/outbox.h"
#include "json/value.h"
#include "mcp/message.h"
#include "process/child.h"

namespace remit::gateway {

/// What became of a request to a server. Starts at what is known least.
enum class AnswerKind : std::uint8_t {
  kEnded,        ///< the server ended, or closed its output, before it answered
  kTimedOut,     ///< no answer in time; it was told to stop
  kCancelled,    ///< we were asked to stop, before a byte of the request was sent
  kAbandoned,    ///< we were asked to stop, and told the server so; it may have acted
  kMalformed,    ///< an answer came, but not one of this protocol
  kChanged,      ///< the request was not sent: the server changed its tools
  kUnreachable,  ///< the request was never sent
  kLate,         ///< likewise: the record of the call was too long in coming
  kClaimLost,    ///< likewise: the ledger did not take the start
  kError,        ///< a JSON-RPC error
  kResult,       ///< a result of the method's shape
};

/// An answer, or what there was instead.
struct Answer {
  AnswerKind kind = AnswerKind::kEnded;
  json::Object result = {};       ///< of kResult
  mcp::ErrorResponse error = {};  ///< of kError
  std::string detail = {};        ///< for the operator: what was wrong
  AnswerBytes::Share share = {};  ///< of a call's: kept until the client has the answer
};

class UpstreamListener;

/// One request to a server.
struct UpstreamRequest {
  std::int64_t id = 0;  ///< from `next_id`
  std::string_view method;
  std::string_view params;  ///< JSON text of an object, or empty
  std::chrono::milliseconds timeout{0};
  /// Set for a call of the client's: what the server says while it lasts belongs to it.
  bool is_call = false;
  /// The client's progress token, where it gave one.
  std::optional<mcp::RequestId> progress_token = std::nullopt;
};

/// A server as a process of ours. `start` it, shake hands, then ask. Thread-safe after `start`.
class Upstream {
 public:
  /// `listener`, `notices` and `answers` outlive it. An answer to a call is not taken before
  /// `answers` has room for it; until then nothing more is read from the server.
  Upstream(std::string name, UpstreamListener& listener, const Notices& notices,
           AnswerBytes& answers);
  /// Ends the process at once if `close` was not called.
  ~Upstream();
  Upstream(const Upstream&) = delete;
  Upstream& operator=(const Upstream&) = delete;

  /// Starts the process and the threads that read from it and write to it. Errors: as of
  /// process::Child::start; `unavailable` without a thread, and then no process is left.
  Status start(const process::Command& command);

  /// Initializes the protocol, offering our newest revision and `capabilities`. Errors:
  /// `unavailable` (ended, malformed), `deadline_exceeded`, `unsupported` (a revision that we do
  /// not speak).
  Status shake_hands(const json::Object& capabilities, std::stop_token stop,
                     std::chrono::milliseconds timeout = kHandshakeDeadline);

  /// Sends a request and waits for what becomes of it. `stop` ends the wait.
  Answer ask(const UpstreamRequest& request, std::stop_token stop);
  /// Ids are ours, from 1, and never given twice.
  std::int64_t next_id() { return next_id_.fetch_add(1); }

  /// Sends a line that expects no answer; false if the server is gone or takes nothing.
  bool post(std::string line);

  /// All pages of `tools/list`, within `timeout` together. Errors: `unavailable`,
  /// `deadline_exceeded`, `limit_exceeded`.
  Result<std::vector<json::Object>> list_tools(std::chrono::milliseconds timeout,
                                               std::stop_token stop);

  /// Whether the server is gone, or closed its output.
  [[nodiscard]] bool has_ended() const;
  /// Whether a call of the client's is waiting for this server's answer.
  [[nodiscard]] bool has_live_call() const;
  /// The client's token of the live call that we gave `token` for, if it gave one.
  [[nodiscard]] std::optional<mcp::RequestId> progress_token_of(const json::Value& token) const;

  [[nodiscard]] const std::string& name() const { return name_; }
  /// What the server said of itself; set by `shake_hands`, read after it.
  [[nodiscard]] const json::Object& capabilities() const { return capabilities_; }
  [[nodiscard]] const std::string& instructions() const { return instructions_; }

  /// The orderly end: closes its input, waits, terminates, kills; see process::Child::stop. Every
  /// open request gets kEnded. Idempotent.
  void close(std::chrono::milliseconds grace);

 private:
  struct Pending;
  void read_lines();
  void take_line(std::string_view line);
  void take_fault(const mcp::MessageFault& fault);
  /// `bytes` is what the answer takes; one of our own making takes none.
  void settle(const mcp::RequestId& id, Answer answer, std::size_t bytes = 0);
  struct Open {
    std::string method;
    bool is_call = false;
  };
  std::optional<Open> find_open(std::int64_t id) const;
  void settle_only(Answer answer);
  void settle_all();
  void stop_waiting(const UpstreamRequest& request, std::string_view reason);

  const std::string name_;
  UpstreamListener& listener_;
  const Notices& notices_;
  AnswerBytes& answers_;
  std::optional<process::Child> child_;
  std::optional<process::Wakeup> wakeup_;
  std::unique_ptr<Outbox> outbox_;
  std::thread reader_;
  json::Object capabilities_;
  std::string instructions_;
  std::atomic<std::int64_t> next_id_{1};
  std::atomic<std::size_t> faults_in_a_row_{0};
  Tally faults_;
  Tally strays_;
  mutable Mutex mutex_;
  std::map<std::int64_t, Pending*> pending_ REMIT_GUARDED_BY(mutex_);
  bool has_ended_ REMIT_GUARDED_BY(mutex_) = false;
  bool is_closing_ REMIT_GUARDED_BY(mutex_) = false;
};

/// What a server says on its own account. Called on the server's reader thread, which must not be
/// held up: implementations do not block.
class UpstreamListener {
 public:
  virtual ~UpstreamListener() = default;
  virtual void on_request(Upstream& upstream, mcp::Request request) = 0;
  virtual void on_notification(Upstream& upstream, mcp::Notification notification) = 0;
};

}  // namespace remit::gateway
