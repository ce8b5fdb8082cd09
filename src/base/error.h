// Errors as values: what went wrong, by what the caller should do about it, and where.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace remit {

/// What a caller should do about an error. There is deliberately no `permission_denied`: a refusal
/// is a `Decision`, never an `Error`. For access, every error means deny.
enum class ErrorCode : std::uint8_t {
  kInternal,            ///< a defect of ours; report it
  kInvalidInput,        ///< the input is wrong; mend it
  kLimitExceeded,       ///< a bound of base/limits.h or of the configuration
  kNotFound,            ///< what was named does not exist
  kAlreadyExists,       ///< what was to be made is there already
  kUnsupported,         ///< well-formed, but this build does not do it
  kFailedPrecondition,  ///< the state of things forbids it; change the state first
  kUnavailable,         ///< something outside is down; try later
  kDeadlineExceeded,    ///< something outside was too slow
  kDataLoss,            ///< stored data is damaged
};

/// The stable lower-case name of a code, e.g. `invalid_input`.
std::string_view error_code_name(ErrorCode code);

/// An error: code, message and place. The message is lower case, without a full stop; outside text
/// in it is quoted and cut (see `quoted`), and secrets never enter it. `where` names the place in
/// the outside thing: `bundle/catalogue.yaml:3:7`, `byte 117`, or is empty.
struct [[nodiscard]] Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;
  std::string where = {};

  /// `where: message`, or the message alone.
  [[nodiscard]] std::string to_string() const;
};

/// Returns `error` with `outer` put before its place: `outer` alone if it had none, else
/// `outer:where` where that place is a number or a line, else `outer: where`.
Error in_place(std::string_view outer, Error error);

/// Outside text made fit for a message: in double quotes, control characters, marks that turn the
/// direction of text, characters that are not seen and invalid UTF-8 escaped byte by byte, cut to
/// at most `limit` bytes with `…` behind.
std::string quoted(std::string_view text, std::size_t limit = 64);

}  // namespace remit
