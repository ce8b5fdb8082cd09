// One line to the spy's socket, and one back.
#include "conformance/spy_call.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/file_descriptor.h"
#include "base/limits.h"
#include "conformance/words.h"
#include "process/lines.h"

namespace remit::conformance {
namespace {

Result<FileDescriptor> connect_to(const std::string& socket) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket.size() >= sizeof address.sun_path) {
    return Error{ErrorCode::kInvalidInput, "is too long for the name of a socket", socket};
  }
  std::memcpy(address.sun_path, socket.c_str(), socket.size());
  FileDescriptor out(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!out.is_open() ||
      ::connect(out.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return Error{ErrorCode::kUnavailable, fmt::format("no spy listens: {}", std::strerror(errno)),
                 socket};
  }
  return out;
}

}  // namespace

std::string spy_facts_json(const SpyFacts& facts) {
  return json::write(json::Object{{"spy", "remit.spy/1"},
                                  {"socket", facts.socket},
                                  {"token", facts.token},
                                  {"invocation_id", facts.invocation_id},
                                  {"tools", facts.tools}}) +
         "\n";
}

Result<SpyFacts> read_spy_facts(FileSystem& files, const std::string& path) {
  REMIT_TRY_ASSIGN(const std::string text, files.read(path, kMaxConfigBytes));
  const Result<json::Value> value = json::parse(text);
  const json::Value* tools = value ? value->find("tools") : nullptr;
  if (tools == nullptr || tools->if_object() == nullptr ||
      text_of(*value, "spy") != "remit.spy/1") {
    return Error{ErrorCode::kInvalidInput, "says nothing of a spy (remit.spy/1)", path};
  }
  return SpyFacts{text_of(*value, "socket"), text_of(*value, "token"),
                  text_of(*value, "invocation_id"), *tools->if_object()};
}

Effect effect_of(const SpyFacts& facts, std::string_view invocation_id, std::string_view tool,
                 json::Value arguments) {
  Effect out;
  out.token = facts.token;
  out.invocation_id = invocation_id;
  out.tool = tool;
  const json::Value* entry = facts.tools.find(tool);
  const json::Value* first = entry == nullptr ? nullptr : entry->at_pointer("/resources/0");
  if (first != nullptr) out.resource = text_of(arguments, text_of(*first, "argument"));
  out.arguments = std::move(arguments);
  return out;
}

Result<ToolAnswer> tell_spy(const std::string& socket, const Effect& effect,
                            std::chrono::milliseconds deadline) {
  REMIT_TRY_ASSIGN(const FileDescriptor connection, connect_to(socket));
  const std::string line = json::write(json::Object{{"token", effect.token},
                                                    {"invocation_id", effect.invocation_id},
                                                    {"tool", effect.tool},
                                                    {"resource", effect.resource},
                                                    {"arguments", effect.arguments}}) +
                           "\n";
  REMIT_TRY(process::write_all(connection.get(), line, deadline));
  process::LineReader reader(connection.get(), kMaxEffectLineBytes);
  const process::LineRead read = reader.next(deadline);
  if (read.event == process::LineEvent::kEnd) return ToolAnswer::kLost;
  if (read.event == process::LineEvent::kTimeout) {
    return Error{ErrorCode::kDeadlineExceeded, "the spy does not answer", socket};
  }
  const Result<json::Value> answer = json::parse(read.line);
  const json::Value* ok = answer ? answer->find("ok") : nullptr;
  if (read.event != process::LineEvent::kLine || ok == nullptr || ok->if_bool() == nullptr) {
    return Error{ErrorCode::kInvalidInput, fmt::format("the spy answers {}", quoted(read.line)),
                 socket};
  }
  return *ok->if_bool() ? ToolAnswer::kDone : ToolAnswer::kFailed;
}

}  // namespace remit::conformance
