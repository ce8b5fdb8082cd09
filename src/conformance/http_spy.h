// The tool as an HTTP service: what an executor that speaks HTTP has behind it while it is judged.
#pragma once

#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "conformance/executor.h"
#include "conformance/spy_call.h"
#include "http/server.h"

namespace remit::conformance {

/// Listens on a port of the loopback. Each trial has a path of its own, so that what comes late is
/// told apart; what comes by no trial's path is an effect without a token. A request that is no
/// call of any form is an effect of a tool of that name all the same. Serves on threads of its own;
/// whoever owns it takes the effects from time to time.
class HttpSpy final : public http::Handler {
 public:
  /// `clock` outlives it. Errors: those of listening.
  static Result<std::unique_ptr<HttpSpy>> start(std::vector<HttpForm> forms, const Clock& clock);
  ~HttpSpy() override;

  /// Where the tool of the trial with `facts` is from now on: a URL without a slash at its end.
  std::string open_trial(const SpyFacts& facts);

  /// How the next effect is answered; those behind it succeed.
  void answer_next(ToolAnswer answer);
  /// The effects since the last time, in the order in which they came; at most one more than
  /// kMaxEffectsAtOnce.
  std::vector<Effect> take_effects();

  http::Response handle(const http::Request& request, std::stop_token stop) override;

 private:
  explicit HttpSpy(std::vector<HttpForm> forms) : forms_(std::move(forms)) {}

  void count(Effect effect) REMIT_REQUIRES(mutex_);

  const std::vector<HttpForm> forms_;
  Mutex mutex_;
  std::map<std::string, SpyFacts, std::less<>> trials_ REMIT_GUARDED_BY(mutex_);  // by token
  std::vector<Effect> effects_ REMIT_GUARDED_BY(mutex_);
  ToolAnswer next_answer_ REMIT_GUARDED_BY(mutex_) = ToolAnswer::kDone;
  std::unique_ptr<http::Server> server_;
};

}  // namespace remit::conformance
