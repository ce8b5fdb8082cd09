// Children that obey, hang, die, and leave children of their own behind.
#include "process/child.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <optional>
#include <thread>

#include "process/lines.h"

namespace remit::process {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds kLong{20'000};

Command shell(const std::string& script) {
  return Command{.arguments = {"/bin/sh", "-c", script}, .environment = {"PATH=/usr/bin:/bin"}};
}

std::string output_of(Child& child) {
  LineReader reader(child.output().get(), 1 << 16);
  std::string out;
  while (true) {
    const LineRead read = reader.next(kLong);
    if (read.event != LineEvent::kLine) return out;
    out += std::string(read.line) + "\n";
  }
}

TEST(ChildTest, EchoesWhatItIsGiven) {
  auto child = Child::start({.arguments = {"cat"}, .environment = {}});
  ASSERT_TRUE(child) << child.error().to_string();
  ASSERT_TRUE(write_all(child->input().get(), "one\ntwo\n", kLong));
  child->input().close();
  EXPECT_EQ(output_of(*child), "one\ntwo\n");
  const auto status = child->wait_for(kLong);
  ASSERT_TRUE(status);
  EXPECT_EQ(status->to_string(), "exited with status 0");
}

// REQ-BD-108.
TEST(ChildTest, SeesOnlyTheEnvironmentItIsGiven) {
  ::setenv("REMIT_TEST_SECRET", "hidden", 1);
  auto child = Child::start({.arguments = {"/usr/bin/env"}, .environment = {"ONE=1"}});
  ASSERT_TRUE(child);
  EXPECT_EQ(output_of(*child), "ONE=1\n");
  EXPECT_EQ(pick_environment({"REMIT_TEST_SECRET", "REMIT_TEST_ABSENT"}),
            std::vector<std::string>{"REMIT_TEST_SECRET=hidden"});
  for (const std::string& name : harmless_variables()) EXPECT_NE(name, "REMIT_TEST_SECRET");
}

TEST(ChildTest, InheritsNoDescriptor) {
  // Open without close-on-exec, as a careless parent would leave it.
  const int leaked = ::open("/dev/null", O_RDONLY);
  ASSERT_GE(leaked, 3);
  auto child = Child::start(shell("ls /proc/self/fd | wc -l"));
  ASSERT_TRUE(child);
  EXPECT_EQ(output_of(*child), "4\n");  // the three, and the directory that `ls` reads
  ::close(leaked);
}

TEST(ChildTest, HasAGroupAndDirectoryOfItsOwn) {
  Command command = shell("echo $$; pwd; cat");
  command.working_directory = "/";
  auto child = Child::start(command);
  ASSERT_TRUE(child);
  EXPECT_NE(::getpgid(child->pid()), ::getpgrp());
  auto other = Child::start(command);
  ASSERT_TRUE(other);
  EXPECT_NE(::getpgid(child->pid()), ::getpgid(other->pid()));
  child->input().close();
  EXPECT_EQ(output_of(*child), std::to_string(child->pid()) + "\n/\n");
}

TEST(ChildTest, SaysHowItEnded) {
  struct Case {
    const char* script;
    const char* said;
  };
  for (const Case& test :
       {Case{"exit 3", "exited with status 3"}, Case{"kill -9 $$", "was ended by signal 9"}}) {
    auto child = Child::start(shell(test.script));
    ASSERT_TRUE(child);
    const auto status = child->wait_for(kLong);
    ASSERT_TRUE(status);
    EXPECT_EQ(status->to_string(), test.said);
    EXPECT_EQ(child->stop(milliseconds{0}).to_string(), test.said);  // asking again is harmless
  }
}

TEST(ChildTest, IsMissingOrMisshapen) {
  auto missing = Child::start({.arguments = {"/nonexistent/program"}, .environment = {}});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_NE(missing.error().message.find("/nonexistent/program"), std::string::npos);
  EXPECT_EQ(Child::start({}).error().code, ErrorCode::kInvalidInput);
  const Command nul{.arguments = {"cat", std::string("a\0b", 3)}, .environment = {}};
  EXPECT_EQ(Child::start(nul).error().code, ErrorCode::kInvalidInput);
}

TEST(ChildTest, StopsWhenItsInputCloses) {
  auto child = Child::start({.arguments = {"cat"}, .environment = {}});
  ASSERT_TRUE(child);
  EXPECT_EQ(child->stop(kLong).to_string(), "exited with status 0");
}

TEST(ChildTest, IsTerminatedThenKilled) {
  auto obeys = Child::start({.arguments = {"sleep", "1000"}, .environment = {}});
  ASSERT_TRUE(obeys);
  EXPECT_EQ(obeys->stop(milliseconds{50}).to_string(), "was ended by signal 15");
  // It says when its trap is set, so that the signal cannot come before.
  auto defies = Child::start(shell("trap '' TERM; echo ready; while :; do sleep 1000; done"));
  ASSERT_TRUE(defies);
  LineReader reader(defies->output().get(), 100);
  ASSERT_EQ(reader.next(kLong).line, "ready");
  EXPECT_EQ(defies->stop(milliseconds{50}).to_string(), "was ended by signal 9");
}

TEST(ChildTest, GrandchildrenEndWithIt) {
  auto child = Child::start(shell("sleep 1000 & echo $!; exit 0"));
  ASSERT_TRUE(child);
  LineReader reader(child->output().get(), 100);
  const pid_t grandchild = std::atoi(std::string(reader.next(kLong).line).c_str());
  ASSERT_GT(grandchild, 1);
  ASSERT_TRUE(child->wait_for(kLong));
  // The pipe ends only when the last holder of it is gone.
  EXPECT_EQ(reader.next(kLong).event, LineEvent::kEnd);
}

TEST(ChildTest, EndsWithItsOwner) {
  pid_t pid = -1;
  {
    auto child = Child::start({.arguments = {"sleep", "1000"}, .environment = {}});
    ASSERT_TRUE(child);
    pid = child->pid();
    EXPECT_FALSE(child->wait_for(milliseconds{0}));
    Child moved = std::move(*child);
    EXPECT_EQ(moved.pid(), pid);
  }
  EXPECT_EQ(::kill(pid, 0), -1);
}

// Whether a process is gone, though nobody may have asked how it ended.
bool is_gone(const std::string& pid) {
  std::ifstream file("/proc/" + pid + "/stat");
  std::string stat;
  return !std::getline(file, stat) || stat.find(") Z ") != std::string::npos;
}

// REQ-BD-110. The server ignores what it can, and so does the one that it started itself.
TEST(ChildTest, OutlivesNoOwnerThatIsKilled) {
  auto told = make_pipe();
  ASSERT_TRUE(told);
  const pid_t owner = ::fork();
  ASSERT_GE(owner, 0);
  if (owner == 0) {
    // Started on a thread that ends at once: the child is the process's, not the thread's.
    std::optional<Child> child;
    std::thread([&child] {
      auto started =
          Child::start(shell("trap '' TERM HUP INT PIPE\nsleep 1000 <&- >&- &\necho $$ $!\n"
                             "while :; do sleep 1000; done"));
      if (started) child.emplace(std::move(*started));
    }).join();
    if (!child) ::_exit(1);
    LineReader reader(child->output().get(), 100);
    const std::string pids = std::string(reader.next(kLong).line) + "\n";
    if (!write_all(told->write_end.get(), pids, kLong)) ::_exit(1);
    while (true) ::pause();
  }
  LineReader reader(told->read_end.get(), 100);
  const std::string pids(reader.next(kLong).line);
  const std::size_t space = pids.find(' ');
  ASSERT_NE(space, std::string::npos) << pids;
  const std::string child = pids.substr(0, space);
  const std::string grandchild = pids.substr(space + 1);
  EXPECT_FALSE(is_gone(child));
  EXPECT_FALSE(is_gone(grandchild));
  ::kill(owner, SIGKILL);
  int status = 0;
  EXPECT_EQ(::waitpid(owner, &status, 0), owner);
  for (const std::string& pid : {child, grandchild}) {
    for (int look = 0; look < 2000 && !is_gone(pid); ++look) {
      std::this_thread::sleep_for(milliseconds{10});
    }
    EXPECT_TRUE(is_gone(pid));
  }
}

TEST(ChildTest, AClosedInputIsAnErrorAndNoSignal) {
  auto child = Child::start(shell("exec 0<&-; echo closed; sleep 1000"));
  ASSERT_TRUE(child);
  LineReader reader(child->output().get(), 100);
  ASSERT_EQ(reader.next(kLong).line, "closed");
  const Status written = write_all(child->input().get(), "lost\n", kLong);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::kUnavailable);
}

TEST(ChildTest, ClosingItsOutputOnlyIsAnEnd) {
  auto child = Child::start(shell("exec 1>&-; cat >/dev/null"));
  ASSERT_TRUE(child);
  LineReader reader(child->output().get(), 100);
  EXPECT_EQ(reader.next(kLong).event, LineEvent::kEnd);
  EXPECT_FALSE(child->wait_for(milliseconds{0}));
  EXPECT_EQ(child->stop(kLong).to_string(), "exited with status 0");
}

TEST(ChildTest, OneThatReadsNothingStopsAWriterInTime) {
  auto child = Child::start({.arguments = {"sleep", "1000"}, .environment = {}});
  ASSERT_TRUE(child);
  const Status written =
      write_all(child->input().get(), std::string(1 << 20, 'x'), milliseconds{50});
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::kDeadlineExceeded);
}

TEST(ChildTest, IsStoppedBySignalWithoutWaitingForItsInput) {
  auto child = Child::start({.arguments = {"sleep", "1000"}, .environment = {}});
  ASSERT_TRUE(child);
  EXPECT_EQ(child->stop_by_signal(kLong).to_string(), "was ended by signal 15");
  EXPECT_EQ(child->stop_by_signal(kLong).to_string(), "was ended by signal 15") << "once is enough";
  auto deaf = Child::start({.arguments = {"sh", "-c", "trap '' TERM; echo; sleep 1000"},
                            .environment = {"PATH=/bin:/usr/bin"}});
  ASSERT_TRUE(deaf);
  LineReader reader(deaf->output().get(), 16);
  ASSERT_EQ(reader.next(kLong).event, LineEvent::kLine) << "it is deaf by now";
  EXPECT_EQ(deaf->stop_by_signal(milliseconds{50}).to_string(), "was ended by signal 9");
}

TEST(TerminationSignalsTest, AreReadAndNotDelivered) {
  auto signals = TerminationSignals::take();
  ASSERT_TRUE(signals);
  EXPECT_FALSE(signals->read_one());
  ASSERT_EQ(::raise(SIGTERM), 0);
  EXPECT_TRUE(signals->read_one());
  EXPECT_FALSE(signals->read_one());
  // A child made meanwhile has the default mask and can be ended by the very same signal.
  auto child = Child::start({.arguments = {"sleep", "1000"}, .environment = {}});
  ASSERT_TRUE(child);
  child->terminate();
  const auto status = child->wait_for(kLong);
  ASSERT_TRUE(status);
  EXPECT_EQ(status->to_string(), "was ended by signal 15");
}

// What is thrown away holds nobody up, and is at its end for whoever looks.
TEST(Child, PrintsToNobody) {
  Command command = shell("head -c 1000000 /dev/zero; printf whole 1>&2");
  command.is_output_discarded = true;
  auto child = Child::start(command);
  ASSERT_TRUE(child) << child.error().to_string();
  const auto status = child->wait_for(std::chrono::seconds{60});
  ASSERT_TRUE(status.has_value());
  EXPECT_EQ(status->code, 0);
  char byte = 0;
  EXPECT_EQ(::read(child->output().get(), &byte, 1), 0);
}

}  // namespace
}  // namespace remit::process
