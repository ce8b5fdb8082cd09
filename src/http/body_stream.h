// The body of a response that is written while it is sent.
#pragma once

#include <cstddef>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/limits.h"
#include "base/mutex.h"
#include "base/result.h"

namespace remit::http {

/// A bounded pipe from whoever writes to the connection. A handler puts one into its Response and
/// returns; bytes may be written before and after that, from any thread, until `finish`. One stream
/// serves one response. Thread-safe.
///
///     auto events = std::make_shared<http::BodyStream>();
///     publisher.subscribe(events);  // writes "data: …\n\n", and stops when events->closed() asks
///     return {.status = 200, .headers = {{"Content-Type", "text/event-stream"}}, .stream =
///     events};
class BodyStream {
 public:
  /// `max_waiting_bytes` bounds what is written and not yet taken by the connection.
  explicit BodyStream(std::size_t max_waiting_bytes = kMaxStreamBytes)
      : max_waiting_bytes_(max_waiting_bytes) {}
  BodyStream(const BodyStream&) = delete;
  BodyStream& operator=(const BodyStream&) = delete;

  /// Adds bytes without waiting; all of them or none. Errors: `unavailable` once the connection is
  /// gone or the body finished; `limit_exceeded` if they do not fit, because the client reads too
  /// slowly.
  Status write(std::string_view bytes);
  /// Ends the body, once what was written is sent. Idempotent. A stream that its writers dropped
  /// without this ends its connection instead, so that the client can tell.
  void finish();
  /// Asked to stop when the connection is gone. Its callbacks run on the server's thread and must
  /// be quick.
  [[nodiscard]] std::stop_token closed() const { return closed_.get_token(); }

 private:
  friend class Session;
  struct Taken {
    std::string bytes;
    bool is_end = false;
  };
  // `wake` is called, under the lock, whenever there is something to take.
  void attach(std::function<void()> wake);
  Taken take();
  void close();

  const std::size_t max_waiting_bytes_;
  Mutex mutex_;
  std::string waiting_ REMIT_GUARDED_BY(mutex_);
  std::function<void()> wake_ REMIT_GUARDED_BY(mutex_);
  bool is_finished_ REMIT_GUARDED_BY(mutex_) = false;
  bool is_closed_ REMIT_GUARDED_BY(mutex_) = false;
  std::stop_source closed_;
};

}  // namespace remit::http
