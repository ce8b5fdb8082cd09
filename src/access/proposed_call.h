// What a planner proposes: a tool and untrusted arguments, with the credential it came with.
#pragma once

#include <string>
#include <utility>

namespace remit::access {

/// What a caller presented to say who it is. The secret has no printer and never enters evidence.
class Credential {
 public:
  enum class Kind : unsigned char {
    kNone,    ///< nothing was presented
    kLocal,   ///< the transport itself is the credential (stdio: who started the process)
    kBearer,  ///< a bearer token
  };
  Credential() = default;
  static Credential local() { return Credential{Kind::kLocal, {}}; }
  static Credential bearer(std::string secret) {
    return Credential{Kind::kBearer, std::move(secret)};
  }
  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] const std::string& secret() const { return secret_; }

 private:
  Credential(Kind kind, std::string secret) : kind_(kind), secret_(std::move(secret)) {}
  Kind kind_ = Kind::kNone;
  std::string secret_;
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
};

}  // namespace remit::access
