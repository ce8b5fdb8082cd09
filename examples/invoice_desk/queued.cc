// A row keeps what was asked for and by whom. That it was put there allows nothing.
#include "queued.h"

namespace remit::examples {

queue::Work work_of(Office& office, const Errand& errand) {
  const identity::Identity found = office.staff().authenticate(
      access::Credential::reference(errand.person), office.clock().wall_now());
  queue::Work out;
  out.principal = errand.person;
  out.lane = found.principal ? found.principal->tenant : "";
  out.tool = errand.tool;
  out.arguments_json = errand.arguments_json;
  out.call_key = errand.key;  // one key is one effect, also where another door had it before
  out.run_id = office.settings().run_id;
  out.enqueued_policy_version = office.policy().get()->bundle->version;
  out.max_attempts = office.settings().attempts;
  return out;
}

Result<std::string> put_off(Office& office, const Errand& errand) {
  REMIT_TRY_ASSIGN(const queue::Enqueued row, office.queue().enqueue(work_of(office, errand)));
  return row.id;
}

queue::Worker worker_of(Office& office, const std::string& queue) {
  return queue::Worker({.queue = office.queue(),
                        .point = office.point(),
                        .tools = office.tools(),
                        .clock = office.clock(),
                        .random = office.random(),
                        .is_ready = {},
                        .is_offered = {},
                        .may_ask_again = {},
                        .notice = {}},
                       {.name = "desk", .queue = queue});
}

Result<Told> told_of_row(Office& office, const std::string& row) {
  REMIT_TRY_ASSIGN(const queue::Row found, office.queue().find(row));
  switch (found.state) {
    case queue::State::kSucceeded:
      return Told{"result", "done"};
    case queue::State::kDenied:
      return Told{"denied", "this is not available to you"};
    case queue::State::kFailed:
      return Told{"failed", "it was not done"};
    case queue::State::kWaiting:
      return Told{"pending", "it waits for its turn"};
    case queue::State::kUnknown:
    case queue::State::kClaimed:
    case queue::State::kStarted:
      break;
  }
  return Told{"unknown", "it may have been done"};
}

}  // namespace remit::examples
