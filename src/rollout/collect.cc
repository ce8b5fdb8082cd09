// Reading events, laying out each call, and telling of which sort it is.
#include "rollout/collect.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "access/reason.h"
#include "base/rfc3339.h"
#include "base/text_hash.h"
#include "grading/call_view.h"
#include "grading/record_store.h"
#include "grading/rule_book.h"
#include "rollout/call_sort.h"
#include "trace/event_reader.h"

namespace remit::rollout {
namespace {

using event::Event;
using event::EventKind;
using event::Field;
using grading::CallView;
using grading::EventRecord;
using grading::Fact;
using grading::RecordStore;

constexpr std::size_t kMaxProblemsTold = 10;

/// Counts by pair and by route. Beyond the bounds the last by name give way, so that what is kept
/// does not depend on the order of reading.
class Counter {
 public:
  Counter(const RecordStore& store, const Criteria& criteria, const Reading& reading)
      : store_(store), criteria_(criteria), reading_(reading) {}

  void note(const Event& event);
  void count(const CallView& call);
  void note_problem(std::string text) {
    if (seen_.problems.size() < kMaxProblemsTold) seen_.problems.push_back(std::move(text));
  }
  Seen& seen() { return seen_; }
  /// Once, at the end: pairs of which nothing but a decision's time was noted are none.
  Seen take();

 private:
  void add_to(const Pair& pair, const CallView& call, const CallSort& sort);
  [[nodiscard]] std::string text(grading::Ref ref) const { return std::string(store_.text(ref)); }
  void count_policies(const CallView& call, Tally& out);
  void count_effects(const CallView& call, Tally& out) const;
  Tally& tally_of(const Pair& pair);

  const RecordStore& store_;
  const Criteria& criteria_;
  const Reading& reading_;
  Seen seen_;
};

// What the store does not keep: times, and the mode of decisions that bind.
void Counter::note(const Event& event) {
  if (event.has(Field::kSource) &&
      (event.kind == EventKind::kEffectObserved || event.kind == EventKind::kRunFinished)) {
    seen_.observers.emplace(event.text(Field::kSource));
    if (seen_.observers.size() > kMaxObservers) {
      seen_.observers.erase(std::prev(seen_.observers.end()));
    }
  }
  if (event.kind != EventKind::kAuthorizationDecision || !event.has(Field::kTool)) return;
  if (is_early(event.text(Field::kReason)) ||
      !is_asked_about(criteria_, event.text(Field::kPolicyVersion),
                      event.text(Field::kPolicyDigest))) {
    return;
  }
  Tally& tally =
      tally_of({std::string(event.text(Field::kRoute)), std::string(event.text(Field::kTool))});
  tally.has_shadow_mode |= event.text(Field::kMode) == "shadow";
  if (!event.has(Field::kTime)) return;
  if (const Result<WallTime> time = parse_rfc3339(event.text(Field::kTime))) tally.see(*time);
}

Tally& Counter::tally_of(const Pair& pair) {
  const auto [at, is_new] = seen_.pairs.try_emplace(pair);
  if (!is_new || seen_.pairs.size() <= kMaxPairs) return at->second;
  auto last = std::prev(seen_.pairs.end());
  if (last == at) return at->second;  // it gives way to the next
  seen_.left_out += last->second.calls();
  seen_.pairs.erase(last);
  return at->second;
}

void Counter::count(const CallView& call) {
  const std::optional<CallSort> sort = sort_of(call, store_, criteria_);
  if (!sort) return;
  ++seen_.calls;
  const Pair pair{text(call.route), text(call.tool)};
  if (!sort->early_reason.empty()) {
    const auto [at, is_new] = seen_.early.try_emplace(pair.route);
    at->second[sort->early_reason].add(call.id, reading_.examples);
    if (is_new && seen_.early.size() > kMaxRoutes) {
      const auto last = std::prev(seen_.early.end());
      for (const auto& [reason, calls] : last->second) seen_.left_out += calls.calls();
      seen_.early.erase(last);
    }
    return;
  }
  add_to(pair, call, *sort);
}

void Counter::add_to(const Pair& pair, const CallView& call, const CallSort& sort) {
  const std::size_t kept = reading_.examples;
  Tally& tally = tally_of(pair);
  tally.of(sort.sort).add(call.id, kept);
  switch (sort.sort) {
    case Sort::kWouldDeny:
      tally.would_deny[sort.reason].add(call.id, kept);
      break;
    case Sort::kWouldAllow:
      tally.would_allow[sort.refusal].add(call.id, kept);
      break;
    case Sort::kEnforcedDeny:
    case Sort::kAgainstDenial:
      tally.denied[sort.reason].add(call.id, kept);
      break;
    default:
      break;
  }
  count_policies(call, tally);
  count_effects(call, tally);
}

void Counter::count_policies(const CallView& call, Tally& out) {
  std::set<Policy> policies;
  for (const EventRecord* decision : call.decisions) {
    policies.insert(
        {text(decision->fact(Fact::kPolicyVersion)), text(decision->fact(Fact::kPolicyDigest))});
    const std::string_view who = store_.text(decision->fact(Fact::kPrincipalRef));
    if (!who.empty()) out.principals.add(hash_text(who, reading_.hash_seed));
  }
  for (const Policy& policy : policies) out.count_policy(policy, 1);
}

// REQ-RO-013.
void Counter::count_effects(const CallView& call, Tally& out) const {
  bool has_unexplained = false;
  for (const EventRecord* effect : call.effects) {
    if (effect->number() <= 0) continue;
    const auto number = static_cast<std::uint64_t>(effect->number());
    const bool is_explained = std::ranges::any_of(call.decisions, [&](const EventRecord* decision) {
      return (decision->decision == grading::DecisionWord::kAllow || decision->is_shadow) &&
             store_.applies(*decision, *effect);
    });
    out.count_effects(number, is_explained ? 0 : number);
    has_unexplained |= !is_explained;
  }
  if (has_unexplained) out.unexplained.add(call.id, reading_.examples);
}

Seen Counter::take() {
  std::erase_if(seen_.pairs, [](const auto& one) { return one.second.calls() == 0; });
  if (seen_.pairs.size() > kMaxPairs) {
    const auto last = std::prev(seen_.pairs.end());
    seen_.left_out += last->second.calls();
    seen_.pairs.erase(last);
  }
  return std::move(seen_);
}

/// Has every event of an input taken, and every mistake told.
class InputReader {
 public:
  InputReader(FileSystem& files, RecordStore& store, Counter& counter, const Criteria& criteria,
              const Reading& reading)
      : files_(files), store_(store), counter_(counter), criteria_(criteria), reading_(reading) {}

  Status read(const trace::Input& input) {
    trace::EventReader reader(files_, input, decoder_, {}, reading_.threads, reading_.hash_seed);
    trace::Item item = trace::Item::kSource;
    while (item != trace::Item::kEnd) {
      REMIT_TRY_ASSIGN(item, reader.next());
      switch (item) {
        case trace::Item::kSource:
          if (!store_.begin_source(input.name, reader.source())) {
            return Error{ErrorCode::kLimitExceeded,
                         fmt::format("a run may have at most {} files", kMaxTraceSources),
                         reader.source()};
          }
          break;
        case trace::Item::kMalformed:
          ++counter_.seen().malformed;
          counter_.note_problem(fmt::format("malformed line at {} byte {}: {}",
                                            quoted(reader.source()), reader.error_offset(),
                                            reader.error().message));
          break;
        case trace::Item::kEvent:
          if (Status taken = take(reader.event(), reader.line()); !taken) {
            return in_place(reader.source(), std::move(taken).error());
          }
          break;
        case trace::Item::kEnd:
          break;
      }
    }
    return {};
  }

 private:
  Status take(const Event& event, const trace::Line& line) {
    counter_.note(event);
    if (!is_refused_finish(event)) return store_.add(event, line);
    // The store keeps no error type. An outcome of its own says what this one means.
    Event refused = event;
    refused.set(Field::kOutcome, kRefusedOutcome);
    return store_.add(refused, line);
  }

  [[nodiscard]] bool is_refused_finish(const Event& event) const {
    return event.kind == EventKind::kExecutorFinish && event.text(Field::kOutcome) == "failed" &&
           std::ranges::find(criteria_.refused_as, event.text(Field::kErrorType)) !=
               criteria_.refused_as.end();
  }

  FileSystem& files_;
  RecordStore& store_;
  Counter& counter_;
  const Criteria& criteria_;
  const Reading& reading_;
  event::Decoder decoder_;
};

void note_losses(const RecordStore& store, Counter& counter) {
  Seen& seen = counter.seen();
  std::vector<const grading::WriterLog*> logs;
  for (const grading::WriterLog& log : store.writers()) logs.push_back(&log);
  std::ranges::sort(logs, [](const auto* left, const auto* right) {
    return std::tie(left->name, left->rank) < std::tie(right->name, right->rank);
  });
  for (const grading::WriterLog* log : logs) {
    if (log->losses.empty()) continue;
    seen.losses += log->losses.size();
    counter.note_problem(fmt::format("events of the writer {} are missing, at {} place{}",
                                     quoted(log->name), log->losses.size(),
                                     log->losses.size() == 1 ? "" : "s"));
  }
  seen.contradicted = store.repeats().size();
  if (seen.contradicted > 0) {
    counter.note_problem(fmt::format("{} line{} came again under the number of another",
                                     seen.contradicted, seen.contradicted == 1 ? "" : "s"));
  }
}

}  // namespace

Result<Seen> collect(FileSystem& files, const grading::Evidence& evidence, const Criteria& criteria,
                     const Reading& reading) {
  RecordStore store({files, reading.memory_bytes, reading.scratch_directories}, reading.hash_seed);
  Counter counter(store, criteria, reading);
  std::vector<std::size_t> order(evidence.inputs.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, [&](std::size_t left, std::size_t right) {
    return std::tie(evidence.inputs[left].name, left) <
           std::tie(evidence.inputs[right].name, right);
  });
  InputReader reader(files, store, counter, criteria, reading);
  for (const std::size_t index : order) REMIT_TRY(reader.read(evidence.inputs[index]));
  REMIT_TRY(store.settle());
  const grading::Contract contract = grading::sequential_contract();
  grading::RuleBook book(contract, store);
  CallView call;
  REMIT_TRY(store.for_each_part([](const grading::PlainCall&) { return false; },
                                [&]() -> Status {
                                  for (std::uint32_t i = 0; i < store.invocations().size(); ++i) {
                                    call.fill(store, book, i);
                                    counter.count(call);
                                  }
                                  book.forget_references();
                                  return {};
                                }));
  note_losses(store, counter);
  Seen& seen = counter.seen();
  seen.events = store.population().events;
  for (const grading::Alteration& one : evidence.alterations) {
    seen.altered.push_back(one.error.to_string());
  }
  return counter.take();
}

}  // namespace remit::rollout
