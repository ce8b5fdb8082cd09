// Fetching a key set, again and again.
#include "identity/remote_keys.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/start_thread.h"

namespace remit::identity {

Result<std::unique_ptr<RemoteKeys>> RemoteKeys::start(RemoteKeysOptions options, const Clock& clock,
                                                      Random& random) {
  REMIT_TRY_ASSIGN(http::Url url, http::Url::parse(options.url));
  if (!url.is_secure) {
    return Error{ErrorCode::kInvalidInput, "keys are fetched over https:// alone"};
  }
  if (options.max_age < options.refresh) {
    return Error{ErrorCode::kInvalidInput, "keys would be too old before they are asked for again"};
  }
  http::ClientOptions client_options{.trust_pem = options.trust_pem, .connections = 1};
  client_options.limits.body_bytes = kMaxKeySetBytes;
  REMIT_TRY_ASSIGN(std::unique_ptr<http::Client> client,
                   http::Client::create(client_options, clock));
  std::unique_ptr<RemoteKeys> out(
      new RemoteKeys(std::move(options), std::move(url), std::move(client), clock, random));
  out->fetch();
  out->thread_ = start_thread([keys = out.get()] { keys->run(); });
  if (!out->thread_.joinable()) {
    return Error{ErrorCode::kUnavailable, "the system gives no thread to fetch keys"};
  }
  return out;
}

RemoteKeys::RemoteKeys(RemoteKeysOptions options, http::Url url,
                       std::unique_ptr<http::Client> client, const Clock& clock, Random& random)
    : options_(std::move(options)),
      url_(std::move(url)),
      client_(std::move(client)),
      clock_(clock),
      random_(random),
      backoff_(options_.first_retry) {}

RemoteKeys::~RemoteKeys() {
  stop_.request_stop();
  {
    const MutexLock lock(mutex_);
    is_over_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

Result<KeySet> RemoteKeys::ask() {
  http::ClientRequest request{.url = url_,
                              .deadline = clock_.monotonic_now() + Duration(options_.timeout)};
  request.headers.set("Accept", "application/jwk-set+json, application/json");
  REMIT_TRY_ASSIGN(const http::Response response, client_->send(request, stop_.get_token()));
  if (response.status != 200) {
    return Error{ErrorCode::kUnavailable,
                 "the answer has the status " + std::to_string(response.status), url_.host};
  }
  Result<KeySet> keys = KeySet::parse(response.body);
  if (!keys) return in_place(url_.host, std::move(keys).error());
  return keys;
}

void RemoteKeys::fetch() {
  // Before it is asked for: what is true at the end of a slow answer may no longer be.
  const MonotonicTime asked = clock_.monotonic_now();
  const WallTime asked_wall = clock_.wall_now();
  Result<KeySet> keys = ask();
  std::array<std::byte, 1> chance{};
  random_.fill(chance);
  const MutexLock lock(mutex_);
  last_fetch_ = clock_.monotonic_now();
  if (keys) {
    answer_ = {std::make_shared<const KeySet>(*std::move(keys)), asked, asked_wall};
    failure_.reset();
    pause_ = options_.refresh;
    backoff_ = options_.first_retry;
    return;
  }
  failure_ = std::move(keys).error();
  pause_ = backoff_ - backoff_ / 512 * static_cast<int>(chance[0]);
  backoff_ = std::min<Duration>(2 * backoff_, options_.longest_retry);
}

// What a token wants shortens the pause after an answer, and never that after a failure: it may be
// a stranger's.
MonotonicTime RemoteKeys::due() const {
  const bool may_be_early = is_wanted_ && !failure_;
  return last_fetch_ + (may_be_early ? std::min<Duration>(pause_, options_.least_pause) : pause_);
}

void RemoteKeys::run() {
  while (true) {
    {
      const MutexLock lock(mutex_);
      while (!is_over_) {
        const Duration left = due() - clock_.monotonic_now();
        if (left <= Duration::zero()) break;
        changed_.wait_for(mutex_, left);
      }
      if (is_over_) return;
      is_wanted_ = false;
    }
    fetch();
  }
}

void RemoteKeys::ask_anew() const {
  const MutexLock lock(mutex_);
  if (is_wanted_) return;
  is_wanted_ = true;
  changed_.notify_all();
}

KnownKeys RemoteKeys::known() const {
  const MonotonicTime now = clock_.monotonic_now();
  const WallTime wall = clock_.wall_now();
  Duration age{};
  std::optional<Error> failure;
  {
    const MutexLock lock(mutex_);
    if (answer_.keys == nullptr) return {nullptr, failure_};
    // The monotonic clock stands while a machine sleeps; the other one may be set back.
    age = std::max(now - answer_.asked, Duration(wall.unix_ns - answer_.asked_wall.unix_ns));
    if (age <= Duration(options_.max_age)) return {answer_.keys};
    failure = failure_;
  }
  ask_anew();
  return {nullptr,
          Error{ErrorCode::kUnavailable,
                "the last good answer is " +
                    std::to_string(std::chrono::duration_cast<std::chrono::seconds>(age).count()) +
                    " s old" + (failure ? "; since then: " + failure->to_string() : "")}};
}

}  // namespace remit::identity
