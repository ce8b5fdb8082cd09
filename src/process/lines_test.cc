// Lines that are whole, cut, too long and late; writers that find no room.
#include "process/lines.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <string>
#include <thread>
#include <vector>

#include "process/file_descriptor.h"

namespace remit::process {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds kLong{20'000};

// Every event of a stream that is written and closed, as `event:line`.
std::vector<std::string> events_of(const std::string& stream, std::size_t max_line_bytes,
                                   std::size_t piece) {
  auto pipe = make_pipe();
  EXPECT_TRUE(pipe);
  std::thread writer([&] {
    for (std::size_t at = 0; at < stream.size(); at += piece) {
      EXPECT_TRUE(write_all(pipe->write_end.get(), stream.substr(at, piece), kLong));
    }
    pipe->write_end.close();
  });
  LineReader reader(pipe->read_end.get(), max_line_bytes);
  std::vector<std::string> out;
  while (true) {
    const LineRead read = reader.next(kLong);
    if (read.event == LineEvent::kEnd) break;
    if (read.event == LineEvent::kLine) out.push_back("line:" + std::string(read.line));
    if (read.event == LineEvent::kCut) out.push_back("cut:" + std::string(read.line));
    if (read.event == LineEvent::kTooLong) out.emplace_back("too long");
    EXPECT_NE(read.event, LineEvent::kError) << read.message;
    EXPECT_NE(read.event, LineEvent::kTimeout);
  }
  writer.join();
  EXPECT_EQ(reader.next(kLong).event, LineEvent::kEnd);  // and it stays ended
  return out;
}

TEST(LineReaderTest, SplitsAndBoundsWhateverThePiecesAre) {
  using Events = std::vector<std::string>;
  struct Case {
    std::string stream;
    Events events;
  };
  const std::vector<Case> cases{
      {"", {}},
      {"\n", {"line:"}},
      {"a\nbb\n", {"line:a", "line:bb"}},
      {"a\nb", {"line:a", "cut:b"}},
      {"12345678\n", {"line:12345678"}},
      {"123456789\nok\n", {"too long", "line:ok"}},
      {std::string(1000, 'x') + "\nok\n", {"too long", "line:ok"}},
      {std::string(1000, 'x') + "\n" + std::string(1000, 'y') + "\nok\n",
       {"too long", "too long", "line:ok"}},
      {std::string(1000, 'x'), {"too long"}},
      {std::string("a\r\n\0b\n", 6), {"line:a\r", std::string("line:\0b", 7)}},
  };
  for (const Case& test : cases) {
    for (const std::size_t piece : {std::size_t{1}, std::size_t{3}, std::size_t{4096}}) {
      EXPECT_EQ(events_of(test.stream, 8, piece), test.events)
          << "pieces of " << piece << " of " << test.stream.substr(0, 20);
    }
  }
}

TEST(LineReaderTest, WakesAndTimesOut) {
  auto pipe = make_pipe();
  auto wakeup = Wakeup::make();
  ASSERT_TRUE(pipe && wakeup);
  LineReader reader(pipe->read_end.get(), 100, wakeup->fd());
  EXPECT_EQ(reader.next(milliseconds{0}).event, LineEvent::kTimeout);
  ASSERT_TRUE(write_all(pipe->write_end.get(), "one\ntwo\nhalf", kLong));
  EXPECT_EQ(reader.next(kLong).line, "one");
  wakeup->notify();
  EXPECT_EQ(reader.next(kLong).line, "two");  // read already
  EXPECT_EQ(reader.next(kLong).event, LineEvent::kWoken);
  EXPECT_EQ(reader.next(kLong).event, LineEvent::kWoken);  // stays awake
}

TEST(LineReaderTest, AnotherThreadWakesIt) {
  auto pipe = make_pipe();
  auto wakeup = Wakeup::make();
  ASSERT_TRUE(pipe && wakeup);
  LineReader reader(pipe->read_end.get(), 100, wakeup->fd());
  std::thread waker([&] { wakeup->notify(); });
  EXPECT_EQ(reader.next().event, LineEvent::kWoken);
  waker.join();
}

TEST(LineReaderTest, SaysWhenItCannotRead) {
  LineReader reader(::open("/", O_RDONLY | O_CLOEXEC), 100);
  const LineRead read = reader.next(kLong);
  EXPECT_EQ(read.event, LineEvent::kError);
  EXPECT_NE(read.message.find("cannot read"), std::string::npos);
}

TEST(WriteTest, ABlockingPipeIsFilledButNeverWaitedFor) {
  auto pipe = make_pipe();
  ASSERT_TRUE(pipe);
  ignore_broken_pipes();
  const std::string much(1 << 20, 'x');
  auto written = write_some(pipe->write_end.get(), much);
  ASSERT_TRUE(written);
  EXPECT_GT(*written, 0U);
  EXPECT_LT(*written, much.size());
  EXPECT_EQ(write_some(pipe->write_end.get(), much).value(), 0U);
  const Status full = write_all(pipe->write_end.get(), "x", milliseconds{20});
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, ErrorCode::kDeadlineExceeded);
  pipe->read_end.close();
  EXPECT_EQ(write_all(pipe->write_end.get(), "x", kLong).error().code, ErrorCode::kUnavailable);
}

// Somebody else fills the pipe between a look that finds room and the write: a descriptor that is
// shared would wait then.
TEST(WriteTest, OnesOwnEndOfAPipeNeverWaits) {
  auto pipe = make_pipe();
  ASSERT_TRUE(pipe);
  const FileDescriptor own = own_end_of_pipe(pipe->write_end.get());
  ASSERT_TRUE(own.is_open());
  const std::string text(PIPE_BUF, 'x');
  while (::write(own.get(), text.data(), text.size()) > 0) {
  }
  EXPECT_EQ(errno, EAGAIN);
  EXPECT_EQ(::fcntl(pipe->write_end.get(), F_GETFL) & O_NONBLOCK, 0);
  const FileDescriptor file{::open("/dev/null", O_WRONLY)};
  EXPECT_FALSE(own_end_of_pipe(file.get()).is_open());
  EXPECT_FALSE(own_end_of_pipe(-1).is_open());
}

TEST(WriteTest, ASlowReaderGetsAllOfIt) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  FileDescriptor here{ends[0]};
  FileDescriptor there{ends[1]};
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += "line " + std::to_string(i) + "\n";
  std::thread writer([&] {
    EXPECT_TRUE(write_all(here.get(), text, kLong));
    here.close();
  });
  LineReader reader(there.get(), 100);
  std::string got;
  while (true) {
    const LineRead read = reader.next(kLong);
    if (read.event != LineEvent::kLine) break;
    got += std::string(read.line) + "\n";
  }
  writer.join();
  EXPECT_EQ(got, text);
}

}  // namespace
}  // namespace remit::process
