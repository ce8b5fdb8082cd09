// Where a report goes: written piece by piece, so that a report does not need its own length in
// memory.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace remit::report {

/// Takes the bytes of a report in order.
class Sink {
 public:
  virtual ~Sink() = default;
  /// Takes all of `piece`. Errors: those of what stands behind it.
  virtual Status write(std::string_view piece) = 0;
};

/// Keeps everything in memory, for reports that are known to be small.
class StringSink final : public Sink {
 public:
  Status write(std::string_view piece) override {
    text.append(piece);
    return {};
  }
  std::string text;
};

/// Collects text and hands it to a sink in pieces of some 64 KiB (REQ-RP-002). After the sink's
/// first error everything is thrown away. Not thread-safe.
class Outlet {
 public:
  explicit Outlet(Sink& sink) : sink_(sink) {}

  /// Text is appended here.
  std::string& text() { return text_; }
  /// To be called between two items: hands on what has collected, if that is enough.
  void drain() {
    if (text_.size() >= kPieceBytes) flush();
  }
  /// Hands on the rest. Errors: the sink's first one.
  Status finish() {
    flush();
    return std::move(status_);
  }

 private:
  static constexpr std::size_t kPieceBytes = std::size_t{64} * 1024;

  void flush() {
    if (status_) status_ = sink_.write(text_);
    text_.clear();
  }

  Sink& sink_;
  std::string text_;
  Status status_;
};

}  // namespace remit::report
