// The pipe between a writer and a connection.
#include "http/body_stream.h"

#include <utility>

namespace remit::http {

Status BodyStream::write(std::string_view bytes) {
  const MutexLock lock(mutex_);
  if (is_closed_) return Error{ErrorCode::kUnavailable, "the connection is gone"};
  if (is_finished_) return Error{ErrorCode::kUnavailable, "the body was finished"};
  if (bytes.size() > max_waiting_bytes_ - waiting_.size()) {
    return Error{ErrorCode::kLimitExceeded, "the client reads too slowly"};
  }
  waiting_.append(bytes);
  if (wake_) wake_();
  return {};
}

void BodyStream::finish() {
  const MutexLock lock(mutex_);
  if (is_finished_) return;
  is_finished_ = true;
  if (wake_) wake_();
}

void BodyStream::attach(std::function<void()> wake) {
  const MutexLock lock(mutex_);
  wake_ = std::move(wake);
}

BodyStream::Taken BodyStream::take() {
  const MutexLock lock(mutex_);
  return {std::exchange(waiting_, {}), is_finished_};
}

void BodyStream::close() {
  {
    const MutexLock lock(mutex_);
    is_closed_ = true;
    wake_ = nullptr;
    waiting_.clear();
  }
  closed_.request_stop();
}

}  // namespace remit::http
