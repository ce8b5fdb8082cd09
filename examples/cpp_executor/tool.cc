// One line there, one line back.
#include "tool.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

namespace remit::examples {

ToolResult use_tool(const Spy& spy, const Call& call, const std::string& resource) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (spy.socket.size() >= sizeof address.sun_path) return ToolResult::kLost;
  std::memcpy(address.sun_path, spy.socket.c_str(), spy.socket.size());
  const std::string line = json::write(json::Object{{"token", spy.token},
                                                    {"invocation_id", call.id},
                                                    {"tool", call.tool},
                                                    {"resource", resource},
                                                    {"arguments", call.granted}}) +
                           "\n";
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  char answer[256] = {};
  ssize_t size = ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0
                     ? ::write(fd, line.data(), line.size())
                     : -1;
  if (size > 0) size = ::read(fd, answer, sizeof answer);
  ::close(fd);
  if (size <= 0) return ToolResult::kLost;
  const auto reply = json::parse({answer, static_cast<std::size_t>(size)});
  const json::Value* ok = reply ? reply->find("ok") : nullptr;
  const bool is_done = ok != nullptr && ok->if_bool() != nullptr && *ok->if_bool();
  return is_done ? ToolResult::kDone : ToolResult::kFailed;
}

}  // namespace remit::examples
