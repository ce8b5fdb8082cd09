// Fuzz target: one line of a peer, as either side may send it.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <variant>

#include "mcp/message.h"
#include "mcp/methods.h"

namespace {

using remit::mcp::Message;

// What we write of a message that was read.
std::string written(const Message& message) {
  if (const auto* request = std::get_if<remit::mcp::Request>(&message)) {
    return remit::mcp::request_line(request->id, request->method,
                                    remit::json::write(request->params));
  }
  if (const auto* notification = std::get_if<remit::mcp::Notification>(&message)) {
    return remit::mcp::notification_line(notification->method,
                                         remit::json::write(notification->params));
  }
  if (const auto* result = std::get_if<remit::mcp::ResultResponse>(&message)) {
    return remit::mcp::result_line(result->id, remit::json::write(result->result));
  }
  return remit::mcp::error_line(std::get<remit::mcp::ErrorResponse>(message));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  const auto parsed = remit::mcp::parse_message(line);
  const Message* message = std::get_if<Message>(&parsed);
  if (message == nullptr) return 0;
  if (const auto* result = std::get_if<remit::mcp::ResultResponse>(message)) {
    for (const std::string_view method :
         {"tools/call", "tools/list", "initialize", "prompts/get"}) {
      (void)remit::mcp::check_result(method, result->result);
    }
  }
  // What was accepted is written as one line that reads as the same message.
  const std::string once = written(*message);
  if (once.find('\n') != once.size() - 1) std::abort();
  const auto again = remit::mcp::parse_message(std::string_view(once).substr(0, once.size() - 1));
  if (!std::holds_alternative<Message>(again)) std::abort();
  if (written(std::get<Message>(again)) != once) std::abort();
  return 0;
}
