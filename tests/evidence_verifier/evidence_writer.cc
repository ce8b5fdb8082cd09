// Writes an evidence log of several segments, for the tests of what reads it. Of each commit that
// is durable it prints the id.
//
// usage: evidence_writer DIRECTORY COMMITS close|die
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/random.h"
#include "evidence/file_evidence_log.h"
#include "tests/support/evidence_events.h"

namespace {

int failed(const remit::Error& error) {
  std::fprintf(stderr, "evidence_writer: %s\n", error.to_string().c_str());
  return 1;
}

int write_log(const std::string& directory, int commits, bool dies) {
  remit::PosixFileSystem files;
  const remit::SystemClock clock;
  remit::SystemRandom random;
  auto log = remit::evidence::FileEvidenceLog::open(
      files, clock, random, {.directory = directory, .max_segment_bytes = 600});
  if (!log) return failed(log.error());
  for (int i = 0; i < commits; ++i) {
    const std::string id = "i" + std::to_string(i);
    const std::vector<remit::event::Event> events(i % 2 == 0 ? 1 : 2, remit::testing::request(id));
    if (const remit::Status durable = (*log)->commit({events, 0}); !durable) {
      return failed(durable.error());
    }
    std::printf("%s\n", id.c_str());
    std::fflush(stdout);
  }
  // As a process that is killed: nothing is closed, and the lock stays.
  if (dies) _exit(0);
  const remit::Status closed = (*log)->close();
  return closed ? 0 : failed(closed.error());
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  int commits = 0;
  if (arguments.size() == 3) {
    const std::string& text = arguments[1];
    std::from_chars(text.data(), text.data() + text.size(), commits);
  }
  if (commits <= 0 || (arguments[2] != "close" && arguments[2] != "die")) {
    std::fputs("usage: evidence_writer DIRECTORY COMMITS close|die\n", stderr);
    return 2;
  }
  return write_log(arguments[0], commits, arguments[2] == "die");
}
