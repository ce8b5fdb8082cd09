// Error names, places and the quoting of outside text.
#include "base/error.h"

#include <fmt/format.h>

#include "base/utf8.h"

namespace remit {
namespace {

struct Points {
  char32_t first, last;
};

/// Characters that would make a message say something else were they shown as they are: controls,
/// of terminals too, ends of lines, what turns the direction of the text around it, and what is not
/// seen at all, so that two texts look alike. General category Cc, the separators of lines and
/// paragraphs, Bidi_Control, Default_Ignorable_Code_Point, marks of annotations and non-characters
/// of Unicode.
constexpr Points kMisleading[] = {
    {0x0, 0x1f},      {0x7f, 0x9f},     {0xad, 0xad},       {0x34f, 0x34f},     {0x61c, 0x61c},
    {0x115f, 0x1160}, {0x17b4, 0x17b5}, {0x180b, 0x180f},   {0x200b, 0x200f},   {0x2028, 0x202e},
    {0x2060, 0x206f}, {0x3164, 0x3164}, {0xfdd0, 0xfdef},   {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},
    {0xffa0, 0xffa0}, {0xfff0, 0xfffb}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
};

bool misleads(char32_t point) {
  if ((point & 0xfffeU) == 0xfffeU) return true;  // the last two of each plane
  for (const Points& range : kMisleading) {
    if (point >= range.first && point <= range.last) return true;
  }
  return false;
}

/// The character of a well-formed sequence.
char32_t code_point(std::string_view sequence) {
  const auto lead = static_cast<unsigned char>(sequence.front());
  if (sequence.size() == 1) return lead;
  char32_t point = lead & (0x7fU >> sequence.size());
  for (const char c : sequence.substr(1)) {
    point = (point << 6U) | (static_cast<unsigned char>(c) & 0x3fU);
  }
  return point;
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
               length > 0 && !misleads(code_point(text.substr(at, length)))) {
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
