// Tokens and keys by hand: what is read, what is refused, and which key is asked.
#include "identity/jws.h"

#include <gtest/gtest.h>

#include <string>

#include "base/limits.h"
#include "identity/key_set.h"
#include "tests/support/tokens.h"

namespace remit::identity {
namespace {

using testing::base64url;
using testing::key_set_text;
using testing::SigningKey;

KeySet set_of(const json::Array& keys) {
  Result<KeySet> set = KeySet::parse(key_set_text(keys));
  EXPECT_TRUE(set) << (set ? "" : set.error().to_string());
  return set ? *std::move(set) : KeySet{};
}

std::string judged(const std::string& token, const KeySet& keys) {
  const Result<Jws> jws = parse_jws(token);
  if (!jws) return jws.error().to_string();
  switch (verify_jws(*jws, keys).verdict) {
    case JwsVerdict::kForged:
      return "forged";
    case JwsVerdict::kNoSuchKey:
      return "no such key";
    case JwsVerdict::kVerified:
      break;
  }
  return "verified";
}

// REQ-ID-002.
TEST(Jws, EachAlgorithmVerifiesItsOwnAndNoOther) {
  const std::string kNames[] = {"RS256", "RS384", "RS512", "PS256", "PS384",
                                "PS512", "ES256", "ES384", "ES512", "EdDSA"};
  for (const std::string& name : kNames) {
    const SigningKey key(name);
    const KeySet keys = set_of({key.jwk()});
    const std::string token = key.token({{"sub", "a"}});
    EXPECT_EQ(judged(token, keys), "verified") << name;
    ASSERT_TRUE(parse_jws(token));
    EXPECT_EQ(parse_jws(token)->payload, R"({"sub":"a"})");
    std::string other = token;
    other[token.find('.') + 2] ^= 1;
    EXPECT_NE(judged(other, keys), "verified") << name;
    EXPECT_EQ(judged(SigningKey(name).token({{"sub", "a"}}), keys), "forged") << name;
    for (const std::string& header : kNames) {
      const std::string lie =
          key.token_of(R"({"alg":")" + header + R"(","kid":"k1"})", R"({"sub":"a"})");
      EXPECT_EQ(judged(lie, keys), header == name ? "verified" : "no such key") << name << header;
    }
    EXPECT_EQ(parse_jws_algorithm(name), keys.keys().front().algorithm());
    EXPECT_EQ(jws_algorithm_name(keys.keys().front().algorithm()), name);
  }
}

// REQ-ID-002. The classics: a public key as the secret of a symmetric algorithm, and none at all.
TEST(Jws, NoAlgorithmIsConfused) {
  const SigningKey key("RS256");
  const KeySet keys = set_of({key.jwk()});
  const std::string pem = key.public_pem();
  const std::string modulus = *key.jwk().find("n")->if_string();
  for (const std::string& secret : {pem, modulus, std::string()}) {
    EXPECT_EQ(judged(testing::symmetric_token(R"({"alg":"HS256","kid":"k1"})", "{}", secret), keys),
              "the token's algorithm \"HS256\" is not taken");
  }
  for (const char* none : {"none", "None", "NONE", "nOnE", "", "rs256", "RS256 ", "HS512", "ES256K",
                           "RSA1_5", "dir", "Ed25519", "RS1"}) {
    for (const std::string& signature : {std::string(), std::string(".AA"), std::string(".")}) {
      const std::string header = R"({"alg":")" + std::string(none) + R"(","kid":"k1"})";
      const std::string token = base64url(header) + "." + base64url("{}") + signature;
      EXPECT_FALSE(parse_jws(token)) << token;
    }
    EXPECT_FALSE(parse_jws(key.token_of(R"({"alg":")" + std::string(none) + R"("})", "{}")));
  }
  for (const char* header : {"{}", R"({"alg":null})", R"({"alg":["RS256"]})", R"({"alg":1})",
                             R"({"ALG":"RS256"})", R"({"alg":"RS256","alg":"RS256"})",
                             R"({"alg":"none","alg":"RS256"})", "[]", "1", "null", "",
                             R"({"alg":"RS256"} )"
                             "x",
                             R"({"alg":"RS256"}{})"}) {
    EXPECT_FALSE(parse_jws(key.token_of(header, "{}"))) << header;
  }
}

// REQ-ID-003.
TEST(Jws, AKeyThatATokenBringsIsNoKey) {
  const SigningKey ours("ES256");
  const SigningKey theirs("ES256");
  const KeySet keys = set_of({ours.jwk()});
  const std::string jwk = json::write(json::Value{theirs.jwk()});
  const std::string members[] = {R"("jwk":)" + jwk,
                                 R"("jku":"https://evil.example/keys")",
                                 R"("x5u":"https://evil.example/cert")",
                                 R"("x5c":["AAAA"])",
                                 R"("crit":["exp"])",
                                 R"("crit":[])",
                                 R"("b64":false,"crit":["b64"])",
                                 R"("b64":true)",
                                 R"("zip":"DEF")",
                                 R"("jwk":null)"};
  for (const std::string& member : members) {
    for (const SigningKey* signer : {&ours, &theirs}) {
      const std::string token =
          signer->token_of(R"({"alg":"ES256","kid":"k1",)" + member + "}", "{}");
      EXPECT_NE(judged(token, keys).find("which is not taken"), std::string::npos) << member;
    }
  }
  // Thumbprints and whatever else is said are passed over.
  EXPECT_EQ(judged(ours.token_of(R"({"alg":"ES256","kid":"k1","x5t":"AA","typ":"JWT","n":{"a":1}})",
                                 "{}"),
                   keys),
            "verified");
}

// REQ-ID-003, REQ-ID-005.
TEST(Jws, AKeyIdIsComparedAndNothingElse) {
  const SigningKey key("ES256");
  const SigningKey other("ES256", "k2");
  const SigningKey rsa("RS256", "k2");
  const KeySet keys = set_of({key.jwk(), other.jwk(), rsa.jwk()});
  const auto with_id = [&](const SigningKey& signer, const std::string& id) {
    return judged(
        signer.token_of(R"({"alg":")" + signer.algorithm() + R"(","kid":)" + id + "}", "{}"), keys);
  };
  EXPECT_EQ(with_id(key, R"("k1")"), "verified");
  EXPECT_EQ(with_id(key, R"("k2")"), "forged");
  EXPECT_EQ(with_id(rsa, R"("k2")"), "verified");
  for (const char* id :
       {R"("K1")", R"("k")", R"("k11")", R"(" k1")", R"("k1\u0000")", R"("../../../../dev/null")",
        R"("/etc/passwd")", R"("' or 1=1 --")", R"("|whoami")", R"("https://evil.example")"}) {
    EXPECT_EQ(with_id(key, id), "no such key") << id;
  }
  for (const std::string& id : {std::string(R"("")"), std::string("1"), std::string("null"),
                                std::string(R"(["k1"])"), '"' + std::string(257, 'k') + '"'}) {
    EXPECT_EQ(with_id(key, id), "the token's kid is no text of 1 to 256 bytes") << id;
  }
  // Nor is a part of an id one where no other key could be meant.
  for (const char* part : {"k", "1", "k1x", "K1"}) {
    const std::string header = R"({"alg":"ES256","kid":")" + std::string(part) + "\"}";
    EXPECT_EQ(judged(key.token_of(header, "{}"), set_of({key.jwk()})), "no such key") << part;
  }
  const std::string anonymous = R"({"alg":"ES256"})";
  EXPECT_EQ(judged(key.token_of(anonymous, "{}"), keys), "no such key") << "two could be meant";
  EXPECT_EQ(judged(key.token_of(anonymous, "{}"), set_of({rsa.jwk(), key.jwk()})), "verified");
  json::Object nameless = key.jwk();
  nameless.erase("kid");
  EXPECT_EQ(judged(key.token_of(anonymous, "{}"), set_of({nameless})), "verified");
  EXPECT_EQ(judged(key.token({}), set_of({nameless})), "no such key");
}

// REQ-ID-001.
TEST(Jws, ATokenHasOneText) {
  const SigningKey key("EdDSA");
  const KeySet keys = set_of({key.jwk()});
  const std::string token = key.token({{"sub", "alice"}});
  ASSERT_EQ(judged(token, keys), "verified");
  const std::size_t first = token.find('.');
  const std::size_t second = token.find('.', first + 1);
  const std::string parts[] = {token.substr(0, first), token.substr(first + 1, second - first - 1),
                               token.substr(second + 1)};
  const auto joined = [](const std::string& a, const std::string& b, const std::string& c) {
    return a + "." + b + "." + c;
  };
  std::vector<std::string> wrong = {"",
                                    ".",
                                    "..",
                                    "...",
                                    parts[0],
                                    parts[0] + "." + parts[1],
                                    joined(parts[0], parts[1], ""),
                                    joined("", parts[1], parts[2]),
                                    joined("", "", ""),
                                    token + ".",
                                    "." + token,
                                    token + "." + parts[2],
                                    token + "\n",
                                    " " + token,
                                    token + " ",
                                    token + std::string(1, '\0'),
                                    "Bearer " + token,
                                    token + "," + token,
                                    "\"" + token + "\"",
                                    R"({"payload":")" + parts[1] + R"(","protected":")" + parts[0] +
                                        R"(","signature":")" + parts[2] + R"("})",
                                    joined(parts[0], parts[1], parts[2] + parts[2])};
  for (int part = 0; part < 3; ++part) {
    for (const char* more : {"=", "==", "\n", " ", "+", "/", "%", "A", "\xc3\xa9"}) {
      std::string changed[] = {parts[0], parts[1], parts[2]};
      changed[part] += more;
      wrong.push_back(joined(changed[0], changed[1], changed[2]));
      changed[part] = more + parts[part];
      wrong.push_back(joined(changed[0], changed[1], changed[2]));
    }
  }
  for (const std::string& each : wrong) EXPECT_NE(judged(each, keys), "verified") << each;
  EXPECT_FALSE(parse_jws(joined(parts[0], parts[1], ""))) << "no signature is none to be judged";
  // The unused bits of a last character: 64 bytes of signature leave four.
  std::string bits = token;
  bits.back() = bits.back() == 'A' ? 'B' : static_cast<char>(bits.back() + 1);
  EXPECT_EQ(judged(bits, keys), "the token's signature is empty or no canonical base64url");
  EXPECT_EQ(parse_jws(token)->content, joined(parts[0], parts[1], "").substr(0, second));
}

// REQ-ID-001. What costs an attacker little costs us no more.
TEST(Jws, BombsAreRefusedUnread) {
  const std::string large(kMaxTokenBytes + 1, 'A');
  EXPECT_EQ(parse_jws(large).error().code, ErrorCode::kLimitExceeded);
  EXPECT_EQ(parse_jws(std::string(64U << 20U, '.')).error().code, ErrorCode::kLimitExceeded);
  EXPECT_FALSE(parse_jws(std::string(kMaxTokenBytes, '.')));
  EXPECT_FALSE(parse_jws(std::string(kMaxTokenBytes, 'A')));
  const SigningKey key("EdDSA");
  const auto with_header = [&](const std::string& more) {
    return parse_jws(key.token_of(R"({"alg":"EdDSA","x":)" + more + "}", "{}"));
  };
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(with_header(nested(kMaxTokenDepth - 1)));
  EXPECT_FALSE(with_header(nested(kMaxTokenDepth)));
  EXPECT_FALSE(with_header(nested(1900)));
  EXPECT_FALSE(with_header('"' + std::string(kMaxTokenHeaderBytes, 'x') + '"'));
  std::string members = "{";
  for (std::size_t i = 0; i <= kMaxTokenMembers; ++i) members += '"' + std::to_string(i) + "\":1,";
  members.back() = '}';
  EXPECT_FALSE(with_header(members));
}

TEST(Jws, ErrorsShowNothingOfTheToken) {
  const SigningKey key("EdDSA");
  const std::string token = key.token({{"sub", "s3cret-subject"}});
  for (const std::string& wrong :
       {token + "=", token.substr(0, token.size() - 8) + "....", "x." + token.substr(2)}) {
    const Result<Jws> jws = parse_jws(wrong);
    ASSERT_FALSE(jws);
    EXPECT_EQ(jws.error().to_string().find(token.substr(40, 12)), std::string::npos);
  }
}

json::Object changed(json::Object jwk, const std::string& name, json::Value value) {
  jwk.set(name, std::move(value));
  return jwk;
}
json::Object without(json::Object jwk, std::string_view name) {
  jwk.erase(name);
  return jwk;
}

// REQ-ID-004.
TEST(KeySet, PassesOverWhatItCannotUse) {
  const json::Object rsa = SigningKey("RS256").jwk();
  const json::Object ec = SigningKey("ES256").jwk();
  const json::Object ed = SigningKey("EdDSA").jwk();
  const std::string zeros = base64url(std::string(32, '\0'));
  const std::string& n = *rsa.find("n")->if_string();
  const struct {
    json::Object jwk;
    std::string message;
  } kCases[] = {
      {{{"kty", "oct"}, {"k", "AAAA"}, {"alg", "HS256"}}, "a symmetric key verifies nothing here"},
      {{{"kty", "RSA"}, {"alg", "HS256"}}, "no algorithm here is for kty \"RSA\", alg \"HS256\""},
      {without(rsa, "kty"), "kty is missing"},
      {changed(rsa, "kty", 1), "kty is no text"},
      {changed(rsa, "kty", "rsa"), "no algorithm here is for kty \"rsa\", alg \"RS256\""},
      {changed(rsa, "kty", "EC"), "no algorithm here is for kty \"EC\", alg \"RS256\""},
      {changed(rsa, "alg", "ES256"), "no algorithm here is for kty \"RSA\", alg \"ES256\""},
      {changed(rsa, "alg", "none"), "no algorithm here is for kty \"RSA\", alg \"none\""},
      {changed(ec, "alg", "ES384"),
       "no algorithm here is for kty \"EC\", crv \"P-256\", alg \"ES384\""},
      {changed(without(ec, "alg"), "crv", "secp256k1"),
       "no algorithm here is for kty \"EC\", crv \"secp256k1\""},
      {changed(without(ed, "alg"), "crv", "X25519"),
       "no algorithm here is for kty \"OKP\", crv \"X25519\""},
      {without(without(ec, "alg"), "crv"), "no algorithm here is for kty \"EC\""},
      {changed(rsa, "use", "enc"), "its use is \"enc\""},
      {changed(rsa, "key_ops", json::Array{"encrypt"}), "verify is not among its key_ops"},
      {changed(rsa, "key_ops", json::Array{}), "verify is not among its key_ops"},
      {changed(rsa, "key_ops", "verify"), "key_ops is no list"},
      {changed(rsa, "kid", ""), "kid is empty"},
      {changed(rsa, "kid", 7), "kid is no text"},
      {changed(rsa, "d", "AQAB"), "it carries its private part, so it is nobody's alone any more"},
      {changed(ec, "d", "AQAB"), "it carries its private part, so it is nobody's alone any more"},
      {SigningKey("RS256", "k1", 1024).jwk(), "an RSA key has 2048 bits or more"},
      {SigningKey("RS256", "k1", 2047).jwk(), "an RSA key has 2048 bits or more"},
      {changed(rsa, "n", base64url(std::string(1025, '\x81'))), "an RSA key has at most 8192 bits"},
      {changed(rsa, "e", "AQ"),
       "an RSA key has an odd modulus and an odd exponent from 3 to 32 bits"},
      {changed(rsa, "e", "Ag"),
       "an RSA key has an odd modulus and an odd exponent from 3 to 32 bits"},
      {changed(rsa, "e", "AQAAAAE"),
       "an RSA key has an odd modulus and an odd exponent from 3 to 32 bits"},
      {changed(rsa, "e", ""), "n or e is empty or begins with zeros"},
      {changed(rsa, "e", "AAEAAQ"), "n or e is empty or begins with zeros"},
      {changed(rsa, "n", base64url(std::string(256, '\xff'))),
       "it is no public key"},  // 3 divides it
      {changed(rsa, "n", n + "="), "n is no canonical base64url"},
      {changed(rsa, "n", 3), "n is no text"},
      {without(rsa, "e"), "e is missing"},
      {changed(ec, "x", zeros), "it is no public key"},
      {changed(ec, "y", *ec.find("x")->if_string()), "it is no public key"},
      {changed(changed(ec, "x", zeros), "y", zeros), "it is no public key"},
      {changed(ec, "x", base64url(std::string(33, 'x'))),
       "a coordinate has another length than the curve's"},
      {without(ec, "y"), "y is missing"},
      {changed(ed, "x", base64url(std::string(31, 'x'))), "x has another length than the curve's"},
  };
  for (const auto& each : kCases) {
    const KeySet set = set_of({each.jwk, ed});
    ASSERT_EQ(set.unusable().size(), 1U) << each.message;
    EXPECT_EQ(set.unusable().front().message, each.message);
    EXPECT_EQ(set.unusable().front().where, "keys/0");
    EXPECT_EQ(set.keys().size(), 1U);
  }
}

// REQ-ID-004.
TEST(KeySet, BindsEachKeyToOneAlgorithm) {
  const auto bound = [](const json::Object& jwk) {
    const KeySet set = set_of({jwk});
    return set.keys().empty() ? "none" : std::string(jws_algorithm_name(set.keys()[0].algorithm()));
  };
  const json::Object rsa = SigningKey("PS384").jwk();
  EXPECT_EQ(bound(rsa), "PS384");
  EXPECT_EQ(bound(without(rsa, "alg")), "RS256");
  // As a large provider publishes them: certificates beside, and members of its own.
  json::Object published = changed(without(rsa, "alg"), "x5c", json::Array{"MIIC/TCCAeWg"});
  published.set("x5t", "nOo3ZDrODXEK1jKWhXslHR_KXEg");
  published.set("issuer", "https://id.example/{tenant}/v2.0");
  EXPECT_EQ(bound(published), "RS256");
  EXPECT_EQ(bound(without(SigningKey("ES384").jwk(), "alg")), "ES384");
  EXPECT_EQ(bound(without(SigningKey("ES512").jwk(), "alg")), "ES512");
  EXPECT_EQ(bound(without(SigningKey("EdDSA").jwk(), "alg")), "EdDSA");
}

// REQ-ID-004.
TEST(KeySet, RefusesWhatIsNoSet) {
  const json::Object one = SigningKey("EdDSA").jwk();
  const std::string text = json::write(json::Value{one});
  for (const std::string& wrong :
       {std::string(), std::string("null"), std::string("[]"), std::string("{}"),
        std::string(R"({"keys":{}})"), std::string(R"({"keys":null})"),
        std::string(R"({"keys":[1]})"), text, "[" + text + "]", key_set_text({one}) + "x",
        R"({"keys":[],"keys":[)" + text + "]}", key_set_text({one, one}),
        std::string("<html>503</html>"), key_set_text({one}).substr(0, 60),
        key_set_text(json::Array(kMaxKeysOfSet + 1, json::Object{})),
        key_set_text({one}) + std::string(kMaxKeySetBytes, ' ')}) {
    EXPECT_FALSE(KeySet::parse(wrong)) << wrong.substr(0, 80);
  }
  EXPECT_EQ(KeySet::parse(key_set_text({one, one})).error().to_string(),
            "keys/1: two keys for EdDSA have the id \"k1\"");
  EXPECT_TRUE(set_of({}).keys().empty());
  EXPECT_EQ(set_of({SigningKey("ES256").jwk(), one}).keys().size(), 2U);
}

TEST(KeySet, HasTheRevisionOfWhatItSays) {
  const json::Object a = SigningKey("EdDSA", "a").jwk();
  const json::Object b = SigningKey("EdDSA", "b").jwk();
  EXPECT_EQ(set_of({a, b}).revision(), KeySet::parse(key_set_text({a, b}) + "\n")->revision());
  EXPECT_NE(set_of({a}).revision(), set_of({a, b}).revision());
  EXPECT_TRUE(set_of({a}).revision().starts_with("sha256:"));
}

}  // namespace
}  // namespace remit::identity
