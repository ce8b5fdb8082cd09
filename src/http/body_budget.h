// A bound on what the bodies of requests take together.
#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

namespace remit::http {

/// Bytes of bodies over all connections of a server. Thread-safe. Outlives its shares.
class BodyBudget {
 public:
  explicit BodyBudget(std::size_t max_bytes) : max_bytes_(max_bytes) {}
  BodyBudget(const BodyBudget&) = delete;
  BodyBudget& operator=(const BodyBudget&) = delete;

  /// What one body takes, given back when it is destroyed. Used by one thread at a time.
  class Share {
   public:
    explicit Share(BodyBudget& whole) : whole_(&whole) {}
    Share(Share&& other) noexcept : whole_(other.whole_), bytes_(std::exchange(other.bytes_, 0)) {}
    Share& operator=(Share&& other) noexcept {
      std::swap(whole_, other.whole_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;
    ~Share() { clear(); }

    /// Whether there is room for the body to have `bytes`, of which this holds some already.
    [[nodiscard]] bool grow_to(std::size_t bytes) {
      if (bytes <= bytes_) return true;
      const std::size_t more = bytes - bytes_;
      const std::size_t before = whole_->used_.fetch_add(more, std::memory_order_relaxed);
      // Whoever is alone goes on, however little the bound is.
      if (before > bytes_ && before + more > whole_->max_bytes_) {
        whole_->used_.fetch_sub(more, std::memory_order_relaxed);
        return false;
      }
      bytes_ = bytes;
      return true;
    }
    void clear() { whole_->used_.fetch_sub(std::exchange(bytes_, 0), std::memory_order_relaxed); }

   private:
    BodyBudget* whole_;
    std::size_t bytes_ = 0;
  };

 private:
  const std::size_t max_bytes_;
  std::atomic<std::size_t> used_{0};
};

}  // namespace remit::http
