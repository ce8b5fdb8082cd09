// What may happen once: approvals that are used up, and invocation keys that are claimed.
//
// The boundary asks before a decision which approval there is, and claims key and approval together
// before anything runs (spec/ledger.md). Nothing here decides: a ledger says what is so, and
// whoever asks makes a refusal of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace remit::ledger {

/// What is known of an approval; the words of `approval_state` in events (REQ-EV-021).
enum class ApprovalState : std::uint8_t {
  kAbsent,      ///< nobody approved anything of this kind
  kMismatched,  ///< this principal has one for this tool, but for another call or policy
  kExpired,
  kRevoked,
  kConsumed,  ///< used up
  kActive,
};
std::string_view approval_state_name(ApprovalState state);

/// Which approval a call asks for. All are digests (spec/ledger.md).
struct ApprovalQuery {
  std::string_view request;  ///< principal, tool, resources, arguments, policy
  std::string_view scope;    ///< principal and tool
  std::string_view claim;    ///< the key that the call will claim
};

struct ApprovalFinding {
  ApprovalState state = ApprovalState::kAbsent;
  std::string approval = {};      ///< its id; empty for kAbsent
  bool is_of_this_claim = false;  ///< with kConsumed: it was this very key that used it up
};

/// What a person has to see in order to approve a call, and the digests that bind the approval to
/// it.
struct ApprovalRequest {
  std::string request;
  std::string scope;
  std::string principal;  ///< digest; bounds how many one principal can leave
  std::string subject;
  std::string tenant;
  std::string on_behalf_of;
  std::string tool;
  std::string resources;  ///< `Type::"id"`, separated by blanks
  std::string arguments;  ///< canonical JSON as the handler would get it
  std::string policy_version;
};

/// What a handler's run came to. Starts at the honest value.
enum class Outcome : std::uint8_t {
  kUnknown,
  kSucceeded,
  kFailed,
  kCancelled,
  kNotRun,  ///< the handler was not entered: the key may be used again
};

/// What a call wants to do once.
struct ClaimQuery {
  std::string_view claim = {};  ///< the key: of principal, tool and the caller's own, or a new one
  std::string_view call = {};   ///< digest of principal, tool, resources and arguments
  std::string_view tool = {};   ///< for people
  std::string_view invocation = {};  ///< of this attempt
  std::string_view approval = {};    ///< to use up; empty: none
  std::string_view request = {};     ///< what the approval has to be for
  bool is_repeatable = false;        ///< an attempt that nobody knows the end of may be made again
};

/// One attempt that holds a key; what its owner shows to go on with it.
struct Claim {
  std::string claim = {};
  std::string invocation = {};
  std::string approval = {};
  std::int64_t attempt = 0;  ///< from 1
  bool was_unknown = false;  ///< it repeats one whose end nobody knows
};

enum class ClaimVerdict : std::uint8_t {
  kUnknown,       ///< an earlier attempt may have had its effect
  kRunning,       ///< an earlier attempt is under way
  kSucceeded,     ///< an earlier attempt ended so
  kFailed,        ///< likewise
  kCancelled,     ///< likewise
  kConflict,      ///< the key was used for another call
  kApprovalGone,  ///< the approval is not active any more
  kClaimed,       ///< the call may go on
};

struct ClaimOutcome {
  ClaimVerdict verdict = ClaimVerdict::kUnknown;
  Claim claim = {};  ///< with kClaimed
};

/// Implementations are thread-safe. An error of any operation means deny: `unavailable`,
/// `deadline_exceeded` or `data_loss` for a store that is gone, busy or damaged, and whatever else
/// the database says.
class Ledger {
 public:
  virtual ~Ledger() = default;

  /// The approval that a call could use now.
  virtual Result<ApprovalFinding> find_approval(const ApprovalQuery& query) = 0;

  /// Remembers what was asked for, so that a person can grant it. One principal's requests are
  /// bounded; the oldest go.
  virtual Status note_request(const ApprovalRequest& request) = 0;

  /// Claims the key and uses up the approval, both or neither, durably.
  virtual Result<ClaimOutcome> claim(const ClaimQuery& query) = 0;

  /// Says durably that the handler is about to be entered. Errors: `failed_precondition` for a
  /// claim that was taken away, because its owner was thought to be dead: do not enter.
  virtual Status start(const Claim& claim) = 0;

  /// Says what the run came to; a repetition that was not run or was cancelled leaves the attempt
  /// before it unknown. One that cannot be written is tried again while this process lives;
  /// afterwards the claim is one whose end nobody knows.
  virtual void finish(const Claim& claim, Outcome outcome) noexcept = 0;

  /// Undoes `claim` for a call that was not started and never will be: the approval is active
  /// again, and the key as it was before. Tried again like `finish`.
  virtual void release(const Claim& claim) noexcept = 0;
};

}  // namespace remit::ledger
