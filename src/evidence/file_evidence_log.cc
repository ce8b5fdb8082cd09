// Group commit over one LogWriter.
#include "evidence/file_evidence_log.h"

#include <fmt/format.h>

#include <system_error>
#include <utility>

#include "base/rfc3339.h"

namespace remit::evidence {

Result<std::unique_ptr<FileEvidenceLog>> FileEvidenceLog::open(FileSystem& files,
                                                               const Clock& clock, Random& random,
                                                               FileEvidenceOptions options) {
  const std::string& root = options.directory;
  REMIT_TRY(files.make_directory(root));
  REMIT_TRY_ASSIGN(const auto names, files.list(root));
  // Until something stands in it, it may be new: made just now, or before a crash.
  if (names.empty()) REMIT_TRY(files.sync_directory(root + "/.."));
  REMIT_TRY_ASSIGN(const FileInfo info, files.info(root + "/."));  // Beyond a link, too.
  if (info.writable_by_others || !info.owned_by_us) {
    return Error{ErrorCode::kFailedPrecondition, "others may write in the evidence directory",
                 root};
  }
  REMIT_TRY_ASSIGN(auto recovered, recover(files, clock, root));
  REMIT_TRY_ASSIGN(LogWriter writer,
                   LogWriter::create(files, random, root, options.max_segment_bytes));
  std::unique_ptr<FileEvidenceLog> log(
      new FileEvidenceLog(clock, std::move(options), std::move(writer), std::move(recovered)));
  try {
    log->appended_writer_ = std::thread([raw = log.get()] { raw->write_appended(); });
  } catch (const std::system_error& error) {
    return Error{ErrorCode::kUnavailable,
                 fmt::format("cannot start the evidence log's thread: {}", error.what())};
  }
  return log;
}

FileEvidenceLog::FileEvidenceLog(const Clock& clock, FileEvidenceOptions options, LogWriter writer,
                                 std::vector<Recovered> recovered)
    : clock_(clock),
      options_(std::move(options)),
      recovered_(std::move(recovered)),
      writer_id_(writer.writer()),
      directory_(writer.directory()),
      group_(std::make_shared<Group>()),
      writer_(std::move(writer)) {}

FileEvidenceLog::~FileEvidenceLog() {
  // Who wants to know whether closing went well calls `close`; what it leaves is recovered.
  (void)close();
}

Status FileEvidenceLog::commit(const EventBatch& batch) {
  const std::string now = format_rfc3339(clock_.wall_now());
  const MutexLock lock(mutex_);
  REMIT_TRY(make_room());
  REMIT_TRY(add(batch, now));
  if (batch.events.empty()) return {};
  return wait_for(group_);
}

Status FileEvidenceLog::append(const EventBatch& batch) {
  const std::string now = format_rfc3339(clock_.wall_now());
  const MutexLock lock(mutex_);
  REMIT_TRY(make_room());
  REMIT_TRY(add(batch, now));
  if (writer_sleeps_) {
    writer_sleeps_ = false;
    appended_.notify_one();
  }
  return {};
}

Status FileEvidenceLog::publish(const event::Event& published, std::uint64_t generation) {
  const std::string now = format_rfc3339(clock_.wall_now());
  const MutexLock lock(mutex_);
  REMIT_TRY(make_room());
  if (generation == generation_) return flush_locked();
  REMIT_TRY(add(EventBatch{{&published, 1}, generation}, now));
  generation_ = generation;
  return wait_for(group_);
}

Status FileEvidenceLog::flush() {
  const MutexLock lock(mutex_);
  REMIT_TRY(refusal());
  return flush_locked();
}

Status FileEvidenceLog::flush_locked() {
  if (!pending_.empty()) return wait_for(group_);
  if (in_flight_) return wait_for(in_flight_);
  return {};
}

Status FileEvidenceLog::close() {
  {
    const MutexLock lock(mutex_);
    closing_ = true;
    appended_.notify_one();
    room_.notify_all();
  }
  if (appended_writer_.joinable()) appended_writer_.join();
  const MutexLock lock(mutex_);
  // Nothing is added any more; whoever still waits is served first.
  Status last = flush_locked();
  if (!writer_) return failed_ ? Status{*failed_} : Status{};
  if (last && !failed_) last = writer_->close();
  if (!last && !failed_) failed_ = last.error();
  writer_.reset();
  return failed_ ? Status{*failed_} : Status{};
}

Status FileEvidenceLog::refusal() const {
  if (failed_) {
    return Error{failed_->code, "the evidence log refuses since it failed: " + failed_->message,
                 failed_->where};
  }
  if (closing_) return Error{ErrorCode::kUnavailable, "the evidence log is closed"};
  return {};
}

Status FileEvidenceLog::make_room() {
  while (!pending_.empty() && pending_.size() >= options_.max_pending_bytes && !failed_ &&
         !closing_) {
    if (in_flight_) {
      room_.wait(mutex_);
    } else {
      lead();
    }
  }
  return refusal();
}

Status FileEvidenceLog::add(const EventBatch& batch, std::string_view now) {
  if (batch.policy_generation != 0 && batch.policy_generation < generation_) {
    return Error{ErrorCode::kFailedPrecondition, "a newer policy was published"};
  }
  // Undone as well where memory runs out in the middle of a line.
  struct Undo {
    FileEvidenceLog& log;
    std::size_t pending = log.pending_.size();
    std::uint64_t seq = log.next_seq_;
    bool is_whole = false;
    ~Undo() {
      if (is_whole) return;
      log.pending_.resize(pending);
      log.next_seq_ = seq;
    }
  } undo{*this};
  for (const event::Event& event : batch.events) REMIT_TRY(add_event(event, now));
  undo.is_whole = true;
  return {};
}

Status FileEvidenceLog::add_event(const event::Event& event, std::string_view now) {
  scratch_ = event;
  if (event.kind == event::EventKind::kRunFinished && !event.has(event::Field::kEvents)) {
    scratch_.set(event::Field::kEvents, static_cast<std::int64_t>(next_seq_ - 1));
  }
  scratch_.set(event::Field::kSeq, static_cast<std::int64_t>(next_seq_));
  scratch_.set(event::Field::kWriter, writer_id_);
  if (!event.has(event::Field::kTime)) scratch_.set(event::Field::kTime, now);
  const std::size_t start = pending_.size();
  event::encode(scratch_, pending_);
  if (pending_.size() - start > kMaxEventLineBytes) {
    return Error{ErrorCode::kLimitExceeded,
                 fmt::format("an event of more than {} bytes", kMaxEventLineBytes)};
  }
  ++next_seq_;
  return {};
}

Status FileEvidenceLog::wait_for(const std::shared_ptr<Group>& group) {
  const std::shared_ptr<Group> held = group;  // The member that it may be goes on to the next.
  while (!held->done) {
    if (held == group_ && !in_flight_) {
      lead();
    } else {
      held->changed.wait(mutex_);
    }
  }
  return held->error ? Status{*held->error} : Status{};
}

void FileEvidenceLog::lead() {
  in_flight_ = std::exchange(group_, std::make_shared<Group>());
  writing_.clear();
  std::swap(pending_, writing_);
  room_.notify_all();

  mutex_.unlock();
  Status written = writer_->commit(writing_);
  mutex_.lock();

  if (!written) failed_ = std::move(written).error();
  const std::shared_ptr<Group> group = std::exchange(in_flight_, nullptr);
  finish(*group, failed_);
  if (failed_) {
    // What came meanwhile would stand behind a hole.
    pending_.clear();
    finish(*group_, failed_);
  } else {
    group_->changed.notify_one();  // The next to lead, if anyone waits.
  }
  room_.notify_all();
}

void FileEvidenceLog::finish(Group& group, const std::optional<Error>& error) {
  group.done = true;
  group.error = error;
  group.changed.notify_all();
}

/// Sees to it that what was appended reaches the disk although no one waits for it.
void FileEvidenceLog::write_appended() {
  const MutexLock lock(mutex_);
  while (!closing_ && !failed_) {
    if (pending_.empty()) {
      writer_sleeps_ = true;
      appended_.wait(mutex_);
      continue;
    }
    appended_.wait_for(mutex_, options_.append_interval);
    if (!closing_ && !in_flight_ && !pending_.empty()) lead();
  }
}

}  // namespace remit::evidence
