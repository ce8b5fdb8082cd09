// An issuer's server over TLS that rotates, fails, lies, hangs and closes, and what is known then.
#include "identity/remote_keys.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "http/server.h"
#include "identity/jwt_authenticator.h"
#include "identity/pinned_authenticator.h"
#include "tests/support/certificates.h"
#include "tests/support/fake_clock.h"
#include "tests/support/raw_socket.h"
#include "tests/support/seeded_random.h"
#include "tests/support/tokens.h"

namespace remit::identity {
namespace {

using namespace std::chrono_literals;
using testing::Certificate;
using testing::FakeClock;
using testing::key_set_text;
using testing::make_certificate;
using testing::RawSocket;
using testing::ScriptedServer;
using testing::SigningKey;

constexpr std::int64_t kNow = FakeClock::kStartUnixNs / 1'000'000'000;

/// Waits until `condition` holds; false if it does not come to that.
bool comes_true(const std::function<bool()>& condition) {
  for (int i = 0; i < 60'000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(1ms);
  }
  return false;
}

/// Answers with what it was last told to.
class Issuer final : public http::Handler {
 public:
  http::Response handle(const http::Request& request, std::stop_token stop) override {
    EXPECT_EQ(request.target, "/jwks.json");
    ++asked;
    while (hangs && !stop.stop_requested()) std::this_thread::sleep_for(1ms);
    const MutexLock lock(mutex_);
    return answer_;
  }
  void says(http::Response answer) {
    const MutexLock lock(mutex_);
    answer_ = std::move(answer);
  }
  void publishes(const json::Array& keys) { says({.status = 200, .body = key_set_text(keys)}); }

  std::atomic<int> asked{0};
  std::atomic<bool> hangs{false};

 private:
  Mutex mutex_;
  http::Response answer_ REMIT_GUARDED_BY(mutex_);
};

class RemoteKeysTest : public ::testing::Test {
 protected:
  RemoteKeysTest() { issuer_.publishes({first_.jwk()}); }

  // Pauses are short, since a thread waits for them by the real clock; time itself goes on only
  // where a test says so.
  RemoteKeysOptions options() const {
    return {.url = "https://localhost:" + std::to_string(server_->port()) + "/jwks.json",
            .trust_pem = authority_.certificate_pem,
            .refresh = 1h,
            .max_age = 2h,
            .timeout = 60s,
            .least_pause = 20ms,
            .first_retry = 20ms,
            .longest_retry = 80ms};
  }
  std::unique_ptr<RemoteKeys> keys() {
    return RemoteKeys::start(options(), clock_, random_).value();
  }
  /// The ids that are known, or the problem.
  static std::string said(const KeySource& keys) {
    const KnownKeys known = keys.known();
    EXPECT_EQ(known.keys == nullptr, known.problem.has_value());
    if (known.problem) return known.problem->to_string();
    std::string out;
    for (const JwsKey& key : known.keys->keys()) out += key.id() + " ";
    return out;
  }
  /// Time goes on by `step` until `keys` says `what`.
  bool comes_to_say(const KeySource& keys, const std::string& what, Duration step = 100ms) {
    return comes_true([&] {
      clock_.advance(step);
      return said(keys).find(what) != std::string::npos;
    });
  }
  access::PrincipalState state_of(const SigningKey& key, const KeySource& keys) const {
    const std::string token = key.token({{"iss", "i"},
                                         {"aud", "a"},
                                         {"sub", "alice"},
                                         {"exp", kNow + 1'000'000},
                                         {"tenant", "t"},
                                         {"class", "c"}});
    const DigestKey digest_key =
        DigestKey::from_bytes(bytes_of("0123456789abcdef0123456789abcdef")).value();
    const PinnedAuthenticator nobody(std::nullopt, digest_key);
    return JwtAuthenticator({.issuer = "i", .audiences = {"a"}}, keys, nullptr, digest_key, nobody)
        .authenticate(access::Credential::bearer(token), clock_.wall_now())
        .state;
  }

  const SigningKey first_{"ES256", "k1"};
  const SigningKey second_{"EdDSA", "k2"};
  const Certificate authority_ = make_certificate({.is_authority = true});
  const Certificate shown_ = make_certificate({}, &authority_);
  const SystemClock real_clock_;
  Issuer issuer_;
  std::unique_ptr<http::Server> server_ =
      http::Server::start({.tls = http::TlsIdentity{shown_.certificate_pem, shown_.key_pem}},
                          issuer_, real_clock_)
          .value();
  FakeClock clock_;
  testing::SeededRandom random_;
};

using State = access::PrincipalState;

// REQ-ID-021.
TEST_F(RemoteKeysTest, KnowsTheKeysFromTheStartAndFollowsThem) {
  const auto keys = RemoteKeysTest::keys();
  EXPECT_EQ(said(*keys), "k1 ");
  EXPECT_EQ(issuer_.asked, 1);
  EXPECT_EQ(state_of(first_, *keys), State::kAuthenticated);
  issuer_.publishes({second_.jwk()});
  EXPECT_EQ(said(*keys), "k1 ") << "it is asked again when its time has come";
  clock_.advance(61min);
  keys->ask_anew();  // wakes the thread, which sees the new time
  ASSERT_TRUE(comes_true([&] { return said(*keys) == "k2 "; }));
  EXPECT_EQ(state_of(first_, *keys), State::kInvalid) << "a key that was taken back";
  EXPECT_EQ(state_of(second_, *keys), State::kAuthenticated);
}

// REQ-ID-022.
TEST_F(RemoteKeysTest, ATokenOfANewKeyMakesItLookButNeverWait) {
  const auto keys = RemoteKeysTest::keys();
  issuer_.publishes({first_.jwk(), second_.jwk()});
  issuer_.hangs = true;
  clock_.advance(20ms);
  EXPECT_EQ(state_of(second_, *keys), State::kInvalid);
  ASSERT_TRUE(comes_true([&] { return issuer_.asked == 2; }));
  // The issuer hangs, and calls go on by what was known.
  EXPECT_EQ(state_of(second_, *keys), State::kInvalid);
  EXPECT_EQ(state_of(first_, *keys), State::kAuthenticated);
  issuer_.hangs = false;
  ASSERT_TRUE(comes_true([&] { return said(*keys) == "k1 k2 "; }));
  EXPECT_EQ(state_of(second_, *keys), State::kAuthenticated);
}

// REQ-ID-022.
TEST_F(RemoteKeysTest, StrangersTokensDoNotMakeItLookMoreOften) {
  const auto keys = RemoteKeysTest::keys();
  const SigningKey stranger("EdDSA", "unheard-of");
  for (int i = 0; i < 500; ++i) EXPECT_EQ(state_of(stranger, *keys), State::kInvalid);
  EXPECT_EQ(issuer_.asked, 1) << "by a clock that stands, the pause is not over";
  clock_.advance(20ms);
  ASSERT_TRUE(comes_true([&] { return issuer_.asked == 2; }));
  for (int i = 0; i < 500; ++i) EXPECT_EQ(state_of(stranger, *keys), State::kInvalid);
  EXPECT_EQ(issuer_.asked, 2);
}

// REQ-ID-021.
TEST_F(RemoteKeysTest, AnAnswerThatIsNoneLeavesTheLastInForce) {
  const auto keys = RemoteKeysTest::keys();
  const std::string good = key_set_text({second_.jwk()});
  const std::vector<http::Response> none = {
      {.status = 500, .body = good},
      {.status = 404, .body = good},
      {.status = 302, .headers = {{"Location", "/jwks.json"}}, .body = good},
      {.status = 203, .body = good},
      {.status = 200, .body = ""},
      {.status = 200, .body = "<html>login</html>"},
      {.status = 200, .body = good.substr(0, good.size() - 3)},
      {.status = 200, .body = good + good},
      {.status = 200, .body = "{}"},
      {.status = 200, .body = std::string(kMaxKeySetBytes, ' ') + good},
      {.status = 200, .body = std::string(8U << 20U, 'x')},
      {.status = 200, .body = key_set_text({second_.jwk(), second_.jwk()})},
  };
  for (const http::Response& each : none) {
    issuer_.says(each);
    const int before = issuer_.asked;
    keys->ask_anew();
    ASSERT_TRUE(comes_true([&] {
      clock_.advance(100ms);
      return issuer_.asked > before + 1;  // so that one was answered whole
    }));
    EXPECT_EQ(said(*keys), "k1 ") << each.status << each.body.substr(0, 40);
  }
  EXPECT_EQ(state_of(first_, *keys), State::kAuthenticated);
  issuer_.publishes({second_.jwk()});
  EXPECT_TRUE(comes_to_say(*keys, "k2 "));
}

TEST_F(RemoteKeysTest, CallsGoOnWhileKeysChange) {
  const auto keys = RemoteKeysTest::keys();
  std::atomic<bool> is_over{false};
  std::atomic<int> good{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < 3; ++i) {
    callers.emplace_back([&] {
      while (!is_over) {
        for (const SigningKey* key : {&first_, &second_}) {
          const State state = state_of(*key, *keys);
          EXPECT_TRUE(state == State::kAuthenticated || state == State::kInvalid);
          if (state == State::kAuthenticated) ++good;
        }
      }
    });
  }
  for (int turn = 0; turn < 20; ++turn) {
    const bool is_first = turn % 2 == 1;
    issuer_.publishes({is_first ? first_.jwk() : second_.jwk()});
    EXPECT_TRUE(comes_to_say(*keys, is_first ? "k1 " : "k2 ")) << turn;
  }
  is_over = true;
  for (std::thread& caller : callers) caller.join();
  EXPECT_GT(good, 0);
}

// REQ-ID-024.
TEST_F(RemoteKeysTest, AnEmptySetTakesAllKeysBack) {
  const auto keys = RemoteKeysTest::keys();
  issuer_.publishes({});
  clock_.advance(1min);
  keys->ask_anew();
  ASSERT_TRUE(comes_true([&] { return said(*keys).empty(); }));
  EXPECT_EQ(state_of(first_, *keys), State::kInvalid);
}

// REQ-ID-023.
TEST_F(RemoteKeysTest, WhatIsTooOldIsNotBelieved) {
  const auto keys = RemoteKeysTest::keys();
  issuer_.says({.status = 503});
  clock_.advance(2h);
  EXPECT_EQ(said(*keys), "k1 ");
  clock_.advance(1s);
  EXPECT_EQ(state_of(first_, *keys), State::kInvalid);
  EXPECT_TRUE(comes_to_say(*keys, "the last good answer is "));
  EXPECT_TRUE(comes_to_say(*keys, "s old; since then: localhost: the answer has the status 503"));
  issuer_.publishes({first_.jwk()});
  EXPECT_TRUE(comes_to_say(*keys, "k1 "));
  EXPECT_EQ(state_of(first_, *keys), State::kAuthenticated);
}

// REQ-ID-023. The monotonic clock stands while a machine sleeps.
TEST_F(RemoteKeysTest, AMachineThatSleptAsksAnew) {
  const auto keys = RemoteKeysTest::keys();
  issuer_.hangs = true;
  const WallTime woken{clock_.wall_now().unix_ns + Duration(3h).count()};
  clock_.set_wall(woken);
  EXPECT_EQ(said(*keys), "the last good answer is 10800 s old");
  clock_.advance(20ms);
  issuer_.hangs = false;
  EXPECT_TRUE(comes_true([&] { return said(*keys) == "k1 "; }));
  clock_.set_wall(WallTime{0});
  EXPECT_EQ(said(*keys), "k1 ") << "a clock that was set back makes nothing old";
}

// REQ-ID-021.
TEST_F(RemoteKeysTest, WithoutAnAnswerNothingIsKnownAndItGoesOnAsking) {
  issuer_.says({.status = 500});
  const auto keys = RemoteKeysTest::keys();
  EXPECT_EQ(said(*keys), "localhost: the answer has the status 500");
  EXPECT_EQ(state_of(first_, *keys), State::kInvalid);
  // What tokens ask for changes nothing about the pauses after failures.
  for (int i = 0; i < 100; ++i) keys->ask_anew();
  EXPECT_EQ(issuer_.asked, 1);
  for (int more = 2; more < 8; ++more) {
    ASSERT_TRUE(comes_true([&] {
      clock_.advance(80ms);
      return issuer_.asked >= more;
    })) << more;
  }
  issuer_.publishes({first_.jwk()});
  EXPECT_TRUE(comes_to_say(*keys, "k1 "));
}

// REQ-ID-022. The calls are many, so that a fetch would come to pass if one were due.
TEST_F(RemoteKeysTest, TokensDoNotShortenThePauseAfterAFailure) {
  issuer_.says({.status = 500});
  RemoteKeysOptions patient = options();
  patient.first_retry = 1h;
  patient.longest_retry = 1h;
  const auto keys = RemoteKeys::start(patient, clock_, random_).value();
  clock_.advance(10min);
  for (int i = 0; i < 200; ++i) {
    keys->ask_anew();
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_EQ(issuer_.asked, 1);
}

TEST_F(RemoteKeysTest, BelievesNobodyElse) {
  RemoteKeysOptions other = options();
  other.trust_pem = make_certificate({.is_authority = true}).certificate_pem;
  const auto untrusted = RemoteKeys::start(other, clock_, random_);
  ASSERT_TRUE(untrusted);
  EXPECT_NE(said(**untrusted).find("the certificate is not trusted"), std::string::npos);
  EXPECT_EQ(issuer_.asked, 0);
}

TEST_F(RemoteKeysTest, AServerThatHangsIsGivenUp) {
  issuer_.hangs = true;
  RemoteKeysOptions hasty = options();
  hasty.timeout = 300ms;
  {
    const auto keys = RemoteKeys::start(hasty, real_clock_, random_);
    ASSERT_TRUE(keys);
    EXPECT_NE(said(**keys), "k1 ");
  }
  // And a fetch under way is given up with the object, however long it may take.
  issuer_.hangs = false;
  auto keys = RemoteKeysTest::keys();
  issuer_.hangs = true;
  const int before = issuer_.asked;
  clock_.advance(2h);
  keys->ask_anew();
  ASSERT_TRUE(comes_true([&] { return issuer_.asked > before; }));
  keys.reset();
  issuer_.hangs = false;
}

TEST_F(RemoteKeysTest, AServerThatClosesIsNoAnswer) {
  for (const char* bytes : {"", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", "\x15\x03\x03"}) {
    ScriptedServer server([&](RawSocket& socket) {
      socket.send(bytes);
      socket.close();
    });
    RemoteKeysOptions closing = options();
    closing.url = "https://127.0.0.1:" + std::to_string(server.port()) + "/jwks.json";
    const auto keys = RemoteKeys::start(closing, clock_, random_);
    ASSERT_TRUE(keys);
    EXPECT_NE((*keys)->known().problem, std::nullopt);
  }
}

TEST_F(RemoteKeysTest, RefusesOptionsThatCannotWork) {
  const auto refused = [&](const std::function<void(RemoteKeysOptions&)>& change) {
    RemoteKeysOptions wrong = options();
    change(wrong);
    const auto started = RemoteKeys::start(wrong, clock_, random_);
    return started ? std::string("started") : started.error().message;
  };
  EXPECT_EQ(refused([](RemoteKeysOptions& o) { o.url = "http://localhost/jwks.json"; }),
            "keys are fetched over https:// alone");
  EXPECT_NE(refused([](RemoteKeysOptions& o) { o.url = "jwks.json"; }), "started");
  EXPECT_NE(refused([](RemoteKeysOptions& o) { o.url = "https://user:x@localhost/"; }), "started");
  EXPECT_NE(refused([](RemoteKeysOptions& o) { o.trust_pem = "x"; }), "started");
  EXPECT_EQ(refused([](RemoteKeysOptions& o) { o.max_age = 1min; }),
            "keys would be too old before they are asked for again");
}

}  // namespace
}  // namespace remit::identity
