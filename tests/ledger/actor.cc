// One process that shares a ledger with others: it claims, starts, has an effect and finishes, and
// stops where it is told to.
//
//     ledger_actor sqlite|postgres LOCATION LEASE_MS KEY APPROVAL REQUEST EFFECTS STOP
//
// It prints `ready` once it has the ledger and waits for a line; then the verdict of its claim. An
// effect is a line in the file EFFECTS. STOP is the step behind which it stands still until it is
// killed: claimed, started, effect, finished, or none. `full` and `readonly` are disks that let
// nothing more be written.
#include <fcntl.h>
#include <grp.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "ledger/database_ledger.h"

namespace {

using remit::ledger::ClaimVerdict;
using remit::ledger::DatabaseLedger;
using remit::ledger::Location;

void say(const std::string& line) {
  std::puts(line.c_str());
  std::fflush(stdout);
}

void stand_still() {
  while (true) ::pause();
}

void have_effect(const std::string& file, const std::string& line) {
  const int fd = ::open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  const std::string text = line + "\n";
  if (::write(fd, text.data(), text.size()) < 0) std::abort();
  ::close(fd);
}

/// From here on files do not grow, as on a disk that is full.
void fill_disk() {
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_FSIZE, &none);
}

/// From here on this process may not write what is its owner's alone.
bool become_nobody() {
  constexpr unsigned kNobody = 65534;
  return ::geteuid() != 0 ||
         (::setgroups(0, nullptr) == 0 && ::setegid(kNobody) == 0 && ::seteuid(kNobody) == 0);
}

std::string verdict_name(const remit::Result<remit::ledger::ClaimOutcome>& outcome) {
  if (!outcome) return std::string(remit::error_code_name(outcome.error().code));
  switch (outcome->verdict) {
    case ClaimVerdict::kClaimed:
      return "claimed";
    case ClaimVerdict::kRunning:
      return "running";
    case ClaimVerdict::kSucceeded:
      return "succeeded";
    case ClaimVerdict::kApprovalGone:
      return "approval gone";
    case ClaimVerdict::kUnknown:
      return "unknown";
    default:
      return "other";
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() != 8) return 64;
  const remit::SystemClock clock;
  remit::SystemRandom random;
  const std::string& stop = words[7];
  auto opened = DatabaseLedger::open(
      {.location = {words[0] == "sqlite" ? Location::Kind::kSqlite : Location::Kind::kPostgres,
                    words[1]},
       .key_check = "key",
       .lease = std::chrono::milliseconds{std::stoi(words[2])}},
      clock, random);
  if (!opened) {
    say(opened.error().to_string());
    return 1;
  }
  DatabaseLedger& ledger = **opened;
  if (stop == "full") fill_disk();
  if (stop == "readonly" && !become_nobody()) return 1;
  say("ready");
  char line[16];
  if (std::fgets(line, sizeof line, stdin) == nullptr) return 1;
  const std::string invocation = remit::random_id(random);
  const auto outcome = ledger.claim({.claim = words[3],
                                     .call = "call",
                                     .tool = "tool",
                                     .invocation = invocation,
                                     .approval = words[4],
                                     .request = words[5]});
  say(verdict_name(outcome));
  if (!outcome || outcome->verdict != ClaimVerdict::kClaimed) return 0;
  if (stop == "claimed") stand_still();
  if (!ledger.start(outcome->claim)) return 0;
  if (stop == "started") stand_still();
  have_effect(words[6], invocation);
  if (stop == "effect") stand_still();
  ledger.finish(outcome->claim, remit::ledger::Outcome::kSucceeded);
  if (stop == "finished") {
    say("finished");
    stand_still();
  }
  return 0;
}
