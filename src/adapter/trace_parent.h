// Where a request stands in a distributed trace, as its caller says.
#pragma once

#include <string>
#include <string_view>

#include "http/message.h"

namespace remit::adapter {

/// For joining the record with traces, and nothing else: a caller writes there what it likes.
struct TraceParent {
  std::string trace_id = {};  ///< 32 hexadecimal digits; empty where there is none
  std::string span_id = {};   ///< 16
};

/// Reads a `traceparent` (W3C Trace Context, section 3.2), of version 00 or a later one that begins
/// like it. What is none is as if it were not there: it fails no request.
TraceParent read_trace_parent(std::string_view text);

TraceParent trace_parent_of(const http::Request& request);

}  // namespace remit::adapter
