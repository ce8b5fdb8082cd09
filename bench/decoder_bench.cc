// The event decoder beside a plain simdjson loop that reads the same fields of the same bytes.
#include <simdjson.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "bench/run_size.h"
#include "event/event.h"
#include "event/name_table.h"
#include "event/names.h"

namespace {

using remit::event::Event;
using remit::event::EventKind;
using remit::event::Field;

constexpr std::size_t kCalls = 40'000;
constexpr int kRounds = 15;

// What one allowed call leaves behind: a request, a resolution, a decision, a start, a finish.
void append_call(std::size_t call, std::string_view tool, std::uint64_t& seq, std::string& out) {
  const std::string id = "inv-" + std::to_string(1'000'000 + call);
  const std::string resource = "invoice-" + std::to_string(call % 5000);
  const std::string digest =
      "hmac-sha256:b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7";
  const std::string policy_digest =
      "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
  const std::string time = "2026-11-30T18:02:14.123456789Z";
  const std::string decision = "d-" + id;
  for (const EventKind kind :
       {EventKind::kToolRequest, EventKind::kResourceResolved, EventKind::kAuthorizationDecision,
        EventKind::kExecutorStart, EventKind::kExecutorFinish}) {
    Event event;
    event.kind = kind;
    event.set(Field::kInvocationId, id);
    event.set(Field::kTime, time);
    event.set(Field::kWriter, "desk-1");
    event.set(Field::kSeq, static_cast<std::int64_t>(++seq));
    event.set(Field::kRunId, "run-2026-11-30");
    event.set(Field::kRoute, call % 7 == 0 ? "queued" : "agent");
    event.set(Field::kTool, tool);
    if (kind == EventKind::kToolRequest) {
      event.set(Field::kPrincipalState, "authenticated");
      event.set(Field::kArgsDigest, digest);
    } else {
      event.set(Field::kResourceType, "Invoice");
      event.set(Field::kResourceId, resource);
    }
    if (kind == EventKind::kResourceResolved) event.set(Field::kOutcome, "found");
    if (kind == EventKind::kExecutorFinish) {
      event.set(Field::kOutcome, "succeeded");
      event.set(Field::kDurationUs, static_cast<std::int64_t>(1000 + call % 900));
    }
    if (kind == EventKind::kExecutorStart) event.set(Field::kDecisionId, decision);
    if (kind == EventKind::kAuthorizationDecision) {
      event.set(Field::kDecision, "allow");
      event.set(Field::kReason, "allowed");
      event.set(Field::kPrincipalState, "authenticated");
      event.set(Field::kPrincipalClass, "support_agent");
      event.set(Field::kPrincipalTenant, "acme");
      event.set(Field::kPolicyVersion, "2026-08-04");
      event.set(Field::kPolicyDigest, policy_digest);
      event.set(Field::kArgsDigest, digest);
      event.set(Field::kDecisionId, decision);
      event.set(Field::kMode, "enforce");
      event.enforced = true;
      event.mark(Field::kEnforced);
      event.determining_policies = {"read-own-tenant"};
      event.mark(Field::kDeterminingPolicies);
    }
    remit::event::encode(event, out);
  }
}

std::vector<std::string_view> split(const std::string& text) {
  std::vector<std::string_view> lines;
  std::string_view rest = text;
  for (std::size_t end; (end = rest.find('\n')) != std::string_view::npos;) {
    lines.push_back(rest.substr(0, end));
    rest.remove_prefix(end + 1);
  }
  return lines;
}

// The sum keeps the compiler from leaving the work out.
std::size_t decode_all(const std::vector<std::string_view>& lines) {
  remit::event::Decoder decoder;
  Event event;
  std::size_t sum = 0;
  for (const std::string_view line : lines) {
    if (!decoder.decode(line, event)) std::abort();
    sum += event.text(Field::kInvocationId).size() + static_cast<std::size_t>(event.kind);
  }
  return sum;
}

// What a plain program does: every top-level string and number by key, without any rule of ours.
std::size_t walk_with_simdjson(const std::vector<std::string_view>& lines) {
  simdjson::ondemand::parser parser;
  std::vector<std::string_view> texts(remit::event::kFieldCount + 1);
  std::size_t sum = 0;
  for (const std::string_view line : lines) {
    auto document = parser.iterate(line.data(), line.size(), line.size() + 64);
    for (auto member : document.get_object()) {
      const std::string_view key = member.unescaped_key();
      const std::size_t index = remit::event::kKeys.find(key);
      auto value = member.value();
      std::string_view text;
      std::int64_t number = 0;
      if (value.get_string().get(text) == simdjson::SUCCESS) {
        if (index < texts.size()) texts[index] = text;
      } else if (value.get_int64().get(number) == simdjson::SUCCESS) {
        sum += static_cast<std::size_t>(number) & 1U;
      }
    }
    sum += texts[0].size();
  }
  return sum;
}

// Time of this thread on the processor, so that a busy machine counts for less.
double thread_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

template <class Run>
double best_seconds(Run run) {
  double best = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    const double start = thread_seconds();
    const std::size_t sum = run();
    const double took = thread_seconds() - start;
    if (sum == 0) std::abort();
    best = std::min(best, took);
  }
  return best;
}

// `text` with `to` in place of each `from`.
std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string out;
  for (std::size_t at; (at = text.find(from)) != std::string_view::npos;) {
    out += text.substr(0, at);
    out += to;
    text.remove_prefix(at + from.size());
  }
  return out += text;
}

void compare(const char* what, std::string text) {
  text.reserve(text.size() + remit::event::Decoder::kPadding);
  const std::vector<std::string_view> lines = split(text);
  const double ours = best_seconds([&] { return decode_all(lines); });
  const double plain = best_seconds([&] { return walk_with_simdjson(lines); });
  const auto bytes = static_cast<double>(text.size());
  const auto count = static_cast<double>(lines.size());
  std::printf(
      "%-22s %4.0f bytes: decoder %5.2f GB/s %5.2f M events/s, simdjson %5.2f, ratio %.2f\n", what,
      bytes / count, bytes / ours / 1e9, count / ours / 1e6, bytes / plain / 1e9, plain / ours);
}

std::string trace(std::string_view tool, std::size_t calls) {
  std::string text;
  std::uint64_t seq = 0;
  for (std::size_t call = 0; call < calls; ++call) append_call(call, tool, seq, text);
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  const remit::bench::RunSize size(argc, argv);
  const auto calls = size.of<std::size_t>(kCalls, 40);
  const std::string ours = trace("invoice.read", calls);
  compare("as Remit writes them", ours);
  compare("a space after , and :", replaced(replaced(ours, ",\"", ", \""), "\":", "\": "));
  compare("an unknown object", replaced(ours, "}\n", ",\"extra\":{\"a\":[1,true,\"x\"]}}\n"));
  compare("with accents", trace("facture.\xc3\xa9mise", calls));
  compare("with an escape", replaced(ours, "invoice.read", "invoice\\u002eread"));
  return 0;
}
