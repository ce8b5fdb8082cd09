// Signatures and tokens that others made to be judged rightly: Project Wycheproof's.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <string>

#include "base/bytes.h"
#include "identity/jws.h"
#include "identity/jws_key.h"
#include "identity/key_set.h"
#include "tests/support/shared_data.h"
#include "tests/support/tokens.h"

namespace remit::identity {
namespace {

namespace fs = std::filesystem;
using testing::needed_file;

json::Value suite(const fs::path& path) {
  const Result<json::Value> value = json::parse(needed_file(path));
  if (!value) {
    ADD_FAILURE() << path << ": " << value.error().to_string();
    return json::Object{};
  }
  return *value;
}

const json::Array& list_of(const json::Value& value, std::string_view key) {
  static const json::Array none;
  const json::Value* list = value.find(key);
  if (list != nullptr && list->if_array() != nullptr) return *list->if_array();
  ADD_FAILURE() << "no list " << key;
  return none;
}

std::string text_of(const json::Value& value, std::string_view key) {
  const json::Value* text = value.find(key);
  return text != nullptr && text->if_string() != nullptr ? *text->if_string() : std::string();
}

std::string bytes_in(const json::Value& value, std::string_view key) {
  const auto bytes = from_hex(text_of(value, key));
  if (!bytes) {
    ADD_FAILURE() << "no bytes in " << key;
    return {};
  }
  return {reinterpret_cast<const char*>(bytes->data()), bytes->size()};
}

/// The key of a group; some say it as a point only.
json::Object jwk_of(const json::Value& group) {
  for (const char* name : {"publicKeyJwk", "keyJwk"}) {
    if (const json::Value* jwk = group.find(name)) return *jwk->if_object();
  }
  const std::string point = bytes_in(*group.find("publicKey"), "uncompressed");
  EXPECT_EQ(point.size(), 65U);
  return {{"kty", "EC"},
          {"crv", "P-256"},
          {"x", testing::base64url(point.substr(1, 32))},
          {"y", testing::base64url(point.substr(33))}};
}

/// What the suite calls valid and we refuse, or the reverse, with the reason; by number.
std::map<std::int64_t, std::string> exceptions() {
  const json::Value ours =
      suite(testing::source_tree() / "tests" / "suites" / "json_web_signature.json");
  std::map<std::int64_t, std::string> out;
  for (const json::Value& entry : list_of(ours, "refused")) {
    EXPECT_FALSE(text_of(entry, "why").empty());
    for (const json::Value& id : list_of(entry, "tests")) {
      EXPECT_TRUE(out.emplace(*id.if_integer(), text_of(entry, "message")).second);
    }
  }
  return out;
}

/// `verified`, or why not.
std::string judged(const std::string& token, const json::Value& jwk) {
  const Result<KeySet> keys = KeySet::parse(json::write(json::Object{{"keys", json::Array{jwk}}}));
  if (!keys) return keys.error().to_string();
  const Result<Jws> jws = parse_jws(token);
  if (!jws) return jws.error().message;
  switch (verify_jws(*jws, *keys).verdict) {
    case JwsVerdict::kVerified:
      return "verified";
    case JwsVerdict::kForged:
      return "forged";
    case JwsVerdict::kNoSuchKey:
      break;
  }
  return keys->unusable().empty() ? "no such key" : keys->unusable().front().message;
}

// REQ-ID-001, REQ-ID-002, REQ-ID-004.
TEST(Wycheproof, JsonWebSignature) {
  const auto root = testing::shared_data();
  if (!root) return;
  std::map<std::int64_t, std::string> listed = exceptions();
  std::map<std::string, int> counts;
  const json::Value all = suite(*root / "wycheproof" / "json_web_signature_test.json");
  for (const json::Value& group : list_of(all, "testGroups")) {
    const json::Value* jwk = group.find("public");
    if (jwk == nullptr) jwk = group.find("private");  // symmetric
    ASSERT_NE(jwk, nullptr);
    for (const json::Value& test : list_of(group, "tests")) {
      const std::int64_t id = *test.find("tcId")->if_integer();
      const json::Value& jws = *test.find("jws");
      // Whatever is no text is a token in another serialization.
      const std::string token = jws.if_string() == nullptr ? json::write(jws) : *jws.if_string();
      const std::string got = judged(token, *jwk);
      const bool is_valid = text_of(test, "result") == "valid";
      ++counts[is_valid ? "valid" : "invalid"];
      const auto exception = listed.find(id);
      if (exception != listed.end()) {
        EXPECT_TRUE(is_valid) << id;
        EXPECT_EQ(got, exception->second) << id;
        ++counts["refused"];
        listed.erase(exception);
      } else {
        EXPECT_EQ(got == "verified", is_valid)
            << id << ' ' << text_of(test, "comment") << ": " << got;
      }
    }
  }
  for (const auto& [id, message] : listed) ADD_FAILURE() << id << " is listed and not there";
  EXPECT_EQ(counts["valid"] + counts["invalid"], 401);
  EXPECT_EQ(counts["valid"] - counts["refused"], 32);
  std::printf("wycheproof: %d tokens judged: %d valid (%d refused, listed), %d invalid\n",
              counts["valid"] + counts["invalid"], counts["valid"], counts["refused"],
              counts["invalid"]);
}

// Bare signatures under RS256, PS256, ES256 and EdDSA.
TEST(Wycheproof, Signatures) {
  const auto root = testing::shared_data();
  if (!root) return;
  const struct {
    const char* file;
    int tests;
  } kFiles[] = {{"rsa_signature_2048_sha256_test.json", 259},
                {"rsa_pss_2048_sha256_mgf1_32_test.json", 108},
                {"ecdsa_secp256r1_sha256_p1363_test.json", 262},
                {"ed25519_test.json", 151}};
  for (const auto& each : kFiles) {
    std::map<std::string, int> counts;
    const json::Value all = suite(*root / "wycheproof" / each.file);
    for (const json::Value& group : list_of(all, "testGroups")) {
      const Result<JwsKey> key = JwsKey::from_jwk(jwk_of(group));
      ASSERT_TRUE(key) << key.error().to_string();
      for (const json::Value& test : list_of(group, "tests")) {
        const std::string result = text_of(test, "result");
        const bool verified = key->verifies(bytes_in(test, "msg"), bytes_of(bytes_in(test, "sig")));
        ++counts[result];
        // What may be taken or not is not taken: such signatures are in no standard form.
        EXPECT_EQ(verified, result == "valid")
            << each.file << ' ' << *test.find("tcId")->if_integer() << ' '
            << text_of(test, "comment");
      }
    }
    EXPECT_EQ(counts["valid"] + counts["invalid"] + counts["acceptable"], each.tests);
    std::printf("wycheproof: %s: %d valid, %d invalid, %d acceptable and refused\n", each.file,
                counts["valid"], counts["invalid"], counts["acceptable"]);
  }
}

}  // namespace
}  // namespace remit::identity
