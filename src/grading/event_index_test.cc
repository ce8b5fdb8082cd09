// Searches among many events find what comparing them one by one finds.
#include "grading/event_index.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "tests/support/seeded_random.h"

namespace remit::grading {
namespace {

using event::Event;
using event::EventKind;
using event::Field;
using testing::SeededRandom;

// An event owns no text, so the words it points at stand here.
constexpr std::string_view kWriters[] = {"w0", "w1", "w2"};
constexpr std::string_view kChoices[] = {"0", "1", "2", "3"};

/// Decisions and starts of one invocation, of three writers, with any facts.
CallView random_call(RecordStore& store, RuleBook& book, SeededRandom& random, std::size_t count) {
  EXPECT_TRUE(store.begin_source("a", "a"));
  for (std::size_t i = 0; i < count; ++i) {
    Event event;
    event.kind =
        random.number(4) == 0 ? EventKind::kExecutorStart : EventKind::kAuthorizationDecision;
    event.set(Field::kInvocationId, "i");
    event.set(Field::kWriter, kWriters[random.number(3)]);
    event.set(Field::kSeq, static_cast<std::int64_t>(i) + 1);
    for (const Field field :
         {Field::kTool, Field::kResourceType, Field::kResourceId, Field::kArgsDigest,
          Field::kDecisionId, Field::kAction, Field::kResourceTenant}) {
      const std::uint64_t choice = random.number(4);
      if (choice != 0) event.set(field, kChoices[choice]);
    }
    if (random.number(3) == 0) event.set(Field::kAttempt, std::int64_t{2});
    event.further_resources.assign(random.number(3), "other");
    event.mark(Field::kFurtherResources);
    if (random.number(4) == 0) {
      event.set(Field::kMode, "shadow");
      event.mark(Field::kEnforced);
    }
    const std::uint64_t word = random.number(4);
    if (word != 0) event.set(Field::kDecision, word == 1 ? "allow" : word == 2 ? "deny" : "maybe");
    EXPECT_TRUE(store.add(event, {"line", i, false}));
  }
  EXPECT_TRUE(store.settle());
  CallView call;
  call.fill(store, book, 0);
  return call;
}

/// By what RecordStore says of two events.
bool is_sought(const RecordStore& store, const Sought& sought, const EventRecord& event,
               bool expects_shadow) {
  const EventRecord& by = *sought.by;
  const bool is_allow =
      event.decision == DecisionWord::kAllow || (event.is_shadow && expects_shadow);
  const unsigned word = is_allow                                ? kAllowWord
                        : event.decision == DecisionWord::kDeny ? kDenyWord
                                                                : kOtherWord;
  const auto differs = [&](unsigned bit, Fact fact) {
    return (sought.facts & bit) != 0 && !store.agree(event, by, fact);
  };
  if (differs(kToolFact, Fact::kTool) || differs(kResourceTypeFact, Fact::kResourceType) ||
      differs(kResourceIdFact, Fact::kResourceId) || differs(kArgsFact, Fact::kArgsDigest) ||
      differs(kActionFact, Fact::kAction) || differs(kResourceTenantFact, Fact::kResourceTenant)) {
    return false;
  }
  const auto further = [&](const EventRecord& one) {
    return store.text(one.fact(Fact::kFurtherResources));
  };
  const bool is_other_list = !further(by).empty() && further(by) != further(event);
  if ((sought.facts & kFurtherFact) != 0 && is_other_list) return false;
  if ((sought.facts & kAttemptFact) != 0 && by.number() != event.number()) return false;
  const bool is_cited =
      store.text(event.fact(Fact::kDecisionId)) == store.text(by.fact(Fact::kDecisionId));
  return (sought.words & word) != 0 && (!sought.is_cited || is_cited);
}

void expect_same(EventIndex& index, const RecordStore& store, const Events& events,
                 const Sought& sought, const Range& range, bool expects_shadow) {
  std::size_t first = EventIndex::kNone;
  std::size_t last = EventIndex::kNone;
  for (std::size_t at = range.from; at < range.to; ++at) {
    if (!is_sought(store, sought, *events[at], expects_shadow)) continue;
    if (first == EventIndex::kNone) first = at;
    last = at;
  }
  EXPECT_EQ(index.first(sought, range), first);
  EXPECT_EQ(index.last(sought, range), last);
}

TEST(EventIndex, FindsWhatComparingFinds) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    SeededRandom random(seed);
    PosixFileSystem files;
    RecordStore store({files}, seed);
    const Contract contract = sequential_contract();
    RuleBook book(contract, store);
    const CallView call = random_call(store, book, random, 4 + random.number(120));
    const bool expects_shadow = random.number(2) == 0;
    EventIndex index(store);
    index.reset(call.starts, expects_shadow);  // searched before: nothing of it may remain
    if (!call.starts.empty()) (void)index.first({call.starts[0]}, {0, call.starts.size()});
    index.reset(call.decisions, expects_shadow);
    const std::size_t count = call.decisions.size();
    for (const EventRecord* start : call.starts) {
      for (int round = 0; round < 20; ++round) {
        const std::size_t from = random.number(count + 1);
        const Range range = {from, from + random.number(count - from + 1)};
        const bool is_cited = start->fact(Fact::kDecisionId) != 0 && random.number(2) == 0;
        expect_same(index, store, call.decisions,
                    {start, static_cast<unsigned>(random.number((kCallFacts | kAttemptFact) + 1)),
                     is_cited, static_cast<unsigned>(random.number(kAnyWord + 1))},
                    range, expects_shadow);
      }
      if (start->fact(Fact::kDecisionId) == 0) continue;
      std::size_t other = 0;
      while (other < count &&
             (!is_sought(store, {start, 0, true}, *call.decisions[other], expects_shadow) ||
              store.applies(*call.decisions[other], *start))) {
        ++other;
      }
      EXPECT_EQ(index.first_cited_that_differs(*start, kCallFacts),
                other == count ? EventIndex::kNone : other);
    }
  }
}

TEST(EventIndex, TellsWhichEventsAreOfAWriter) {
  SeededRandom random(5);
  PosixFileSystem files;
  RecordStore store({files}, 5);
  const Contract contract = sequential_contract();
  RuleBook book(contract, store);
  const CallView call = random_call(store, book, random, 50);
  std::size_t covered = 0;
  for (std::uint32_t writer = 0; writer < store.writers().size(); ++writer) {
    const Range own = range_of_writer(store, call.events, writer);
    covered += own.to - own.from;
    for (std::size_t at = own.from; at < own.to; ++at) EXPECT_EQ(call.events[at]->writer, writer);
  }
  EXPECT_EQ(covered, call.events.size());
}

}  // namespace
}  // namespace remit::grading
