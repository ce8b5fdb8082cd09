// Tokens of every kind, and the state and principal that each gives.
#include "identity/jwt_authenticator.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "identity/file_keys.h"
#include "identity/pinned_authenticator.h"
#include "tests/support/fake_clock.h"
#include "tests/support/test_folder.h"
#include "tests/support/tokens.h"

namespace remit::identity {
namespace {

using access::Credential;
using access::Principal;
using access::PrincipalState;
using testing::FakeClock;
using testing::key_set_text;
using testing::SigningKey;

constexpr std::int64_t kNow = FakeClock::kStartUnixNs / 1'000'000'000;
constexpr const char* kIssuer = "https://id.example/";

class JwtTest : public ::testing::Test {
 protected:
  JwtTest() { put("jwks.json", key_set_text({key_.jwk(), rsa_.jwk()})); }

  void put(const std::string& name, const std::string& text) const {
    folder_.put(name, text);
    namespace fs = std::filesystem;
    fs::permissions(folder_.path(name), fs::perms::owner_read | fs::perms::owner_write);
  }
  static json::Object claims() {
    return {{"iss", kIssuer},   {"aud", "desk"},        {"sub", "alice"},
            {"exp", kNow + 60}, {"tenant", "tenant-a"}, {"class", "support_agent"},
            {"scope", "b a b"}};
  }
  static json::Object with(const std::string& name, json::Value value) {
    json::Object out = claims();
    out.set(name, std::move(value));
    return out;
  }
  static json::Object without(std::string_view name) {
    json::Object out = claims();
    out.erase(name);
    return out;
  }
  static TokenRules rules() { return {.issuer = kIssuer, .audiences = {"desk", "desk-2"}}; }

  Identity identify(const std::string& token, const TokenRules& rules = JwtTest::rules(),
                    const Revocations* revocations = nullptr, std::int64_t now_s = kNow) const {
    const JwtAuthenticator authenticator(rules, keys_, revocations, digest_key_, nobody_);
    return authenticator.authenticate(Credential::bearer(token), WallTime{now_s * 1'000'000'000});
  }
  std::string said(const json::Object& claims, const TokenRules& rules = JwtTest::rules()) const {
    return said(identify(key_.token(claims), rules));
  }
  /// `invalid: why`, or the state alone.
  static std::string said(const Identity& identity) {
    EXPECT_EQ(identity.principal.has_value(), identity.state == PrincipalState::kAuthenticated);
    EXPECT_EQ(identity.detail.empty(), identity.principal.has_value());
    const std::string state(access::principal_state_name(identity.state));
    return identity.detail.empty() ? state : state + ": " + identity.detail;
  }

  const SigningKey key_{"ES256"};
  const SigningKey rsa_{"RS256", "r1"};
  testing::TestFolder folder_;
  mutable PosixFileSystem files_;
  const DigestKey digest_key_ =
      DigestKey::from_bytes(bytes_of("0123456789abcdef0123456789abcdef")).value();
  const PinnedAuthenticator nobody_{std::nullopt, digest_key_};
  const FileKeys keys_{files_, folder_.path("jwks.json")};
};

TEST_F(JwtTest, GivesThePrincipalOfItsClaims) {
  const Identity identity = identify(key_.token(claims()));
  ASSERT_EQ(said(identity), "authenticated");
  const Principal& principal = *identity.principal;
  EXPECT_EQ(principal.subject, "alice");
  EXPECT_EQ(principal.tenant, "tenant-a");
  EXPECT_EQ(principal.class_name, "support_agent");
  EXPECT_EQ(principal.scopes, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(principal.on_behalf_of, "");
  EXPECT_EQ(said(identify(rsa_.token(claims()))), "authenticated");
}

// REQ-ID-010, REQ-ID-011, REQ-ID-012, REQ-ID-013.
TEST_F(JwtTest, JudgesEachClaim) {
  const double far = 1e300;
  const auto act = [](json::Value value) { return with("act", std::move(value)); };
  const std::string long_name(257, 'x');
  const struct {
    json::Object claims;
    const char* said;
  } kCases[] = {
      {without("iss"), "invalid: the token has no iss"},
      {with("iss", "https://id.example"), "invalid: the token is of another issuer"},
      {with("iss", "https://id.example/x"), "invalid: the token is of another issuer"},
      {with("iss", "https://id.example/ "), "invalid: the token is of another issuer"},
      {with("iss", "https://ID.example/"), "invalid: the token is of another issuer"},
      {with("iss", "https://evil.example/https://id.example/"),
       "invalid: the token is of another issuer"},
      {with("iss", ""), "invalid: the token is of another issuer"},
      {with("iss", nullptr), "invalid: the token is of another issuer"},
      {with("iss", json::Array{kIssuer}), "invalid: the token is of another issuer"},
      {without("aud"), "invalid: the token has no aud"},
      {with("aud", "des"), "invalid: the token is for another audience"},
      {with("aud", "desk-3"), "invalid: the token is for another audience"},
      {with("aud", "Desk"), "invalid: the token is for another audience"},
      {with("aud", "desk desk-2"), "invalid: the token is for another audience"},
      {with("aud", ""), "invalid: the token is for another audience"},
      {with("aud", json::Array{}), "invalid: the token is for another audience"},
      {with("aud", json::Array{"other", "dесk"}), "invalid: the token is for another audience"},
      {with("aud", json::Array{json::Array{"desk"}}), "invalid: the token is for another audience"},
      {with("aud", json::Object{{"desk", 1}}), "invalid: the token is for another audience"},
      {with("aud", 1), "invalid: the token is for another audience"},
      {with("aud", json::Array{"other", "desk-2"}), "authenticated"},
      {without("exp"), "invalid: the token has no exp"},
      {with("exp", std::to_string(kNow + 60)),
       "invalid: the token's exp is no number of seconds since 1970"},
      {with("exp", nullptr), "invalid: the token's exp is no number of seconds since 1970"},
      {with("exp", true), "invalid: the token's exp is no number of seconds since 1970"},
      {with("exp", -1), "invalid: the token's exp is no number of seconds since 1970"},
      {with("exp", far), "invalid: the token's exp is no number of seconds since 1970"},
      {with("exp", 253'402'300'800), "invalid: the token's exp is no number of seconds since 1970"},
      {with("exp", kMaxSafeInteger), "invalid: the token's exp is no number of seconds since 1970"},
      {with("exp", json::Array{kNow + 60}),
       "invalid: the token's exp is no number of seconds since 1970"},
      {with("exp", 253'402'300'799), "authenticated"},
      {with("exp", static_cast<double>(kNow) + 0.5), "authenticated"},
      {with("exp", kNow - 29), "authenticated"},
      {with("exp", static_cast<double>(kNow) - 29.5), "authenticated"},
      {with("exp", kNow - 30), "expired: the token expired 30 s ago"},
      {with("exp", static_cast<double>(kNow) - 29.99), "authenticated"},
      {with("exp", static_cast<double>(kNow) - 30.01), "expired: the token expired 30 s ago"},
      {with("exp", 0), "expired: the token expired 1796040000 s ago"},
      {with("nbf", kNow + 30), "authenticated"},
      {with("nbf", kNow + 31), "expired: the token begins in 31 s"},
      {with("nbf", static_cast<double>(kNow) + 30.0001), "expired: the token begins in 30 s"},
      {with("nbf", std::to_string(kNow)),
       "invalid: the token's nbf is no number of seconds since 1970"},
      {with("nbf", far), "invalid: the token's nbf is no number of seconds since 1970"},
      {with("nbf", nullptr), "invalid: the token's nbf is no number of seconds since 1970"},
      {with("iat", kNow + 30), "authenticated"},
      {with("iat", kNow + 40), "expired: the token will be issued in 40 s"},
      {with("iat", "now"), "invalid: the token's iat is no number of seconds since 1970"},
      {with("iat", -0.5), "invalid: the token's iat is no number of seconds since 1970"},
      {without("sub"), "invalid: the token has no sub"},
      {with("sub", ""),
       "invalid: the token's sub is no text of 1 to 256 bytes without control characters"},
      {with("sub", 7),
       "invalid: the token's sub is no text of 1 to 256 bytes without control characters"},
      {with("sub", "a\nb"),
       "invalid: the token's sub is no text of 1 to 256 bytes without control characters"},
      {with("sub", std::string("a\0b", 3)),
       "invalid: the token's sub is no text of 1 to 256 bytes without control characters"},
      {with("sub", long_name),
       "invalid: the token's sub is no text of 1 to 256 bytes without control characters"},
      {with("jti", 7),
       "invalid: the token's jti is no text of 1 to 256 bytes without control characters"},
      {without("tenant"), "invalid: the token has no \"tenant\""},
      {with("tenant", json::Array{"tenant-a", "tenant-b"}),
       "invalid: the token's \"tenant\" is no text of 1 to 256 bytes without control characters"},
      {with("tenant", ""),
       "invalid: the token's \"tenant\" is no text of 1 to 256 bytes without control characters"},
      {without("class"), "invalid: the token has no \"class\""},
      {without("scope"), "authenticated"},
      {with("scope", ""), "authenticated"},
      {with("scope", json::Array{"a"}), "authenticated"},
      {with("scope", "a  b"), "invalid: the token's \"scope\" has what is no scope"},
      {with("scope", " a"), "invalid: the token's \"scope\" has what is no scope"},
      {with("scope", "a\tb"), "invalid: the token's \"scope\" has what is no scope"},
      {with("scope", "a\"b"), "invalid: the token's \"scope\" has what is no scope"},
      {with("scope", json::Array{"a b"}), "invalid: the token's \"scope\" has what is no scope"},
      {with("scope", json::Array{1}), "invalid: the token's \"scope\" has what is no scope"},
      {with("scope", 1), "invalid: the token's \"scope\" is neither text nor a list"},
      {with("scope", nullptr), "invalid: the token's \"scope\" is neither text nor a list"},
      {act(json::Object{{"sub", "agent-7"}}), "authenticated"},
      {act(json::Object{{"sub", "agent-7"}, {"iss", kIssuer}}), "authenticated"},
      {act(json::Object{{"sub", "agent-7"}, {"iss", "https://other.example/"}}),
       "invalid: the token's act is of another issuer"},
      {act(json::Object{}), "invalid: the token has no act.sub"},
      {act(json::Object{{"sub", ""}}),
       "invalid: the token's act.sub is no text of 1 to 256 bytes without control characters"},
      {act("agent-7"), "invalid: the token's act is no object"},
      {act(nullptr), "invalid: the token's act is no object"},
      {act(json::Array{json::Object{{"sub", "agent-7"}}}), "invalid: the token's act is no object"},
  };
  for (const auto& each : kCases) {
    EXPECT_EQ(said(each.claims), each.said) << json::write(json::Value{each.claims});
  }
}

TEST_F(JwtTest, ReadsClaimsStrictly) {
  const std::string whole = json::write(json::Value{claims()});
  const std::string header = R"({"alg":"ES256","kid":"k1"})";
  const auto of = [&](const std::string& payload) {
    return said(identify(key_.token_of(header, payload)));
  };
  ASSERT_EQ(of(whole), "authenticated");
  const std::string open = whole.substr(0, whole.size() - 1);
  std::string deep = open + R"(,"x":)";
  deep.append(kMaxTokenDepth, '[').append(kMaxTokenDepth, ']').append("}");
  for (const std::string& wrong :
       {open + R"(,"sub":"mallory"})", R"({"sub":"mallory",)" + whole.substr(1),
        open + R"(,"act":{"sub":"a","sub":"b"}})", whole + "x", whole + whole,
        whole + std::string(1, '\0'), open, std::string(), std::string("null"), "[" + whole + "]",
        '"' + whole + '"', deep, open + R"(,"x":1e400})", open + R"(,"exp":9007199254740993})",
        open + ",\"x\":\"\xff\"}", "\xef\xbb\xbf" + whole, open + R"(,"x":"\ud800"})"}) {
    EXPECT_TRUE(of(wrong).starts_with("invalid: the token's claims")) << wrong << of(wrong);
  }
}

// REQ-ID-013.
TEST_F(JwtTest, KeepsAgentAndPersonApart) {
  const Identity identity = identify(key_.token(
      with("act", json::Object{{"sub", "agent-7"}, {"act", json::Object{{"sub", "agent-6"}}}})));
  ASSERT_TRUE(identity.principal);
  EXPECT_EQ(identity.principal->subject, "agent-7");
  EXPECT_EQ(identity.principal->on_behalf_of, "alice");
  // Of `may_act` nobody becomes anything.
  const Identity may = identify(key_.token(with("may_act", json::Object{{"sub", "agent-7"}})));
  ASSERT_TRUE(may.principal);
  EXPECT_EQ(may.principal->subject, "alice");
  EXPECT_EQ(may.principal->on_behalf_of, "");
}

// REQ-ID-012.
TEST_F(JwtTest, TakesFactsFromWhereItIsTold) {
  TokenRules rules = JwtTest::rules();
  rules.tenant = {.claim = "/realm/tenant"};
  rules.class_name = {.value = "robot"};
  rules.scopes = {.claim = "https://desk.example/roles"};
  json::Object mapped = with("realm", json::Object{{"tenant", "tenant-z"}});
  mapped.set("https://desk.example/roles", json::Array{"r2", "r1"});
  const Identity identity = identify(key_.token(mapped), rules);
  ASSERT_EQ(said(identity), "authenticated");
  EXPECT_EQ(identity.principal->tenant, "tenant-z");
  EXPECT_EQ(identity.principal->class_name, "robot");
  EXPECT_EQ(identity.principal->scopes, (std::vector<std::string>{"r1", "r2"}));
  EXPECT_EQ(said(claims(), rules), "invalid: the token has no \"/realm/tenant\"");
  rules.scopes = {.value = "x y"};
  const Identity fixed = identify(key_.token(mapped), rules);
  ASSERT_TRUE(fixed.principal);
  EXPECT_EQ(fixed.principal->scopes, (std::vector<std::string>{"x", "y"}));
}

TEST_F(JwtTest, BoundsScopes) {
  std::string many = "s0";
  for (std::size_t i = 1; i <= kMaxTokenScopes; ++i) many += " s" + std::to_string(i);
  EXPECT_EQ(said(with("scope", many)), "invalid: the token has more than 1000 scopes");
}

// REQ-ID-010.
TEST_F(JwtTest, AsksForTypeAndAlgorithmWhereItIsTold) {
  TokenRules rules = JwtTest::rules();
  rules.type = "at+jwt";
  const auto typed = [&](const std::string& type) {
    return said(identify(key_.token_of(R"({"alg":"ES256","kid":"k1")" + type + "}",
                                       json::write(json::Value{claims()})),
                         rules));
  };
  EXPECT_EQ(typed(R"(,"typ":"at+jwt")"), "authenticated");
  EXPECT_EQ(typed(R"(,"typ":"application/AT+JWT")"), "authenticated");
  EXPECT_EQ(typed(R"(,"typ":"JWT")"), "invalid: the token is of another type");
  EXPECT_EQ(typed(""), "invalid: the token is of another type");
  rules = JwtTest::rules();
  rules.algorithms = {JwsAlgorithm::kEs256};
  EXPECT_EQ(said(claims(), rules), "authenticated");
  EXPECT_EQ(said(identify(rsa_.token(claims()), rules)),
            "invalid: the token's algorithm RS256 is not taken");
}

// REQ-ID-015: what is wrong with a token that is also out of its time is told as that.
TEST_F(JwtTest, ExpiredMeansGoodOnce) {
  const json::Object late = with("exp", kNow - 3600);
  EXPECT_EQ(said(late), "expired: the token expired 3600 s ago");
  EXPECT_EQ(said(identify(SigningKey("ES256").token(late))),
            "invalid: the token's signature is not that of its key");
  json::Object foreign = late;
  foreign.set("iss", "https://other.example/");
  EXPECT_EQ(said(foreign), "invalid: the token is of another issuer");
  foreign = late;
  foreign.erase("tenant");
  EXPECT_EQ(said(foreign), "invalid: the token has no \"tenant\"");
  // Clocks beyond every reason.
  for (const std::int64_t now : {std::int64_t{0}, std::int64_t{9'223'372'036}, -kNow}) {
    EXPECT_NE(said(identify(key_.token(with("nbf", kNow)), rules(), nullptr, now)),
              "authenticated");
  }
}

// REQ-ID-014.
TEST_F(JwtTest, WhatIsTakenBackIsExpired) {
  const std::string file = "revoked.yaml";
  const Revocations revocations(files_, folder_.path(file));
  json::Object claims = with("jti", "t-1");
  claims.set("act", json::Object{{"sub", "agent-7"}});
  const std::string token = key_.token(claims);
  const auto now = [&] { return said(identify(token, rules(), &revocations)); };
  EXPECT_TRUE(now().starts_with("invalid: the revocations cannot be used: ")) << now();
  const auto revoked = [&](const std::string& lists) {
    put(file, "revocations: remit.revocations/1\n" + lists);
    return now();
  };
  EXPECT_EQ(revoked(""), "authenticated");
  EXPECT_EQ(revoked("tokens: [t-1]\n"), "expired: the token is revoked");
  EXPECT_EQ(revoked("tokens: [t-10, t, T-1]\n"), "authenticated");
  EXPECT_EQ(revoked("subjects: [alice]\n"), "expired: the token's subject is revoked");
  EXPECT_EQ(revoked("subjects: [agent-7]\n"), "expired: the token's subject is revoked");
  EXPECT_EQ(revoked("subjects: [agent]\n"), "authenticated");
  EXPECT_EQ(revoked("keys: [k1]\n"), "expired: the token's key is revoked");
  EXPECT_EQ(revoked("keys: [r1]\n"), "authenticated");
  for (const char* wrong : {"token: [t-1]\n", "tokens: t-1\n", "tokens: [1]\n", "tokens: [\n"}) {
    EXPECT_TRUE(revoked(wrong).starts_with("invalid: the revocations cannot be used: ")) << wrong;
  }
  EXPECT_EQ(revoked(""), "authenticated");
  std::filesystem::permissions(folder_.path(file), std::filesystem::perms::others_write,
                               std::filesystem::perm_options::add);
  EXPECT_TRUE(now().starts_with("invalid: the revocations cannot be used: ")) << now();
}

// REQ-ID-020.
TEST_F(JwtTest, AChangedKeyFileCountsOnTheNextToken) {
  const SigningKey next("EdDSA", "k2");
  const std::string old_token = key_.token(claims());
  const std::string new_token = next.token(claims());
  const std::string first = KeySet::parse(key_set_text({key_.jwk(), rsa_.jwk()}))->revision();
  EXPECT_EQ(said(identify(new_token)),
            "invalid: the issuer's keys, " + first + ", have no \"k2\" for EdDSA");
  put("jwks.json", key_set_text({next.jwk()}));
  EXPECT_EQ(said(identify(new_token)), "authenticated");
  EXPECT_NE(said(identify(old_token)), "authenticated");
  put("jwks.json", key_set_text({key_.jwk()}).substr(1));
  EXPECT_TRUE(said(identify(new_token)).starts_with("invalid: the issuer's keys cannot be used: "));
  std::filesystem::remove(folder_.path("jwks.json"));
  EXPECT_TRUE(said(identify(new_token)).starts_with("invalid: the issuer's keys cannot be used: "));
  put("jwks.json", key_set_text({key_.jwk()}));
  EXPECT_EQ(said(identify(old_token)), "authenticated");
  std::filesystem::permissions(folder_.path("jwks.json"), std::filesystem::perms::group_write,
                               std::filesystem::perm_options::add);
  EXPECT_TRUE(said(identify(old_token)).starts_with("invalid: the issuer's keys cannot be used: "));
}

// REQ-ID-016.
TEST_F(JwtTest, TheRevisionTellsFactsIssuerKeyAndKeysApart) {
  const auto revision = [&](const std::string& token, const TokenRules& rules = JwtTest::rules()) {
    const Identity identity = identify(token, rules);
    EXPECT_TRUE(identity.principal) << identity.detail;
    return identity.principal ? identity.principal->revision : "";
  };
  const std::string first = revision(key_.token(claims()));
  EXPECT_TRUE(first.starts_with("sha256:"));
  EXPECT_EQ(revision(key_.token(with("exp", kNow + 5))), first) << "another token, the same facts";
  EXPECT_EQ(revision(key_.token(with("sub", "bob"))), first) << "it would betray the subject";
  EXPECT_NE(revision(key_.token(with("tenant", "tenant-b"))), first);
  EXPECT_NE(revision(key_.token(with("scope", "a"))), first);
  EXPECT_NE(revision(key_.token(with("act", json::Object{{"sub", "x"}}))), first);
  EXPECT_NE(revision(rsa_.token(claims())), first);
  TokenRules other = rules();
  other.issuer = "https://other.example/";
  EXPECT_NE(revision(key_.token(with("iss", other.issuer)), other), first);
  put("jwks.json", key_set_text({key_.jwk()}));
  EXPECT_NE(revision(key_.token(claims())), first);
}

// REQ-ID-030.
TEST_F(JwtTest, OtherCredentialsGoElsewhere) {
  const PinnedAuthenticator pinned(
      Principal{.subject = "me", .tenant = "t", .class_name = "c", .scopes = {}, .revision = ""},
      digest_key_);
  const WallTime now{kNow * 1'000'000'000};
  const JwtAuthenticator plain(rules(), keys_, nullptr, digest_key_, pinned);
  EXPECT_EQ(plain.authenticate(Credential::local(), now).principal->subject, "me");
  EXPECT_EQ(plain.authenticate(Credential::reference("me"), now).principal->subject, "me");
  EXPECT_EQ(plain.authenticate(Credential(), now).state, PrincipalState::kMissing);
  EXPECT_EQ(plain.authenticate(Credential::bearer(""), now).state, PrincipalState::kInvalid);

  const JwtAuthenticator local(rules(), keys_, nullptr, digest_key_, pinned, key_.token(claims()));
  EXPECT_EQ(local.authenticate(Credential::local(), now).principal->subject, "alice");
  const WallTime later{(kNow + 90) * 1'000'000'000};
  EXPECT_EQ(local.authenticate(Credential::local(), later).state, PrincipalState::kExpired)
      << "it is verified anew on each call";
  EXPECT_EQ(local.authenticate(Credential(), now).state, PrincipalState::kMissing);
  EXPECT_EQ(local.authenticate(Credential::reference("me"), now).principal->subject, "me");
  const JwtAuthenticator empty(rules(), keys_, nullptr, digest_key_, pinned, "");
  EXPECT_EQ(empty.authenticate(Credential::local(), now).state, PrincipalState::kMissing);
  const JwtAuthenticator wrong(rules(), keys_, nullptr, digest_key_, pinned, "x");
  EXPECT_EQ(wrong.authenticate(Credential::local(), now).state, PrincipalState::kInvalid);
}

}  // namespace
}  // namespace remit::identity
