// What transcripts cannot show: many calls at once, ends that are not orderly, and deaths.
#include "tests/stdio/session.h"

namespace remit::testing {
namespace {

constexpr const char* kInitialize =
    R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",)"
    R"("capabilities":{},"clientInfo":{"name":"c","version":"1"}}})";

std::string act(int id, const std::string& what) {
  return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) +
         R"(,"method":"tools/call","params":{"name":"fake.act","arguments":{"do":")" + what +
         R"("}}})";
}

TEST(SessionTest, Starts) {
  const SessionFolder folder({});
  Session session(folder);
  ASSERT_TRUE(session.send(kInitialize));
  const auto answer = session.receive();
  ASSERT_TRUE(answer) << session.notices();
  ASSERT_TRUE(session.send(act(1, "echo")));
  ASSERT_TRUE(session.receive());
  EXPECT_TRUE(session.finish().empty());
  for (const Error& problem : session.problems()) ADD_FAILURE() << problem.to_string();
}

}  // namespace
}  // namespace remit::testing
