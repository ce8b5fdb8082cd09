// The directory of principals: who a reference names, and that a change counts at once.
#include "identity/principal_directory.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/bytes.h"
#include "identity/pinned_authenticator.h"
#include "tests/support/test_folder.h"

namespace remit::identity {
namespace {

namespace fs = std::filesystem;
using access::Credential;
using access::PrincipalState;

constexpr const char* kDirectory =
    "directory: remit.directory/1\n"
    "principals:\n"
    "  - {subject: nightly, tenant: tenant-a, class: batch, scopes: [b, a], revision: \"7\"}\n"
    "  - {subject: agent, reference: agent-for-bob, tenant: tenant-a, class: agent, scopes: [],\n"
    "     on_behalf_of: bob}\n"
    "  - {subject: gone, tenant: tenant-a, class: batch, scopes: [], revoked: true}\n";

class PrincipalDirectoryTest : public ::testing::Test {
 protected:
  void put(const std::string& text) {
    folder_.put("directory.yaml", text);
    fs::permissions(path(), fs::perms::owner_read | fs::perms::owner_write);
  }
  std::string path() const { return folder_.path("directory.yaml"); }
  Identity ask(const Credential& credential) {
    return directory_.authenticate(credential, WallTime{});
  }
  PrincipalState state(const std::string& reference) {
    return ask(Credential::reference(reference)).state;
  }

  remit::testing::TestFolder folder_;
  PosixFileSystem files_;
  DigestKey key_ =
      DigestKey::from_bytes(bytes_of(std::string_view("0123456789abcdef0123456789abcdef"))).value();
  PinnedAuthenticator pinned_{access::Principal{.subject = "me",
                                                .tenant = "tenant-a",
                                                .class_name = "developer",
                                                .scopes = {},
                                                .revision = ""},
                              key_};
  PrincipalDirectory directory_{files_, folder_.path("directory.yaml"), key_, pinned_};
};

// REQ-QU-041
TEST_F(PrincipalDirectoryTest, ResolvesReferencesAndNothingElse) {
  put(kDirectory);
  EXPECT_TRUE(directory_.check().empty());
  const Identity nightly = ask(Credential::reference("nightly"));
  ASSERT_TRUE(nightly.principal);
  EXPECT_EQ(nightly.principal->subject, "nightly");
  EXPECT_EQ(nightly.principal->scopes, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(nightly.principal->revision, "7");
  const Identity agent = ask(Credential::reference("agent-for-bob"));
  ASSERT_TRUE(agent.principal);
  EXPECT_EQ(agent.principal->subject, "agent");
  EXPECT_EQ(agent.principal->on_behalf_of, "bob");
  EXPECT_EQ(agent.principal->revision.substr(0, 7), "sha256:");
  EXPECT_EQ(state("gone"), PrincipalState::kExpired);
  for (const char* other : {"agent", "Nightly", "nightly ", "", "me"}) {
    EXPECT_EQ(state(other), PrincipalState::kInvalid) << other;
  }
  EXPECT_EQ(ask(Credential()).state, PrincipalState::kMissing);
  EXPECT_EQ(ask(Credential::bearer("nightly")).state, PrincipalState::kInvalid);
  EXPECT_EQ(ask(Credential::local()).principal->subject, "me");
}

// REQ-QU-041: from the next attempt on.
TEST_F(PrincipalDirectoryTest, AChangeCountsAtOnce) {
  put(kDirectory);
  EXPECT_EQ(state("nightly"), PrincipalState::kAuthenticated);
  put("directory: remit.directory/1\nprincipals: []\n");
  EXPECT_EQ(state("nightly"), PrincipalState::kInvalid);
  put(kDirectory);
  EXPECT_EQ(state("nightly"), PrincipalState::kAuthenticated);
  fs::remove(path());
  EXPECT_EQ(state("nightly"), PrincipalState::kInvalid);
  put(kDirectory);
  fs::permissions(path(), fs::perms::others_write, fs::perm_options::add);
  EXPECT_EQ(state("nightly"), PrincipalState::kInvalid);
  put(kDirectory);
  EXPECT_EQ(state("nightly"), PrincipalState::kAuthenticated);
}

TEST_F(PrincipalDirectoryTest, SaysWhatIsWrongAndWhere) {
  struct Case {
    const char* text;
    const char* said;
  };
  const Case cases[] = {
      {"", "the directory"},
      {"directory: remit.directory/2\nprincipals: []\n", "directory.yaml:1:12"},
      {"directory: remit.directory/1\n", "principals"},
      {"directory: remit.directory/1\nprincipals: [{subject: a}]\n", "directory.yaml:2:14"},
      {"directory: remit.directory/1\nprincipals:\n"
       "  - {subject: a, tenant: t, class: c, scopes: []}\n"
       "  - {subject: b, reference: a, tenant: t, class: c, scopes: []}\n",
       "directory.yaml:4:5: \"a\" names two principals"},
      {"directory: remit.directory/1\nprincipals: []\nmore: 1\n", "unknown key \"more\""},
      {"directory: remit.directory/1\nprincipals: [", "directory.yaml"},
  };
  for (const Case& each : cases) {
    put(each.text);
    std::string said;
    for (const Error& problem : directory_.check()) said += problem.to_string() + "\n";
    EXPECT_NE(said.find(each.said), std::string::npos) << each.text << " said " << said;
    EXPECT_EQ(state("a"), PrincipalState::kInvalid);
  }
  folder_.put("other", "x");
  fs::remove(path());
  fs::create_symlink(folder_.path("other"), path());
  EXPECT_FALSE(directory_.check().empty());
}

}  // namespace
}  // namespace remit::identity
