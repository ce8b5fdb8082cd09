// Hints for what is mistyped in a file of known failures.
#include "conformance/known_failures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "conformance/pack.h"

namespace remit::conformance {
namespace {

using ::testing::HasSubstr;

// REQ-CF-050
TEST(KnownFailures, AreToldTheCaseThatWasMeant) {
  const PackParse built_in = parse_pack(built_in_pack_files());
  ASSERT_TRUE(built_in.pack.has_value());
  const auto message_of = [&](const std::string& id) {
    const KnownFailuresParse parsed =
        parse_known_failures("known_failures: remit.known-failures/1\nknown:\n  - {case: " + id +
                                 ", routes: [direct], owner: me, reason: soon}\n",
                             "k", *built_in.pack);
    return parsed.errors.size() == 1 ? parsed.errors.front().message : std::string();
  };
  EXPECT_THAT(message_of("wrong-tennant"),
              HasSubstr("no case \"wrong-tennant\"; did you mean wrong-tenant?"));
  EXPECT_EQ(message_of("somewhere"), "the pack has no case \"somewhere\"");
}

}  // namespace
}  // namespace remit::conformance
