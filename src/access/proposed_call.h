// What a planner proposes: a tool and untrusted arguments, with the credential it came with.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace remit::access {

/// What a caller presented to say who it is. The secret has no printer and never enters evidence.
class Credential {
 public:
  enum class Kind : unsigned char {
    kNone,       ///< nothing was presented
    kLocal,      ///< the transport itself is the credential (stdio: who started the process)
    kBearer,     ///< a bearer token
    kReference,  ///< the name of a principal, kept with deferred work; only its worker presents one
  };
  Credential() = default;
  static Credential local() { return Credential{Kind::kLocal, {}}; }
  static Credential bearer(std::string secret) {
    return Credential{Kind::kBearer, std::move(secret)};
  }
  static Credential reference(std::string name) {
    return Credential{Kind::kReference, std::move(name)};
  }
  [[nodiscard]] Kind kind() const { return kind_; }
  /// Of a bearer token.
  [[nodiscard]] const std::string& secret() const { return text_; }
  /// Of a reference, which is no secret and proves nothing.
  [[nodiscard]] const std::string& name() const { return text_; }

 private:
  Credential(Kind kind, std::string text) : kind_(kind), text_(std::move(text)) {}
  Kind kind_ = Kind::kNone;
  std::string text_;
};

/// What is known of a call that was put off and is taken up now. Set by the worker alone; context
/// for the record, never authority.
struct Deferral {
  std::string queue;
  std::string enqueued_policy_version = {};  ///< in force when the work was put off
  std::string worker = {};                   ///< who takes it up
  std::int64_t attempt = 1;                  ///< of its invocation key, from 1
  /// A worker that was lost may have entered the handler under this key: a ledger that calls the
  /// key new is not the one that knows it (REQ-QU-018). It only ever refuses a call.
  bool was_started = false;
};

/// One proposed tool call, as it reaches the boundary. Nothing in it is trusted but `route` and
/// `credential`, which the transport sets, never the planner (*arguments are never identity*).
struct ProposedCall {
  std::string route;                 ///< name in the bundle's route inventory, set by the transport
  Credential credential;             ///< as presented
  std::string tool;                  ///< as the planner wrote it, byte for byte
  std::string arguments_json;        ///< JSON text of an object; empty means `{}`
  std::string idempotency_key = {};  ///< the caller's, or empty
  std::string planner_policy_version = {};  ///< what the planner says it saw: context, no authority
  std::string run_id = {};                  ///< from the launcher's options, never from a message
  std::string case_id = {};                 ///< likewise
  std::string trace_id = {};                ///< W3C trace context, for joining only
  std::string span_id = {};
  std::optional<Deferral> deferral = std::nullopt;  ///< of deferred work
};

}  // namespace remit::access
