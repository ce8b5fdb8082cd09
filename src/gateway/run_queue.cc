// One run of a worker, from its configuration to the end of its evidence.
#include "gateway/run_queue.h"

#include <array>
#include <atomic>
#include <string_view>
#include <utility>

#include "base/start_thread.h"
#include "database/postgres_database.h"
#include "database/sqlite_database.h"
#include "gateway/identities.h"
#include "gateway/notices.h"
#include "gateway/queue_servers.h"
#include "gateway/world.h"
#include "process/file_descriptor.h"
#include "process/lines.h"

namespace remit::gateway {
namespace {

// How soon a signal, or the end of a server, is seen.
constexpr std::chrono::milliseconds kLookUp{50};

constexpr std::array<std::string_view, 3> kRoutes{queue::kQueuedRoute, queue::kScheduledRoute,
                                                  queue::kRetryRoute};

std::vector<Error> one(Error error) {
  return {std::move(error)};
}

Error without_state(const Config& config) {
  return {ErrorCode::kUnavailable, "the configuration has no \"state\", in which a queue is kept",
          config.file};
}

Result<std::unique_ptr<database::Database>> open_database(const ledger::Location& location,
                                                          database::Access access,
                                                          const Clock& clock) {
  if (location.kind == ledger::Location::Kind::kPostgres) {
    REMIT_TRY_ASSIGN(std::unique_ptr<database::Database> opened,
                     database::PostgresDatabase::open(location.text, clock));
    return opened;
  }
  return std::unique_ptr<database::Database>(
      std::make_unique<database::SqliteDatabase>(location.text, access, clock));
}

// Makes the file and its tables where there are none. What uses them has no leave to make a file:
// one that vanishes meanwhile is not made anew, as the ledger's is not (REQ-LG-030).
Status make_store(const ledger::Location& location, const DigestKey& key, const Clock& clock,
                  Random& random) {
  REMIT_TRY_ASSIGN(const auto maker, open_database(location, database::Access::kReadWrite, clock));
  REMIT_TRY(queue::WorkQueue::open(*maker, key, clock, random));
  return {};
}

/// Stops the worker at a signal or the end of a server, and hurries it when its time is over.
class Watch {
 public:
  Watch(const process::TerminationSignals& signals, const QueueServers& servers,
        const Patience& patience, const Clock& clock)
      : signals_(signals), servers_(servers), patience_(patience), clock_(clock) {
    thread_ = start_thread([this] { watch(); });
  }
  ~Watch() {
    is_over_ = true;
    if (thread_.joinable()) thread_.join();
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  [[nodiscard]] bool is_watching() const { return thread_.joinable(); }
  [[nodiscard]] std::stop_token stop() const { return stop_.get_token(); }
  [[nodiscard]] std::stop_token hurry() const { return hurry_.get_token(); }

 private:
  void watch() {
    std::optional<MonotonicTime> end;
    while (!is_over_) {
      const bool is_stopped = process::is_readable(signals_.fd()) || servers_.has_lost_one();
      if (is_stopped && !end) {
        end = clock_.monotonic_now() + patience_.drain;
        stop_.request_stop();
      }
      if (end && clock_.monotonic_now() >= *end) hurry_.request_stop();
      std::this_thread::sleep_for(kLookUp);
    }
  }

  const process::TerminationSignals& signals_;
  const QueueServers& servers_;
  const Patience& patience_;
  const Clock& clock_;
  std::stop_source stop_;
  std::stop_source hurry_;
  std::atomic<bool> is_over_{false};
  std::thread thread_;
};

// Whether a call of the tool whose end nobody knows may be asked for again (REQ-QU-018).
bool may_ask_again(const World& world, std::string_view tool) {
  const auto snapshot = world.policy.get();
  const policy::Tool* entry = snapshot == nullptr ? nullptr : snapshot->bundle->find_tool(tool);
  if (entry == nullptr) return false;
  return world.ledger != nullptr && entry->idempotency != policy::Idempotency::kNone;
}

// What keeps work from being taken up now.
Status readiness(const World& world, const QueueServers& servers) {
  REMIT_TRY(servers.is_ready());
  const std::vector<Error> problems = world.identities->check();
  return problems.empty() ? Status{} : Status{problems.front()};
}

// `3 rows worked on: 1 succeeded, 2 denied`, and where those are that wait for a person.
std::string totals(const queue::Worker& worker) {
  std::size_t all = 0;
  std::string each;
  std::string look;
  for (const auto& [state, number] : worker.ends()) {
    const std::string name(state == queue::State::kWaiting ? "to be tried again"
                                                           : queue::state_name(state));
    all += number;
    each += (each.empty() ? ": " : ", ") + std::to_string(number) + " " + name;
    const bool waits_for_a_person = state == queue::State::kDenied ||
                                    state == queue::State::kFailed ||
                                    state == queue::State::kUnknown;
    if (waits_for_a_person) look += " --state " + name;
  }
  return std::to_string(all) + (all == 1 ? " row" : " rows") + " worked on" + each +
         (look.empty() ? "" : "; see `remit queue list" + look + "`");
}

std::vector<Error> work(const QueueRun& run, const Config& config,
                        const process::TerminationSignals& signals, const Notices& notices,
                        const enforcement::RunFacts& facts, const Clock& clock, Random& random,
                        World& world, queue::WorkQueue& rows) {
  std::vector<Error> problems;
  QueueServers servers({.policy = world.policy,
                        .clock = clock,
                        .notices = notices,
                        .limits = config.limits,
                        .patience = run.patience});
  if (const Status started = servers.start(config.upstreams, config.directory); !started) {
    return one(started.error());
  }
  const Watch watch(signals, servers, run.patience, clock);
  if (!watch.is_watching()) return one({ErrorCode::kUnavailable, "no thread can be started"});
  if (const Status ready = servers.get_ready(watch.stop()); !ready) {
    // Nothing was taken up; a signal that came meanwhile is an orderly end.
    if (process::is_readable(signals.fd())) return {};
    return one(ready.error());
  }
  if (const Status begun = world.point->begin_run(facts); !begun) return one(begun.error());
  queue::Worker worker(
      {.queue = rows,
       .point = *world.point,
       .tools = servers,
       .clock = clock,
       .random = random,
       .is_ready = [&] { return readiness(world, servers); },
       .is_offered = [&](std::string_view tool) { return servers.is_offered(tool); },
       .may_ask_again = [&](std::string_view tool) { return may_ask_again(world, tool); },
       .notice = [&](std::string_view line) { notices.say(line); }},
      run.worker);
  if (const Status worked = worker.run(watch.stop(), watch.hurry(), run.until); !worked) {
    problems.push_back(worked.error());
  }
  if (run.until == queue::Until::kIdle) notices.say(totals(worker));
  if (const Status ready = servers.is_ready();
      !ready && servers.has_lost_one() && problems.empty()) {
    problems.push_back(ready.error());
  }
  if (const Status ended = world.point->end_run(); !ended) problems.push_back(ended.error());
  if (const Status closed = world.evidence->close(); !closed) problems.push_back(closed.error());
  return problems;
}

}  // namespace

Result<QueueStore> open_queue(const Config& config, QueueCreation creation, FileSystem& files,
                              const Clock& clock, Random& random) {
  if (!config.state) return without_state(config);
  REMIT_TRY_ASSIGN(DigestKey key, read_digest_key(config, files));
  if (creation == QueueCreation::kIfAbsent &&
      config.state->kind == ledger::Location::Kind::kSqlite) {
    const Status made = make_store(*config.state, key, clock, random);
    if (!made) return in_place(config.file + ": state", made.error());
  }
  QueueStore out;
  REMIT_TRY_ASSIGN(out.database,
                   open_database(*config.state, database::Access::kReadWriteExisting, clock));
  auto opened = queue::WorkQueue::open(*out.database, std::move(key), clock, random);
  if (!opened) return in_place(config.file + ": state", opened.error());
  out.queue = std::move(*opened);
  return out;
}

Result<queue::Enqueued> enqueue_for(const Config& config, queue::Work work, FileSystem& files,
                                    const Clock& clock, Random& random) {
  if (!config.state) return without_state(config);
  REMIT_TRY_ASSIGN(const DigestKey key, read_digest_key(config, files));
  REMIT_TRY_ASSIGN(const std::unique_ptr<Identities> identities,
                   Identities::open(config, key, files, clock, random));
  if (work.principal.empty() && config.pinned) work.principal = config.pinned->subject;
  const identity::Identity found = identities->authenticator().authenticate(
      access::Credential::reference(work.principal), clock.wall_now());
  if (!found.principal) {
    return Error{
        ErrorCode::kNotFound,
        quoted(work.principal) + " is nobody that deferred work can be run for: " + found.detail,
        config.file};
  }
  work.lane = found.principal->tenant;
  REMIT_TRY_ASSIGN(const QueueStore store,
                   open_queue(config, QueueCreation::kIfAbsent, files, clock, random));
  return store.queue->enqueue(work);
}

std::vector<Error> run_queue(const QueueRun& run, FileSystem& files, const Clock& clock,
                             Random& random) {
  if (auto problems = check_launch(run.launch); !problems.empty()) return problems;
  ConfigOutcome read = read_config(files, run.config_file);
  if (!read.config) return std::move(read.problems);
  const Config& config = *read.config;
  if (!config.state) return one(without_state(config));
  process::ignore_broken_pipes();
  // Before any thread is made, so that every one of them holds the signals back.
  const auto signals = process::TerminationSignals::take();
  if (!signals) return one(signals.error());
  WorldOutcome assembled = assemble(config, kRoutes, files, clock, random);
  if (assembled.world == nullptr) return std::move(assembled.problems);
  World& world = *assembled.world;
  if (auto problems = world.identities->check(); !problems.empty()) return problems;
  auto store = open_queue(config, QueueCreation::kIfAbsent, files, clock, random);
  if (!store) return one(store.error());
  const Notices notices(run.notice_fd);
  announce_recovery(*world.evidence, notices);
  const auto facts = run_facts(run.launch, world, files);
  if (!facts) return one(facts.error());
  return work(run, config, *signals, notices, *facts, clock, random, world, *store->queue);
}

}  // namespace remit::gateway
