// The protocol's methods: who may send what, in which revision, and what an answer must look like.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "json/value.h"
#include "mcp/message.h"

namespace remit::mcp {

enum class Sender : std::uint8_t { kClient, kServer };
enum class MethodKind : std::uint8_t { kRequest, kNotification };

/// One method of the protocol.
struct Method {
  std::string_view name;
  Sender sender = Sender::kClient;
  MethodKind kind = MethodKind::kRequest;
  Revision since = Revision::k2025_06_18;
  /// The server's capability it belongs to (client's methods), or the client's (server's methods);
  /// empty for what every session has.
  std::string_view capability = {};
};

/// The method of that name, or null: what is not in the table of this revision does not exist.
const Method* find_method(Sender sender, MethodKind kind, std::string_view name, Revision revision);

/// Whether `result` has the members that `method` promises, to the depth that a reader relies on:
/// the content blocks of a tool's result, the names and schemas of a list of tools. A method that
/// promises nothing accepts any object. Errors: `invalid_input`, naming the member, never a value.
Status check_result(std::string_view method, const json::Object& result);

}  // namespace remit::mcp
