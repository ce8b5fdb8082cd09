// A worker of deferred work in this process, against the fake server: its threads beside the
// server's. What the program does of it is in tests/queue.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "gateway/run_queue.h"
#include "tests/stdio/session.h"

namespace remit::testing {
namespace {

class QueueRunTest : public ::testing::Test {
 protected:
  QueueRunTest() {
    edit("bundle/bundle.yaml", "routes:\n",
         "routes:\n  - {name: queued, transport: queue}\n  - {name: scheduled, transport: queue}\n"
         "  - {name: retry, transport: queue}\n");
    edit("remit.yaml", "evidence:", "state: {sqlite: state.db}\nevidence:");
    const auto read = gateway::read_config(files_, folder_.path("remit.yaml"));
    EXPECT_TRUE(read.config);
    config_ = *read.config;
  }
  void edit(const std::string& name, std::string_view from, std::string_view to) {
    const std::string text = text_of_file(folder_.path(name));
    EXPECT_NE(text.find(from), std::string::npos) << name;
    folder_.put(name, replaced(text, from, to));
    std::filesystem::permissions(folder_.path(name), std::filesystem::perms::owner_all);
  }
  std::string enqueue(const std::string& arguments) {
    queue::Work work;
    work.tool = "fake.act";
    work.arguments_json = arguments;
    const auto added = gateway::enqueue_for(config_, work, files_, clock_, random_);
    EXPECT_TRUE(added) << added.error().to_string();
    return added ? added->id : "";
  }
  std::vector<Error> run(std::size_t threads) {
    auto notices = process::make_pipe();
    const gateway::QueueRun run{.config_file = folder_.path("remit.yaml"),
                                .launch = {.run_id = "night"},
                                .worker = {.name = "w", .threads = threads},
                                .until = queue::Until::kIdle,
                                .notice_fd = notices->write_end.get()};
    return gateway::run_queue(run, files_, clock_, random_);
  }
  std::string state_of(const std::string& id) {
    const auto store =
        gateway::open_queue(config_, gateway::QueueCreation::kNever, files_, clock_, random_);
    return std::string(queue::state_name(store->queue->find(id)->state));
  }

  SessionFolder folder_{SessionFolder::Options{}};
  PosixFileSystem files_;
  SystemClock clock_;
  SystemRandom random_;
  gateway::Config config_;
};

// REQ-QU-040
TEST_F(QueueRunTest, ThreadsShareOneServer) {
  std::set<std::string> rows;
  for (int i = 0; i < 12; ++i) rows.insert(enqueue(R"({"do":"echo"})"));
  const std::string fails = enqueue(R"({"do":"tool_error"})");
  // The server asks a client for something, and changes its tools, while others work.
  const std::string asks = enqueue(R"({"do":"elicit"})");
  const std::vector<Error> problems = run(4);
  EXPECT_TRUE(problems.empty()) << problems.front().to_string();
  for (const std::string& row : rows) EXPECT_EQ(state_of(row), "succeeded");
  EXPECT_EQ(state_of(fails), "failed");
  EXPECT_EQ(state_of(asks), "succeeded");
}

// REQ-QU-044
TEST_F(QueueRunTest, AFileThatVanishesIsNotMadeAnew) {
  const auto store =
      gateway::open_queue(config_, gateway::QueueCreation::kIfAbsent, files_, clock_, random_);
  ASSERT_TRUE(store) << store.error().to_string();
  const std::string file = folder_.path("state.db");
  ASSERT_TRUE(std::filesystem::exists(file));
  for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(file + suffix);
  queue::Work work;
  work.principal = "ana";
  work.tool = "fake.act";
  EXPECT_FALSE(store->queue->enqueue(work));
  EXPECT_FALSE(store->queue->claim("default", "w", {}));
  EXPECT_FALSE(std::filesystem::exists(file));
}

// REQ-QU-040: a server that ends takes the worker with it, and no further row.
TEST_F(QueueRunTest, AServerThatEndsEndsTheWorker) {
  const std::string dies = enqueue(R"({"do":"die"})");
  const std::vector<Error> problems = run(1);
  EXPECT_EQ(state_of(dies), "unknown");
  ASSERT_EQ(problems.size(), 1U);
}

}  // namespace
}  // namespace remit::testing
