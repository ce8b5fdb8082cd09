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

#include "base/mutex.h"
#include "base/result.h"
#include "books.h"
#include "json/value.h"

struct sqlite3;

namespace remit::examples {

/// The desk's database. Every error names what the desk could not do, and was not done.
class Desk final : public Books {
 public:
  /// Opens `path` for reading and writing; the tables must be there (`create` makes them).
  static Result<Desk> open(const std::string& path);
  /// Makes the database afresh with its five invoices of two tenants; replaces what was there.
  static Result<Desk> create(const std::string& path);

  /// `invoice.read`, `invoice.list`, `refund.create` or `admin.export`; one at a time.
  Result<json::Value> use(const ToolUse& use) override;

  /// The audit table as events: one `effect.observed` for each invocation of `run_id` with its
  /// count, then `run.finished` naming the source, which closes the spy.
  Result<std::string> effects_as_events(const std::string& run_id);

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  explicit Desk(sqlite3* database) : database_(database) {}
  Result<json::Value> read_invoice(const std::string& id, const CallOrigin& origin);
  /// Every tenant's invoices: the desk itself knows no callers.
  Result<json::Value> list_invoices(const CallOrigin& origin);
  Result<json::Value> create_refund(const std::string& invoice_id, std::int64_t amount_cents,
                                    const CallOrigin& origin);
  Result<json::Value> export_all(const CallOrigin& origin);
  Status execute(std::string_view statements);
  Status audit(std::string_view tool, const CallOrigin& origin);

  std::unique_ptr<sqlite3, Close> database_;
  std::unique_ptr<Mutex> mutex_ = std::make_unique<Mutex>();  // held while a tool is used
};

}  // namespace remit::examples
