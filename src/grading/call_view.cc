// Laying out one invocation.
#include "grading/call_view.h"

#include <algorithm>

namespace remit::grading {

void CallView::fill(const RecordStore& store, std::uint32_t index) {
  for (Events* list : {&events, &requests, &decisions, &starts, &finishes, &unspent, &effects}) {
    list->clear();
  }
  const Invocation& chain = store.invocations()[index];
  invocation = index;
  id = store.text(chain.id);
  run_id = case_id = tool = route = 0;
  is_allowed = is_denied = false;
  for (Ref ref = chain.first; ref != 0; ref = store.record(ref).next) {
    events.push_back(&store.record(ref));
  }
  const auto& writers = store.writers();
  const auto in_order = [&](const EventRecord* left, const EventRecord* right) {
    if (left->writer != right->writer) {
      return writers[left->writer].rank < writers[right->writer].rank;
    }
    return left->key() < right->key();
  };
  if (!std::is_sorted(events.begin(), events.end(), in_order)) {
    std::sort(events.begin(), events.end(), in_order);
  }
  bool has_deny = false;
  for (const EventRecord* event : events) {
    switch (event->kind) {
      case event::EventKind::kToolRequest:
        requests.push_back(event);
        break;
      case event::EventKind::kAuthorizationDecision:
        decisions.push_back(event);
        is_allowed |= event->decision == DecisionWord::kAllow;
        has_deny |= event->decision == DecisionWord::kDeny;
        break;
      case event::EventKind::kExecutorStart:
        starts.push_back(event);
        break;
      case event::EventKind::kExecutorFinish:
        finishes.push_back(event);
        break;
      case event::EventKind::kPermitUnspent:
        unspent.push_back(event);
        break;
      case event::EventKind::kEffectObserved:
        effects.push_back(event);
        break;
      default:
        break;
    }
  }
  is_denied = has_deny && !is_allowed;
  const auto learn = [this](const EventRecord* event) {
    if (run_id == 0) run_id = event->fact(Fact::kRunId);
    if (case_id == 0) case_id = event->fact(Fact::kCaseId);
    if (tool == 0) tool = event->fact(Fact::kTool);
    if (route == 0) route = event->fact(Fact::kRoute);
  };
  for (const EventRecord* event : requests) learn(event);
  for (const EventRecord* event : events) learn(event);
}

}  // namespace remit::grading
