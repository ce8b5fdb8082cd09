// Rows through their states, each step one transaction.
#include "queue/work_queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "base/utf8.h"
#include "database/cell.h"
#include "json/value.h"
#include "queue/row_text.h"
#include "queue/tables.h"

namespace remit::queue {
namespace {

using database::Answer;
using database::Cell;
using database::Parameter;
using database::Transaction;

// Open, and due when a person says so.
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t kMaxLanesPerLook = 64;
constexpr std::int64_t kMaxTidiedRows = 1000;

Status text_fits(std::string_view text, std::string_view what, std::size_t max_bytes) {
  const bool is_clean =
      !first_invalid_utf8(text) && std::none_of(text.begin(), text.end(), [](char c) {
        return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
      });
  if (text.size() <= max_bytes && is_clean) return {};
  return Error{ErrorCode::kInvalidInput,
               fmt::format("{} has to be UTF-8 without control characters, of at most {} bytes",
                           what, max_bytes)};
}

Error not_held() {
  return Error{ErrorCode::kFailedPrecondition, "the claim does not hold any more"};
}

// Whether the statement, which returns what it changed, changed a row.
Status one_changed(const Result<Answer>& answer, const Error& otherwise) {
  if (!answer) return answer.error();
  if (answer->rows.empty()) return otherwise;
  return {};
}

std::int64_t nanoseconds(std::chrono::milliseconds span) {
  return std::chrono::duration_cast<Duration>(span).count();
}

bool is_requeueable(State state) {
  return state == State::kDenied || state == State::kFailed || state == State::kUnknown;
}

}  // namespace

WorkQueue::WorkQueue(database::Database& database, DigestKey key, const Clock& clock,
                     Random& random, QueueOptions options)
    : database_(database),
      key_(std::move(key)),
      clock_(clock),
      random_(random),
      options_(options) {}

Result<std::unique_ptr<WorkQueue>> WorkQueue::open(database::Database& database, DigestKey key,
                                                   const Clock& clock, Random& random,
                                                   QueueOptions options) {
  auto queue =
      std::unique_ptr<WorkQueue>(new WorkQueue(database, std::move(key), clock, random, options));
  REMIT_TRY(make_tables(database, queue->deadline()));
  return queue;
}

MonotonicTime WorkQueue::deadline() const {
  return clock_.monotonic_now() + options_.operation_deadline;
}

std::int64_t WorkQueue::claim_end() const {
  return now() + nanoseconds(options_.claim_time);
}

Status WorkQueue::transact(const std::function<Status(Transaction&)>& work) {
  return database_.transact(deadline(), work);
}

bool WorkQueue::is_sealed(const Row& row) const {
  return !row.seal.empty() && row.seal == seal_of(row, key_);
}

Result<Row> WorkQueue::row_for(const Work& work) const {
  if (work.principal.empty() || work.tool.empty() || work.queue.empty()) {
    return Error{ErrorCode::kInvalidInput, "work names a queue, a principal and a tool"};
  }
  const std::pair<std::string_view, const std::string*> texts[] = {
      {"a queue's name", &work.queue},
      {"a principal's reference", &work.principal},
      {"a lane's name", &work.lane},
      {"a tool's name", &work.tool},
      {"a key", &work.key},
      {"an idempotency key", &work.call_key},
      {"a run id", &work.run_id},
      {"a case id", &work.case_id},
      {"an invocation id", &work.enqueued_by},
      {"a policy version", &work.enqueued_policy_version}};
  for (const auto& [what, text] : texts) REMIT_TRY(text_fits(*text, what, kMaxIdBytes));
  if (work.repeat.count() != 0 && (work.repeat < kLeastRepeat || work.repeat > kLongestRepeat)) {
    return Error{ErrorCode::kInvalidInput, "a period is a minute or more and a year or less"};
  }
  if (work.repeat.count() != 0 && !work.call_key.empty()) {
    return Error{ErrorCode::kInvalidInput,
                 "an idempotency key names one call, and work that repeats is many"};
  }
  if (work.max_attempts < 1 || work.max_attempts > kMaxAttempts) {
    return Error{ErrorCode::kInvalidInput,
                 fmt::format("attempts are 1 or more and {} or fewer", kMaxAttempts)};
  }
  if (work.arguments_json.size() > kMaxQueuedCallBytes) {
    return Error{ErrorCode::kLimitExceeded,
                 fmt::format("the arguments have more than {} bytes", kMaxQueuedCallBytes)};
  }
  REMIT_TRY_ASSIGN(
      const json::Value arguments,
      json::parse(work.arguments_json.empty() ? std::string_view("{}") : work.arguments_json));
  if (arguments.if_object() == nullptr) {
    return Error{ErrorCode::kInvalidInput, "the arguments are not an object"};
  }
  Row row;
  row.id = random_id(random_);
  row.queue = work.queue;
  row.lane = work.lane;
  row.principal = work.principal;
  row.tool = work.tool;
  row.arguments_json = json::canonical(arguments);
  row.key = work.key;
  row.call_key = work.call_key;
  row.run_id = work.run_id;
  row.case_id = work.case_id;
  row.enqueued_by = work.enqueued_by;
  row.enqueued_policy_version = work.enqueued_policy_version;
  row.not_before = work.not_before.value_or(WallTime{0});
  row.repeat_ms = work.repeat.count();
  row.max_attempts = work.max_attempts;
  row.enqueued = WallTime{now()};
  row.route = work.not_before ? kScheduledRoute : kQueuedRoute;
  row.due = work.not_before.value_or(row.enqueued);
  return row;
}

// A count stops at its bound: it costs no more than the bound is large.
Status WorkQueue::check_room(Transaction& transaction, const Row& row) const {
  const auto is_full = [&](std::string_view lane, std::int64_t bound) -> Result<bool> {
    std::vector<Parameter> parameters{{":queue", row.queue}, {":bound", bound}};
    if (!lane.empty()) parameters.push_back({":lane", row.lane});
    REMIT_TRY_ASSIGN(
        const Answer answer,
        transaction.run(fmt::format("select count(*) from (select 1 from remit_queue_row where "
                                    "queue = :queue and is_open = 1{} limit :bound) as counted",
                                    lane),
                        parameters));
    return answer.rows.empty() || integer_of(answer.rows.front().front()) >= bound;
  };
  REMIT_TRY_ASSIGN(const bool is_lane_full,
                   is_full(" and lane = :lane", options_.max_open_rows_per_lane));
  if (is_lane_full) {
    return Error{ErrorCode::kLimitExceeded, "too many open rows in the lane " + quoted(row.lane)};
  }
  REMIT_TRY_ASSIGN(const bool is_queue_full, is_full("", options_.max_open_rows));
  if (!is_queue_full) return {};
  return Error{ErrorCode::kLimitExceeded, "too many open rows in the queue " + quoted(row.queue)};
}

Status WorkQueue::insert(Transaction& transaction, const Row& row) {
  const Parameter parameters[] = {
      {":id", row.id},
      {":queue", row.queue},
      {":lane", row.lane},
      {":principal", row.principal},
      {":tool", row.tool},
      {":arguments", row.arguments_json},
      {":work_key", row.key},
      {":call_key", row.call_key},
      {":run_id", row.run_id},
      {":case_id", row.case_id},
      {":enqueued_by", row.enqueued_by},
      {":version", row.enqueued_policy_version},
      {":not_before", row.not_before.unix_ns},
      {":repeat_ms", row.repeat_ms},
      {":max_attempts", row.max_attempts},
      {":enqueued", row.enqueued.unix_ns},
      {":seal", seal_of(row, key_)},
      {":content", content_of(row, key_)},
      {":route", row.route},
      {":due", row.due.unix_ns},
      {":changed", row.enqueued.unix_ns},
  };
  REMIT_TRY(transaction.run(
      "insert into remit_queue_row(id, queue, lane, principal, tool, arguments, work_key, run_id, "
      "case_id, enqueued_by, enqueued_policy_version, not_before, repeat_ms, max_attempts, "
      "enqueued, seal, content, route, due, changed, call_key) values(:id, :queue, :lane, "
      ":principal, :tool, :arguments, :work_key, :run_id, :case_id, :enqueued_by, :version, "
      ":not_before, :repeat_ms, :max_attempts, :enqueued, :seal, :content, :route, :due, :changed, "
      ":call_key)",
      parameters));
  const Parameter lane[] = {{":queue", row.queue}, {":lane", row.lane}};
  // A lane that is new waits as long as if it had just had its turn.
  REMIT_TRY(transaction.run(
      "insert into remit_queue_lane(queue, lane, served) values(:queue, :lane, (select "
      "coalesce(max(served), 0) from remit_queue_lane where queue = :queue)) on conflict do "
      "nothing",
      lane));
  return {};
}

Result<Enqueued> WorkQueue::enqueue(const Work& work) {
  REMIT_TRY_ASSIGN(const Row row, row_for(work));
  Enqueued out{.id = row.id, .invocation_key = row.invocation_key()};
  const auto find_same = [&](Transaction& transaction) -> Result<bool> {
    if (row.key.empty()) return false;
    const Parameter parameters[] = {{":queue", row.queue},
                                    {":principal", row.principal},
                                    {":tool", row.tool},
                                    {":key", row.key}};
    REMIT_TRY_ASSIGN(
        const Answer answer,
        transaction.run(
            "select id, content, generation, call_key from remit_queue_row where queue = :queue "
            "and principal = :principal and tool = :tool and work_key = :key and "
            "work_key <> ''",
            parameters));
    if (answer.rows.empty()) return false;
    const database::Row& found = answer.rows.front();
    if (text_of(found[1]) != content_of(row, key_)) {
      return Error{ErrorCode::kAlreadyExists, "other work was enqueued under this key"};
    }
    Row earlier;
    earlier.id = text_of(found[0]);
    earlier.generation = integer_of(found[2]);
    earlier.call_key = text_of(found[3]);
    out = {.id = earlier.id, .invocation_key = earlier.invocation_key(), .is_new = false};
    return true;
  };
  const Status done = transact([&](Transaction& transaction) -> Status {
    if (database_.dialect() == database::Dialect::kPostgres && !row.key.empty()) {
      // Two that enqueue under one key at once: the second sees what the first did.
      const Parameter name{":name", key_name_of(row, key_)};
      REMIT_TRY(
          transaction.run("select pg_advisory_xact_lock(hashtextextended(:name, 0))", {&name, 1}));
    }
    REMIT_TRY_ASSIGN(const bool is_there, find_same(transaction));
    if (is_there) return {};
    REMIT_TRY(check_room(transaction, row));
    return insert(transaction, row);
  });
  if (!done) return done.error();
  return out;
}

Result<std::optional<Row>> WorkQueue::next_row(Transaction& transaction, std::string_view queue) {
  const Parameter due[] = {{":queue", std::string(queue)}, {":now", now()}};
  REMIT_TRY_ASSIGN(
      const Answer lanes,
      transaction.run("select lane from remit_queue_lane as l where queue = :queue and exists "
                      "(select 1 from remit_queue_row as r where r.queue = l.queue and r.is_open = "
                      "1 and r.lane = l.lane and r.due <= :now) order by served, lane limit 64",
                      due, kMaxLanesPerLook));
  const std::string statement = fmt::format(
      "select {} from remit_queue_row where queue = :queue and is_open = 1 and lane = "
      ":lane and due <= :now order by due, number limit 1{}",
      kRowColumns, skip_locked(database_));
  for (const database::Row& lane : lanes.rows) {
    const Parameter parameters[] = {
        {":queue", std::string(queue)}, {":lane", lane.front()}, {":now", now()}};
    REMIT_TRY_ASSIGN(const Answer found, transaction.run(statement, parameters));
    if (!found.rows.empty()) return std::optional<Row>(row_of(found.rows.front()));
  }
  return std::optional<Row>();
}

Status WorkQueue::note_turn(Transaction& transaction, const Row& row) {
  const Parameter lane[] = {{":queue", row.queue}, {":lane", row.lane}};
  // Where another worker is noting a turn of this lane, its note serves for both.
  REMIT_TRY(transaction.run(
      fmt::format("update remit_queue_lane set served = (select coalesce(max(served), 0) + 1 from "
                  "remit_queue_lane where queue = :queue) where queue = :queue and lane in (select "
                  "lane from remit_queue_lane where queue = :queue and lane = :lane{})",
                  skip_locked(database_)),
      lane));
  return {};
}

Result<WorkQueue::Found> WorkQueue::claim_one(std::string_view queue, std::string_view worker,
                                              const MayAskAgain& may_ask_again, Row& out) {
  Found verdict = Found::kNothing;
  const auto settle = [&](Transaction& transaction, const Row& row, State state,
                          const char* error_type) -> Status {
    const bool is_open = state == State::kUnknown;
    const Parameter parameters[] = {{":number", row.number},
                                    {":state", std::string(state_name(state))},
                                    {":open", static_cast<std::int64_t>(is_open ? 1 : 0)},
                                    {":due", is_open ? kNever : now()},
                                    {":error", std::string(error_type)},
                                    {":now", now()}};
    REMIT_TRY(
        transaction.run("update remit_queue_row set state = :state, is_open = :open, due = "
                        ":due, error_type = :error, changed = :now where number = :number",
                        parameters));
    verdict = Found::kSettled;
    return state == State::kFailed ? enqueue_next_turn(transaction, row) : Status{};
  };
  const Status done = transact([&](Transaction& transaction) -> Status {
    verdict = Found::kNothing;
    REMIT_TRY_ASSIGN(const std::optional<Row> next, next_row(transaction, queue));
    if (!next) return {};
    const Row& row = *next;
    const bool was_started = row.was_started();
    const bool is_used_up = row.attempt >= std::max<std::int64_t>(row.max_attempts, 1);
    if (was_started && (is_used_up || !may_ask_again || !may_ask_again(row))) {
      return settle(transaction, row, State::kUnknown, "worker_lost");
    }
    if (row.state != State::kWaiting && row.state != State::kClaimed &&
        row.state != State::kStarted) {
      return settle(transaction, row, State::kUnknown, "unknown_state");
    }
    if (is_used_up) return settle(transaction, row, State::kFailed, "attempts_used_up");
    out = row;
    out.state = State::kClaimed;
    out.claim = random_id(random_);
    out.worker = worker;
    out.attempt = row.attempt + 1;
    if (row.state != State::kWaiting) out.route = kRetryRoute;
    // Whatever becomes of this claim, the row was started under its key.
    if (was_started) out.started_generation = row.generation;
    out.due = WallTime{claim_end()};
    const Parameter parameters[] = {{":number", out.number},
                                    {":claim", out.claim},
                                    {":worker", out.worker},
                                    {":due", out.due.unix_ns},
                                    {":attempt", out.attempt},
                                    {":route", out.route},
                                    {":started", out.started_generation},
                                    {":now", now()}};
    REMIT_TRY(
        transaction.run("update remit_queue_row set state = 'claimed', claim = :claim, "
                        "worker = :worker, attempt = :attempt, route = :route, due = :due, "
                        "started_generation = :started, changed = :now where number = :number",
                        parameters));
    REMIT_TRY(note_turn(transaction, out));
    verdict = Found::kClaimed;
    return {};
  });
  if (!done) return done.error();
  return verdict;
}

Result<std::optional<Row>> WorkQueue::claim(std::string_view queue, std::string_view worker,
                                            const MayAskAgain& may_ask_again) {
  REMIT_TRY(text_fits(worker, "a worker's name", kMaxIdBytes));
  while (true) {
    Row row;
    REMIT_TRY_ASSIGN(const Found found, claim_one(queue, worker, may_ask_again, row));
    if (found == Found::kClaimed) return std::optional<Row>(std::move(row));
    if (found == Found::kNothing) return std::optional<Row>();
  }
}

Status WorkQueue::start(const Row& claimed, MonotonicTime deadline) {
  const Parameter parameters[] = {{":number", claimed.number},
                                  {":claim", claimed.claim},
                                  {":due", claim_end()},
                                  {":now", now()}};
  const std::string_view statement =
      "update remit_queue_row set state = 'started', started_generation = generation, due = :due, "
      "changed = :now where number = :number and claim = :claim and state = 'claimed' "
      "returning number";
  return database_.transact(deadline, [&](Transaction& transaction) -> Status {
    return one_changed(transaction.run(statement, parameters), not_held());
  });
}

// The first time after now that is a whole number of periods after the row's own time. A row that
// failed before and was requeued has its next turn already.
Status WorkQueue::enqueue_next_turn(Transaction& transaction, const Row& ended) {
  if (ended.repeat_ms <= 0 || !is_sealed(ended)) return {};
  const Parameter id{":id", ended.id};
  REMIT_TRY_ASSIGN(
      const Answer before,
      transaction.run(
          "select 1 from remit_queue_note where id = :id and from_state = 'failed' limit 1",
          {&id, 1}));
  if (!before.rows.empty()) return {};
  Row next = ended;
  const std::int64_t period = nanoseconds(std::chrono::milliseconds{ended.repeat_ms});
  const std::int64_t from =
      ended.not_before.unix_ns != 0 ? ended.not_before.unix_ns : ended.enqueued.unix_ns;
  const std::int64_t turns = now() < from ? 1 : (now() - from) / period + 1;
  next.id = random_id(random_);
  next.key.clear();
  next.enqueued = WallTime{now()};
  next.not_before = WallTime{from + turns * period};
  next.due = next.not_before;
  next.route = kScheduledRoute;
  return insert(transaction, next);
}

Status WorkQueue::finish(const Row& claimed, const Ending& ending) {
  const bool is_open = ending.state == State::kUnknown;
  const Parameter parameters[] = {{":number", claimed.number},
                                  {":claim", claimed.claim},
                                  {":state", std::string(state_name(ending.state))},
                                  {":open", static_cast<std::int64_t>(is_open ? 1 : 0)},
                                  {":due", is_open ? kNever : now()},
                                  {":reason", ending.reason},
                                  {":error", ending.error_type},
                                  {":invocation", ending.invocation},
                                  {":now", now()}};
  const std::string_view statement =
      "update remit_queue_row set state = :state, is_open = :open, due = :due, reason = :reason, "
      "error_type = :error, last_invocation = :invocation, changed = :now where number = :number "
      "and claim = :claim and state in ('claimed', 'started', 'unknown') returning number";
  const bool is_turn_over = ending.state == State::kSucceeded || ending.state == State::kFailed;
  return transact([&](Transaction& transaction) -> Status {
    REMIT_TRY_ASSIGN(const Answer changed, transaction.run(statement, parameters));
    if (changed.rows.empty()) {
      return stands_as(transaction, claimed, ending.state, ending.invocation);
    }
    return is_turn_over ? enqueue_next_turn(transaction, claimed) : Status{};
  });
}

// A step whose commit was in doubt is made again, and may find that it was made.
Status WorkQueue::stands_as(Transaction& transaction, const Row& claimed, State state,
                            const std::string& invocation) {
  const Parameter parameters[] = {{":number", claimed.number},
                                  {":claim", claimed.claim},
                                  {":state", std::string(state_name(state))},
                                  {":invocation", invocation}};
  return one_changed(
      transaction.run("select number from remit_queue_row where number = :number and claim = "
                      ":claim and state = :state and last_invocation = :invocation",
                      parameters),
      not_held());
}

Status WorkQueue::put_back(const Row& claimed, const PutBack& how) {
  const Parameter parameters[] = {{":number", claimed.number},
                                  {":claim", claimed.claim},
                                  {":due", now() + nanoseconds(how.pause)},
                                  {":reason", how.reason},
                                  {":error", how.error_type},
                                  {":invocation", how.invocation},
                                  {":more", static_cast<std::int64_t>(how.needs_new_key ? 1 : 0)},
                                  {":now", now()}};
  const std::string_view statement =
      "update remit_queue_row set state = 'waiting', route = 'retry', due = :due, reason = "
      ":reason, error_type = :error, last_invocation = :invocation, generation = generation + "
      ":more, changed = :now where number = :number and claim = :claim and state in ('claimed', "
      "'started') returning number";
  return transact([&](Transaction& transaction) -> Status {
    REMIT_TRY_ASSIGN(const Answer changed, transaction.run(statement, parameters));
    if (!changed.rows.empty()) return {};
    return stands_as(transaction, claimed, State::kWaiting, how.invocation);
  });
}

Status WorkQueue::release(const Row& claimed) {
  const Parameter parameters[] = {
      {":number", claimed.number}, {":claim", claimed.claim}, {":now", now()}};
  const std::string_view statement =
      "update remit_queue_row set state = 'waiting', due = :now, attempt = attempt - 1, claim = "
      "'', changed = :now where number = :number and claim = :claim and state = 'claimed' "
      "returning number";
  return transact([&](Transaction& transaction) -> Status {
    return one_changed(transaction.run(statement, parameters), not_held());
  });
}

Status WorkQueue::renew(const Row& claimed) {
  const Parameter parameters[] = {
      {":number", claimed.number}, {":claim", claimed.claim}, {":due", claim_end()}};
  const std::string_view statement =
      "update remit_queue_row set due = :due where number = :number and claim = :claim and state "
      "in ('claimed', 'started') returning number";
  return transact([&](Transaction& transaction) -> Status {
    return one_changed(transaction.run(statement, parameters), not_held());
  });
}

Status WorkQueue::requeue(const Requeue& request) {
  if (request.by.empty() || request.reason.empty()) {
    return Error{ErrorCode::kInvalidInput, "say who requeues it, and why"};
  }
  REMIT_TRY(text_fits(request.by, "a name", kMaxIdBytes));
  REMIT_TRY(text_fits(request.reason, "a reason", kMaxRequeueReasonBytes));
  return transact([&](Transaction& transaction) -> Status {
    const Parameter id{":id", request.id};
    REMIT_TRY_ASSIGN(
        const Answer found,
        transaction.run(
            fmt::format("select {} from remit_queue_row where id = :id{}", kRowColumns,
                        database_.dialect() == database::Dialect::kPostgres ? " for update" : ""),
            {&id, 1}));
    if (found.rows.empty()) return Error{ErrorCode::kNotFound, "no row " + quoted(request.id)};
    const Row row = row_of(found.rows.front());
    if (!is_requeueable(row.state)) {
      return Error{ErrorCode::kFailedPrecondition,
                   fmt::format("the row is {}; only one that is denied, failed or unknown can be "
                               "requeued",
                               state_name(row.state))};
    }
    if (row.state == State::kUnknown && !request.may_have_run_is_settled) {
      return Error{ErrorCode::kFailedPrecondition,
                   "the row may have had its effect; look, and say that it may run"};
    }
    REMIT_TRY_ASSIGN(
        const Answer counted,
        transaction.run("select count(*) from remit_queue_note where id = :id", {&id, 1}));
    const std::int64_t requeues = integer_of(counted.rows.front().front());
    if (requeues >= kMaxRequeues) {
      return Error{ErrorCode::kLimitExceeded,
                   fmt::format("the row was requeued {} times; enqueue the work anew", requeues)};
    }
    if (row.state != State::kUnknown) REMIT_TRY(check_room(transaction, row));
    const Parameter note[] = {{":id", request.id},
                              {":noted", now() + requeues},
                              {":by", request.by},
                              {":reason", request.reason},
                              {":from", std::string(state_name(row.state))}};
    REMIT_TRY(transaction.run(
        "insert into remit_queue_note(id, noted, said_by, reason, from_state) values(:id, (select "
        "case when coalesce(max(noted), 0) >= :noted then max(noted) + 1 else :noted end from "
        "remit_queue_note where id = :id), :by, :reason, :from)",
        note));
    const Parameter change[] = {{":id", request.id}, {":now", now()}};
    REMIT_TRY(transaction.run(
        "update remit_queue_row set state = 'waiting', is_open = 1, route = 'queued', due = :now, "
        "attempt = 0, generation = generation + 1, claim = '', worker = '', reason = '', "
        "error_type = '', changed = :now where id = :id",
        change));
    return {};
  });
}

Result<std::vector<Row>> WorkQueue::list(const Listing& listing) {
  std::string states;
  for (const State state : listing.states) {
    // Names of ours, which need no binding.
    states += fmt::format("{}'{}'", states.empty() ? " and state in (" : ", ", state_name(state));
  }
  if (!states.empty()) states += ")";
  const std::size_t max_rows = std::min(listing.max_rows, kMaxListedQueueRows);
  const Parameter queue{":queue", listing.queue};
  REMIT_TRY_ASSIGN(
      const Answer answer,
      database_.run(fmt::format("select {} from remit_queue_row where queue = :queue{} order by "
                                "number desc limit {}",
                                kRowColumns, states, max_rows),
                    {&queue, 1}, {.deadline = deadline(), .max_rows = max_rows}));
  std::vector<Row> out;
  out.reserve(answer.rows.size());
  for (const database::Row& cells : answer.rows) out.push_back(row_of(cells));
  return out;
}

Result<Row> WorkQueue::find(std::string_view id) {
  const Parameter parameter{":id", std::string(id)};
  REMIT_TRY_ASSIGN(
      const Answer answer,
      database_.run(fmt::format("select {} from remit_queue_row where id = :id", kRowColumns),
                    {&parameter, 1}, {.deadline = deadline()}));
  if (answer.rows.empty()) return Error{ErrorCode::kNotFound, "no row " + quoted(id)};
  return row_of(answer.rows.front());
}

Result<std::vector<Note>> WorkQueue::notes(std::string_view id) {
  const Parameter parameter{":id", std::string(id)};
  REMIT_TRY_ASSIGN(
      const Answer answer,
      database_.run("select said_by, reason, from_state, noted from remit_queue_note "
                    "where id = :id order by noted",
                    {&parameter, 1},
                    {.deadline = deadline(), .max_rows = static_cast<std::size_t>(kMaxRequeues)}));
  std::vector<Note> out;
  for (const database::Row& cells : answer.rows) {
    out.push_back({.by = text_of(cells[0]),
                   .reason = text_of(cells[1]),
                   .from_state = text_of(cells[2]),
                   .at = WallTime{integer_of(cells[3])}});
  }
  return out;
}

Status WorkQueue::tidy(std::string_view queue) {
  const std::string name(queue);
  return transact([&](Transaction& transaction) -> Status {
    // `is_open` twice: a row that a person requeues meanwhile is looked at again, but not the list.
    const Parameter old[] = {{":queue", name},
                             {":before", now() - nanoseconds(kEndedQueueRowTime)},
                             {":some", kMaxTidiedRows}};
    REMIT_TRY(transaction.run(
        "delete from remit_queue_row where is_open = 0 and number in (select number from "
        "remit_queue_row where queue = :queue and is_open = 0 and changed < :before order by "
        "changed, number limit :some)",
        old));
    const Parameter surplus[] = {
        {":queue", name}, {":kept", options_.max_ended_rows}, {":some", kMaxTidiedRows}};
    REMIT_TRY(transaction.run(
        "delete from remit_queue_row where is_open = 0 and number in (select number from "
        "remit_queue_row where queue = :queue and is_open = 0 order by changed desc, number desc "
        "limit :some offset :kept)",
        surplus));
    REMIT_TRY(transaction.run(
        "delete from remit_queue_note where id not in (select id from remit_queue_row)", {}));
    const Parameter lanes{":queue", name};
    REMIT_TRY(transaction.run(
        "insert into remit_queue_lane(queue, lane, served) select distinct queue, lane, 0 from "
        "remit_queue_row where queue = :queue and is_open = 1 and lane not in (select lane from "
        "remit_queue_lane where queue = :queue) on conflict do nothing",
        {&lanes, 1}));
    return {};
  });
}

}  // namespace remit::queue
