// Requests as effects.
#include "conformance/http_spy.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "base/limits.h"
#include "conformance/http_form.h"
#include "http/body_stream.h"

namespace remit::conformance {
namespace {

http::Response json_response(int status, std::string_view word) {
  return {.status = status,
          .headers = {{"Content-Type", "application/json"}},
          .body = fmt::format(R"({{"status":"{}"}})", word)};
}

// A request that is no call of any form is a call of a tool of that name.
FormMatch call_in(const std::vector<HttpForm>& forms, const http::Request& request) {
  return match_form(forms, request)
      .value_or(FormMatch{request.method + " " + std::string(request.path()), {}});
}

}  // namespace

Result<std::unique_ptr<HttpSpy>> HttpSpy::start(std::vector<HttpForm> forms, const Clock& clock) {
  std::unique_ptr<HttpSpy> out(new HttpSpy(std::move(forms)));
  REMIT_TRY_ASSIGN(out->server_, http::Server::start({}, *out, clock));
  return out;
}

HttpSpy::~HttpSpy() {
  if (server_ != nullptr) server_->stop(Duration{0});
}

std::string HttpSpy::open_trial(const SpyFacts& facts) {
  const MutexLock lock(mutex_);
  trials_.insert_or_assign(facts.token, facts);
  return fmt::format("http://127.0.0.1:{}/{}", server_->port(), facts.token);
}

void HttpSpy::answer_next(ToolAnswer answer) {
  const MutexLock lock(mutex_);
  next_answer_ = answer;
}

std::vector<Effect> HttpSpy::take_effects() {
  const MutexLock lock(mutex_);
  return std::exchange(effects_, {});
}

void HttpSpy::count(Effect effect) {
  if (effects_.size() <= kMaxEffectsAtOnce) effects_.push_back(std::move(effect));
}

http::Response HttpSpy::handle(const http::Request& request, std::stop_token) {
  const std::string_view path = request.path();
  const std::size_t end = path.find('/', 1);
  const std::string token(path.substr(1, end == std::string_view::npos ? end : end - 1));
  http::Request inner = request;
  inner.target = request.target.substr(token.size() + 1);
  FormMatch match = call_in(forms_, inner);
  ToolAnswer answer = ToolAnswer::kDone;
  {
    const MutexLock lock(mutex_);
    const auto trial = trials_.find(token);
    if (trial == trials_.end()) {
      // Whoever finds the tool without its trial's address has reached it all the same.
      count(effect_of({}, "", call_in(forms_, request).tool, {}));
      return http::text_response(404, "there is no such trial");
    }
    const std::string* id = request.headers.find(trial->second.invocation_id);
    count(
        effect_of(trial->second, id == nullptr ? "" : *id, match.tool, std::move(match.arguments)));
    answer = std::exchange(next_answer_, ToolAnswer::kDone);
  }
  switch (answer) {
    case ToolAnswer::kDone:
      return json_response(200, "done");
    case ToolAnswer::kFailed:
      return json_response(422, "failed");
    case ToolAnswer::kLost:
      break;
  }
  // A stream that nobody finishes: the connection ends without the rest of the answer.
  return {.status = 200, .stream = std::make_shared<http::BodyStream>()};
}

}  // namespace remit::conformance
