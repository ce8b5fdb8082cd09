// An executor that is asked over HTTP: requests before it, the spy's service behind it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "conformance/executor_harness.h"
#include "conformance/http_spy.h"
#include "http/client.h"
#include "http/message.h"

namespace remit::conformance {

/// What a caller saw of a response (REQ-CF-091).
Seen seen_of(const http::Response& response, const AnswerMarks& marks);

/// Starts the executor, where the subject says how, when a trial first calls it.
class HttpHarness final : public ExecutorHarness {
 public:
  /// `subject`, `spy` and `world` outlive it. Errors: those of starting and greeting the driver and
  /// of listening.
  static Result<std::unique_ptr<HttpHarness>> start(const Subject& subject, Spy& spy,
                                                    const HarnessWorld& world);
  ~HttpHarness() override;

 protected:
  Status plan(const std::string& caller) override;
  Result<Seen> call(const ClientCall& call) override;
  void end() override;
  [[nodiscard]] std::vector<std::int64_t> processes() const override;
  Status prepare(json::Object& spy_members, Placeholders& values) override;

 private:
  using ExecutorHarness::ExecutorHarness;
  Status be_ready();
  Result<std::string> find_url(MonotonicTime until);
  Status wait_until_connected(MonotonicTime until);
  Status start_process();
  Status check_process();
  void forget_process();
  void pass_effects();

  std::unique_ptr<http::Client> client_;
  std::unique_ptr<HttpSpy> tool_;
  std::optional<process::Child> child_;
  std::optional<http::Url> url_;  // of the executor, once it is ready
};

}  // namespace remit::conformance
