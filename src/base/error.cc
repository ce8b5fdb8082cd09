// Error names, places and the quoting of outside text.
#include "base/error.h"

#include <fmt/format.h>

#include "base/utf8.h"

namespace remit {
namespace {

/// Whether a well-formed sequence of two or three bytes is a control of terminals (C1), ends a line
/// (U+2028, U+2029) or turns the direction of the text around it: shown as it is, it would make a
/// message say something else.
bool misleads(std::string_view sequence) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(sequence[i]); };
  if (sequence.size() == 2) {
    return (byte(0) == 0xc2 && byte(1) < 0xa0) || (byte(0) == 0xd8 && byte(1) == 0x9c);
  }
  if (sequence.size() != 3 || byte(0) != 0xe2) return false;
  const bool marks = byte(1) == 0x80 && (byte(2) == 0x8e || byte(2) == 0x8f);
  const bool lines_and_embeddings = byte(1) == 0x80 && byte(2) >= 0xa8 && byte(2) <= 0xae;
  const bool isolates = byte(1) == 0x81 && byte(2) >= 0xa6 && byte(2) <= 0xa9;
  return marks || lines_and_embeddings || isolates;
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
    } else if (const std::size_t length = utf8_sequence_length(text.substr(at));
               length > 0 && !misleads(text.substr(at, length))) {
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
