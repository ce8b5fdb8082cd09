// The pinned principal: which credential gives which state.
#include "identity/pinned_authenticator.h"

#include <gtest/gtest.h>

#include "base/bytes.h"

namespace remit::identity {
namespace {

using access::Credential;
using access::Principal;
using access::PrincipalState;

Principal alice() {
  return {.subject = "alice",
          .tenant = "tenant-a",
          .class_name = "support_agent",
          .scopes = {"b", "a", "b"},
          .revision = ""};
}

DigestKey key_of(std::string_view bytes) {
  return DigestKey::from_bytes(bytes_of(bytes)).value();
}
const DigestKey kKey = key_of("0123456789abcdef0123456789abcdef");

TEST(PinnedAuthenticator, GivesEachCredentialItsState) {
  struct Case {
    const char* name;
    std::optional<Principal> pinned;
    Credential credential;
    PrincipalState state;
  };
  const Case cases[] = {
      {"local", alice(), Credential::local(), PrincipalState::kAuthenticated},
      {"none", alice(), Credential(), PrincipalState::kMissing},
      {"bearer", alice(), Credential::bearer("x"), PrincipalState::kInvalid},
      {"empty bearer", alice(), Credential::bearer(""), PrincipalState::kInvalid},
      {"its own reference", alice(), Credential::reference("alice"),
       PrincipalState::kAuthenticated},
      {"another reference", alice(), Credential::reference("Alice"), PrincipalState::kInvalid},
      {"an empty reference", alice(), Credential::reference(""), PrincipalState::kInvalid},
      {"reference, nobody pinned", std::nullopt, Credential::reference("alice"),
       PrincipalState::kInvalid},
      {"local, nobody pinned", std::nullopt, Credential::local(), PrincipalState::kMissing},
      {"none, nobody pinned", std::nullopt, Credential(), PrincipalState::kMissing},
      {"bearer, nobody pinned", std::nullopt, Credential::bearer("x"), PrincipalState::kInvalid},
  };
  for (const Case& each : cases) {
    const PinnedAuthenticator authenticator(each.pinned, kKey);
    const Identity identity = authenticator.authenticate(each.credential, WallTime{0});
    EXPECT_EQ(identity.state, each.state) << each.name;
    EXPECT_EQ(identity.principal.has_value(), each.state == PrincipalState::kAuthenticated)
        << each.name;
    EXPECT_EQ(identity.detail.empty(), identity.principal.has_value()) << each.name;
  }
}

TEST(PinnedAuthenticator, NeverShowsTheSecret) {
  const PinnedAuthenticator authenticator(alice(), kKey);
  const Identity identity = authenticator.authenticate(Credential::bearer("s3cret"), WallTime{0});
  EXPECT_EQ(identity.detail.find("s3cret"), std::string::npos);
}

TEST(PinnedAuthenticator, SortsScopesAndRevisesTheFacts) {
  const auto pinned = [](const Principal& principal, const DigestKey& key = kKey) {
    return *PinnedAuthenticator(principal, key)
                .authenticate(Credential::local(), WallTime{0})
                .principal;
  };
  const Principal first = pinned(alice());
  EXPECT_EQ(first.scopes, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(first.holds("b"));
  // SHA-256 of {"class":"support_agent","scopes":["a","b"],"tenant":"tenant-a"}
  EXPECT_EQ(first.revision,
            "sha256:7928478d88359eec5f292de45ab2bc1721bebb8e03efe3b55f5a8f10bc69f3e7");

  Principal other = alice();
  other.scopes = {"a"};
  EXPECT_NE(pinned(other).revision, first.revision);
  other = alice();
  other.tenant = "tenant-b";
  EXPECT_NE(pinned(other).revision, first.revision);
  other = alice();
  other.class_name = "admin";
  EXPECT_NE(pinned(other).revision, first.revision);
  other = alice();
  other.subject = "bob";
  EXPECT_EQ(pinned(other).revision, first.revision) << "the revision would betray the subject";
  other = alice();
  other.on_behalf_of = "bo";
  const std::string for_bo = pinned(other).revision;
  EXPECT_NE(for_bo, first.revision);
  EXPECT_NE(pinned(other, key_of("another key of 32 bytes or more.")).revision, for_bo)
      << "the revision would betray the person";
  other.on_behalf_of = "di";
  EXPECT_NE(pinned(other).revision, for_bo);
  other.revision = "as the operator says";
  EXPECT_EQ(pinned(other).revision, "as the operator says");
}

}  // namespace
}  // namespace remit::identity
