// Error names, places and the quoting of outside text.
#include "base/error.h"

#include <fmt/format.h>

#include "base/utf8.h"

namespace remit {

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

std::string Error::to_string() const {
  return where.empty() ? message : where + ": " + message;
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
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte == '"' || byte == '\\') {
      out += '\\';
      out += text[at++];
    } else if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
      ++at;
    } else if (byte < 0x80) {
      out += text[at++];
    } else if (const std::size_t length = utf8_sequence_length(text.substr(at)); length > 0) {
      out += text.substr(at, length);
      at += length;
    } else {
      out += fmt::format("\\x{:02x}", byte);
      ++at;
    }
  }
  out += at < text.size() ? "\"…" : "\"";
  return out;
}

}  // namespace remit
