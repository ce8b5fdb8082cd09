// A socket, an epoll set, and lines.
#include "conformance/spy.h"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/limits.h"
#include "conformance/words.h"

namespace remit::conformance {
namespace {

Error refused(const char* what) {
  return Error{ErrorCode::kUnavailable, fmt::format("{}: {}", what, std::strerror(errno))};
}

bool watch(int poll, int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  return ::epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event) == 0;
}

}  // namespace

struct Spy::Line {
  FileDescriptor connection;
  std::string bytes;
};

Spy::Spy(FileDescriptor listener, FileDescriptor poll, std::string directory, std::string path)
    : listener_(std::move(listener)),
      poll_(std::move(poll)),
      directory_(std::move(directory)),
      path_(std::move(path)) {}

Spy::Spy(Spy&& other) noexcept
    : listener_(std::move(other.listener_)),
      poll_(std::move(other.poll_)),
      directory_(std::exchange(other.directory_, {})),
      path_(std::exchange(other.path_, {})),
      lines_(std::move(other.lines_)),
      effects_(std::move(other.effects_)),
      fault_(std::move(other.fault_)),
      next_answer_(other.next_answer_) {}

Spy::~Spy() {
  if (directory_.empty()) return;
  ::unlink(path_.c_str());
  ::rmdir(directory_.c_str());
}

Result<Spy> Spy::open(const std::string& directory, Random& random) {
  const std::string own = directory + "/remit-spy-" + random_id(random);
  const std::string path = own + "/socket";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return Error{ErrorCode::kLimitExceeded,
                 fmt::format("the path of a socket has at most {} bytes; choose a shorter TMPDIR",
                             sizeof address.sun_path - 1),
                 path};
  }
  std::memcpy(address.sun_path, path.c_str(), path.size());
  if (::mkdir(own.c_str(), 0700) != 0) return in_place(own, refused("cannot make a directory"));
  FileDescriptor listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  FileDescriptor poll(::epoll_create1(EPOLL_CLOEXEC));
  Spy spy(std::move(listener), std::move(poll), own, path);
  const int fd = spy.listener_.get();
  if (fd < 0 || spy.poll_.get() < 0 ||
      ::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(fd, SOMAXCONN) != 0 || !watch(spy.poll_.get(), fd)) {
    return in_place(path, refused("cannot listen"));
  }
  return spy;
}

void Spy::serve() {
  std::array<epoll_event, 64> ready{};
  for (;;) {
    const int count = ::epoll_wait(poll_.get(), ready.data(), static_cast<int>(ready.size()), 0);
    if (count <= 0) return;
    for (int i = 0; i < count; ++i) {
      const int fd = ready[static_cast<std::size_t>(i)].data.fd;
      if (fd == listener_.get()) {
        accept_all();
      } else {
        read_from(fd);
      }
    }
    if (fault_) return;  // whoever floods is told off by the runner, not served for ever
  }
}

void Spy::accept_all() {
  for (;;) {
    FileDescriptor connection(
        ::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!connection.is_open()) return;
    const int fd = connection.get();
    if (lines_.size() >= kMaxSpyConnections || !watch(poll_.get(), fd)) {
      fault(fmt::format("the spy has more than {} connections", kMaxSpyConnections));
      return;
    }
    auto line = std::make_unique<Line>();
    line->connection = std::move(connection);
    lines_.emplace(fd, std::move(line));
  }
}

void Spy::read_from(int fd) {
  const auto found = lines_.find(fd);
  if (found == lines_.end()) return;
  Line& line = *found->second;
  std::array<char, 4096> piece{};
  const ssize_t count = ::read(fd, piece.data(), piece.size());
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) {
    if (!line.bytes.empty()) fault("the spy got a line without its end");
    return drop(fd);
  }
  line.bytes.append(piece.data(), static_cast<std::size_t>(count));
  for (std::size_t end = line.bytes.find('\n'); end != std::string::npos;
       end = line.bytes.find('\n')) {
    const std::string text = line.bytes.substr(0, end);
    line.bytes.erase(0, end + 1);
    take_line(line, text);
    if (!lines_.contains(fd)) return;
  }
  if (line.bytes.size() > kMaxEffectLineBytes) {
    fault(fmt::format("the spy got a line of more than {} bytes", kMaxEffectLineBytes));
    drop(fd);
  }
}

void Spy::take_line(Line& from, std::string_view line) {
  const int fd = from.connection.get();
  const Result<json::Value> message = json::parse(line);
  if (!message || message->if_object() == nullptr) {
    fault(fmt::format("the spy got {}, which is no JSON object", quoted(line)));
    return drop(fd);
  }
  if (effects_.size() >= kMaxEffectsAtOnce) {
    fault(fmt::format("the spy got more than {} effects at once", kMaxEffectsAtOnce));
    return drop(fd);
  }
  Effect effect;
  effect.token = text_of(*message, "token");
  effect.invocation_id = text_of(*message, "invocation_id");
  effect.tool = text_of(*message, "tool");
  effect.resource = text_of(*message, "resource");
  if (const json::Value* arguments = message->find("arguments")) effect.arguments = *arguments;
  effects_.push_back(std::move(effect));
  const ToolAnswer answer = std::exchange(next_answer_, ToolAnswer::kDone);
  if (answer == ToolAnswer::kLost) return drop(fd);
  const std::string_view text = answer == ToolAnswer::kDone
                                    ? "{\"ok\":true}\n"
                                    : "{\"ok\":false,\"error\":\"the tool failed\"}\n";
  // A handler that does not read its few bytes has lost them, which is its own affair.
  if (::send(fd, text.data(), text.size(), MSG_NOSIGNAL) < 0) drop(fd);
}

void Spy::count(Effect effect) {
  next_answer_ = ToolAnswer::kDone;
  if (effects_.size() >= kMaxEffectsAtOnce) {
    return fault(fmt::format("the spy got more than {} effects at once", kMaxEffectsAtOnce));
  }
  effects_.push_back(std::move(effect));
}

void Spy::fault(std::string what) {
  if (!fault_) fault_ = std::move(what);
}

void Spy::drop(int fd) {
  lines_.erase(fd);
}

std::vector<Effect> Spy::take_effects() {
  return std::exchange(effects_, {});
}

std::optional<std::string> Spy::take_fault() {
  return std::exchange(fault_, std::nullopt);
}

}  // namespace remit::conformance
