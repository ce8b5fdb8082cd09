// Durable evidence at 1 and 64 callers, beside a bare append and fdatasync of the same bytes in the
// same run.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/random.h"
#include "bench/run_size.h"
#include "event/event.h"
#include "evidence/file_evidence_log.h"
#include "evidence/verify.h"

namespace {

using remit::event::Event;
using remit::event::EventKind;
using remit::event::Field;
using Seconds = std::chrono::duration<double>;

/// The four events of one allowed call, as the boundary commits and appends them.
struct CallEvents {
  std::vector<Event> before;  ///< request, resolution, decision, start: waited for
  std::vector<Event> after;   ///< finish: not waited for
};

CallEvents call_events() {
  const auto make = [](EventKind kind) {
    Event out;
    out.kind = kind;
    out.set(Field::kInvocationId, "mfrggzdfmztwq2lknnwg23tpoa");
    out.set(Field::kRunId, "run-12");
    out.set(Field::kRoute, "agent");
    out.set(Field::kTool, "invoice.read");
    return out;
  };
  const std::string_view digest =
      "hmac-sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae";
  CallEvents out;
  Event request = make(EventKind::kToolRequest);
  request.set(Field::kArgsDigest, digest);
  Event resolved = make(EventKind::kResourceResolved);
  Event decision = make(EventKind::kAuthorizationDecision);
  for (Event* one : {&resolved, &decision}) {
    one->set(Field::kResourceType, "Invoice");
    one->set(Field::kResourceId, "canonical-invoice-4");
    one->set(Field::kResourceTenant, "tenant-a");
    one->set(Field::kResolutionSource, "invoices");
    one->set(Field::kResolutionRevision, "12");
  }
  decision.set(Field::kPrincipalRef, digest);
  decision.set(Field::kArgsDigest, digest);
  decision.set(Field::kDecision, "allow");
  decision.set(Field::kReason, "allowed");
  decision.set(Field::kPolicyVersion, "2026-08-04");
  decision.set(Field::kDecisionId, "onsww2lqnztwq2lknnwg23tpoa");
  Event start = make(EventKind::kExecutorStart);
  start.set(Field::kDecisionId, "onsww2lqnztwq2lknnwg23tpoa");
  start.set(Field::kArgsDigest, digest);
  Event finish = make(EventKind::kExecutorFinish);
  finish.set(Field::kOutcome, "succeeded");
  finish.set(Field::kDurationUs, std::int64_t{1234});
  out.before = {request, resolved, decision, start};
  out.after = {finish};
  return out;
}

struct Timing {
  double per_second = 0;
  double p50_us = 0;
  double p99_us = 0;
};

/// Runs `one` from `callers` threads, `each` times per thread.
Timing measure(int callers, int each, const std::function<void()>& one) {
  std::vector<std::vector<double>> samples(static_cast<std::size_t>(callers));
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::thread> threads;
  for (std::vector<double>& mine : samples) {
    threads.emplace_back([&one, &mine, each] {
      for (int i = 0; i < each; ++i) {
        const auto from = std::chrono::steady_clock::now();
        one();
        mine.push_back(Seconds(std::chrono::steady_clock::now() - from).count() * 1e6);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const double seconds = Seconds(std::chrono::steady_clock::now() - start).count();
  std::vector<double> all;
  for (const auto& mine : samples) all.insert(all.end(), mine.begin(), mine.end());
  std::sort(all.begin(), all.end());
  return {static_cast<double>(all.size()) / seconds, all[all.size() / 2],
          all[all.size() * 99 / 100]};
}

void print(const std::string& what, const Timing& timing) {
  fmt::print("{:<46} {:>9.0f} /s   p50 {:>8.1f} us   p99 {:>8.1f} us\n", what, timing.per_second,
             timing.p50_us, timing.p99_us);
}

[[noreturn]] void give_up(const std::string& what) {
  fmt::print(stderr, "evidence_bench: {}\n", what);
  std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  const remit::bench::RunSize size(argc, argv);
  const int each = size.of(400, 4);
  const std::string root = (argc > 1 ? std::filesystem::path(argv[1])
                                     : std::filesystem::current_path() / "bench.evidence")
                               .string();
  std::filesystem::remove_all(root);
  std::filesystem::create_directories(root);
  const CallEvents events = call_events();
  std::string bytes;
  for (const Event& one : events.before) remit::event::encode(one, bytes);
  for (const Event& one : events.after) remit::event::encode(one, bytes);

  // The floor: one writer that appends the same bytes and syncs, with nothing around it.
  const int fd = ::open((root + "/bare").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (fd < 0) give_up("cannot write in " + root);
  const auto bare = [&] {
    if (::write(fd, bytes.data(), bytes.size()) < 0 || ::fdatasync(fd) != 0) give_up("cannot sync");
  };
  remit::PosixFileSystem files;
  const remit::SystemClock clock;
  remit::SystemRandom random;
  auto log =
      remit::evidence::FileEvidenceLog::open(files, clock, random, {.directory = root + "/log"});
  if (!log) give_up(log.error().to_string());
  const auto durable = [&] {
    if (!(*log)->commit({events.before, 0}) || !(*log)->append({events.after, 0})) {
      give_up("the log refuses");
    }
  };

  fmt::print("one call: {} events, {} bytes\n", events.before.size() + events.after.size(),
             bytes.size());
  // In turns, so that both see the same disk.
  std::vector<Timing> bare_timings;
  std::vector<Timing> log_timings;
  for (int turn = 0; turn < 5; ++turn) {
    bare_timings.push_back(measure(1, each, bare));
    log_timings.push_back(measure(1, each, durable));
  }
  const auto by_median = [](const Timing& a, const Timing& b) { return a.p50_us < b.p50_us; };
  std::sort(bare_timings.begin(), bare_timings.end(), by_median);
  std::sort(log_timings.begin(), log_timings.end(), by_median);
  print("bare append + fdatasync, 1 caller", bare_timings[2]);
  print("evidence log, 1 caller", log_timings[2]);
  const Timing many = measure(64, size.of(1000, 2), durable);
  print("evidence log, 64 callers", many);
  fmt::print("1 caller: {:.2f} of the bare loop's p50; 64 callers: {:.1f} times its calls\n",
             log_timings[2].p50_us / bare_timings[2].p50_us,
             many.per_second / bare_timings[2].per_second);
  if (!(*log)->close()) give_up("the log did not close");

  const auto from = std::chrono::steady_clock::now();
  const auto report = remit::evidence::verify(files, root + "/log");
  const double seconds = Seconds(std::chrono::steady_clock::now() - from).count();
  if (!report || !report->intact()) give_up("the log does not verify");
  const remit::evidence::WriterState& written = report->writers.front();
  fmt::print("verify: {} events, {:.1f} MB, {:.0f} MB/s\n", written.events,
             static_cast<double>(written.bytes) / 1e6,
             static_cast<double>(written.bytes) / 1e6 / seconds);
  ::close(fd);
  std::filesystem::remove_all(root);
  return 0;
}
