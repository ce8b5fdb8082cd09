// A bound on what servers' answers take together while the client has not taken them.
#pragma once

#include <cstddef>
#include <utility>

#include "base/mutex.h"

namespace remit::gateway {

/// Bytes of answers that calls hold. Whoever has one more waits until there is room for it, so that
/// a client that does not read is felt by the servers and not by our memory. Thread-safe.
class AnswerBytes {
 public:
  /// What one answer takes, given back when it is destroyed. Movable.
  class Share {
   public:
    Share() = default;
    Share(Share&& other) noexcept
        : whole_(std::exchange(other.whole_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
    Share& operator=(Share&& other) noexcept {
      std::swap(whole_, other.whole_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;
    ~Share() {
      if (whole_ != nullptr) whole_->give_back(bytes_);
    }

   private:
    friend class AnswerBytes;
    Share(AnswerBytes& whole, std::size_t bytes) : whole_(&whole), bytes_(bytes) {}
    AnswerBytes* whole_ = nullptr;
    std::size_t bytes_ = 0;
  };

  explicit AnswerBytes(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  /// Waits until `bytes` fit. An answer that is larger than the bound goes alone. Outlives what it
  /// gives.
  Share hold(std::size_t bytes);

 private:
  void give_back(std::size_t bytes);

  const std::size_t max_bytes_;
  Mutex mutex_;
  CondVar changed_;
  std::size_t held_ REMIT_GUARDED_BY(mutex_) = 0;
};

}  // namespace remit::gateway
