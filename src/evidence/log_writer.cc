// Writing one writer's segments and roots.
#include "evidence/log_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "evidence/layout.h"

namespace remit::evidence {
namespace {

/// Numbers are taken by whoever renames first; losing this often means something else is wrong.
constexpr int kMaxNumberTries = 1000;

/// A file that was removed, moved, cut or replaced while it was open takes writes and syncs them,
/// and keeps nothing that anyone will find.
Status check_place(const AppendFile& file, const std::string& path) {
  REMIT_TRY_ASSIGN(const bool stands, file.stands_at(path));
  if (stands) return {};
  return Error{ErrorCode::kDataLoss, "was removed, moved or replaced while the log was open", path};
}

Status check_place_and_size(const AppendFile& file, const std::string& path,
                            std::uint64_t expected) {
  REMIT_TRY(check_place(file, path));
  REMIT_TRY_ASSIGN(const std::uint64_t size, file.size());
  if (size == expected) return {};
  return Error{
      ErrorCode::kDataLoss,
      fmt::format("has {} bytes where {} were written: it was cut or written to by another", size,
                  expected),
      path};
}

Result<std::uint64_t> highest_writer(FileSystem& files, const std::string& root) {
  REMIT_TRY_ASSIGN(const auto names, files.list(root));
  std::uint64_t highest = 0;
  for (const std::string& name : names) {
    highest = std::max(highest, parse_writer_directory(name).value_or(0));
  }
  return highest;
}

}  // namespace

Result<LogWriter> LogWriter::create(FileSystem& files, Random& random, const std::string& root,
                                    std::uint64_t max_segment_bytes) {
  LogWriter out(files, root, max_segment_bytes);
  out.header_.writer = random_id(random);
  out.header_.segment = numbered(1);
  // Made under another name, so that no one ever sees a writer's directory without its first lines.
  const std::string unborn = root + "/" + std::string{kUnbornPrefix} + out.header_.writer;
  REMIT_TRY(files.make_directory(unborn));
  REMIT_TRY_ASSIGN(out.lock_, files.lock(unborn + "/" + std::string{kLockName}));
  REMIT_TRY(files.open_append(SegmentFiles(unborn, 1).lines, OpenMode::kMustCreate));
  REMIT_TRY(out.take_number(unborn));
  REMIT_TRY(files.sync_directory(root));
  REMIT_TRY(out.open_segment(OpenMode::kMustExist));
  return out;
}

Status LogWriter::take_number(const std::string& unborn) {
  REMIT_TRY_ASSIGN(std::uint64_t number, highest_writer(*files_, root_));
  if (number > UINT64_MAX - kMaxNumberTries) {
    return Error{ErrorCode::kLimitExceeded, "no number is left for a new writer",
                 root_ + "/" + writer_directory(number)};
  }
  for (int tries = 0; tries < kMaxNumberTries; ++tries) {
    header_.directory = writer_directory(++number);
    header_digest_ = header_.digest();
    // `replace` syncs the file and the directory, and with it the names made before.
    const std::string first_line = encode(header_);
    roots_bytes_ = first_line.size();
    REMIT_TRY(files_->replace(SegmentFiles(unborn, 1).roots, first_line));
    const Status renamed = files_->rename(unborn, path());
    if (renamed) return {};
    if (renamed.error().code != ErrorCode::kAlreadyExists) return renamed.error();
  }
  return Error{ErrorCode::kUnavailable, "no number is free for a new writer", root_};
}

Result<LogWriter> LogWriter::resume(FileSystem& files, const std::string& root, Walked walked,
                                    std::unique_ptr<AppendFile> lock) {
  // A log is resumed only to be closed, so the segment does not fill.
  LogWriter out(files, root, UINT64_MAX);
  out.lock_ = std::move(lock);
  out.header_.directory = std::move(walked.state.directory);
  out.header_.writer = std::move(walked.state.writer);
  out.header_.segment = numbered(walked.end.segment);
  out.header_.first_seq = walked.end.first_seq;
  out.header_digest_ = walked.end.header_digest;
  out.number_ = walked.end.segment;
  out.tree_ = std::move(walked.end.tree);
  out.bytes_ = walked.end.bytes;
  out.roots_bytes_ = walked.end.roots_bytes;
  out.entries_ = walked.end.entries;
  REMIT_TRY(out.open_segment(OpenMode::kMustExist));
  return out;
}

Status LogWriter::open_segment(OpenMode mode) {
  paths_ = SegmentFiles(path(), number_);
  lock_path_ = path() + "/" + std::string{kLockName};
  REMIT_TRY_ASSIGN(lines_, files_->open_append(paths_.lines, mode));
  REMIT_TRY_ASSIGN(roots_, files_->open_append(paths_.roots, mode));
  return {};
}

Status LogWriter::check_files() const {
  REMIT_TRY(check_place_and_size(*lines_, paths_.lines, bytes_));
  REMIT_TRY(check_place_and_size(*roots_, paths_.roots, roots_bytes_));
  return check_place(*lock_, lock_path_);
}

Status LogWriter::commit(std::string_view lines, RootsKind kind) {
  if (bytes_ >= max_segment_bytes_) REMIT_TRY(rotate());
  REMIT_TRY(lines_->append(bytes_of(lines)));
  bytes_ += lines.size();
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = lines.find('\n', at);
    tree_.add(lines.substr(at, end - at));
    at = end + 1;
  }
  REMIT_TRY(lines_->sync());
  // Behind the sync, so that what is acknowledged was there when it had reached the disk.
  REMIT_TRY(check_files());
  // Only now, so that a root never speaks of lines that are not on disk. Its own way to the disk is
  // not waited for: lines without a root are whole events all the same, and recovery makes it anew.
  return write_entry(kind);
}

Status LogWriter::write_entry(RootsKind kind) {
  RootsEntry entry;
  entry.kind = kind;
  entry.number = ++entries_;
  entry.extent = SegmentExtent{tree_.size(), bytes_, tree_.root()};
  if (ends_segment(kind)) entry.chain = chain_value(header_digest_, entry.extent);
  const std::string line = encode(entry);
  roots_bytes_ += line.size();
  return roots_->append(bytes_of(line));
}

Status LogWriter::rotate() {
  REMIT_TRY(check_files());  // For the last time for this segment.
  RootsHeader next = header_;
  next.first_seq = next_seq();
  next.previous = header_.segment;
  next.previous_extent = SegmentExtent{tree_.size(), bytes_, tree_.root()};
  next.previous_chain = chain_value(header_digest_, next.previous_extent);
  next.segment = numbered(number_ + 1);

  // The next segment stands on disk before this one says that it follows, and this one says so on
  // disk before anything is written to the next.
  std::unique_ptr<AppendFile> full = std::move(roots_);
  ++number_;
  REMIT_TRY(open_segment(OpenMode::kMustCreate));
  const std::string first_line = encode(next);
  REMIT_TRY(roots_->append(bytes_of(first_line)));
  REMIT_TRY(roots_->sync());
  REMIT_TRY(files_->sync_directory(path()));
  std::swap(full, roots_);
  REMIT_TRY(write_entry(RootsKind::kContinued));
  REMIT_TRY(roots_->sync());
  std::swap(full, roots_);

  header_ = std::move(next);
  header_digest_ = header_.digest();
  tree_ = MerkleTree{};
  bytes_ = 0;
  roots_bytes_ = first_line.size();
  entries_ = 0;
  return {};
}

Status LogWriter::close() {
  REMIT_TRY(write_entry(RootsKind::kClosed));
  REMIT_TRY(roots_->sync());
  REMIT_TRY(check_files());
  // Without its lock file a log is known to be closed; a lock that comes back after a loss of power
  // only makes the next opener look.
  Status removed = files_->remove(lock_path_);
  lock_.reset();
  return removed;
}

}  // namespace remit::evidence
