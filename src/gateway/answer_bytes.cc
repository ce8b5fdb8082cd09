// Room for answers, waited for.
#include "gateway/answer_bytes.h"

namespace remit::gateway {

AnswerBytes::Share AnswerBytes::hold(std::size_t bytes) {
  MutexLock lock(mutex_);
  while (held_ > 0 && held_ + bytes > max_bytes_) changed_.wait(mutex_);
  held_ += bytes;
  return Share(*this, bytes);
}

void AnswerBytes::give_back(std::size_t bytes) {
  const MutexLock lock(mutex_);
  held_ -= bytes;
  changed_.notify_all();
}

}  // namespace remit::gateway
