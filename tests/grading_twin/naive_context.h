// What the naive rules look at and where they put what they find.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "naive_grader.h"
#include "naive_trace.h"

namespace remit::twin {

using Events = std::vector<const NaiveEvent*>;
using grading::Owner;
using grading::Value;
using grading::Verdict;

/// What a finding says beside its code; texts that are empty say nothing.
struct What {
  std::string expected, recorded;
  Events events;
  std::optional<Value> value = std::nullopt;  // where it is not that of the code
  std::optional<Owner> owner = std::nullopt;  // likewise
  std::string detail = {};                    // what the message says beside the code's meaning
};

/// The same with a detail.
What saying(std::string detail, What what);

/// A finding before its owner's consequence is known.
struct NaiveFinding {
  std::string code;
  std::string invocation;  // empty: none
  std::string case_id;     // empty: none
  Verdict verdict = Verdict::kCompleteness;
  Owner owner = Owner::kObservability;
  Value value = Value::kFailed;
  std::string expected, recorded;
  std::vector<std::string> places;
  std::string message;
};

/// A place in a writer's order at which events are missing.
struct NaiveLoss {
  NaiveWriter writer;
  NaiveOrder before;                // what was lost stood before this
  bool is_anywhere_before = false;  // else right before it
};

struct NaiveCase {
  const grading::Case* definition = nullptr;
  std::vector<std::string> invocations;  // in order of their requests
  bool request_absent = false;
};

/// One invocation, by writer and its order.
struct NaiveCall {
  std::string id;
  Events events;
  NaiveRequirements required;

  [[nodiscard]] Events of(EventKind kind) const;
};

struct Context {
  const NaiveTrace& trace;
  const TwinCriteria& criteria;
  std::map<std::string, NaiveCall> calls;
  std::vector<NaiveLoss> losses;
  std::vector<NaiveFinding> findings;
  std::vector<NaiveCase> cases;
  std::map<std::string, std::string> case_of;                   // invocation -> case
  std::map<std::string, const grading::Expectation*> entry_of;  // invocation -> entry

  [[nodiscard]] const grading::Manifest* manifest() const {
    return criteria.criteria.manifest ? &*criteria.criteria.manifest : nullptr;
  }
  [[nodiscard]] const grading::Expectation* entry(const std::string& id) const {
    const auto found = entry_of.find(id);
    return found == entry_of.end() ? nullptr : found->second;
  }
};

/// Whether one stands before the other in the log of one writer.
bool before(const NaiveEvent* left, const NaiveEvent* right);
bool is_allow(const NaiveEvent* decision);
bool is_deny(const NaiveEvent* decision);
bool any_allow(const Events& decisions);
/// REQ-GR-075, REQ-GR-078: whether an observer's silence about the call means that nothing
/// happened.
bool has_closed_spy(const Context& context, const Events& events);
/// REQ-GR-060.
bool is_shadow(const NaiveCall& call, const NaiveEvent* decision);
/// The field of the first request that records it, else of the first event that does; or empty.
std::string first_recorded(const Events& events, Field field);
/// Whether each of the fields is the same in both, or not recorded by one of them.
bool same_where_recorded(const NaiveEvent* left, const NaiveEvent* right,
                         const std::vector<Field>& fields);

/// Adds a finding with the verdict, owner and value of its code. One with an invocation is of its
/// case.
void add(Context& context, const std::string& code, const std::string& invocation, What what = {});
void add_case_finding(Context& context, const std::string& code, const std::string& invocation,
                      const std::string& case_id, What what = {});
/// A finding that a loss may explain (REQ-GR-071).
void add_absence(Context& context, const std::string& code, const NaiveCall& call, What what);

/// Fills `losses` and finds what the writers' logs say of themselves.
void judge_logs(Context& context);
/// Lines under a number that was used before.
void judge_repeats(Context& context);
/// Fills `cases`, `case_of` and `entry_of`, and finds what is wrong with requests and entries.
void judge_cases(Context& context);
/// What the run says of its surroundings (REQ-GR-126).
void judge_environment(Context& context);
/// What must not stand in the lines, told as in `told` where that is a choice.
void judge_redaction(Context& context, const std::set<std::string>& told);
/// What was not checked (REQ-GR-085). Call last.
std::vector<std::string> scope_of(const Context& context);

// Everything that one invocation may violate, cases apart.
void judge_presence(Context& context, const NaiveCall& call);
void judge_open(Context& context, const NaiveCall& call);
void judge_decisions(Context& context, const NaiveCall& call);
void judge_facts(Context& context, const NaiveCall& call);
void judge_execution(Context& context, const NaiveCall& call);

/// Once for each writer whose first `later` stands before its first `earlier` (REQ-GR-032).
void judge_order(Context& context, const std::string& code, const NaiveCall& call, What what,
                 const Events& earlier, const Events& later);

/// `1 start`, `2 starts`; `finish` has `finishes`.
std::string count_text(std::uint64_t count, const std::string& noun);
std::string bounds_text(const NaiveBounds& bounds, const std::string& noun);

}  // namespace remit::twin
