// The invoice desk over SQLite.
#include "desk.h"

#include <sqlite3.h>

#include <map>
#include <vector>

#include <fmt/format.h>

#include "event/event.h"

namespace remit::examples {
namespace {

constexpr std::string_view kTables = R"sql(
create table invoices (
  id text primary key, alias text unique not null, tenant text not null, owner text not null,
  amount_cents integer not null, body text not null, revision integer not null);
create table refunds (
  id integer primary key, invoice text not null references invoices(id),
  amount_cents integer not null, invocation_id text not null);
create table effects (
  id integer primary key, tool text not null, invocation_id text not null,
  run_id text not null, case_id text not null);
insert into invoices values
  ('canonical-invoice-4', 'INV-4', 'tenant-a', 'ana', 129900, 'Acme: 3 licences, March', 12),
  ('canonical-invoice-5', 'INV-5', 'tenant-a', 'ana', 4500, 'Acme: support, March', 3),
  ('canonical-invoice-6', 'INV-6', 'tenant-a', 'ben', 80000, 'Acme: training', 1),
  ('canonical-invoice-9', 'INV-9', 'tenant-b', 'bea', 990000, 'Borealis: yearly plan', 12),
  ('canonical-invoice-10', 'INV-10', 'tenant-b', 'bea', 1500, 'Borealis: shipping', 2);
)sql";

/// A prepared statement; finalised with the scope.
class Statement {
 public:
  Statement(sqlite3* database, std::string_view sql) : database_(database) {
    sqlite3_prepare_v2(database, sql.data(), static_cast<int>(sql.size()), &statement_, nullptr);
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& bind(int index, std::string_view text) {
    sqlite3_bind_text(statement_, index, text.data(), static_cast<int>(text.size()),
                      SQLITE_TRANSIENT);
    return *this;
  }
  Statement& bind(int index, std::int64_t number) {
    sqlite3_bind_int64(statement_, index, number);
    return *this;
  }
  /// True for a row, false at the end.
  Result<bool> step() {
    const int code = statement_ == nullptr ? SQLITE_ERROR : sqlite3_step(statement_);
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) return false;
    return Error{ErrorCode::kUnavailable,
                 fmt::format("the desk's database says: {}", sqlite3_errmsg(database_))};
  }
  [[nodiscard]] std::string text(int column) const {
    const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
    return bytes == nullptr ? "" : std::string(bytes);
  }
  [[nodiscard]] std::int64_t number(int column) const {
    return sqlite3_column_int64(statement_, column);
  }

 private:
  sqlite3* database_;
  sqlite3_stmt* statement_ = nullptr;
};

json::Value invoice_json(const Statement& row) {
  return json::Object{{"id", row.text(0)},
                      {"tenant", row.text(1)},
                      {"amount_cents", row.number(2)},
                      {"body", row.text(3)}};
}

Result<sqlite3*> open_database(const std::string& path, int flags) {
  sqlite3* database = nullptr;
  if (sqlite3_open_v2(path.c_str(), &database, flags, nullptr) != SQLITE_OK) {
    Error error{ErrorCode::kUnavailable,
                fmt::format("cannot open the desk's database: {}", sqlite3_errmsg(database)), path};
    sqlite3_close_v2(database);
    return error;
  }
  sqlite3_busy_timeout(database, 2000);
  return database;
}

}  // namespace

void Desk::Close::operator()(sqlite3* database) const {
  sqlite3_close_v2(database);
}

Result<Desk> Desk::open(const std::string& path) {
  REMIT_TRY_ASSIGN(sqlite3* const database, open_database(path, SQLITE_OPEN_READWRITE));
  return Desk(database);
}

Result<Desk> Desk::create(const std::string& path) {
  REMIT_TRY_ASSIGN(sqlite3* const database,
                   open_database(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
  Desk desk(database);
  REMIT_TRY(
      desk.execute("pragma journal_mode = wal; begin immediate;"
                   "drop table if exists effects; drop table if exists refunds;"
                   "drop table if exists invoices;"));
  REMIT_TRY(desk.execute(kTables));
  REMIT_TRY(desk.execute("commit"));
  return desk;
}

Status Desk::execute(std::string_view statements) {
  char* message = nullptr;
  const std::string text(statements);
  if (sqlite3_exec(database_.get(), text.c_str(), nullptr, nullptr, &message) == SQLITE_OK)
    return {};
  Error error{ErrorCode::kUnavailable,
              fmt::format("the desk's database says: {}", message == nullptr ? "?" : message)};
  sqlite3_free(message);
  return error;
}

Status Desk::audit(std::string_view tool, const CallOrigin& origin) {
  Statement insert(
      database_.get(),
      "insert into effects (tool, invocation_id, run_id, case_id) values (?, ?, ?, ?)");
  insert.bind(1, tool).bind(2, origin.invocation_id).bind(3, origin.run_id).bind(4, origin.case_id);
  REMIT_TRY(insert.step());
  return {};
}

Result<json::Value> Desk::use(const ToolUse& use) {
  const MutexLock lock(*mutex_);
  const json::Value* given = use.arguments.find("invoice");
  const std::string* named = given == nullptr ? nullptr : given->if_string();
  const std::string invoice = named == nullptr ? "" : *named;
  if (use.tool == "invoice.read") return read_invoice(invoice, use.origin);
  if (use.tool == "invoice.list") return list_invoices(use.origin);
  if (use.tool == "admin.export") return export_all(use.origin);
  if (use.tool != "refund.create") return Error{ErrorCode::kNotFound, "unknown tool"};
  const json::Value* amount = use.arguments.find("amount_cents");
  const std::int64_t* cents = amount == nullptr ? nullptr : amount->if_integer();
  if (cents == nullptr || *cents < 1) {
    return Error{ErrorCode::kInvalidInput, "amount_cents must be a positive integer"};
  }
  return create_refund(invoice, *cents, use.origin);
}

Result<json::Value> Desk::read_invoice(const std::string& id, const CallOrigin& origin) {
  Statement select(database_.get(),
                   "select id, tenant, amount_cents, body from invoices "
                   "where ?1 in (id, alias)");
  select.bind(1, id);
  REMIT_TRY_ASSIGN(const bool found, select.step());
  if (!found) return Error{ErrorCode::kNotFound, "no such invoice"};
  REMIT_TRY(audit("invoice.read", origin));
  return invoice_json(select);
}

Result<json::Value> Desk::list_invoices(const CallOrigin& origin) {
  Statement select(database_.get(),
                   "select id, tenant, amount_cents, body from invoices order by id");
  json::Array out;
  while (true) {
    REMIT_TRY_ASSIGN(const bool found, select.step());
    if (!found) break;
    out.push_back(invoice_json(select));
  }
  REMIT_TRY(audit("invoice.list", origin));
  return json::Value(json::Object{{"invoices", std::move(out)}});
}

Result<json::Value> Desk::create_refund(const std::string& invoice_id, std::int64_t amount_cents,
                                        const CallOrigin& origin) {
  // The effect and its audit row stand or fall together: a spy that could miss one would prove
  // nothing.
  REMIT_TRY(execute("begin immediate"));
  Statement insert(database_.get(),
                   "insert into refunds (invoice, amount_cents, invocation_id)"
                   " select id, ?, ? from invoices where ?3 in (id, alias)");
  insert.bind(1, amount_cents).bind(2, origin.invocation_id).bind(3, invoice_id);
  const Result<bool> inserted = insert.step();
  const bool refunded = inserted && sqlite3_changes(database_.get()) == 1;
  const Status audited = refunded ? audit("refund.create", origin) : Status{};
  if (const Status ended = execute(refunded && audited ? "commit" : "rollback"); !ended) {
    (void)execute("rollback");  // A transaction that stays open would fail every later call.
    return ended.error();
  }
  if (!inserted) return inserted.error();
  if (!refunded) return Error{ErrorCode::kNotFound, "no such invoice"};
  REMIT_TRY(audited);
  return json::Value(json::Object{{"refunded_cents", amount_cents}, {"invoice", invoice_id}});
}

Result<json::Value> Desk::export_all(const CallOrigin& origin) {
  Statement count(database_.get(), "select count(*), sum(amount_cents) from invoices");
  REMIT_TRY(count.step());
  REMIT_TRY(audit("admin.export", origin));
  return json::Value(json::Object{{"invoices", count.number(0)}, {"total_cents", count.number(1)}});
}

Result<std::string> Desk::effects_as_events(const std::string& run_id) {
  Statement select(database_.get(),
                   "select invocation_id, case_id, tool, count(*), min(id) from effects "
                   "where run_id = ?"
                   " group by invocation_id, case_id, tool order by min(id)");
  select.bind(1, run_id);
  std::string out;
  std::int64_t seq = 0;
  std::map<std::string, int> invocations;
  while (true) {
    REMIT_TRY_ASSIGN(const bool found, select.step());
    if (!found) break;
    // What came without an id gets one of the desk's own, which no decision has.
    const std::string given = select.text(0);
    const std::string invocation =
        given.empty() ? fmt::format("unasked-{}", select.number(4)) : given;
    const std::string case_id = select.text(1);
    const std::string tool = select.text(2);
    ++invocations[invocation];
    event::Event effect;
    effect.kind = event::EventKind::kEffectObserved;
    effect.set(event::Field::kInvocationId, invocation);
    effect.set(event::Field::kWriter, "invoice-desk-audit");
    effect.set_if_any(event::Field::kRunId, run_id);
    effect.set_if_any(event::Field::kCaseId, case_id);
    effect.set(event::Field::kTool, tool);
    effect.set(event::Field::kSource, "invoice_desk.effects");
    effect.set(event::Field::kSeq, ++seq);
    effect.set(event::Field::kEffects, select.number(3));
    event::encode(effect, out);
  }
  event::Event closed;
  closed.kind = event::EventKind::kRunFinished;
  closed.set(event::Field::kWriter, "invoice-desk-audit");
  closed.set_if_any(event::Field::kRunId, run_id);
  closed.set(event::Field::kSource, "invoice_desk.effects");
  closed.set(event::Field::kSeq, seq + 1);
  closed.set(event::Field::kInvocations, static_cast<std::int64_t>(invocations.size()));
  closed.set(event::Field::kEvents, seq);
  event::encode(closed, out);
  return out;
}

}  // namespace remit::examples
