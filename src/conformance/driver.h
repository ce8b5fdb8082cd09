// The driver of a subject: a process that speaks `remit.driver/1` (spec/driver.md).
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "conformance/harness.h"
#include "conformance/spy.h"
#include "conformance/subject.h"
#include "json/value.h"
#include "process/child.h"
#include "process/lines.h"

namespace remit::conformance {

inline constexpr std::string_view kDriverProtocol = "remit.driver/1";

/// Reads one line of a driver as the answer to request `id`. Errors, each a fault of the harness:
/// `invalid_input` for what is no answer or an answer to another request; `failed_precondition` for
/// an answer that is an `error`.
Result<json::Object> read_answer(std::string_view line, std::int64_t id);

/// Reads the answer to `hello`. Errors: `unsupported` for another protocol; `invalid_input` for
/// what is no list of known words where one must be.
Result<Hello> read_hello(const json::Object& answer);

/// A running driver. Every error of `ask` is a fault of the harness and says nothing of the
/// subject; the driver is then of no further use. Not thread-safe.
class Driver final : public Harness {
 public:
  /// Starts the driver and greets it. `spy` and `clock` outlive it. Errors: those of starting a
  /// process and of `ask`.
  static Result<std::unique_ptr<Driver>> start(const Subject& subject, Spy& spy,
                                               const Clock& clock);
  /// Ends the driver and its process group.
  ~Driver() override;

  [[nodiscard]] const Hello& hello() const override { return hello_; }

  /// Sends `request` with the next id and returns the members of its `ok`. The spy is served while
  /// the answer is awaited. Errors: `read_answer`'s; `deadline_exceeded` without an answer in time;
  /// `limit_exceeded` for a line over kMaxDriverLineBytes; `unavailable` for a driver that ended.
  Result<json::Object> ask(json::Object request) override;

 private:
  Driver(process::Child child, const Subject& subject, Spy& spy, const Clock& clock);
  Result<std::string> next_line(MonotonicTime until);
  Error ended();

  process::Child child_;
  process::LineReader reader_;
  std::chrono::milliseconds deadline_;
  Spy& spy_;
  const Clock& clock_;
  std::int64_t last_id_ = 0;
  std::string asked_;  // what the last request asked for, for messages
  Hello hello_;
};

}  // namespace remit::conformance
