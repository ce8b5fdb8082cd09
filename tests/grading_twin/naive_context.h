// What the naive rules look at and where they put what they find.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "grading/grading.h"
#include "naive_trace.h"

namespace remit::twin {

using Events = std::vector<const NaiveEvent*>;

/// A finding before its owner's consequence is known.
struct NaiveFinding {
  std::string code;
  std::string invocation;  // empty: none
  std::string case_id;     // empty: none
  grading::Verdict verdict = grading::Verdict::kCompleteness;
  grading::Owner owner = grading::Owner::kObservability;
  grading::Value value = grading::Value::kFailed;
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

struct Context {
  const NaiveTrace& trace;
  const grading::Criteria& criteria;
  std::map<std::string, Events> calls;  // events of each invocation, by writer and its order
  std::vector<NaiveLoss> losses;
  std::vector<NaiveFinding> findings;
  std::vector<NaiveCase> cases;
  std::map<std::string, std::string> case_of;                   // invocation -> case
  std::map<std::string, const grading::Expectation*> entry_of;  // invocation -> entry
};

Events of_kind(const Events& events, EventKind kind);
/// Whether one stands before the other in the log of one writer.
bool before(const NaiveEvent* left, const NaiveEvent* right);
bool is_allow(const NaiveEvent* decision);
bool is_deny(const NaiveEvent* decision);
bool any_allow(const Events& decisions);
/// The field of the first request that records it, else of the first event that does; or empty.
std::string first_recorded(const Events& events, Field field);

/// Adds a finding with the verdict, owner and value of its code. One with an invocation is of its
/// case.
void add(Context& context, const std::string& code, const std::string& invocation,
         std::optional<grading::Value> value = std::nullopt);
void add_case_finding(Context& context, const std::string& code, const std::string& invocation,
                      const std::string& case_id,
                      std::optional<grading::Value> value = std::nullopt);

/// Fills `losses` and finds what the writers' logs say of themselves.
void judge_logs(Context& context);
/// Lines under a number that was used before.
void judge_repeats(Context& context);
/// Fills `cases`, `case_of` and `entry_of`, and finds what is wrong with requests and entries.
void judge_cases(Context& context);
/// Everything that one invocation may violate, cases apart.
void judge_invocation(Context& context, const std::string& id, const Events& events);

}  // namespace remit::twin
