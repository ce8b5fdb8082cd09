// Laying out one invocation.
#include "grading/call_view.h"

#include <algorithm>

namespace remit::grading {

void CallView::fill(const RecordStore& store, RuleBook& book, std::uint32_t index) {
  for (Events* list : {&events, &requests, &decisions, &starts, &finishes, &unspent, &effects}) {
    list->clear();
  }
  const Invocation& chain = store.invocations()[index];
  invocation = index;
  id = store.text(chain.id);
  run_id = case_id = tool = route = 0;
  is_allowed = is_denied = has_shadow_decision = would_deny = false;
  has_trusted = has_queue_denial = false;
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
  for (const EventRecord* event : events) {
    switch (event->kind) {
      case event::EventKind::kToolRequest:
        requests.push_back(event);
        break;
      case event::EventKind::kAuthorizationDecision:
        decisions.push_back(event);
        break;
      case event::EventKind::kResourceResolved:
      case event::EventKind::kApprovalChecked:
        has_trusted = true;
        break;
      case event::EventKind::kQueueDenied:
        has_queue_denial = true;
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
  const auto learn = [this](const EventRecord* event) {
    if (run_id == 0) run_id = event->fact(Fact::kRunId);
    if (case_id == 0) case_id = event->fact(Fact::kCaseId);
    if (tool == 0) tool = event->fact(Fact::kTool);
    if (route == 0) route = event->fact(Fact::kRoute);
  };
  for (const EventRecord* event : requests) learn(event);
  for (const EventRecord* event : events) learn(event);
  requirements = &book.of(tool, route).requirements;
  for (const EventRecord* decision : decisions) {
    const bool is_tried = is_shadow(*decision);
    is_allowed |= decision->decision == DecisionWord::kAllow;
    is_denied |= denies(*decision);
    has_shadow_decision |= is_tried;
    would_deny |= is_tried && decision->decision == DecisionWord::kDeny;
  }
  is_denied &= !is_allowed;
}

}  // namespace remit::grading
