// One line there, one line back.
#include "spy_books.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <chrono>
#include <cstring>

#include "base/file_descriptor.h"
#include "base/limits.h"
#include "process/lines.h"

namespace remit::examples {
namespace {

constexpr std::chrono::seconds kPatience{30};

Error lost() {
  return {ErrorCode::kDataLoss, "the answer was lost"};
}

}  // namespace

Result<json::Value> SpyBooks::use(const ToolUse& use) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_.size() >= sizeof address.sun_path) return lost();
  std::memcpy(address.sun_path, socket_.c_str(), socket_.size());
  const FileDescriptor spy(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(spy.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return lost();
  }
  const json::Object line{{"token", token_},
                          {"invocation_id", use.origin.invocation_id},
                          {"tool", use.tool},
                          {"resource", use.resource},
                          {"arguments", use.arguments}};
  if (!process::write_all(spy.get(), json::write(line) + "\n", kPatience)) return lost();
  process::LineReader lines(spy.get(), kMaxMcpLineBytes);
  const process::LineRead read = lines.next(kPatience);
  const Result<json::Value> answer = json::parse(read.line);
  const json::Value* ok = answer ? answer->find("ok") : nullptr;
  if (read.event != process::LineEvent::kLine || ok == nullptr) return lost();
  if (*ok == json::Value(true)) return json::Value(json::Object{{"done", true}});
  return Error{ErrorCode::kFailedPrecondition, "the tool failed"};
}

}  // namespace remit::examples
