// The evidence log on disk: many callers, one writer, one sync for all that wait.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/limits.h"
#include "base/mutex.h"
#include "base/random.h"
#include "base/result.h"
#include "evidence/evidence_sink.h"
#include "evidence/log_writer.h"
#include "evidence/recovery.h"

namespace remit::evidence {

struct FileEvidenceOptions {
  std::string directory;  ///< made if absent; its parent must exist
  std::uint64_t max_segment_bytes = kMaxSegmentBytes;
  std::size_t max_pending_bytes = kMaxPendingEvidenceBytes;
  Duration append_interval = kEvidenceInterval;
};

/// One process's log in an evidence directory (spec/evidence.md). Callers hand in events together:
/// one of those that wait writes and syncs for all that have come meanwhile, so that a lone caller
/// pays little more than the sync itself and many share one. No lock is held during I/O.
/// Thread-safe.
///
///     auto log = FileEvidenceLog::open(files, clock, random, {.directory = "evidence"});
///     if (!log) return log.error();
///     Status durable = (*log)->commit({events, snapshot_generation});
class FileEvidenceLog final : public EvidenceSink {
 public:
  /// Recovers the logs of writers that died (`recovered` says which), then begins a log of its own.
  /// `files` and `clock` outlive it; `random` is used here only. Errors: `failed_precondition`
  /// where others may write in the directory, else those of the file system.
  static Result<std::unique_ptr<FileEvidenceLog>> open(FileSystem& files, const Clock& clock,
                                                       Random& random, FileEvidenceOptions options);
  /// Closes, if `close` was not called.
  ~FileEvidenceLog() override;
  FileEvidenceLog(const FileEvidenceLog&) = delete;
  FileEvidenceLog& operator=(const FileEvidenceLog&) = delete;

  Status commit(const EventBatch& batch) override;
  Status append(const EventBatch& batch) override;
  Status publish(const event::Event& published, std::uint64_t generation) override;
  Status flush() override;

  /// Makes everything durable, marks the log as closed and refuses (`unavailable`) from
  /// then on. After a failure it only lets go of the log, so that the next opener recovers it, and
  /// returns that failure. Not from two threads at once.
  Status close();

  /// The id in this log's events, and its directory's name, `writer-000001`.
  [[nodiscard]] const std::string& writer() const { return writer_id_; }
  [[nodiscard]] const std::string& directory() const { return directory_; }
  /// What `open` found and did. An operator should hear of each entry.
  [[nodiscard]] const std::vector<Recovered>& recovered() const { return recovered_; }

 private:
  /// The callers whose events are written together.
  struct Group {
    CondVar changed;
    bool done = false;
    std::optional<Error> error;
  };

  FileEvidenceLog(const Clock& clock, FileEvidenceOptions options, LogWriter writer,
                  std::vector<Recovered> recovered);
  Status make_room() REMIT_REQUIRES(mutex_);
  Status add(const EventBatch& batch, std::string_view now) REMIT_REQUIRES(mutex_);
  Status add_event(const event::Event& event, std::string_view now) REMIT_REQUIRES(mutex_);
  Status wait_for(const std::shared_ptr<Group>& group) REMIT_REQUIRES(mutex_);
  Status flush_locked() REMIT_REQUIRES(mutex_);
  Status refusal() const REMIT_REQUIRES(mutex_);
  void lead() REMIT_REQUIRES(mutex_);
  void finish(Group& group, const std::optional<Error>& error) REMIT_REQUIRES(mutex_);
  void write_appended();

  const Clock& clock_;
  const FileEvidenceOptions options_;
  const std::vector<Recovered> recovered_;
  const std::string writer_id_;
  const std::string directory_;

  Mutex mutex_;
  std::string pending_ REMIT_GUARDED_BY(mutex_);  ///< encoded events that no one writes yet
  std::shared_ptr<Group> group_ REMIT_GUARDED_BY(mutex_);      ///< of those in `pending_`
  std::shared_ptr<Group> in_flight_ REMIT_GUARDED_BY(mutex_);  ///< being written; null if none
  CondVar room_;
  CondVar appended_;
  bool writer_sleeps_ REMIT_GUARDED_BY(mutex_) = false;  ///< the thread of `write_appended`
  bool closing_ REMIT_GUARDED_BY(mutex_) = false;
  std::optional<Error> failed_ REMIT_GUARDED_BY(mutex_);
  std::uint64_t next_seq_ REMIT_GUARDED_BY(mutex_) = 1;
  std::uint64_t generation_ REMIT_GUARDED_BY(mutex_) = 0;
  event::Event scratch_ REMIT_GUARDED_BY(mutex_);

  // Touched by the one that leads (`in_flight_` is set), or by `close` after the last.
  std::optional<LogWriter> writer_;
  std::string writing_;

  std::thread appended_writer_;
};

}  // namespace remit::evidence
