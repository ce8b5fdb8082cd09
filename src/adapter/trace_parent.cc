// Fixed places and lower-case digits.
#include "adapter/trace_parent.h"

#include <algorithm>

namespace remit::adapter {
namespace {

constexpr std::size_t kTraceIdAt = 3;
constexpr std::size_t kTraceIdDigits = 32;
constexpr std::size_t kSpanIdAt = 36;
constexpr std::size_t kSpanIdDigits = 16;
constexpr std::size_t kFlagsAt = 53;
constexpr std::size_t kBytes = 55;

bool is_hex(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool is_id(std::string_view text) {
  return is_hex(text) && text.find_first_not_of('0') != std::string_view::npos;
}

}  // namespace

TraceParent read_trace_parent(std::string_view text) {
  if (text.size() < kBytes) return {};
  const std::string_view version = text.substr(0, 2);
  if (!is_hex(version) || version == "ff") return {};
  // Of a later version the beginning is the same, and what follows has a dash before it.
  if (text.size() > kBytes && (version == "00" || text[kBytes] != '-')) return {};
  const bool has_dashes =
      text[kTraceIdAt - 1] == '-' && text[kSpanIdAt - 1] == '-' && text[kFlagsAt - 1] == '-';
  const std::string_view trace_id = text.substr(kTraceIdAt, kTraceIdDigits);
  const std::string_view span_id = text.substr(kSpanIdAt, kSpanIdDigits);
  if (!has_dashes || !is_id(trace_id) || !is_id(span_id) || !is_hex(text.substr(kFlagsAt, 2))) {
    return {};
  }
  return {std::string(trace_id), std::string(span_id)};
}

TraceParent trace_parent_of(const http::Request& request) {
  const std::string* header = request.headers.find("traceparent");
  return header == nullptr ? TraceParent{} : read_trace_parent(*header);
}

}  // namespace remit::adapter
