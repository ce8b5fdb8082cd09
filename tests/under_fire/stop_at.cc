// Preloaded into the program under test: at its n-th call that writes, sends, receives or syncs it
// is killed, or waits for a word. The program has no part in it and no hook for it.
//
// STOP_AT: n. STOP_AFTER: the text that has to go by first, from standard input or in a write;
// calls are counted from there. STOP_HOW: `kill`; `ask`, one byte into the FIFO STOP_ASK and one
// back from STOP_ANSWER; `count`, never. STOP_LATER_US: the kill comes so much later, wherever the
// program is by then. STOP_COUNT: the file for the number of calls, at an orderly end.
#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

// Plain, and ready before any constructor has run: others call us earlier than that.
struct Plan {
  const char* after;
  const char* how;
  const char* ask;
  const char* answer;
  const char* count;
  long at;
  long later_us;
};
Plan plan;
pid_t process = 0;
std::atomic<bool> is_counting{false};
std::atomic<long> calls{0};

long number(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? 0 : std::strtol(text, nullptr, 10);
}

[[gnu::constructor]] void read_plan() {
  plan = {std::getenv("STOP_AFTER"),  std::getenv("STOP_HOW"),   std::getenv("STOP_ASK"),
          std::getenv("STOP_ANSWER"), std::getenv("STOP_COUNT"), number("STOP_AT"),
          number("STOP_LATER_US")};
  process = ::getpid();
  is_counting = plan.how != nullptr && plan.after == nullptr;
}

[[gnu::destructor]] void write_count() {
  if (plan.count == nullptr || ::getpid() != process) return;
  char text[32];
  const int length = std::snprintf(text, sizeof text, "%ld", calls.load());
  const int file = ::open(plan.count, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return;
  ::syscall(SYS_write, file, text, length);
  ::close(file);
}

void end_now() {
  ::kill(process, SIGKILL);
  while (true) ::pause();
}

void* end_later(void*) {
  const timespec pause{plan.later_us / 1'000'000, plan.later_us % 1'000'000 * 1000};
  ::nanosleep(&pause, nullptr);
  end_now();
  return nullptr;
}

void ask() {
  char byte = '.';
  const int out = ::open(plan.ask, O_WRONLY | O_CLOEXEC);
  ::syscall(SYS_write, out, &byte, 1);
  ::close(out);
  const int in = ::open(plan.answer, O_RDONLY | O_CLOEXEC);
  ::syscall(SYS_read, in, &byte, 1);
  ::close(in);
}

void stop() {
  if (plan.how[0] == 'a') return ask();
  pthread_t thread{};
  if (plan.later_us == 0 || ::pthread_create(&thread, nullptr, end_later, nullptr) != 0) end_now();
  ::pthread_detach(thread);
}

/// Before each call that counts.
void step() {
  // A fork of the program is not the program.
  if (!is_counting || ::getpid() != process) return;
  if (calls.fetch_add(1) + 1 == plan.at && plan.how[0] != 'c') stop();
}

/// Behind what was read or written.
void look(const void* bytes, long size) {
  if (plan.after == nullptr || plan.how == nullptr || is_counting || size <= 0) return;
  const auto length = static_cast<std::size_t>(size);
  if (::memmem(bytes, length, plan.after, std::strlen(plan.after)) != nullptr) is_counting = true;
}

}  // namespace

extern "C" {

ssize_t read(int file, void* bytes, size_t size) {
  const long got = ::syscall(SYS_read, file, bytes, size);
  if (file == STDIN_FILENO) look(bytes, got);  // what is read elsewhere was written before
  return got;
}

ssize_t write(int file, const void* bytes, size_t size) {
  step();
  const long put = ::syscall(SYS_write, file, bytes, size);
  look(bytes, put);
  return put;
}

ssize_t writev(int file, const iovec* parts, int count) {
  step();
  const long put = ::syscall(SYS_writev, file, parts, count);
  for (int i = 0; put > 0 && i < count; ++i) {
    look(parts[i].iov_base, static_cast<long>(parts[i].iov_len));
  }
  return put;
}

ssize_t pwrite64(int file, const void* bytes, size_t size, off64_t at) {
  step();
  const long put = ::syscall(SYS_pwrite64, file, bytes, size, at);
  look(bytes, put);
  return put;
}

ssize_t pwrite(int file, const void* bytes, size_t size, off_t at) {
  return pwrite64(file, bytes, size, at);
}

ssize_t send(int socket, const void* bytes, size_t size, int flags) {
  step();
  return ::syscall(SYS_sendto, socket, bytes, size, flags, nullptr, 0);
}

ssize_t recv(int socket, void* bytes, size_t size, int flags) {
  step();
  return ::syscall(SYS_recvfrom, socket, bytes, size, flags, nullptr, nullptr);
}

int fdatasync(int file) {
  step();
  return static_cast<int>(::syscall(SYS_fdatasync, file));
}

int fsync(int file) {
  step();
  return static_cast<int>(::syscall(SYS_fsync, file));
}

}  // extern "C"
