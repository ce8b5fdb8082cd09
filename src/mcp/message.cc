// Strict parsing of one JSON-RPC line into a typed message.
#include "mcp/message.h"

#include <utility>

#include "base/error.h"
#include "mcp/protocol_key.h"

namespace remit::mcp {
namespace {

MessageFault invalid(std::string message, std::optional<RequestId> id = std::nullopt) {
  return MessageFault{.code = kInvalidRequest, .message = std::move(message), .id = std::move(id)};
}

// An object member taken out of the envelope, not copied: bodies are large.
std::optional<json::Object> take_object(json::Object& envelope, std::string_view key) {
  json::Value* value = envelope.find(key);
  json::Object* object = value == nullptr ? nullptr : value->if_object();
  if (object == nullptr) return std::nullopt;
  return std::move(*object);
}

std::variant<Message, MessageFault> parse_call(json::Object& envelope, const std::string& method,
                                               std::optional<RequestId> id) {
  if (method.empty() || method.size() > kMaxMethodBytes) {
    return invalid("a method has 1 to 128 bytes", std::move(id));
  }
  json::Object params;
  if (envelope.find("params") != nullptr) {
    auto given = take_object(envelope, "params");
    if (!given) return invalid("params must be an object", std::move(id));
    params = std::move(*given);
  }
  const auto disguised =
      disguised_key(params, {"_meta", "argument", "arguments", "capabilities", "clientInfo",
                             "context", "cursor", "level", "name", "progressToken",
                             "protocolVersion", "ref", "requestId", "task", "uri"});
  if (disguised) {
    return invalid(
        "params has the key " + quoted(*disguised) + ", another writing of a protocol key",
        std::move(id));
  }
  if (const json::Value* meta = params.find("_meta")) {
    if (meta->if_object() == nullptr) return invalid("_meta must be an object", std::move(id));
    if (const auto key = disguised_key(*meta->if_object(), {"progressToken"})) {
      return invalid("_meta has the key " + quoted(*key) + ", another writing of a protocol key",
                     std::move(id));
    }
  }
  if (id) return Message{Request{std::move(*id), method, std::move(params)}};
  return Message{Notification{method, std::move(params)}};
}

MessageFault wrong_answer(std::string message, std::optional<RequestId> id = std::nullopt) {
  MessageFault fault = invalid(std::move(message), std::move(id));
  fault.is_response = true;
  return fault;
}

std::variant<Message, MessageFault> parse_answer(json::Object& envelope,
                                                 std::optional<RequestId> id) {
  if (envelope.find("result") != nullptr) {
    if (!id) return wrong_answer("an answer needs the id of its request");
    auto result = take_object(envelope, "result");
    if (!result) return wrong_answer("result must be an object", std::move(id));
    return Message{ResultResponse{std::move(*id), std::move(*result)}};
  }
  auto error = take_object(envelope, "error");
  if (!error) return wrong_answer("error must be an object", std::move(id));
  const json::Value* code = error->find("code");
  const json::Value* message = error->find("message");
  if (code == nullptr || code->if_integer() == nullptr || message == nullptr ||
      message->if_string() == nullptr) {
    return wrong_answer("error needs an integer code and a text message", std::move(id));
  }
  ErrorResponse out{std::move(id), *code->if_integer(), *message->if_string()};
  if (json::Value* data = error->find("data")) out.data = std::move(*data);
  return Message{std::move(out)};
}

std::variant<Message, MessageFault> parse_envelope(json::Object& envelope) {
  const auto disguised =
      disguised_key(envelope, {"error", "id", "jsonrpc", "method", "params", "result"});
  if (disguised) {
    return invalid("the key " + quoted(*disguised) + " is another writing of a protocol key");
  }
  const json::Value* given_id = envelope.find("id");
  std::optional<RequestId> id;
  if (given_id != nullptr) id = RequestId::from(*given_id);
  const json::Value* method = envelope.find("method");
  const int answers =
      (envelope.find("result") != nullptr ? 1 : 0) + (envelope.find("error") != nullptr ? 1 : 0);
  const json::Value* version = envelope.find("jsonrpc");
  if (version == nullptr || version->if_string() == nullptr || *version->if_string() != "2.0") {
    MessageFault fault = invalid("jsonrpc must be \"2.0\"", std::move(id));
    fault.is_response = method == nullptr && answers > 0;
    return fault;
  }
  if ((method == nullptr) == (answers == 0) || answers > 1) {
    return invalid("a message is one of request, notification, result and error", std::move(id));
  }
  if (method == nullptr) {
    // JSON-RPC answers an unreadable request with the id null.
    if (given_id != nullptr && !id && !given_id->is_null()) {
      return wrong_answer("an id is text or an integer");
    }
    return parse_answer(envelope, std::move(id));
  }
  if (given_id != nullptr && !id)
    return invalid("an id is text of at most 256 bytes or an integer");
  if (method->if_string() == nullptr) return invalid("method must be text", std::move(id));
  return parse_call(envelope, *method->if_string(), std::move(id));
}

void open_line(std::string& out, const RequestId* id) {
  out = R"({"jsonrpc":"2.0")";
  if (id != nullptr) out.append(R"(,"id":)").append(id->json());
}

}  // namespace

std::string_view revision_name(Revision revision) {
  switch (revision) {
    case Revision::k2025_06_18:
      return "2025-06-18";
    case Revision::k2025_11_25:
      return "2025-11-25";
  }
  return "2025-11-25";
}

std::optional<Revision> parse_revision(std::string_view name) {
  for (const Revision revision : kRevisions) {
    if (revision_name(revision) == name) return revision;
  }
  return std::nullopt;
}

std::optional<RequestId> RequestId::from(const json::Value& value) {
  if (const std::int64_t* number = value.if_integer()) return RequestId{*number};
  const std::string* text = value.if_string();
  if (text == nullptr || text->size() > kMaxIdBytes) return std::nullopt;
  return RequestId{*text};
}

std::string RequestId::json() const {
  return json::write(value());
}

json::Value RequestId::value() const {
  if (const std::int64_t* number = if_number()) return json::Value{*number};
  return json::Value{std::get<std::string>(value_)};
}

std::variant<Message, MessageFault> parse_message(std::string_view line, std::size_t max_bytes) {
  auto parsed = json::parse(line, json::ParseLimits{.max_bytes = max_bytes});
  if (!parsed) {
    const bool is_limit = parsed.error().code == ErrorCode::kLimitExceeded;
    return MessageFault{.code = is_limit ? kInvalidRequest : kParseError,
                        .message = parsed.error().to_string(),
                        .is_limit = is_limit};
  }
  if (parsed->if_array() != nullptr) return invalid("batches are not part of this protocol");
  json::Object* envelope = parsed->if_object();
  if (envelope == nullptr) return invalid("a message is an object");
  return parse_envelope(*envelope);
}

std::string request_line(const RequestId& id, std::string_view method, std::string_view params) {
  std::string out;
  open_line(out, &id);
  out.append(R"(,"method":)");
  json::write_string(method, out);
  if (!params.empty()) out.append(R"(,"params":)").append(params);
  out.append("}\n");
  return out;
}

std::string notification_line(std::string_view method, std::string_view params) {
  std::string out;
  open_line(out, nullptr);
  out.append(R"(,"method":)");
  json::write_string(method, out);
  if (!params.empty()) out.append(R"(,"params":)").append(params);
  out.append("}\n");
  return out;
}

std::string result_line(const RequestId& id, std::string_view result) {
  std::string out;
  open_line(out, &id);
  out.append(R"(,"result":)").append(result).append("}\n");
  return out;
}

std::string error_line(const ErrorResponse& error) {
  std::string out;
  open_line(out, error.id ? &*error.id : nullptr);
  json::Object object{{"code", error.code}, {"message", error.message}};
  if (error.data) object.set("data", *error.data);
  out.append(R"(,"error":)").append(json::write(json::Value{std::move(object)})).append("}\n");
  return out;
}

}  // namespace remit::mcp
