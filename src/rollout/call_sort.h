// Of which sort a call is: what policy said of it beside what happened (spec/rollout.md, Calls).
#pragma once

#include <optional>
#include <string_view>

#include "grading/call_view.h"
#include "grading/record_store.h"
#include "rollout/criteria.h"
#include "rollout/tally.h"

namespace remit::rollout {

/// The outcome under which a finish is kept by which a handler says that it refused.
inline constexpr std::string_view kRefusedOutcome = "refused by the handler";

struct CallSort {
  Sort sort = Sort::kUnsettled;
  std::string_view reason = {};           ///< of a denial: a reason's name or `unknown reason`
  Refusal refusal = Refusal::kByHandler;  ///< with kWouldAllow
  std::string_view early_reason = {};     ///< of a call that was refused before its tool was
                                          ///< looked up, and did not run; else empty
};

/// Whether decisions of this policy are those that `criteria` ask about.
bool is_asked_about(const Criteria& criteria, std::string_view version, std::string_view digest);

/// Whether a denial of this reason comes before the tool is looked up, or because there is none:
/// what it names as its tool is the caller's own word.
bool is_early(std::string_view reason);

/// Nothing for an invocation that asked for nothing, decided nothing and did nothing, such as one
/// of which only a line in a queue is recorded.
std::optional<CallSort> sort_of(const grading::CallView& call, const grading::RecordStore& store,
                                const Criteria& criteria);

}  // namespace remit::rollout
