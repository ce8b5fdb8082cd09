// The grader on one core, beside a plain loop on simdjson and a plain loop in Python, all three on
// the same trace in one run.
//
// The plain loops do what a script does: look up a few fields by name and group by invocation. They
// check no rule, no order and no field; the grader does all of that. Times are those of the
// processor, so that other work on the machine counts little.
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <unistd.h>

#include "event/event.h"
#include "grading/grading.h"
#include "process/child.h"

namespace {

using remit::event::Event;
using remit::event::EventKind;
using remit::event::Field;

constexpr std::size_t kTraceBytes = std::size_t{200} << 20U;
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

std::string make_trace(std::size_t& events) {
  std::string out;
  out.reserve(kTraceBytes + 4096);
  std::vector<Call> active;
  std::size_t next = 0;
  std::uint64_t state = 1;
  std::int64_t seq = 0;
  while (out.size() < kTraceBytes || !active.empty()) {
    while (active.size() < kInFlight && out.size() < kTraceBytes) active.push_back({next++, 0});
    state = state * 6364136223846793005U + 1442695040888963407U;
    const std::size_t at = (state >> 33U) % active.size();
    append_event(active[at], ++seq, out);
    ++active[at].step;
    if (!is_over(active[at])) continue;
    active[at] = active.back();
    active.pop_back();
  }
  events = static_cast<std::size_t>(seq);
  return out;
}

/// The trace as a file in memory, copied out by blocks as the kernel does.
class MemoryFile final : public remit::ReadFile {
 public:
  explicit MemoryFile(std::string_view text) : text_(text) {}
  remit::Result<std::size_t> read(std::span<std::byte> out) override {
    const std::size_t count = std::min(out.size(), text_.size());
    std::memcpy(out.data(), text_.data(), count);
    text_.remove_prefix(count);
    return count;
  }

 private:
  std::string_view text_;
};

std::size_t grade_memory(std::string_view text) {
  remit::PosixFileSystem files;
  remit::grading::Evidence evidence;
  evidence.inputs.push_back(
      remit::trace::Input::of_stream("trace", std::make_unique<MemoryFile>(text)));
  const auto grade = remit::grading::grade(files, std::move(evidence), {});
  if (!grade || grade->gate != remit::grading::Gate::kPassed) std::abort();
  return grade->population.events;
}

std::size_t grade_file(const std::string& path) {
  remit::PosixFileSystem files;
  remit::grading::Evidence evidence;
  evidence.inputs.push_back(remit::trace::Input::of_file(path));
  const auto grade = remit::grading::grade(files, std::move(evidence), {});
  if (!grade || grade->gate != remit::grading::Gate::kPassed) std::abort();
  return grade->population.events;
}

struct Tally {
  bool allowed = false;
  std::uint32_t starts = 0;
};

std::size_t plain_loop(std::string_view text) {
  simdjson::ondemand::parser parser;
  std::unordered_map<std::string, Tally> calls;
  std::size_t events = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    auto document = parser.iterate(text.data(), end, text.size() + 64);
    text.remove_prefix(end + 1);
    std::string_view kind, id, decision;
    if (document["event"].get_string().get(kind) != simdjson::SUCCESS) std::abort();
    if (document["invocation_id"].get_string().get(id) != simdjson::SUCCESS) std::abort();
    Tally& call = calls[std::string(id)];
    if (kind == "authorization.decision") {
      if (document["decision"].get_string().get(decision) != simdjson::SUCCESS) std::abort();
      call.allowed = decision == "allow";
    } else if (kind == "executor.start") {
      ++call.starts;
    }
    ++events;
  }
  const bool is_clean = std::all_of(calls.begin(), calls.end(), [](const auto& one) {
    return one.second.starts == (one.second.allowed ? 1U : 0U);
  });
  return is_clean ? events : 0;
}

template <class Run>
double best_cpu_seconds(Run run, std::size_t events) {
  double best = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    const std::clock_t start = std::clock();
    if (run() != events) std::abort();
    const auto took = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    best = std::min(best, took);
  }
  return best;
}

constexpr const char* kPython = R"(
import json, sys, time
begin = time.process_time()
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
print(time.process_time() - begin)
)";

/// Seconds that Python says it took; nothing where there is no Python.
std::optional<double> python_seconds(const std::string& path) {
  auto child = remit::process::Child::start(
      {{"python3", "-c", kPython, path}, remit::process::pick_environment({"PATH"})});
  if (!child) return std::nullopt;
  std::string out;
  char buffer[256];
  for (ssize_t count; (count = ::read(child->output().get(), buffer, sizeof buffer)) > 0;) {
    out.append(buffer, static_cast<std::size_t>(count));
  }
  double seconds = 0;
  const auto parsed = std::from_chars(out.data(), out.data() + out.size(), seconds);
  return parsed.ec == std::errc{} ? std::optional(seconds) : std::nullopt;
}

void print_row(const char* what, double seconds, std::size_t bytes, std::size_t events,
               double baseline) {
  std::printf("%-34s %7.3f GB/s %7.2f M events/s %7.2f x plain loop\n", what,
              static_cast<double>(bytes) / seconds / 1e9,
              static_cast<double>(events) / seconds / 1e6, baseline / seconds);
}

}  // namespace

int main() {
  std::size_t events = 0;
  std::string text = make_trace(events);
  text.reserve(text.size() + simdjson::SIMDJSON_PADDING);
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("remit-grade-bench-" + std::to_string(::getpid()));
  std::ofstream(path, std::ios::binary) << text;
  std::printf("%zu events, %zu bytes, %.0f bytes an event, one core, processor time, best of %d\n",
              events, text.size(), static_cast<double>(text.size()) / static_cast<double>(events),
              kRounds);
  const double plain = best_cpu_seconds([&] { return plain_loop(text); }, events);
  const double memory = best_cpu_seconds([&] { return grade_memory(text); }, events);
  const double file = best_cpu_seconds([&] { return grade_file(path.string()); }, events);
  const std::optional<double> python = python_seconds(path.string());
  std::filesystem::remove(path);
  print_row("remit grade, from memory", memory, text.size(), events, plain);
  print_row("remit grade, from a cached file", file, text.size(), events, plain);
  print_row("plain loop, simdjson by name", plain, text.size(), events, plain);
  if (python) {
    print_row("plain loop, Python json", *python, text.size(), events, plain);
  } else {
    std::printf("plain loop, Python json: not run, no python3\n");
  }
  return 0;
}
