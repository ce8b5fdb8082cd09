// The grader on one and two threads, beside a plain loop on simdjson, DuckDB, jq and Python, all on
// the same trace in one run.
//
// The peers do what a script does: look up a few fields by name and group by invocation. They check
// no rule, no order and no field; the grader does all of that. Each runs in a process of its own,
// so that its peak memory is its own. Peers that are not installed are said to be "not run". Rows
// of the grader and of the plain loop are the best of several processes by the processor's time,
// and tell the median as well: the difference is what the machine did beside it. The rows "again,
// from memory" do the same work over and over in one process, on a trace that is in its memory:
// what the work itself costs, without reading a file and without the first touch of each page.
//
//     grade_bench [MEGABYTES [VENV]]   200 megabytes of trace; with VENV, a directory, DuckDB is
//                                      installed there by pip if it is not yet
//     grade_bench pipe MEGABYTES       the grader alone, on a trace that is written to a pipe while
//                                      it is read: any size, and no file of it
#include <simdjson.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bench/run_size.h"
#include "bench/text_file.h"
#include "event/event.h"
#include "grading/grading.h"

namespace {

using remit::event::Event;
using remit::event::EventKind;
using remit::event::Field;

constexpr std::size_t kPieceBytes = std::size_t{1} << 20U;
constexpr std::size_t kInFlight = 64;  // invocations whose events are interleaved
constexpr int kRounds = 5;

/// One call on its way: which event comes next.
struct Call {
  std::size_t number;
  std::size_t step;
};

constexpr std::array kAllowed = {EventKind::kToolRequest, EventKind::kResourceResolved,
                                 EventKind::kAuthorizationDecision, EventKind::kExecutorStart,
                                 EventKind::kExecutorFinish};

bool is_denied(const Call& call) {
  return call.number % 5 == 0;
}

bool is_over(const Call& call) {
  return call.step == (is_denied(call) ? 3 : kAllowed.size());
}

void append_event(const Call& call, std::int64_t seq, std::string& out) {
  Event event;
  event.kind = kAllowed[call.step];
  const bool denied = is_denied(call);
  const std::string id = "inv-" + std::to_string(10'000'000 + call.number);
  const std::string resource = "canonical-invoice-" + std::to_string(call.number % 5000);
  const std::string decision = "d-" + std::to_string(10'000'000 + call.number);
  const std::string digest =
      "hmac-sha256:b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7";
  event.set(Field::kInvocationId, id);
  event.set(Field::kTime, "2026-11-30T18:02:14.123456789Z");
  event.set(Field::kWriter, "gateway-1");
  event.set(Field::kSeq, seq);
  event.set(Field::kRunId, "run-2026-11-30");
  event.set(Field::kRoute, "agent");
  event.set(Field::kTool, denied ? "refund.create" : "invoice.read");
  if (call.step == 0) {
    event.set(Field::kPrincipalState, "authenticated");
    event.set(Field::kArgsDigest, digest);
  } else {
    event.set(Field::kResourceId, resource);
  }
  if (event.kind == EventKind::kResourceResolved) event.set(Field::kOutcome, "found");
  if (event.kind == EventKind::kAuthorizationDecision) {
    event.set(Field::kDecision, denied ? "deny" : "allow");
    event.set(Field::kReason, denied ? "tenant_mismatch" : "allowed");
    event.set(Field::kPolicyVersion, "2026-08-04");
    event.set(Field::kPrincipalClass, "support_agent");
    event.set(Field::kDecisionId, decision);
  }
  if (event.kind == EventKind::kExecutorStart) event.set(Field::kDecisionId, decision);
  if (event.kind == EventKind::kExecutorFinish) {
    event.set(Field::kOutcome, "succeeded");
    event.set(Field::kDurationUs, static_cast<std::int64_t>(call.number % 900));
  }
  remit::event::encode(event, out);
}

/// Puts a trace of about `bytes` with kInFlight calls open at once; returns its events.
template <class Put>
std::size_t make_trace(const Put& put, std::size_t bytes, std::size_t& written) {
  std::string out;
  std::vector<Call> active;
  std::size_t next = 0;
  std::uint64_t state = 1;
  std::int64_t seq = 0;
  written = 0;
  while (written + out.size() < bytes || !active.empty()) {
    while (active.size() < kInFlight && written + out.size() < bytes) active.push_back({next++, 0});
    state = state * 6364136223846793005U + 1442695040888963407U;
    const std::size_t at = (state >> 33U) % active.size();
    append_event(active[at], ++seq, out);
    ++active[at].step;
    if (is_over(active[at])) {
      active[at] = active.back();
      active.pop_back();
    }
    if (out.size() < kPieceBytes) continue;
    put(out);
    written += out.size();
    out.clear();
  }
  put(out);
  written += out.size();
  return static_cast<std::size_t>(seq);
}

bool grades(remit::trace::Input input, unsigned threads, std::size_t events) {
  remit::PosixFileSystem files;
  remit::grading::Evidence evidence;
  evidence.inputs.push_back(std::move(input));
  remit::grading::Criteria criteria;
  criteria.threads = threads;
  const auto grade = remit::grading::grade(files, std::move(evidence), std::move(criteria));
  return grade && grade->gate == remit::grading::Gate::kPassed &&
         grade->population.events == events;
}

bool grades_file(const std::string& path, unsigned threads, std::size_t events) {
  return grades(remit::trace::Input::of_file(path), threads, events);
}

struct Tally {
  bool allowed = false;
  std::uint32_t starts = 0;
};

/// What the plain loops do with lines, one by one.
class PlainTally {
 public:
  /// `line` has simdjson's padding behind it. False for one that is no event.
  bool take(simdjson::padded_string_view line) {
    auto document = parser_.iterate(line);
    std::string_view kind, id, decision;
    if (document["event"].get_string().get(kind) != simdjson::SUCCESS) return false;
    if (document["invocation_id"].get_string().get(id) != simdjson::SUCCESS) return false;
    Tally& call = calls_[std::string(id)];
    if (kind == "authorization.decision") {
      if (document["decision"].get_string().get(decision) != simdjson::SUCCESS) return false;
      call.allowed = decision == "allow";
    } else if (kind == "executor.start") {
      ++call.starts;
    }
    ++events_;
    return true;
  }

  [[nodiscard]] bool holds(std::size_t events) const {
    return events_ == events && std::all_of(calls_.begin(), calls_.end(), [](const auto& one) {
             return one.second.starts == (one.second.allowed ? 1U : 0U);
           });
  }

 private:
  simdjson::ondemand::parser parser_;
  std::unordered_map<std::string, Tally> calls_;
  std::size_t events_ = 0;
};

bool plain_loop(const std::string& path, std::size_t events) {
  std::ifstream lines(path, std::ios::binary);
  PlainTally tally;
  for (std::string line; std::getline(lines, line);) {
    line.reserve(line.size() + simdjson::SIMDJSON_PADDING);
    if (!tally.take(simdjson::padded_string_view(line))) return false;
  }
  return tally.holds(events);
}

bool plain_loop_over(const simdjson::padded_string& text, std::size_t events) {
  PlainTally tally;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t length = std::min(rest.find('\n'), rest.size());
    const std::size_t readable = rest.size() + simdjson::SIMDJSON_PADDING;
    if (!tally.take(simdjson::padded_string_view(rest.data(), length, readable))) return false;
    rest.remove_prefix(std::min(length + 1, rest.size()));
  }
  return tally.holds(events);
}

constexpr const char* kPython = R"(
import json, sys
calls = {}
with open(sys.argv[1], 'rb') as lines:
    for line in lines:
        event = json.loads(line)
        call = calls.setdefault(event['invocation_id'], [False, 0])
        if event['event'] == 'authorization.decision':
            call[0] = event['decision'] == 'allow'
        elif event['event'] == 'executor.start':
            call[1] += 1
assert all(starts == int(allowed) for allowed, starts in calls.values())
)";

constexpr const char* kDuckDb = R"(
import duckdb, sys
duckdb.execute('set threads = 1')
wrong = duckdb.execute("""
    select count(*) from (
        select invocation_id, bool_or(decision = 'allow') as allowed,
               count(*) filter (event = 'executor.start') as starts
        from read_json(?, format = 'newline_delimited',
                       columns = {event: 'varchar', invocation_id: 'varchar', decision: 'varchar'})
        group by invocation_id)
    where starts != case when allowed then 1 else 0 end""", [sys.argv[1]]).fetchone()[0]
assert wrong == 0
)";

constexpr const char* kJq =
    "[inputs | if .event == \"executor.start\" then [.invocation_id, 1] "
    "elif .decision == \"allow\" then [.invocation_id, -1] else empty end] | "
    "group_by(.[0]) | map(select((map(.[1]) | add) != 0)) | length";

struct Measured {
  double wall_s = 0;
  double processor_s = 0;
  double peak_mb = 0;
  double median_s = 0;  ///< of the processor's time, over all rounds
};

/// Runs `run` in a process of its own; nothing if it exits with anything but 0.
template <class Run>
std::optional<Measured> measure(Run run) {
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = ::fork();
  if (child == 0) ::_exit(run());
  int status = 0;
  rusage used{};
  if (child < 0 || ::wait4(child, &status, 0, &used) != child || status != 0) return std::nullopt;
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  Measured out;
  out.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  out.processor_s = seconds(used.ru_utime) + seconds(used.ru_stime);
  out.peak_mb = static_cast<double>(used.ru_maxrss) / 1024;
  out.median_s = out.processor_s;
  return out;
}

/// The round that took the least processor time, with the median of all.
Measured best_of(std::vector<Measured>& all) {
  std::sort(all.begin(), all.end(), [](const Measured& left, const Measured& right) {
    return left.processor_s < right.processor_s;
  });
  all.front().median_s = all[all.size() / 2].processor_s;
  return all.front();
}

template <class Run>
std::optional<Measured> best_of(int rounds, Run run) {
  std::vector<Measured> all;
  for (int round = 0; round < rounds; ++round) {
    if (const std::optional<Measured> one = measure(run)) all.push_back(*one);
  }
  if (all.empty()) return std::nullopt;
  return best_of(all);
}

double seconds_of(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

/// `run` over and over in one process of its own, on the bytes of `path`; the first time, which
/// touches the memory, does not count. The peak is without those bytes.
template <class Run>
std::optional<Measured> again(const std::string& path, Run run) {
  int ends[2];
  if (::pipe(ends) != 0) return std::nullopt;
  auto whole = measure([&] {
    const auto text = simdjson::padded_string::load(path);
    if (text.error() != simdjson::SUCCESS || !run(text.value_unsafe())) return 1;
    std::vector<Measured> all;
    for (int round = 0; round < kRounds; ++round) {
      Measured one;
      one.wall_s = -seconds_of(CLOCK_MONOTONIC);
      one.processor_s = -seconds_of(CLOCK_PROCESS_CPUTIME_ID);
      if (!run(text.value_unsafe())) return 1;
      one.processor_s += seconds_of(CLOCK_PROCESS_CPUTIME_ID);
      one.wall_s += seconds_of(CLOCK_MONOTONIC);
      all.push_back(one);
    }
    const Measured best = best_of(all);
    return ::write(ends[1], &best, sizeof best) == sizeof best ? 0 : 1;
  });
  Measured best;
  const bool is_told = whole && ::read(ends[0], &best, sizeof best) == sizeof best;
  for (const int end : ends) ::close(end);
  if (!is_told) return std::nullopt;
  best.peak_mb =
      whole->peak_mb - static_cast<double>(std::filesystem::file_size(path)) / (1U << 20U);
  return best;
}

/// In a process of its own: what it prints is not shown.
int become(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const int nowhere = ::open("/dev/null", O_WRONLY);
  ::dup2(nowhere, STDOUT_FILENO);
  ::dup2(nowhere, STDERR_FILENO);
  ::execvp(arguments[0], arguments.data());
  return 127;
}

struct Size {
  std::size_t bytes = 0;
  std::size_t events = 0;
};

void print_row(const char* what, const std::optional<Measured>& took, const Size& size,
               double plain_s) {
  if (!took) {
    std::printf("%-28s not run\n", what);
    return;
  }
  const auto bytes = static_cast<double>(size.bytes);
  const auto events = static_cast<double>(size.events);
  std::printf("%-28s %7.3f %7.3f %8.2f %7.3f %7.2f %8.0f %8.1f %7.2f\n", what,
              bytes / took->processor_s / 1e9, bytes / took->median_s / 1e9,
              events / took->processor_s / 1e6, bytes / took->wall_s / 1e9, took->processor_s,
              took->peak_mb, took->peak_mb * 1048576 / events, plain_s / took->processor_s);
}

void print_heading() {
  std::printf("%-28s %7s %7s %8s %7s %7s %8s %8s %7s\n", "", "GB/cpu", "median", "M ev/cpu", "GB/s",
              "cpu s", "peak MB", "B/event", "x plain");
}

void print_size(const Size& size) {
  std::printf("%zu events, %zu bytes, %.0f bytes an event, %zu calls open at once\n", size.events,
              size.bytes, static_cast<double>(size.bytes) / static_cast<double>(size.events),
              kInFlight);
}

/// Grades a trace that another process writes meanwhile; that one's time does not count.
int grade_pipe(std::size_t megabytes) {
  Size size;
  size.events = make_trace([](const std::string&) {}, megabytes << 20U, size.bytes);
  print_size(size);
  print_heading();
  for (const unsigned threads : {1U, 2U}) {
    int ends[2];
    if (::pipe(ends) != 0) return 1;
    const pid_t writer = ::fork();
    if (writer == 0) {
      ::close(ends[0]);
      std::size_t written = 0;
      const auto put = [&](std::string_view text) {
        while (!text.empty()) {
          const ssize_t count = ::write(ends[1], text.data(), text.size());
          if (count <= 0) ::_exit(1);
          text.remove_prefix(static_cast<std::size_t>(count));
        }
      };
      make_trace(put, megabytes << 20U, written);
      ::_exit(0);
    }
    ::close(ends[1]);
    const auto took = measure([&] {
      auto stream = std::make_unique<remit::trace::DescriptorFile>(ends[0]);
      return grades(remit::trace::Input::of_stream("-", std::move(stream)), threads, size.events)
                 ? 0
                 : 1;
    });
    ::close(ends[0]);
    ::waitpid(writer, nullptr, 0);
    print_row(threads == 1 ? "remit grade -, one thread" : "remit grade -, two threads", took, size,
              0);
    if (!took) return 1;
  }
  return 0;
}

}  // namespace

int main(int count, char** words) {
  const remit::bench::RunSize run(count, words);
  if (count > 2 && std::string_view(words[1]) == "pipe") {
    return grade_pipe(std::strtoull(words[2], nullptr, 10));
  }
  const std::size_t megabytes =
      count > 1 ? std::strtoull(words[1], nullptr, 10) : run.of<std::size_t>(200, 1);
  const std::string python = count > 2 ? std::string(words[2]) + "/bin/python" : "python3";
  if (count > 2 && !measure([&] { return become({python, "-c", "import duckdb"}); })) {
    measure([&] { return become({"python3", "-m", "venv", words[2]}); });
    measure([&] { return become({python, "-m", "pip", "install", "duckdb"}); });
  }
  const std::string path = (std::filesystem::temp_directory_path() /
                            ("remit-grade-bench-" + std::to_string(::getpid()) + ".jsonl"))
                               .string();
  Size size;
  {
    std::ofstream file(path, std::ios::binary);
    size.events =
        make_trace([&](const std::string& text) { file << text; }, megabytes << 20U, size.bytes);
  }
  print_size(size);
  print_heading();
  const int rounds = run.of(kRounds, 1);
  const auto graded = [&](unsigned threads) {
    return best_of(rounds, [&] { return grades_file(path, threads, size.events) ? 0 : 1; });
  };
  const auto plain = best_of(rounds, [&] { return plain_loop(path, size.events) ? 0 : 1; });
  const double plain_s = plain ? plain->processor_s : 0;
  const auto one = graded(1);
  const auto two = graded(2);
  print_row("remit grade, one thread", one, size, plain_s);
  print_row("remit grade, two threads", two, size, plain_s);
  print_row("plain loop, simdjson", plain, size, plain_s);
  const auto plain_again = again(path, [&](const simdjson::padded_string& text) {
    return plain_loop_over(text, size.events);
  });
  const auto one_again = again(path, [&](const simdjson::padded_string& text) {
    return grades(
        remit::trace::Input::of_stream("trace", std::make_unique<remit::bench::TextFile>(text)), 1,
        size.events);
  });
  const double again_s = plain_again ? plain_again->processor_s : 0;
  print_row("again, from memory: grade", one_again, size, again_s);
  print_row("again, from memory: plain", plain_again, size, again_s);
  print_row("DuckDB, one thread", measure([&] { return become({python, "-c", kDuckDb, path}); }),
            size, plain_s);
  print_row("jq", measure([&] { return become({"jq", "-n", kJq, path}); }), size, plain_s);
  print_row("plain loop, Python json",
            measure([&] { return become({"python3", "-c", kPython, path}); }), size, plain_s);
  if (one && two)
    std::printf("two threads: %.2f times one, by the clock\n", one->wall_s / two->wall_s);
  std::filesystem::remove(path);
  return one && two && plain && one_again && plain_again ? 0 : 1;
}
