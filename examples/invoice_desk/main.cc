// invoice_desk: the office as a program, a word for each of its doors.
//
//   invoice_desk DIRECTORY badge NAME                 hand out a badge
//   invoice_desk DIRECTORY statement INVOICE...       direct: read invoices from inside
//   invoice_desk DIRECTORY admin TOOL [ARGUMENTS]     admin: as an operator
//   invoice_desk DIRECTORY agent                      agent: serve MCP on standard input and output
//   invoice_desk DIRECTORY serve PORT                 legacy: serve the old API; 0: any port
//   invoice_desk DIRECTORY later TOOL [ARGUMENTS]     queued: put an errand off
//   invoice_desk DIRECTORY at TIME TOOL [ARGUMENTS]   scheduled: the same, until TIME (RFC 3339)
//   invoice_desk DIRECTORY closing TOOL [ARGUMENTS]   retry: taken up at closing time, put back
//   invoice_desk DIRECTORY again ROW                  retry: try an errand that ended again
//   invoice_desk DIRECTORY work                       run every errand whose time has come
//
// DIRECTORY holds bundle, staff.yaml, desk.db and digest.key. The environment variable DESK_BADGE
// is the badge of who asks. Exit codes: 0 done; 1 denied, or something is wrong; 2 failed; 3 nobody
// knows; 64 usage.
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "admin.h"
#include "agent.h"
#include "base/rfc3339.h"
#include "desk.h"
#include "direct.h"
#include "legacy.h"
#include "process/child.h"
#include "retry.h"
#include "scheduled.h"

namespace remit::examples {
namespace {

using Words = std::vector<std::string>;

int fail(const Error& error) {
  std::cerr << "invoice_desk: " << error.to_string() << '\n';
  return 1;
}

int usage() {
  std::cerr << "usage: invoice_desk DIRECTORY badge NAME | statement INVOICE... | agent | work |\n"
               "       admin TOOL [ARGUMENTS] | serve PORT | later TOOL [ARGUMENTS] |\n"
               "       at TIME TOOL [ARGUMENTS] | closing TOOL [ARGUMENTS] | again ROW\n";
  return 64;
}

std::string badge() {
  const char* given = std::getenv("DESK_BADGE");
  return given == nullptr ? "" : given;
}

int hand_out(const std::string& directory, const std::string& name, FileSystem& files) {
  const Result<DigestKey> key = read_key(files, directory + "/digest.key");
  if (!key) return fail(key.error());
  std::cout << Staff(files, directory + "/staff.yaml", *key).badge_of(name) << '\n';
  return 0;
}

int statement(Office& office, const Words& invoices) {
  int code = 0;
  for (const Told& told : read_statement(office, badge(), invoices)) {
    std::cout << told.text << '\n';
    if (told.word != "result") code = 1;
  }
  return code;
}

int agent(Office& office, const process::TerminationSignals& signals) {
  office.staff().take_seat(badge());
  const Status served = serve_agent(office, {"./invoice_desk_server", "desk.db"}, 0, 1, signals);
  return served ? 0 : fail(served.error());
}

int serve(Office& office, Books& books, const std::string& word,
          const process::TerminationSignals& signals) {
  const std::optional<std::uint16_t> port = read_port(word);
  if (!port) return usage();
  OldDesk old(books);
  const auto guarded = guard_old_desk(office, old, old_endpoints());
  if (!guarded) return fail(guarded.error());
  const Status served = serve_until_told(**guarded, *port, office.clock(), signals);
  return served ? 0 : fail(served.error());
}

// The errand is the asker's own: the name is taken from the badge, never from the words.
Result<Errand> errand_of(Office& office, const Words& words) {
  const identity::Identity found =
      office.staff().authenticate(access::Credential::bearer(badge()), office.clock().wall_now());
  if (!found.principal) {
    return Error{ErrorCode::kFailedPrecondition, "no errand without a badge that is good"};
  }
  return Errand{found.principal->subject, words[0], words.size() > 1 ? words[1] : "{}"};
}

int told_row(const Result<std::string>& row) {
  if (!row) return fail(row.error());
  std::cout << *row << '\n';
  return 0;
}

int later(Office& office, const std::string& door, Words words) {
  std::optional<WallTime> when;
  if (door == "at") {
    const Result<WallTime> given = parse_rfc3339(words.front());
    if (!given) return fail(given.error());
    when = *given;
    words.erase(words.begin());
  }
  if (words.empty() || words.size() > 2) return usage();
  const Result<Errand> errand = errand_of(office, words);
  if (!errand) return fail(errand.error());
  if (when) return told_row(put_off_until(office, *errand, *when));
  return told_row(door == "closing" ? put_back(office, *errand) : put_off(office, *errand));
}

int work(Office& office) {
  for (const std::string& queue : {std::string(queue::kDefaultQueue), std::string(kSecondTries)}) {
    queue::Worker worker = worker_of(office, queue);
    const Status worked = worker.run({}, {}, queue::Until::kIdle);
    if (!worked) return fail(worked.error());
  }
  return 0;
}

int through(const std::string& door, const Words& words, Office& office, Books& books,
            const process::TerminationSignals* signals) {
  if (door == "statement" && !words.empty()) return statement(office, words);
  if (door == "admin") return run_admin(office, words, badge(), std::cout);
  if (door == "agent" && words.empty()) return agent(office, *signals);
  if (door == "serve" && words.size() == 1) return serve(office, books, words[0], *signals);
  if (door == "work" && words.empty()) return work(office);
  if (door == "again" && words.size() == 1) {
    const Status done = try_again(office, words[0], "the desk", "asked for at the counter");
    return done ? 0 : fail(done.error());
  }
  const bool is_later = door == "later" || door == "at" || door == "closing";
  return is_later && !words.empty() ? later(office, door, words) : usage();
}

int run(const Words& words) {
  if (words.size() < 2) return usage();
  process::ignore_broken_pipes();
  // Those that go on until they are told to end hold the signals back, before there are threads.
  std::optional<process::TerminationSignals> signals;
  if (words[1] == "agent" || words[1] == "serve") {
    auto taken = process::TerminationSignals::take();
    if (!taken) return fail(taken.error());
    signals.emplace(*std::move(taken));
  }
  PosixFileSystem files;
  SystemClock clock;
  SystemRandom random;
  if (words[1] == "badge" && words.size() == 3) return hand_out(words[0], words[2], files);
  Result<Desk> desk = Desk::open(words[0] + "/desk.db");
  if (!desk) return fail(desk.error());
  const auto office = Office::open({.directory = words[0]}, *desk, files, clock, random);
  if (!office) return fail(office.error());
  const int code = through(words[1], {words.begin() + 2, words.end()}, **office, *desk,
                           signals ? &*signals : nullptr);
  const Status closed = (*office)->close();
  return closed ? code : fail(closed.error());
}

}  // namespace
}  // namespace remit::examples

int main(int argc, char** argv) {
  return remit::examples::run({argv + 1, argv + argc});
}
