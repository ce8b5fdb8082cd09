// Looking for 100 canaries in eight encodings, beside a plain loop over the lines and the grader
// without it, all on the same trace in one run. Times are those of the processor.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench/run_size.h"
#include "bench/text_file.h"
#include "event/event.h"
#include "grading/grading.h"
#include "redaction/inspector.h"

namespace {

using remit::event::Event;
using remit::event::EventKind;
using remit::event::Field;

constexpr std::size_t kTraceBytes = std::size_t{100} << 20U;
constexpr std::size_t kCanaries = 100;
constexpr int kRounds = 5;

/// The same text in every run.
class RandomText {
 public:
  std::string next(std::size_t bytes, std::string_view alphabet) {
    std::string out;
    while (out.size() < bytes) {
      state_ = state_ * 6364136223846793005U + 1442695040888963407U;
      out += alphabet[(state_ >> 33U) % alphabet.size()];
    }
    return out;
  }

 private:
  std::uint64_t state_ = 1;
};

// Secrets as they are issued: a prefix that many share, then 28 random characters.
std::vector<remit::redaction::Canary> make_canaries() {
  RandomText random;
  std::vector<remit::redaction::Canary> out;
  for (std::size_t i = 0; i < kCanaries; ++i) {
    out.push_back({"canary-" + std::to_string(i),
                   "sk-" + random.next(28, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJ0123456789_.$"),
                   i + 1});
  }
  return out;
}

// One allowed call after another, four events each. With escapes, each has an unknown field that
// holds JSON within JSON.
std::string make_trace(std::size_t bytes, bool with_escapes) {
  RandomText random;
  std::string out;
  constexpr std::array kKinds = {EventKind::kToolRequest, EventKind::kAuthorizationDecision,
                                 EventKind::kExecutorStart, EventKind::kExecutorFinish};
  std::string digest;
  for (std::int64_t seq = 1; seq % 4 != 1 || out.size() < bytes; ++seq) {
    const auto step = static_cast<std::size_t>((seq - 1) % 4);
    const std::string id = "inv-" + std::to_string(10'000'000 + (seq - 1) / 4);
    if (step == 0) digest = "hmac-sha256:" + random.next(64, "0123456789abcdef");
    Event event;
    event.kind = kKinds[step];
    event.set(Field::kInvocationId, std::string_view(id));
    event.set(Field::kTime, "2026-11-30T18:02:14.123456789Z");
    event.set(Field::kWriter, "gateway-1");
    event.set(Field::kSeq, seq);
    event.set(Field::kRunId, "run-2026-11-30");
    event.set(Field::kRoute, "agent");
    event.set(Field::kTool, "invoice.read");
    event.set(Field::kArgsDigest, std::string_view(digest));
    if (event.kind == EventKind::kAuthorizationDecision) {
      event.set(Field::kDecision, "allow");
      event.set(Field::kReason, "allowed");
      event.set(Field::kPolicyVersion, "2026-08-04");
      event.set(Field::kResourceId, "canonical-invoice-4");
    }
    if (event.kind == EventKind::kExecutorFinish) event.set(Field::kOutcome, "succeeded");
    remit::event::encode(event, out);
    if (!with_escapes) continue;
    out.erase(out.size() - 2);
    out += R"(,"x_arguments":"{\"invoice\":\"4\",\"note\":\"\u00fcber\"}"})"
           "\n";
  }
  return out;
}

template <class Take>
void for_each_line(std::string_view text, const Take& take) {
  while (!text.empty()) {
    const auto end = static_cast<std::size_t>(
        static_cast<const char*>(std::memchr(text.data(), '\n', text.size())) - text.data());
    take(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
}

std::size_t plain_loop(std::string_view text) {
  std::size_t lines = 0;
  for_each_line(text, [&](std::string_view line) { lines += line.empty() ? 0U : 1U; });
  return lines;
}

std::size_t inspect_all(std::string_view text,
                        const std::shared_ptr<const remit::redaction::Redaction>& redaction) {
  auto inspector = remit::redaction::Inspector::make(redaction);
  std::size_t lines = 0;
  for_each_line(text, [&](std::string_view line) {
    if (!inspector->inspect(line, nullptr).empty()) std::abort();
    ++lines;
  });
  return lines;
}

std::size_t grade(std::string_view text,
                  std::shared_ptr<const remit::redaction::Redaction> redaction) {
  remit::PosixFileSystem files;
  remit::grading::Evidence evidence;
  evidence.inputs.push_back(
      remit::trace::Input::of_stream("trace", std::make_unique<remit::bench::TextFile>(text)));
  remit::grading::Criteria criteria;
  criteria.redaction = std::move(redaction);
  const auto graded = remit::grading::grade(files, std::move(evidence), std::move(criteria));
  if (!graded || !graded->findings.empty()) std::abort();
  return graded->population.events;
}

template <class Run>
double best_cpu_seconds(Run run, std::size_t lines) {
  double best = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    const std::clock_t start = std::clock();
    if (run() != lines) std::abort();
    best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return best;
}

void measure(const char* what, const std::string& text,
             const std::shared_ptr<const remit::redaction::Redaction>& redaction) {
  const std::size_t lines = plain_loop(text);
  std::printf("%s: %zu events of %zu bytes, processor time, best of %d\n", what, lines,
              text.size() / lines, kRounds);
  const auto row = [&](const char* name, double seconds) {
    std::printf("  %-44s %7.3f GB/s %7.2f M events/s\n", name,
                static_cast<double>(text.size()) / seconds / 1e9,
                static_cast<double>(lines) / seconds / 1e6);
  };
  row("plain memchr loop", best_cpu_seconds([&] { return plain_loop(text); }, lines));
  row("100 canaries alone", best_cpu_seconds([&] { return inspect_all(text, redaction); }, lines));
  row("remit grade", best_cpu_seconds([&] { return grade(text, nullptr); }, lines));
  row("remit grade with 100 canaries",
      best_cpu_seconds([&] { return grade(text, redaction); }, lines));
}

}  // namespace

int main(int argc, char** argv) {
  const remit::bench::RunSize size(argc, argv);
  const auto bytes = size.of<std::size_t>(kTraceBytes, 1U << 14U);
  const auto redaction = remit::redaction::Redaction::make(make_canaries(), {});
  if (!redaction) return 1;
  const std::clock_t start = std::clock();
  if (!(*redaction)->control()) return 1;
  std::printf("the control of %zu canaries takes %.1f ms\n", kCanaries,
              1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  measure("as the boundary writes", make_trace(bytes, false), *redaction);
  measure("with JSON within JSON in every event", make_trace(bytes, true), *redaction);
  return 0;
}
