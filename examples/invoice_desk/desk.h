// The invoice desk: invoices and refunds of two tenants in one SQLite database, with an audit
// table.
//
// This is the program being protected. It trusts whoever calls it, as internal tools do; Remit
// stands in front. Its audit table is the spy: what really happened, written by the tool in the
// same transaction as the effect, with the invocation id that the boundary sent along.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "json/value.h"

struct sqlite3;

namespace remit::examples {

/// What the boundary says a call belongs to (`_meta` of the request), as the audit table keeps it.
struct CallOrigin {
  std::string invocation_id;
  std::string run_id;
  std::string case_id;
};

/// The desk's database. Not thread-safe. Every error names what the desk could not do.
class Desk {
 public:
  /// Opens `path` for reading and writing; the tables must be there (`create` makes them).
  static Result<Desk> open(const std::string& path);
  /// Makes the database afresh with its five invoices of two tenants; replaces what was there.
  static Result<Desk> create(const std::string& path);

  Result<json::Value> read_invoice(const std::string& id, const CallOrigin& origin);
  /// Every tenant's invoices: the desk itself knows no callers.
  Result<json::Value> list_invoices(const CallOrigin& origin);
  Result<json::Value> create_refund(const std::string& invoice_id, std::int64_t amount_cents,
                                    const CallOrigin& origin);
  Result<json::Value> export_all(const CallOrigin& origin);

  /// The audit table as events: one `effect.observed` for each invocation of `run_id` with its
  /// count, then `run.finished` naming the source, which closes the spy.
  Result<std::string> effects_as_events(const std::string& run_id);

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  explicit Desk(sqlite3* database) : database_(database) {}
  Status execute(std::string_view statements);
  Status audit(std::string_view tool, const CallOrigin& origin);

  std::unique_ptr<sqlite3, Close> database_;
};

}  // namespace remit::examples
