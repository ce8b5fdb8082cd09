// Columns by place, seals by canonical JSON.
#include "queue/row_text.h"

#include <array>
#include <utility>

#include "database/cell.h"
#include "json/value.h"

namespace remit::queue {
namespace {

constexpr std::array<std::pair<State, std::string_view>, 7> kStateNames{{
    {State::kUnknown, "unknown"},
    {State::kWaiting, "waiting"},
    {State::kClaimed, "claimed"},
    {State::kStarted, "started"},
    {State::kDenied, "denied"},
    {State::kFailed, "failed"},
    {State::kSucceeded, "succeeded"},
}};

// What the work is; with what surrounds it, what the row was when it was enqueued.
json::Object work_of(const Row& row) {
  json::Object out{{"arguments", row.arguments_json},
                   {"key", row.key},
                   {"lane", row.lane},
                   {"max_attempts", std::to_string(row.max_attempts)},
                   {"not_before", std::to_string(row.not_before.unix_ns)},
                   {"principal", row.principal},
                   {"queue", row.queue},
                   {"repeat_ms", std::to_string(row.repeat_ms)},
                   {"tool", row.tool}};
  // Rows of before had none, and keep their seals.
  if (!row.call_key.empty()) out.set("call_key", row.call_key);
  return out;
}

}  // namespace

const std::string_view kRowColumns =
    "number, id, queue, lane, principal, tool, arguments, work_key, run_id, case_id, enqueued_by, "
    "enqueued_policy_version, not_before, repeat_ms, max_attempts, enqueued, seal, state, route, "
    "due, attempt, generation, claim, worker, reason, error_type, last_invocation, changed, "
    "started_generation, call_key";

std::string_view state_name(State state) {
  for (const auto& [each, name] : kStateNames) {
    if (each == state) return name;
  }
  return "unknown";
}

std::optional<State> parse_state(std::string_view name) {
  for (const auto& [state, each] : kStateNames) {
    if (each == name) return state;
  }
  return std::nullopt;
}

Row row_of(const database::Row& cells) {
  constexpr std::size_t kColumns = 30;
  if (cells.size() != kColumns) return {};
  auto cell = cells.begin();
  const auto text = [&] { return text_of(*cell++); };
  const auto integer = [&] { return integer_of(*cell++); };
  Row out;
  out.number = integer();
  out.id = text();
  out.queue = text();
  out.lane = text();
  out.principal = text();
  out.tool = text();
  out.arguments_json = text();
  out.key = text();
  out.run_id = text();
  out.case_id = text();
  out.enqueued_by = text();
  out.enqueued_policy_version = text();
  out.not_before = WallTime{integer()};
  out.repeat_ms = integer();
  out.max_attempts = integer();
  out.enqueued = WallTime{integer()};
  out.seal = text();
  out.state = parse_state(text()).value_or(State::kUnknown);
  out.route = text();
  out.due = WallTime{integer()};
  out.attempt = integer();
  out.generation = integer();
  out.claim = text();
  out.worker = text();
  out.reason = text();
  out.error_type = text();
  out.last_invocation = text();
  out.changed = WallTime{integer()};
  out.started_generation = integer();
  out.call_key = text();
  return out;
}

std::string content_of(const Row& row, const DigestKey& key) {
  return key.digest("remit.queue.work/1\n" + json::canonical(json::Value{work_of(row)}));
}

std::string key_name_of(const Row& row, const DigestKey& key) {
  const json::Object name{
      {"key", row.key}, {"principal", row.principal}, {"queue", row.queue}, {"tool", row.tool}};
  return key.digest("remit.queue.key/1\n" + json::canonical(json::Value{name}));
}

std::string seal_of(const Row& row, const DigestKey& key) {
  json::Object all = work_of(row);
  all.set("id", row.id);
  all.set("run_id", row.run_id);
  all.set("case_id", row.case_id);
  all.set("enqueued_by", row.enqueued_by);
  all.set("enqueued_policy_version", row.enqueued_policy_version);
  all.set("enqueued", std::to_string(row.enqueued.unix_ns));
  return key.digest("remit.queue.row/1\n" + json::canonical(json::Value{std::move(all)}));
}

}  // namespace remit::queue
