// Bytes over a loopback connection, exactly as a test wants them, from either end.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "base/file_descriptor.h"

namespace remit::testing {

/// One end of a connection. What takes longer than `kPatience` fails the test that waits for it.
class RawSocket {
 public:
  static constexpr int kPatienceMs = 20'000;

  explicit RawSocket(FileDescriptor fd) : fd_(std::move(fd)) {}
  /// Connects to a port of 127.0.0.1.
  static RawSocket to(std::uint16_t port) {
    FileDescriptor fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
      fd.close();
    }
    return RawSocket(std::move(fd));
  }

  [[nodiscard]] bool is_open() const { return fd_.is_open(); }
  /// False once the peer has closed.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  /// Half of the connection: nothing more comes from this end.
  void end_sending() { ::shutdown(fd_.get(), SHUT_WR); }
  void close() { fd_.close(); }
  /// The connection is gone at once, and whatever was on its way with it.
  void reset() {
    const linger at_once{1, 0};
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    fd_.close();
  }
  /// Everything until the peer closes.
  std::string read_all() {
    return read_until([](const std::string&) { return false; });
  }
  /// Everything until `text` has been seen `times` times, or the peer closes.
  std::string read_to(std::string_view text, int times = 1) {
    return read_until([&](const std::string& got) {
      int seen = 0;
      for (std::size_t at = got.find(text); at != std::string::npos; at = got.find(text, at + 1)) {
        ++seen;
      }
      return seen >= times;
    });
  }
  /// Whether the peer closes (or already has) without sending anything.
  bool is_closed_in_silence() { return read_all().empty(); }

 private:
  std::string read_until(const std::function<bool(const std::string&)>& enough) {
    std::string out;
    std::array<char, 4096> buffer{};
    while (!enough(out)) {
      pollfd waiting{fd_.get(), POLLIN, 0};
      if (::poll(&waiting, 1, kPatienceMs) <= 0) {
        ADD_FAILURE() << "nothing came after: " << out;
        break;
      }
      const ssize_t got = ::recv(fd_.get(), buffer.data(), buffer.size(), 0);
      if (got <= 0) break;
      out.append(buffer.data(), static_cast<std::size_t>(got));
    }
    return out;
  }

  FileDescriptor fd_;
};

/// Accepts connections on a port of 127.0.0.1 and does with each what the test says, one after the
/// other.
class ScriptedServer {
 public:
  using Script = std::function<void(RawSocket&)>;
  explicit ScriptedServer(Script script) : script_(std::move(script)) {
    listener_ = FileDescriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const raw = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listener_.get(), raw, size) != 0 || ::listen(listener_.get(), 16) != 0 ||
        ::getsockname(listener_.get(), raw, &size) != 0) {
      std::abort();
    }
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~ScriptedServer() {
    is_ending_ = true;
    ::shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
  }
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] int connections() const { return connections_; }
  [[nodiscard]] std::string url(std::string_view path = "/") const {
    return "http://127.0.0.1:" + std::to_string(port_) + std::string(path);
  }

 private:
  void serve() {
    while (!is_ending_) {
      FileDescriptor fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!fd.is_open()) continue;
      ++connections_;
      RawSocket socket(std::move(fd));
      script_(socket);
    }
  }

  Script script_;
  FileDescriptor listener_;
  std::uint16_t port_ = 0;
  std::atomic<int> connections_{0};
  std::atomic<bool> is_ending_{false};
  std::thread thread_;
};

}  // namespace remit::testing
