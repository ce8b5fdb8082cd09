// The parts of the office, in the order in which they stand on one another.
#include "office.h"

#include <chrono>
#include <span>
#include <utility>

#include "cedar/cedar_decision_point.h"
#include "enforcement/once.h"
#include "policy/bundle.h"

namespace remit::examples {
namespace {

using enforcement::HandlerOutcome;
using enforcement::HandlerResult;

constexpr std::chrono::seconds kPatience{10};
constexpr std::uint64_t kMaxKeyBytes = 4096;

/// The one handler of all tools: it turns a granted call into a use of the books. There is no other
/// way to make it run than a GrantedCall, and only the boundary makes those.
class BookTools final : public enforcement::ToolHandler {
 public:
  explicit BookTools(Books& books) : books_(books) {}

  HandlerResult run(const enforcement::GrantedCall& call) override {
    const auto& resources = call.resources();
    const Result<json::Value> answer =
        books_.use({.tool = call.tool().name,
                    .resource = resources.empty() ? "" : resources.front().id,
                    .arguments = call.arguments(),
                    .origin = {call.invocation_id(), call.run_id(), call.case_id()}});
    if (answer) return {.outcome = HandlerOutcome::kSucceeded, .payload = json::write(*answer)};
    // What nobody knows is not told as a failure: it may have been done.
    if (answer.error().code == ErrorCode::kDataLoss) return {.error_type = "reply_lost"};
    return {.outcome = HandlerOutcome::kFailed, .error_type = "desk_refused"};
  }

 private:
  Books& books_;
};

}  // namespace

Told told(const enforcement::CallOutcome& outcome) {
  if (const auto* denial = std::get_if<enforcement::Denial>(&outcome)) {
    return {"denied", json::write(json::Value{enforcement::denial_json(*denial)})};
  }
  const auto& result = std::get<HandlerResult>(outcome);
  switch (result.outcome) {
    case HandlerOutcome::kSucceeded:
      return {"result", result.payload};
    case HandlerOutcome::kFailed:
    case HandlerOutcome::kCancelled:
      return {"failed", "it was not done"};
    case HandlerOutcome::kUnknown:
      break;
  }
  return {"unknown", "it may have been done: look before you ask again"};
}

Result<DigestKey> read_key(FileSystem& files, const std::string& path) {
  REMIT_TRY_ASSIGN(const std::string bytes, files.read(path, kMaxKeyBytes));
  return DigestKey::from_bytes(std::as_bytes(std::span(bytes)));
}

Result<std::unique_ptr<Office>> Office::open(OfficeSettings settings, Books& books,
                                             FileSystem& files, const Clock& clock,
                                             Random& random) {
  std::unique_ptr<Office> office(new Office(std::move(settings), files, clock, random));
  REMIT_TRY(office->open_parts(books));
  return office;
}

Office::~Office() = default;

std::string Office::path(const std::string& name) const {
  return settings_.directory + "/" + name;
}

Status Office::open_parts(Books& books) {
  REMIT_TRY_ASSIGN(const DigestKey key, read_key(files_, path("digest.key")));
  // Who asks, and whose an invoice is: both from lists of our own, never from the question.
  staff_ = std::make_unique<Staff>(files_, path("staff.yaml"), key);
  REMIT_TRY_ASSIGN(invoices_,
                   attributes::SqliteAttributeSource::open(
                       {.type = "Invoice",
                        .path = path("desk.db"),
                        .query = "select id, tenant, owner, amount_cents, revision from invoices "
                                 "where alias = :ref",
                        .source = "invoices"},
                       clock_, clock_.monotonic_now() + kPatience));
  sources_.emplace("Invoice", invoices_.get());
  REMIT_TRY(put_in_force(settings_.bundle));
  // What may happen once, and what waits: one database for both.
  REMIT_TRY_ASSIGN(ledger_,
                   ledger::DatabaseLedger::open({.location = {.text = path("state.db")},
                                                 .key_check = enforcement::ledger_key_check(key)},
                                                clock_, random_));
  state_ = std::make_unique<database::SqliteDatabase>(path("state.db"),
                                                      database::Access::kReadWriteExisting, clock_);
  REMIT_TRY_ASSIGN(queue_, queue::WorkQueue::open(*state_, key, clock_, random_));
  tools_ = std::make_unique<BookTools>(books);
  // The record, and on top of everything the boundary.
  REMIT_TRY_ASSIGN(evidence_,
                   evidence::FileEvidenceLog::open(files_, clock_, random_,
                                                   {.directory = path(settings_.evidence)}));
  point_ = std::make_unique<enforcement::EnforcementPoint>(
      enforcement::Surroundings{.policy = policy_,
                                .authenticator = *staff_,
                                .sources = sources_,
                                .evidence = *evidence_,
                                .clock = clock_,
                                .random = random_,
                                .digest_key = key,
                                .ledger = ledger_.get(),
                                .server_name = "desk"});
  REMIT_TRY(point_->record_publication(*policy_.get()));
  return point_->begin_run({.run_id = settings_.run_id});
}

Status Office::close() {
  REMIT_TRY(point_->end_run());
  return evidence_->close();
}

Status Office::put_in_force(const std::string& bundle) {
  policy::BundleOutcome loaded = policy::load_bundle(files_, path(bundle));
  if (loaded.bundle == nullptr) return loaded.problems.front();
  const auto made = cedar::CedarDecisionPointFactory{}.create(*loaded.bundle);
  if (made.decision_point == nullptr) return made.problems.front();
  REMIT_TRY_ASSIGN(const auto snapshot, policy_.publish(loaded.bundle, made.decision_point));
  // At the opening there is no log yet; afterwards no call is decided before the log knows.
  return point_ == nullptr ? Status{} : point_->record_publication(*snapshot);
}

Told Office::ask(std::string_view route, const Asked& asked) {
  return told(point_->invoke({.route = std::string(route),
                              .credential = asked.credential,
                              .tool = asked.tool,
                              .arguments_json = asked.arguments_json,
                              .idempotency_key = asked.key,
                              .run_id = settings_.run_id},
                             *tools_));
}

}  // namespace remit::examples
