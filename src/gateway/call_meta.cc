// Reading `_meta`.
#include "gateway/call_meta.h"

#include <string_view>

#include "base/bytes.h"
#include "base/limits.h"

namespace remit::gateway {
namespace {

const json::Object* meta_of(const json::Object& params) {
  const json::Value* meta = params.find("_meta");
  return meta == nullptr ? nullptr : meta->if_object();
}

Status read_text(const json::Object& meta, const char* key, std::string& out) {
  const json::Value* value = meta.find(key);
  if (value == nullptr) return {};
  const std::string* text = value->if_string();
  if (text == nullptr || text->empty() || text->size() > kMaxIdBytes) {
    return Error{ErrorCode::kInvalidInput,
                 "_meta: " + std::string(key) + " is text of 1 to 256 bytes"};
  }
  out = *text;
  return {};
}

bool is_lower_hex(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// W3C trace context, version 00: `00-TRACE-SPAN-FLAGS`. Another form is no trace, not a fault: it
// joins records and proves nothing.
void read_trace(const json::Object& meta, access::ProposedCall& call) {
  constexpr std::size_t kLength = 55;
  const json::Value* value = meta.find("traceparent");
  const std::string* text = value == nullptr ? nullptr : value->if_string();
  if (text == nullptr || text->size() != kLength || !text->starts_with("00-")) return;
  const std::string trace = text->substr(3, 32);
  const std::string span = text->substr(36, 16);
  if ((*text)[35] != '-' || (*text)[52] != '-' || !is_lower_hex(trace) || !is_lower_hex(span)) {
    return;
  }
  call.trace_id = trace;
  call.span_id = span;
}

}  // namespace

std::string named_version(const json::Object& params) {
  const json::Object* meta = meta_of(params);
  const json::Value* version = meta == nullptr ? nullptr : meta->find(kProtocolVersionKey);
  const std::string* text = version == nullptr ? nullptr : version->if_string();
  return text == nullptr ? "" : *text;
}

Result<std::optional<mcp::RequestId>> read_meta(const json::Object& params,
                                                access::ProposedCall& call) {
  std::optional<mcp::RequestId> token;
  const json::Object* meta = meta_of(params);
  if (meta == nullptr) return token;
  REMIT_TRY(read_text(*meta, kPolicyVersionKey, call.planner_policy_version));
  REMIT_TRY(read_text(*meta, kIdempotencyKeyKey, call.idempotency_key));
  read_trace(*meta, call);
  if (const json::Value* given = meta->find("progressToken")) {
    token = mcp::RequestId::from(*given);
    if (!token) {
      return Error{ErrorCode::kInvalidInput, "_meta: progressToken is text or an integer"};
    }
  }
  return token;
}

}  // namespace remit::gateway
