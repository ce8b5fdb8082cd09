// What doing something once costs: claims, and whole turns of claim, start and finish a second,
// beside bare transactions on the same database.
//
// usage: ledger_bench [FOLDER [CONNINFO]]   In FOLDER (default: the one for temporary files) it
// makes a folder of its own with a SQLite database, and removes it. With CONNINFO it goes through
// the same on PostgreSQL, in the tables of whatever schema that names.
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "bench/run_size.h"
#include "database/postgres_database.h"
#include "database/sqlite_database.h"
#include "ledger/database_ledger.h"

namespace {

using namespace remit;
namespace fs = std::filesystem;

constexpr int kTurns = 400;

template <class T>
T must(Result<T> result) {
  if (result) return std::move(result).value();
  fmt::print(stderr, "{}\n", result.error().to_string());
  std::exit(1);
}
void must(const Status& status) {
  if (status) return;
  fmt::print(stderr, "{}\n", status.error().to_string());
  std::exit(1);
}

/// How often a second `work` is done, `turns` times by `threads` that share them.
double rate(int turns, int threads, const std::function<void(const std::string&)>& work) {
  const SystemClock clock;
  const MonotonicTime before = clock.monotonic_now();
  std::atomic<int> next{0};
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([&] {
      SystemRandom random;
      while (next.fetch_add(1) < turns) work(random_id(random));
    });
  }
  for (std::thread& thread : running) thread.join();
  const Duration taken = clock.monotonic_now() - before;
  return turns / std::chrono::duration<double>(taken).count();
}

void measure(int count, std::string_view name, database::Database& bare,
             const ledger::Location& location, const Clock& clock, Random& random) {
  const auto soon = [&] { return clock.monotonic_now() + std::chrono::seconds{30}; };
  must(bare.run("create table if not exists bench_rows(k text primary key)", {},
                {.deadline = soon()}));
  const auto ledger = must(
      ledger::DatabaseLedger::open({.location = location, .key_check = "bench"}, clock, random));
  const auto claim = [&](const std::string& key) {
    return must(ledger->claim({.claim = key, .call = "c", .tool = "t", .invocation = key})).claim;
  };
  for (const int threads : {1, 8}) {
    const double rows = rate(count, threads, [&](const std::string& key) {
      must(bare.transact(soon(), [&](database::Transaction& transaction) -> Status {
        const database::Parameter parameters[] = {{":k", key}};
        REMIT_TRY_ASSIGN(const auto done,
                         transaction.run("insert into bench_rows values(:k)", parameters));
        return {};
      }));
    });
    const double claims = rate(count, threads, [&](const std::string& key) { claim(key); });
    const double turns = rate(count, threads, [&](const std::string& key) {
      const ledger::Claim held = claim(key);
      must(ledger->start(held));
      ledger->finish(held, ledger::Outcome::kSucceeded);
    });
    fmt::print(
        "{:<11} {} thread(s): {:>6.0f} bare rows/s  {:>6.0f} claims/s ({:.2f})  "
        "{:>6.0f} whole turns/s\n",
        name, threads, rows, claims, claims / rows, turns);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bench::RunSize size(argc, argv);
  const int count = size.of(kTurns, 8);
  const fs::path parent = argc > 1 ? fs::path(argv[1]) : fs::temp_directory_path();
  std::string pattern = (parent / "ledger-bench.XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) return 1;
  const fs::path folder = pattern;
  const SystemClock clock;
  SystemRandom random;
  {
    using Kind = ledger::Location::Kind;
    const std::string file = (folder / "state.db").string();
    database::SqliteDatabase sqlite(file, database::Access::kReadWrite, clock);
    must(sqlite.run("pragma journal_mode = wal", {},
                    {.deadline = clock.monotonic_now() + std::chrono::seconds{10}}));
    measure(count, "SQLite", sqlite, {Kind::kSqlite, file}, clock, random);
    if (argc > 2) {
      const auto postgres = must(database::PostgresDatabase::open(argv[2], clock));
      measure(count, "PostgreSQL", *postgres, {Kind::kPostgres, argv[2]}, clock, random);
    }
  }
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  return 0;
}
