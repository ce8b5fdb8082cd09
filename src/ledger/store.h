// The tables of a ledger: where they are, which version they have, whose they are.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "database/database.h"

namespace remit::ledger {

/// Where a ledger is kept.
struct Location {
  enum class Kind : std::uint8_t { kSqlite, kPostgres };
  Kind kind = Kind::kSqlite;
  std::string text = {};  ///< a file, or a connection string of libpq
};

/// Whether tables are made where there are none.
enum class Creation : std::uint8_t { kNever, kIfAbsent };

/// A database with a ledger's tables in it.
struct Store {
  std::unique_ptr<database::Database> database;
  std::string id;  ///< of the ledger, minted when it was made: another one is another memory
};

/// Opens the ledger at `location`. `key_check`, where not empty, is a digest of nothing secret
/// under the deployment's digest key: every process has to have the same key, or one call would
/// have two names. Errors: `not_found` where there is no ledger and none may be made; `unsupported`
/// for one that a newer version made; `failed_precondition` for one that was begun under another
/// digest key; else as of the database. A SQLite file that vanishes later is not made anew.
Result<Store> open_store(const Location& location, Creation creation, std::string_view key_check,
                         const Clock& clock, Random& random);

}  // namespace remit::ledger
