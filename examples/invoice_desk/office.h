// The office: the one path to the books, on which all seven doors stand.
//
// It owns the boundary and what the boundary stands on. A door is a file beside it: it takes a
// question in its own form, sets the route and the credential, and hands it to the enforcement
// point. None of them decides anything, and none of them has the books.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "access/proposed_call.h"
#include "attributes/sqlite_attribute_source.h"
#include "base/clock.h"
#include "base/file_system.h"
#include "base/random.h"
#include "base/result.h"
#include "books.h"
#include "database/sqlite_database.h"
#include "decision/decision_point.h"
#include "enforcement/enforcement_point.h"
#include "evidence/file_evidence_log.h"
#include "ledger/database_ledger.h"
#include "queue/work_queue.h"
#include "staff.h"

namespace remit::examples {

/// A question as a door has it. Only the credential says who asks.
struct Asked {
  access::Credential credential;
  std::string tool;
  std::string arguments_json;
  std::string key = {};  ///< the caller's own, so that it is done once; empty: none
};

/// What becomes of it, as the one who asked is told.
struct Told {
  std::string word;  ///< `result`, `denied`, `failed`, `unknown`; of work for later also `accepted`
  std::string text;
};
Told told(const enforcement::CallOutcome& outcome);

/// The office's key. Errors: of reading it; `invalid_input` for one that is too short.
Result<DigestKey> read_key(FileSystem& files, const std::string& path);

struct OfficeSettings {
  /// Holds `bundle/`, `staff.yaml`, `desk.db` and `digest.key`; gets `state.db` and `evidence/`.
  std::string directory;
  std::string bundle = "bundle";
  std::string evidence = "evidence";
  std::string run_id = {};
  std::int64_t attempts = 5;  ///< of work that is put off
  int notice_fd = 2;          ///< lines for the operator
};

class Office {
 public:
  /// `books`, `files`, `clock` and `random` outlive it. Errors: of whichever part cannot be opened.
  static Result<std::unique_ptr<Office>> open(OfficeSettings settings, Books& books,
                                              FileSystem& files, const Clock& clock,
                                              Random& random);
  ~Office();
  Office(const Office&) = delete;
  Office& operator=(const Office&) = delete;

  /// Records the end of the run and closes the log; nothing may be asked any more. Errors: of the
  /// log.
  Status close();

  /// Asks by `route`, and waits for the end.
  Told ask(std::string_view route, const Asked& asked);

  /// Puts the bundle of that name in force. Errors: what is wrong with it; the old one stays.
  Status put_in_force(const std::string& bundle);

  [[nodiscard]] const OfficeSettings& settings() const { return settings_; }
  [[nodiscard]] const Clock& clock() const { return clock_; }
  [[nodiscard]] Random& random() { return random_; }
  [[nodiscard]] Staff& staff() { return *staff_; }
  [[nodiscard]] decision::CurrentPolicy& policy() { return policy_; }
  [[nodiscard]] enforcement::EnforcementPoint& point() { return *point_; }
  [[nodiscard]] enforcement::ToolHandler& tools() { return *tools_; }
  [[nodiscard]] queue::WorkQueue& queue() { return *queue_; }

 private:
  Office(OfficeSettings settings, FileSystem& files, const Clock& clock, Random& random)
      : settings_(std::move(settings)), files_(files), clock_(clock), random_(random) {}
  Status open_parts(Books& books);
  [[nodiscard]] std::string path(const std::string& name) const;

  const OfficeSettings settings_;
  FileSystem& files_;
  const Clock& clock_;
  Random& random_;
  std::unique_ptr<Staff> staff_;
  std::unique_ptr<attributes::SqliteAttributeSource> invoices_;
  std::unordered_map<std::string, const attributes::AttributeSource*> sources_;
  decision::CurrentPolicy policy_;
  std::unique_ptr<ledger::DatabaseLedger> ledger_;
  std::unique_ptr<database::SqliteDatabase> state_;
  std::unique_ptr<queue::WorkQueue> queue_;
  std::unique_ptr<enforcement::ToolHandler> tools_;
  std::unique_ptr<evidence::FileEvidenceLog> evidence_;
  std::unique_ptr<enforcement::EnforcementPoint> point_;
};

}  // namespace remit::examples
