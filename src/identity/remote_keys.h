// Keys from the issuer's own server, kept fresh beside the calls that use them.
#pragma once

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/limits.h"
#include "base/mutex.h"
#include "base/random.h"
#include "base/result.h"
#include "http/client.h"
#include "identity/key_source.h"

namespace remit::identity {

struct RemoteKeysOptions {
  std::string url;                               ///< `https://…` of a JWK Set
  std::string trust_pem = {};                    ///< certificates to trust in place of the system's
  std::chrono::milliseconds refresh{300'000};    ///< after an answer, until it is asked for again
  std::chrono::milliseconds max_age{3'600'000};  ///< an answer that is older is not believed
  std::chrono::milliseconds timeout{5'000};      ///< of one fetch
  std::chrono::milliseconds least_pause = kLeastKeyPause;  ///< before a fetch that a token causes
  std::chrono::milliseconds first_retry = kFirstKeyRetryPause;  ///< doubled after each failure
  std::chrono::milliseconds longest_retry = kLongestKeyRetryPause;
};

/// A JWK Set that a thread of its own fetches over HTTPS: at the start, when `refresh` is over, and
/// when a token named a key that is not in it, but then not within `least_pause` of the last fetch.
/// An answer counts when it has status 200 and is a JWK Set (REQ-ID-004), one without a usable key
/// among them: then the issuer took all of them back. Any other leaves the last one in force until
/// `max_age` is over, by either clock, and is asked for again after growing pauses of which up to
/// half is left to chance. No redirect is followed. Thread-safe.
class RemoteKeys final : public KeySource {
 public:
  /// Fetches once, for at most `timeout`, before it returns; that this failed is no error here but
  /// what `known` then says. `clock` and `random` outlive the object. Errors: `invalid_input` for a
  /// URL that is no `https://…`, certificates that do not parse, or a `max_age` that is less than
  /// `refresh`; `unavailable` if the system gives no thread.
  static Result<std::unique_ptr<RemoteKeys>> start(RemoteKeysOptions options, const Clock& clock,
                                                   Random& random);
  /// Gives up a fetch under way.
  ~RemoteKeys() override;
  RemoteKeys(const RemoteKeys&) = delete;
  RemoteKeys& operator=(const RemoteKeys&) = delete;

  [[nodiscard]] KnownKeys known() const override;
  void ask_anew() const override;

 private:
  struct Answer {
    std::shared_ptr<const KeySet> keys;
    MonotonicTime asked;
    WallTime asked_wall;
  };
  RemoteKeys(RemoteKeysOptions options, http::Url url, std::unique_ptr<http::Client> client,
             const Clock& clock, Random& random);
  Result<KeySet> ask();
  void fetch();
  void run();
  [[nodiscard]] MonotonicTime due() const REMIT_REQUIRES(mutex_);

  const RemoteKeysOptions options_;
  const http::Url url_;
  const std::unique_ptr<http::Client> client_;
  const Clock& clock_;
  Random& random_;
  std::stop_source stop_;
  mutable Mutex mutex_;
  mutable CondVar changed_;
  mutable bool is_wanted_ REMIT_GUARDED_BY(mutex_) = false;  // by a token
  bool is_over_ REMIT_GUARDED_BY(mutex_) = false;
  Answer answer_ REMIT_GUARDED_BY(mutex_);  // the last good one; `keys` is null before it
  std::optional<Error> failure_ REMIT_GUARDED_BY(mutex_);  // of the last fetch
  MonotonicTime last_fetch_ REMIT_GUARDED_BY(mutex_);
  Duration pause_ REMIT_GUARDED_BY(mutex_){};    // after it
  Duration backoff_ REMIT_GUARDED_BY(mutex_){};  // of the next failure
  std::thread thread_;
};

}  // namespace remit::identity
