// The writer thread and the shortcut past it.
#include "gateway/outbox.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/start_thread.h"
#include "process/lines.h"

namespace remit::gateway {
namespace {

using SteadyClock = std::chrono::steady_clock;
// How soon a writer that waits for its peer sees that it should give up.
constexpr std::chrono::milliseconds kLookUp{20};
// How much is written in one go.
constexpr std::size_t kBatchBytes = std::size_t{256} * 1024;

}  // namespace

Outbox::Outbox(int fd, Options options)
    : fd_(fd), options_(options), writer_(start_thread([this] { write_queued(); })) {
  const MutexLock lock(mutex_);
  if (!writer_.joinable()) is_broken_ = true;
}

Outbox::~Outbox() {
  close(std::chrono::milliseconds{0});
}

bool Outbox::is_broken() const {
  const MutexLock lock(mutex_);
  return is_broken_;
}

Status Outbox::send(std::string line) {
  {
    MutexLock lock(mutex_);
    // A line that is larger than the bound by itself still goes, alone.
    while (!is_broken_ && !is_closing_ && queued_bytes_ > 0 &&
           queued_bytes_ + line.size() > options_.max_bytes) {
      changed_.wait(mutex_);
    }
    if (is_broken_ || is_closing_) return Error{ErrorCode::kUnavailable, "the peer is gone"};
    queued_bytes_ += line.size();
    if (is_writing_ || !lines_.empty()) {
      lines_.push_back({.text = std::move(line)});
      changed_.notify_all();
      return {};
    }
    is_writing_ = true;
  }
  write_ahead({.text = std::move(line)});
  return {};
}

bool Outbox::offer(std::string line, std::size_t max_queued) {
  return offer(Line{.text = std::move(line)}, max_queued);
}

bool Outbox::offer_tagged(std::string line, std::int64_t tag) {
  return offer(Line{.text = std::move(line), .tag = tag}, kMaxQueuedBytes);
}

bool Outbox::withdraw(std::int64_t tag) {
  const MutexLock lock(mutex_);
  const auto at = std::find_if(lines_.begin(), lines_.end(),
                               [tag](const Line& line) { return line.tag == tag; });
  if (at == lines_.end()) return false;
  queued_bytes_ -= at->text.size();
  lines_.erase(at);
  changed_.notify_all();
  return true;
}

bool Outbox::offer(Line line, std::size_t max_queued) {
  {
    MutexLock lock(mutex_);
    if (is_broken_ || is_closing_ || queued_bytes_ + line.text.size() > max_queued) return false;
    queued_bytes_ += line.text.size();
    if (is_writing_ || !lines_.empty()) {
      lines_.push_back(std::move(line));
      changed_.notify_all();
      return true;
    }
    is_writing_ = true;
  }
  write_ahead(std::move(line));
  return true;
}

// Writes what goes at once of a line that nothing stands before; the rest is the thread's.
void Outbox::write_ahead(Line line) {
  const auto written = process::write_some(fd_, line.text);
  MutexLock lock(mutex_);
  is_writing_ = false;
  if (!written) {
    is_broken_ = true;
  } else {
    queued_bytes_ -= *written;
    if (*written > 0) line.tag = 0;
    line.text.erase(0, *written);
    if (!line.text.empty()) lines_.push_front(std::move(line));
  }
  changed_.notify_all();
}

bool Outbox::is_given_up(SteadyClock::time_point last_progress) {
  const auto now = SteadyClock::now();
  const MutexLock lock(mutex_);
  if (hurry_fd_ >= 0 && process::is_readable(hurry_fd_)) {
    hurry_fd_ = -1;
    give_up_ = std::min(give_up_, now + last_words_);
  }
  return now - last_progress > options_.stall || now >= give_up_;
}

bool Outbox::write_bytes(std::string_view bytes) {
  auto last_progress = SteadyClock::now();
  while (true) {
    const auto written = process::write_some(fd_, bytes);
    if (!written) return false;
    if (*written > 0) last_progress = SteadyClock::now();
    bytes.remove_prefix(*written);
    if (bytes.empty()) return true;
    if (!process::wait_writable(fd_, kLookUp) && is_given_up(last_progress)) return false;
  }
}

void Outbox::write_queued() {
  std::string batch;
  while (true) {
    {
      MutexLock lock(mutex_);
      while (!is_broken_ && (is_writing_ || (lines_.empty() && !is_closing_))) {
        changed_.wait(mutex_);
      }
      if (is_broken_ || lines_.empty()) return;
      batch.clear();
      while (!lines_.empty() && (batch.empty() || batch.size() < kBatchBytes)) {
        batch += lines_.front().text;
        lines_.pop_front();
      }
      is_writing_ = true;
    }
    const bool is_written = write_bytes(batch);
    MutexLock lock(mutex_);
    is_writing_ = false;
    queued_bytes_ -= batch.size();
    is_broken_ = is_broken_ || !is_written;
    changed_.notify_all();
  }
}

void Outbox::hurry_once_readable(int fd, std::chrono::milliseconds last_words) {
  const MutexLock lock(mutex_);
  hurry_fd_ = fd;
  last_words_ = last_words;
}

void Outbox::close(std::chrono::milliseconds flush) {
  {
    MutexLock lock(mutex_);
    is_closing_ = true;
    give_up_ = std::min(give_up_, SteadyClock::now() + flush);
    hurry_fd_ = -1;
    changed_.notify_all();
  }
  if (writer_.joinable()) writer_.join();
}

}  // namespace remit::gateway
