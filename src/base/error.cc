// Error names, places and the quoting of outside text.
#include "base/error.h"

#include <fmt/format.h>

#include "base/misleading.h"
#include "base/utf8.h"

namespace remit {
namespace {

/// Begins a command to a continuous-integration runner wherever it stands in a line.
constexpr std::string_view kCommand = "##[";

/// Writes the first character of `text`, or its first byte escaped where it must not be shown as it
/// is; how many bytes that was.
std::size_t write_fit(std::string_view text, std::string& out) {
  const auto byte = static_cast<unsigned char>(text.front());
  if (byte >= 0x20 && byte < 0x7f && !text.starts_with(kCommand)) {
    out += text.front();
    return 1;
  }
  const std::size_t length = byte < 0x80 ? 0 : utf8_sequence_length(text);
  if (length > 0 && !misleads(code_point(text.substr(0, length)))) {
    out += text.substr(0, length);
    return length;
  }
  out += fmt::format("\\x{:02x}", byte);
  return 1;
}

}  // namespace

std::string_view error_code_name(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInternal:
      return "internal";
    case ErrorCode::kInvalidInput:
      return "invalid_input";
    case ErrorCode::kLimitExceeded:
      return "limit_exceeded";
    case ErrorCode::kNotFound:
      return "not_found";
    case ErrorCode::kAlreadyExists:
      return "already_exists";
    case ErrorCode::kUnsupported:
      return "unsupported";
    case ErrorCode::kFailedPrecondition:
      return "failed_precondition";
    case ErrorCode::kUnavailable:
      return "unavailable";
    case ErrorCode::kDeadlineExceeded:
      return "deadline_exceeded";
    case ErrorCode::kDataLoss:
      return "data_loss";
  }
  return "internal";
}

// Places hold names of files, which others may have chosen, and messages what a library said.
std::string Error::to_string() const {
  const std::string text = where.empty() ? message : where + ": " + message;
  std::string out;
  for (std::string_view rest = text; !rest.empty();) rest.remove_prefix(write_fit(rest, out));
  return out;
}

Error in_place(std::string_view outer, Error error) {
  if (error.where.empty()) {
    error.where = outer;
    return error;
  }
  const bool is_position = error.where.front() >= '0' && error.where.front() <= '9';
  error.where = fmt::format("{}{}{}", outer, is_position ? ":" : ": ", error.where);
  return error;
}

std::string quoted(std::string_view text, std::size_t limit) {
  std::string out = "\"";
  std::size_t at = 0;
  while (at < text.size() && at < limit) {
    if (text[at] == '"' || text[at] == '\\') out += '\\';
    at += write_fit(text.substr(at), out);
  }
  out += at < text.size() ? "\"…" : "\"";
  return out;
}

}  // namespace remit
