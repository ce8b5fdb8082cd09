// What becomes of the gateway's parts when threads or memory for answers run out.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "gateway/answer_bytes.h"
#include "gateway/outbox.h"
#include "gateway/upstream.h"
#include "process/file_descriptor.h"
#include "process/lines.h"
#include "tests/support/no_more_threads.h"

namespace remit::gateway {
namespace {

using remit::testing::NoMoreThreads;
using std::chrono::milliseconds;

TEST(OutboxTest, IsBrokenWithoutAThread) {
  auto pipe = process::make_pipe();
  ASSERT_TRUE(pipe);
  const NoMoreThreads scarce;
  Outbox outbox(pipe->write_end.get());
  EXPECT_TRUE(outbox.is_broken());
  EXPECT_FALSE(outbox.offer("x\n"));
  EXPECT_FALSE(outbox.send("x\n"));
}

class SilentListener final : public UpstreamListener {
 public:
  void on_request(Upstream& /*upstream*/, mcp::Request /*request*/) override {}
  void on_notification(Upstream& /*upstream*/, mcp::Notification /*notification*/) override {}
};

TEST(UpstreamTest, IsNotStartedWithoutAThread) {
  auto pipe = process::make_pipe();
  ASSERT_TRUE(pipe);
  const Notices notices(pipe->write_end.get());
  SilentListener listener;
  AnswerBytes answers(1);
  Upstream upstream("server", listener, notices, answers);
  const NoMoreThreads scarce;
  const Status started = upstream.start({.arguments = {"/bin/cat"}, .environment = {}});
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, ErrorCode::kUnavailable);
  EXPECT_FALSE(upstream.post("x\n"));
  upstream.close(milliseconds{0});
}

TEST(AnswerBytesTest, MakesWhoeverHasTooMuchWait) {
  AnswerBytes answers(100);
  auto first = answers.hold(60);
  auto second = answers.hold(40);
  std::atomic<bool> is_held{false};
  std::thread third([&] {
    const auto share = answers.hold(150);  // more than the bound: it goes alone
    is_held = true;
  });
  first = {};
  std::this_thread::sleep_for(milliseconds{20});
  EXPECT_FALSE(is_held);
  AnswerBytes::Share moved = std::move(second);
  EXPECT_FALSE(is_held);
  moved = {};
  third.join();
  EXPECT_TRUE(is_held);
  answers.hold(100);  // all was given back
}

}  // namespace
}  // namespace remit::gateway
