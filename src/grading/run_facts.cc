// Facts of the run: what is finished, what was lost, what may decide.
#include "grading/run_facts.h"

#include <algorithm>

namespace remit::grading {

RunFacts::RunFacts(const RecordStore& store) : store_(store) {
  for (std::uint32_t writer = 0; writer < store.writers().size(); ++writer) {
    const WriterLog& log = store.writers()[writer];
    for (const Publication& one : log.publications) published_.emplace_back(writer, one.version);
    has_loss_ |= !log.losses.empty();
    std::optional<OrderKey>& last = finished_.emplace_back();
    for (const RunFinished& one : log.finished) {
      if (one.run_id == 0 || one.source != 0) {
        last = one.key;  // a spy speaks for its own record only (REQ-GR-078)
      } else {
        finished_runs_.push_back(one.run_id);
      }
      if (one.source == 0) continue;
      if (one.run_id == 0) {
        is_spied_ = true;
      } else {
        spied_runs_.push_back(one.run_id);
      }
    }
  }
  std::sort(finished_runs_.begin(), finished_runs_.end());
  std::sort(spied_runs_.begin(), spied_runs_.end());
  std::sort(published_.begin(), published_.end());
}

bool RunFacts::is_published(std::uint32_t writer, Ref version) const {
  return std::binary_search(published_.begin(), published_.end(), std::pair(writer, version));
}

bool RunFacts::is_run_finished(const CallView& call) const {
  return std::all_of(call.events.begin(), call.events.end(), [&](const EventRecord* event) {
    const Ref own = event->fact(Fact::kRunId);
    const Ref run = own != 0 ? own : call.run_id;
    if (std::binary_search(finished_runs_.begin(), finished_runs_.end(), run)) return true;
    const std::optional<OrderKey>& finish = finished_[event->writer];
    return finish && event->key() < *finish;
  });
}

bool RunFacts::has_closed_spy(const CallView& call) const {
  return is_spied_ || std::binary_search(spied_runs_.begin(), spied_runs_.end(), call.run_id);
}

bool RunFacts::is_touched_by_loss(const CallView& call) const {
  if (!has_loss_) return false;
  for (std::size_t i = 0; i < call.events.size(); ++i) {
    const EventRecord& first = *call.events[i];
    if (i > 0 && call.events[i - 1]->writer == first.writer) continue;
    const WriterLog& log = store_.writers()[first.writer];
    if (log.losses.empty()) continue;
    std::optional<OrderKey> closed;  // in this writer's log
    for (std::size_t k = i; k < call.events.size() && call.events[k]->writer == first.writer; ++k) {
      const EventRecord& event = *call.events[k];
      const bool closes = event.kind == event::EventKind::kExecutorFinish ||
                          event.kind == event::EventKind::kPermitUnspent ||
                          (call.is_denied && call.denies(event));
      if (closes) {
        closed = event.key();
        break;
      }
    }
    const bool begins_late = first.kind != event::EventKind::kToolRequest;
    // The losses are sorted by `before`, and `after` is the earliest from there on.
    const auto next =
        std::upper_bound(log.losses.begin(), log.losses.end(), first.key(),
                         [](const OrderKey& key, const Loss& loss) { return key < loss.before; });
    if (next != log.losses.end() && !(closed && *closed <= next->after)) return true;
    if (begins_late && next != log.losses.begin()) return true;
  }
  return false;
}

bool RunFacts::may_have_lost_before(const CallView& call, const EventRecord& start) const {
  const std::vector<Loss>& losses = store_.writers()[start.writer].losses;
  if (losses.empty()) return false;
  const EventRecord& first = **std::ranges::find(call.events, start.writer, &EventRecord::writer);
  auto next = losses.begin();
  if (first.kind == event::EventKind::kToolRequest) {
    next = std::ranges::upper_bound(losses, first.key(), {}, &Loss::before);
  }
  return next != losses.end() && next->before <= start.key();
}

}  // namespace remit::grading
