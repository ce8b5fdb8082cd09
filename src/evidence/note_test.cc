// Signed notes against the example of their specification and against forgeries.
#include "evidence/note.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/limits.h"
#include "tests/support/seeded_random.h"

namespace remit::evidence {
namespace {

constexpr std::string_view kExampleKey =
    "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k";
constexpr std::string_view kExampleNote =
    "This is an example message.\n\n\xe2\x80\x94 example.com/foo "
    "Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM="
    "\n";

SigningKey key_of(std::uint64_t seed, std::string_view name = "audit.example/a") {
  testing::SeededRandom random(seed);
  return SigningKey::make(name, random).value();
}

std::string signature_line(std::string_view note) {
  return std::string{note.substr(note.rfind("\n\n") + 2)};
}

Status check(std::string_view note, const std::vector<VerifierKey>& keys) {
  REMIT_TRY_ASSIGN(const SignedNote parsed, parse_note(note));
  return check_note(parsed, keys);
}

// REQ-EL-062.
TEST(Note, BelievesTheExampleOfItsSpecification) {
  const auto key = VerifierKey::parse(kExampleKey);
  ASSERT_TRUE(key);
  EXPECT_EQ(key->to_string(), kExampleKey);
  EXPECT_TRUE(check(kExampleNote, {*key}));
  const auto parsed = parse_note(kExampleNote);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->text, "This is an example message.\n");
  EXPECT_EQ(encode(parsed->signatures.at(0)), signature_line(kExampleNote));
}

TEST(Note, IsBelievedForOneKeyWhoeverElseSigned) {
  const SigningKey ours = key_of(1);
  const SigningKey other = key_of(2);
  const SigningKey other_name = key_of(1, "audit.example/b");
  const std::string note = ours.sign("text\n\nwith an empty line\n");
  const std::string both = note + signature_line(other.sign("text\n\nwith an empty line\n"));
  EXPECT_TRUE(check(note, {ours.verifier()}));
  EXPECT_TRUE(check(note, {other.verifier(), ours.verifier()}));
  EXPECT_TRUE(check(both, {ours.verifier()}));
  EXPECT_TRUE(check(both, {other.verifier()}));
  // By whom, or of what type, a signature is that names no key of ours is nothing to us.
  EXPECT_TRUE(check(note + signature_line(other.sign("another text\n")), {ours.verifier()}));
  EXPECT_TRUE(check(note + "\xe2\x80\x94 audit.example/a AAAAAAQ=\n", {ours.verifier()}));
  for (const auto& keys :
       {std::vector<VerifierKey>{}, {other.verifier()}, {other_name.verifier()}}) {
    const Status believed = check(note, keys);
    ASSERT_FALSE(believed);
    EXPECT_EQ(believed.error().code, ErrorCode::kFailedPrecondition);
  }
}

// A signature in the name of a known key that is none is a forgery, whoever else signed.
TEST(Note, RefusesEveryForgery) {
  const SigningKey ours = key_of(1);
  const SigningKey other = key_of(2);
  const std::string note = ours.sign("text\n");
  for (std::size_t at = 0; at + 1 < note.size(); ++at) {
    for (const char change : {'\x01', '\x20'}) {
      std::string forged = note;
      forged[at] = static_cast<char>(forged[at] ^ change);
      EXPECT_FALSE(check(forged, {ours.verifier()})) << at;
    }
  }
  const std::string of_another_text = note + signature_line(ours.sign("another text\n"));
  const Status believed = check(of_another_text, {ours.verifier()});
  ASSERT_FALSE(believed);
  EXPECT_EQ(believed.error().code, ErrorCode::kDataLoss);
  EXPECT_FALSE(check(signature_line(note), {ours.verifier()}));
  EXPECT_FALSE(check("text\n" + other.sign("text\n"), {ours.verifier()}));
}

TEST(Note, RefusesWhatIsNotInItsForm) {
  const SigningKey ours = key_of(1);
  const std::string line = signature_line(ours.sign("text\n"));
  for (const std::string& note :
       {std::string{}, std::string{"text\n"}, std::string{"text\n\n"}, "text\n" + line,
        "text\n\n" + line.substr(0, line.size() - 1), "text\n\n" + line + "x", "text\n\nx" + line,
        "te\x01xt\n\n" + line, "te\rxt\n\n" + line, "te\xffxt\n\n" + line,
        std::string{"text\n\n\xe2\x80\x94  AAAAAAQ=\n"},
        std::string{"text\n\n\xe2\x80\x94 a+b AAAAAAQ=\n"},
        std::string{"text\n\n\xe2\x80\x94 a\xe2\x80\x83z AAAAAAQ=\n"},
        std::string{"text\n\n\xe2\x80\x94 a AAAAAA\n"},
        std::string{"text\n\n\xe2\x80\x94 a AAAAAA==\n"}, std::string{"text\n\n- a AAAAAAQ=\n"}}) {
    EXPECT_FALSE(parse_note(note)) << note;
  }
  std::string many = "text\n\n";
  for (std::size_t i = 0; i < kMaxNoteSignatures; ++i) many += line;
  EXPECT_TRUE(check(many, {ours.verifier()}));
  EXPECT_EQ(parse_note(many + line).error().code, ErrorCode::kLimitExceeded);
  EXPECT_EQ(parse_note(std::string(kMaxNoteBytes, 'x') + "\n\n" + line).error().code,
            ErrorCode::kLimitExceeded);
}

TEST(Note, KeysHaveOneSpelling) {
  const SigningKey key = key_of(3);
  const auto again = SigningKey::parse(key.secret_text() + "\n");
  ASSERT_TRUE(again);
  EXPECT_EQ(again->sign("text\n"), key.sign("text\n"));
  EXPECT_EQ(again->verifier().to_string(), key.verifier().to_string());
  const std::string secret = key.secret_text();
  const std::string open = key.verifier().to_string();
  for (std::size_t at = 0; at < secret.size(); ++at) {
    std::string changed = secret;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    EXPECT_FALSE(SigningKey::parse(changed)) << at;
    EXPECT_FALSE(SigningKey::parse(secret.substr(0, at))) << at;
  }
  for (std::size_t at = 0; at < open.size(); ++at) {
    std::string changed = open;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    EXPECT_FALSE(VerifierKey::parse(changed)) << at;
    EXPECT_FALSE(VerifierKey::parse(open.substr(0, at))) << at;
  }
  EXPECT_FALSE(VerifierKey::parse(secret)) << "a secret is taken for nothing else";
  EXPECT_FALSE(SigningKey::parse(secret + "\n\n"));
  testing::SeededRandom random(4);
  for (const std::string& name :
       {std::string{}, std::string{"a b"}, std::string{"a+b"}, std::string{"a\n"},
        std::string{"\xff"}, std::string{"\xc2\xa0"}, std::string(kMaxIdBytes + 1, 'a')}) {
    EXPECT_FALSE(SigningKey::make(name, random)) << name;
  }
}

}  // namespace
}  // namespace remit::evidence
