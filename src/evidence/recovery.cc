// Recovery of logs whose writers died.
#include "evidence/recovery.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/limits.h"
#include "base/line_splitter.h"
#include "base/rfc3339.h"
#include "event/event.h"
#include "evidence/layout.h"
#include "evidence/log_writer.h"

namespace remit::evidence {
namespace {

Result<bool> is_there(FileSystem& files, const std::string& path) {
  const auto info = files.info(path);
  if (info) return true;
  if (info.error().code == ErrorCode::kNotFound) return false;
  return info.error();
}

Status remove_if_there(FileSystem& files, const std::string& path) {
  const Status removed = files.remove(path);
  if (!removed && removed.error().code != ErrorCode::kNotFound) return removed.error();
  return {};
}

/// The bytes of a file from a place on, piece by piece.
class Tail {
 public:
  Tail(ReadFile& file, std::uint64_t offset) : file_(file), offset_(offset) {}

  /// What follows; empty at the end of the file.
  Result<std::span<const std::byte>> next() {
    for (;;) {
      REMIT_TRY_ASSIGN(const std::size_t got, file_.read(chunk_));
      const std::uint64_t skip = std::min<std::uint64_t>(got, offset_ - std::min(offset_, at_));
      at_ += got;
      if (got == 0 || skip < got) {
        return std::span<const std::byte>{chunk_}.first(got).subspan(
            static_cast<std::size_t>(skip));
      }
    }
  }

 private:
  ReadFile& file_;
  std::uint64_t offset_;
  std::uint64_t at_ = 0;
  std::vector<std::byte> chunk_ = std::vector<std::byte>(std::size_t{64} * 1024);
};

/// Whether `kept` is there and holds something else than the beginning of what stands in `from`
/// beyond `offset`. If not, it is what an earlier try copied of it before it was cut short.
Result<bool> holds_another_tail(FileSystem& files, const std::string& kept, const std::string& from,
                                std::uint64_t offset) {
  const auto info = files.info(kept);
  if (!info && info.error().code == ErrorCode::kNotFound) return false;
  if (!info) return info.error();
  if (info->kind != FileInfo::Kind::kFile) return false;  // a pipe would never end
  REMIT_TRY_ASSIGN(const auto left_file, files.open_read(kept));
  REMIT_TRY_ASSIGN(const auto right_file, files.open_read(from));
  Tail left_tail(*left_file, 0);
  Tail right_tail(*right_file, offset);
  std::span<const std::byte> right;
  for (;;) {
    REMIT_TRY_ASSIGN(std::span<const std::byte> left, left_tail.next());
    if (left.empty()) return false;
    while (!left.empty()) {
      if (right.empty()) {
        REMIT_TRY_ASSIGN(right, right_tail.next());
        if (right.empty()) return true;
      }
      const std::size_t size = std::min(left.size(), right.size());
      if (!std::equal(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(size),
                      right.begin())) {
        return true;
      }
      left = left.subspan(size);
      right = right.subspan(size);
    }
  }
}

/// Copies what stands in `from` beyond `offset` to `to`, durably; behind what an earlier recovery,
/// which died after its cut, has put there.
Status copy_tail(FileSystem& files, const std::string& from, std::uint64_t offset,
                 const std::string& to) {
  REMIT_TRY_ASSIGN(const bool is_kept, holds_another_tail(files, to, from, offset));
  REMIT_TRY_ASSIGN(const auto in, files.open_read(from));
  REMIT_TRY_ASSIGN(const auto out, files.open_append(to, OpenMode::kMayCreate));
  if (!is_kept) REMIT_TRY(out->truncate(0));
  Tail tail(*in, offset);
  for (;;) {
    REMIT_TRY_ASSIGN(const std::span<const std::byte> bytes, tail.next());
    if (bytes.empty()) return out->sync();
    REMIT_TRY(out->append(bytes));
  }
}

/// Cuts what is torn off the last segment; whether something is, or was by an earlier try.
Result<bool> cut_torn(FileSystem& files, const std::string& path, const Walked& walked) {
  const SegmentFiles last(path, walked.end.segment);
  if (walked.end.rotation_unfinished) {
    const SegmentFiles unused(path, walked.end.segment + 1);
    REMIT_TRY(remove_if_there(files, unused.lines));
    REMIT_TRY(remove_if_there(files, unused.roots));
    REMIT_TRY(files.sync_directory(path));
  }
  REMIT_TRY_ASSIGN(const auto roots, files.open_append(last.roots, OpenMode::kMustExist));
  REMIT_TRY(roots->truncate(walked.end.roots_bytes));
  if (walked.state.torn_bytes == 0) return is_there(files, last.torn);
  REMIT_TRY(copy_tail(files, last.lines, walked.end.bytes, last.torn));
  REMIT_TRY(files.sync_directory(path));
  REMIT_TRY_ASSIGN(const auto lines, files.open_append(last.lines, OpenMode::kMustExist));
  REMIT_TRY(lines->truncate(walked.end.bytes));
  return true;
}

/// A process that dies between saying that another segment follows and the sync of that leaves it
/// in the system's memory only, where it is read from until power goes. What is built upon it must
/// not outlast it.
Status sync_segment_before(FileSystem& files, const std::string& path, std::uint64_t segment) {
  if (segment == 1) return {};
  const SegmentFiles before(path, segment - 1);
  for (const std::string& file : {before.lines, before.roots}) {
    REMIT_TRY_ASSIGN(const bool there, is_there(files, file));
    if (!there) continue;
    REMIT_TRY_ASSIGN(const auto open, files.open_append(file, OpenMode::kMustExist));
    REMIT_TRY(open->sync());
  }
  return files.sync_directory(path);
}

/// The run that the events of the log name; empty where they name none, or more than one, or where
/// some are no more.
Result<std::string> only_run(FileSystem& files, const std::string& path, std::uint64_t segments,
                             const Removed& removed) {
  std::string run;
  if (removed.segments > 0) return run;
  event::Decoder decoder;
  event::Event event;
  for (std::uint64_t number = 1; number <= segments; ++number) {
    REMIT_TRY_ASSIGN(const auto file, files.open_read(SegmentFiles(path, number).lines));
    LineSplitter lines(*file, kMaxEventLineBytes);
    SplitLine line;
    while (true) {
      REMIT_TRY_ASSIGN(const bool any, lines.next(line));
      if (!any) break;
      if (line.end != LineEnd::kWhole || !decoder.decode(line.text, event)) continue;
      const std::string_view named = event.text(event::Field::kRunId);
      if (named.empty() || named == run) continue;
      if (!run.empty()) return std::string{};
      run = named;
    }
  }
  return run;
}

std::string lost_line(const Clock& clock, const std::string& writer, std::uint64_t seq,
                      const std::string& run, bool torn) {
  const std::string time = format_rfc3339(clock.wall_now());
  event::Event lost;
  lost.kind = event::EventKind::kEvidenceLost;
  lost.set(event::Field::kTime, time);
  lost.set(event::Field::kWriter, writer);
  lost.set(event::Field::kSeq, static_cast<std::int64_t>(seq));
  lost.set_if_any(event::Field::kRunId, run);
  lost.set(event::Field::kEvents, std::int64_t{-1});
  lost.set(event::Field::kCause, torn ? "torn_tail" : "writer_died");
  std::string line;
  event::encode(lost, line);
  return line;
}

/// Recovers one log; nothing where it needed none.
Result<std::optional<Recovered>> recover_one(FileSystem& files, const Clock& clock,
                                             const std::string& root,
                                             const std::string& directory) {
  const std::string path = root + "/" + directory;
  const std::string lock_path = path + "/" + std::string{kLockName};
  REMIT_TRY_ASSIGN(const bool open, is_there(files, lock_path));
  if (!open) return std::optional<Recovered>{};
  auto lock = files.lock(lock_path);
  if (!lock && lock.error().code == ErrorCode::kFailedPrecondition) {
    return std::optional<Recovered>{};  // Its writer lives.
  }
  if (!lock) return std::move(lock).error();

  REMIT_TRY_ASSIGN(Walked walked, walk_writer(files, root, directory));
  Recovered out;
  out.directory = directory;
  out.damage = walked.state.damage;
  if (out.damage) return std::optional{std::move(out)};
  if (walked.state.closed) {
    REMIT_TRY(remove_if_there(files, lock_path));
    return std::optional<Recovered>{};
  }
  out.unrooted_lines = walked.state.unrooted_lines;
  out.torn_bytes = walked.state.torn_bytes;
  out.events = walked.state.events + walked.state.unrooted_lines + 1;
  REMIT_TRY(sync_segment_before(files, path, walked.end.segment));
  REMIT_TRY_ASSIGN(const bool torn, cut_torn(files, path, walked));
  REMIT_TRY_ASSIGN(const std::string run,
                   only_run(files, path, walked.end.segment, walked.state.removed));
  const std::string line = lost_line(clock, walked.state.writer, out.events, run, torn);
  REMIT_TRY_ASSIGN(LogWriter writer,
                   LogWriter::resume(files, root, std::move(walked), std::move(lock).value()));
  REMIT_TRY(writer.commit(line, RootsKind::kRemade));
  REMIT_TRY(writer.close());
  return std::optional{std::move(out)};
}

}  // namespace

Result<std::vector<Recovered>> recover(FileSystem& files, const Clock& clock,
                                       const std::string& root) {
  REMIT_TRY_ASSIGN(const auto names, files.list(root));
  std::vector<Recovered> out;
  for (const std::string& name : names) {
    if (!parse_writer_directory(name)) continue;
    auto one = recover_one(files, clock, root, name);
    if (!one) {
      Recovered failed;
      failed.directory = name;
      failed.error = std::move(one).error();
      out.push_back(std::move(failed));
    } else if (*one) {
      out.push_back(**std::move(one));
    }
  }
  return out;
}

}  // namespace remit::evidence
