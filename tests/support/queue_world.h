// A queue in a database of a test's own.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/digest.h"
#include "database/postgres_database.h"
#include "database/sqlite_database.h"
#include "queue/work_queue.h"
#include "tests/support/fake_clock.h"
#include "tests/support/postgres_server.h"
#include "tests/support/seeded_random.h"
#include "tests/support/test_folder.h"

namespace remit::queue::testing {

enum class Backend : std::uint8_t { kSqlite, kPostgres };

inline std::string backend_name(Backend backend) {
  return backend == Backend::kSqlite ? "Sqlite" : "Postgres";
}

/// One for the whole program; null where PostgreSQL is not installed.
inline remit::testing::PostgresServer* postgres() {
  static const std::unique_ptr<remit::testing::PostgresServer> one =
      remit::testing::PostgresServer::start();
  return one.get();
}

/// A database that works by the machine's clock, beneath a queue that goes by a clock of the
/// test's.
class QueueDatabase {
 public:
  /// False where it cannot be had.
  bool open(Backend backend) {
    if (backend == Backend::kSqlite) {
      database_ = std::make_unique<database::SqliteDatabase>(
          folder_.path("state.db"), database::Access::kReadWrite, database_clock);
      return true;
    }
    if (postgres() == nullptr) return false;
    database_ = database::PostgresDatabase::open(postgres()->new_schema(), database_clock).value();
    return true;
  }
  [[nodiscard]] database::Database& database() { return *database_; }
  [[nodiscard]] std::string path() const { return folder_.path("state.db"); }
  void run(const std::string& statement) {
    const auto done = database_->run(
        statement, {}, {.deadline = database_clock.monotonic_now() + std::chrono::seconds{20}});
    ASSERT_TRUE(done) << done.error().to_string();
  }

  static constexpr char kKeyBytes[] = "0123456789abcdef0123456789abcdef";
  DigestKey key = DigestKey::from_bytes(bytes_of(kKeyBytes)).value();
  /// Wall time is the test's; deadlines go by real time, since databases wait by it.
  class Clock final : public remit::Clock {
   public:
    [[nodiscard]] WallTime wall_now() const override { return wall_.wall_now(); }
    [[nodiscard]] MonotonicTime monotonic_now() const override { return real_.monotonic_now(); }
    void advance(Duration span) { wall_.advance(span); }
    void set_wall(WallTime time) { wall_.set_wall(time); }

   private:
    remit::testing::FakeClock wall_;
    SystemClock real_;
  };
  Clock clock;
  SystemClock database_clock;
  remit::testing::SeededRandom random;

 private:
  remit::testing::TestFolder folder_;
  std::unique_ptr<database::Database> database_;
};

inline Work work(std::string principal, std::string tool,
                 std::string arguments = R"({"invoice":"INV-4"})") {
  Work out;
  out.principal = std::move(principal);
  out.lane = "tenant-a";
  out.tool = std::move(tool);
  out.arguments_json = std::move(arguments);
  return out;
}

}  // namespace remit::queue::testing
