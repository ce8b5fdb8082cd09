// One writer's log read from end to end.
#include "evidence/walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "base/line_splitter.h"
#include "event/event.h"
#include "evidence/layout.h"
#include "evidence/roots.h"
#include "evidence/tombstone.h"

namespace remit::evidence {
namespace {

using Line = SplitLine;

/// Retention that overtakes a walk so often is none.
constexpr int kMaxWalks = 5;

/// A file of the log, open at its next line.
class OpenLines {
 public:
  static Result<OpenLines> open(FileSystem& files, const std::string& path,
                                std::size_t max_line_bytes) {
    REMIT_TRY_ASSIGN(auto file, files.open_read(path));
    return OpenLines(std::move(file), max_line_bytes);
  }

  Result<bool> next(Line& line) { return splitter_.next(line); }

 private:
  OpenLines(std::unique_ptr<ReadFile> file, std::size_t max_line_bytes)
      : file_(std::move(file)), splitter_(*file_, max_line_bytes) {}

  std::unique_ptr<ReadFile> file_;
  LineSplitter splitter_;
};

/// What of a segment is there, seen before the one in front of it is read: a writer at work makes
/// the next segment first and says so in this one's roots before it writes there.
struct Glimpse {
  bool lines = false;
  bool roots = false;
  bool foreign = false;  ///< one of the two is no plain file: a pipe would hold its reader up
  std::uint64_t lines_bytes = 0;
  bool entries = false;  ///< the roots file has more than its first line
  [[nodiscard]] bool any() const { return lines || roots; }
  [[nodiscard]] bool used() const { return lines_bytes > 0 || entries; }
};

Result<std::optional<FileInfo>> info_if_there(FileSystem& files, const std::string& path) {
  auto info = files.info(path);
  if (info) return std::optional<FileInfo>{*info};
  if (info.error().code == ErrorCode::kNotFound) return std::optional<FileInfo>{};
  return std::move(info).error();
}

bool is_foreign(const std::optional<FileInfo>& info) {
  return info && info->kind != FileInfo::Kind::kFile;
}

class WriterWalk {
 public:
  /// `tombstone` is the text of the log's, empty where there is none.
  WriterWalk(FileSystem& files, std::string path, const std::string& directory,
             const WalkOptions& options, std::string tombstone)
      : files_(files), path_(std::move(path)), options_(options), tombstone_(std::move(tombstone)) {
    out_.state.directory = directory;
  }

  Result<Walked> run() {
    if (options_.observer != nullptr) options_.observer->begin();
    REMIT_TRY(survey());
    begin_behind_tombstone();
    if (out_.state.damage || out_.state.closed) {
      if (!out_.state.damage) compare_with_survey();
      return std::move(out_);
    }
    const std::uint64_t first = out_.state.segments + 1;
    REMIT_TRY_ASSIGN(Glimpse here, glimpse(first));
    for (std::uint64_t number = first;; ++number) {
      REMIT_TRY_ASSIGN(Glimpse next, glimpse(number + 1));
      REMIT_TRY_ASSIGN(const bool goes_on, segment(number, here, next));
      if (out_.state.damage) return std::move(out_);
      if (!goes_on) break;
      // What was not there before this segment was read may be by now.
      if (next.lines && next.roots) {
        here = next;
      } else {
        REMIT_TRY_ASSIGN(here, glimpse(number + 1));
      }
    }
    compare_with_survey();
    return std::move(out_);
  }

 private:
  void damaged(DamageKind kind, const std::string& file, std::uint64_t line, std::uint64_t offset,
               std::string what) {
    out_.state.damage = Damage{kind, file, line, offset, std::move(what)};
  }
  void damaged(DamageKind kind, const std::string& file, const Line& line, std::string what) {
    damaged(kind, file, line.number, line.offset, std::move(what));
  }

  /// Takes over what the tombstone says of the segments that are no more.
  void begin_behind_tombstone() {
    if (tombstone_.empty()) return;
    const std::string file = fmt::format("{}/{}", path_, kTombstoneName);
    auto parsed = parse_tombstone(tombstone_);
    if (!parsed || parsed->directory != out_.state.directory) {
      damaged(DamageKind::kTombstoneMalformed, file, 0, 0,
              parsed ? fmt::format("of another log: it names {}", quoted(parsed->directory))
                     : parsed.error().message);
      return;
    }
    WriterState& state = out_.state;
    state.writer = parsed->writer;
    state.segments = parsed->segments;
    state.events = parsed->events;
    state.bytes = parsed->bytes;
    state.removed = {parsed->segments,   parsed->events,    parsed->bytes,
                     parsed->first_time, parsed->last_time, files_left()};
    state.chain = chain_ = parsed->chain;
    state.closed = parsed->is_end;
    extent_ = parsed->extent;
    if (target_at(state.events)) target_chain_ = chain_;
    if (state.closed) state.chain_at_target = target_chain_;
    if (options_.observer == nullptr) return;
    std::uint64_t rest = parsed->events;
    for (const Sha256Digest& subtree : parsed->subtrees) {
      const auto level = static_cast<std::size_t>(std::bit_width(rest)) - 1;
      options_.observer->removed(level, subtree);
      rest ^= std::uint64_t{1} << level;
    }
  }

  [[nodiscard]] bool target_at(std::uint64_t events) const {
    return options_.target_events == events;
  }

  [[nodiscard]] std::uint64_t files_left() const {
    return static_cast<std::uint64_t>(
        std::count_if(segments_seen_.begin(), segments_seen_.end(),
                      [&](std::uint64_t number) { return number <= out_.state.segments; }));
  }

  Result<Glimpse> glimpse(std::uint64_t number) {
    const SegmentFiles paths(path_, number);
    Glimpse out;
    REMIT_TRY_ASSIGN(const auto lines, info_if_there(files_, paths.lines));
    REMIT_TRY_ASSIGN(const auto roots, info_if_there(files_, paths.roots));
    out.lines = lines.has_value();
    out.lines_bytes = lines ? lines->size : 0;
    out.roots = roots.has_value();
    out.foreign = is_foreign(lines) || is_foreign(roots);
    if (!out.roots || out.foreign) return out;
    REMIT_TRY_ASSIGN(OpenLines reader, OpenLines::open(files_, paths.roots, kMaxRootsLineBytes));
    Line line;
    REMIT_TRY_ASSIGN(const bool header, reader.next(line));
    if (header && line.end != LineEnd::kTorn) {
      REMIT_TRY_ASSIGN(out.entries, reader.next(line));
    }
    return out;
  }

  /// Whether another segment follows; false as well after damage.
  Result<bool> segment(std::uint64_t number, const Glimpse& here, const Glimpse& next) {
    const SegmentFiles paths(path_, number);
    if (!here.lines || !here.roots) {
      damaged(DamageKind::kSegmentMissing, here.lines ? paths.roots : paths.lines, 0, 0,
              "the file is missing");
      return false;
    }
    if (here.foreign) {
      damaged(DamageKind::kSegmentForeign, paths.lines, 0, 0,
              "this or the roots beside it is not a plain file");
      return false;
    }
    REMIT_TRY_ASSIGN(OpenLines lines, OpenLines::open(files_, paths.lines, kMaxEventLineBytes));
    REMIT_TRY_ASSIGN(OpenLines roots, OpenLines::open(files_, paths.roots, kMaxRootsLineBytes));
    REMIT_TRY(header(number, paths, roots));
    if (out_.state.damage) return false;
    REMIT_TRY_ASSIGN(const std::optional<RootsKind> ended, entries(paths, roots, lines));
    if (out_.state.damage) return false;
    settle();
    if (ended && options_.observer != nullptr) {
      options_.observer->segment({number, ended == RootsKind::kClosed, extent_, chain_});
    }
    if (ended == RootsKind::kContinued) {
      if (next.any()) return true;
      REMIT_TRY_ASSIGN(const Glimpse again, glimpse(number + 1));
      if (again.any()) return true;
      damaged(DamageKind::kSegmentMissing, SegmentFiles(path_, number + 1).lines, 0, 0,
              fmt::format("segment {} says that another follows, and none does", paths.name));
      return false;
    }
    const bool foreign = ended == RootsKind::kClosed ? next.any() : next.used();
    if (foreign) {
      damaged(
          ended == RootsKind::kClosed ? DamageKind::kSegmentForeign : DamageKind::kRootsCut,
          ended == RootsKind::kClosed ? SegmentFiles(path_, number + 1).lines : paths.roots, 0, 0,
          fmt::format("segment {} does not say that another follows, and one does", paths.name));
      return false;
    }
    out_.end.rotation_unfinished = next.any();
    out_.state.closed = ended == RootsKind::kClosed;
    if (!ended) REMIT_TRY(unrooted(lines));
    return false;
  }

  Status header(std::uint64_t number, const SegmentFiles& paths, OpenLines& roots) {
    Line line;
    REMIT_TRY_ASSIGN(const bool any, roots.next(line));
    if (!any || line.end != LineEnd::kWhole) {
      damaged(DamageKind::kRootsMalformed, paths.roots, 1, 0, "the first line is not whole");
      return {};
    }
    auto parsed = parse_roots_header(line.text);
    if (!parsed) {
      damaged(DamageKind::kRootsMalformed, paths.roots, 1, 0, parsed.error().message);
      return {};
    }
    RootsHeader expected;
    expected.directory = out_.state.directory;
    expected.writer = number == 1 ? parsed->writer : out_.state.writer;
    expected.segment = paths.name;
    expected.first_seq = out_.state.events + 1;
    if (number > 1) {
      expected.previous = numbered(number - 1);
      expected.previous_extent = extent_;
      expected.previous_chain = chain_;
    }
    if (*parsed != expected) {
      damaged(DamageKind::kSegmentForeign, paths.roots, 1, 0,
              fmt::format("this segment does not follow the one before: it calls itself segment "
                          "{} of {} after segment {}",
                          parsed->segment, parsed->directory, parsed->previous));
      return {};
    }
    out_.state.writer = parsed->writer;
    out_.state.segments = number;
    out_.end = LogEnd{};
    out_.end.segment = number;
    out_.end.first_seq = expected.first_seq;
    out_.end.header_digest = parsed->digest();
    out_.end.roots_bytes = line.next_offset();
    extent_ = SegmentExtent{0, 0, out_.end.tree.root()};
    if (number == 1) note_target();
    return {};
  }

  /// The entries of the roots file and the lines they cover; what ended the segment, if anything
  /// did.
  Result<std::optional<RootsKind>> entries(const SegmentFiles& paths, OpenLines& roots,
                                           OpenLines& lines) {
    std::optional<RootsKind> ended;
    Line line;
    while (true) {
      REMIT_TRY_ASSIGN(const bool any, roots.next(line));
      if (!any) break;
      auto entry = parse_roots_entry(line.text);
      const bool is_entry = entry && line.end == LineEnd::kWhole;
      if (!is_entry && !ended) {
        // Roots are not waited for, and a disk may have written a later part before an earlier one.
        REMIT_TRY_ASSIGN(const bool torn, is_torn_from(paths.roots, out_.end.roots_bytes));
        if (torn) break;
      }
      if (!is_entry) {
        damaged(DamageKind::kRootsMalformed, paths.roots, line, "not a line of a roots file");
      } else if (ended) {
        damaged(DamageKind::kRootsAltered, paths.roots, line, "a line behind the last one");
      } else {
        REMIT_TRY(apply(paths, line, *entry, lines));
      }
      if (out_.state.damage) return ended;
      if (ends_segment(entry->kind)) ended = entry->kind;
    }
    if (ended) {
      REMIT_TRY_ASSIGN(const bool more, lines.next(line));
      if (more) {
        damaged(DamageKind::kLinesAdded, paths.lines, line,
                "bytes behind the end of a complete segment");
      }
    }
    return ended;
  }

  /// Whether what stands in the roots file from `offset` on can be what a crash left of entries.
  Result<bool> is_torn_from(const std::string& path, std::uint64_t offset) {
    REMIT_TRY_ASSIGN(const auto file, files_.open_read(path));
    TornRoots torn(offset);
    std::vector<std::byte> chunk(std::size_t{64} * 1024);
    std::uint64_t at = 0;
    while (true) {
      REMIT_TRY_ASSIGN(const std::size_t got, file->read(chunk));
      if (got == 0) return torn.is_torn_at_end();
      const std::uint64_t skip = std::min<std::uint64_t>(got, offset - std::min(offset, at));
      at += got;
      const std::span<const std::byte> bytes{chunk.data(), got};
      if (!torn.take(bytes.subspan(static_cast<std::size_t>(skip)))) return false;
    }
  }

  Status apply(const SegmentFiles& paths, const Line& at, const RootsEntry& entry,
               OpenLines& lines) {
    const std::uint64_t covered = out_.end.tree.size();
    const bool ends = ends_segment(entry.kind);
    if (entry.number != out_.end.entries + 1) {
      damaged(DamageKind::kRootsAltered, paths.roots, at,
              fmt::format("entry {} where {} belongs", entry.number, out_.end.entries + 1));
      return {};
    }
    if (ends ? entry.extent.lines != covered : entry.extent.lines <= covered) {
      damaged(DamageKind::kRootsAltered, paths.roots, at,
              fmt::format("{} lines after an entry of {}", entry.extent.lines, covered));
      return {};
    }
    const std::uint64_t start = out_.end.bytes;
    while (out_.end.tree.size() < entry.extent.lines) {
      Line line;
      REMIT_TRY_ASSIGN(const bool any, lines.next(line));
      if (!any || line.end == LineEnd::kTorn) {
        const std::uint64_t size = out_.end.bytes + (any ? line.text.size() : 0);
        const bool is_short = size < entry.extent.bytes;
        damaged(is_short ? DamageKind::kLinesCut : DamageKind::kLinesAltered, paths.lines,
                covered + 1, start,
                fmt::format("the file ends after {} lines and {} bytes, and entry {} of the roots "
                            "proves {} lines and {} bytes",
                            out_.end.tree.size(), size, entry.number, entry.extent.lines,
                            entry.extent.bytes));
        return {};
      }
      if (line.end == LineEnd::kTooLong) {
        damaged(DamageKind::kLinesAltered, paths.lines, line, "longer than any event");
        return {};
      }
      add(line);
    }
    const SegmentExtent found{out_.end.tree.size(), out_.end.bytes, out_.end.tree.root()};
    if (found != entry.extent) {
      damaged(DamageKind::kLinesAltered, paths.lines, covered + 1, start,
              fmt::format("lines {} to {} are not what entry {} of the roots proves", covered + 1,
                          entry.extent.lines, entry.number));
      return {};
    }
    if (ends && entry.chain != chain_value(out_.end.header_digest, found)) {
      damaged(DamageKind::kRootsAltered, paths.roots, at, "another chain value than the log has");
      return {};
    }
    extent_ = found;
    out_.end.entries = entry.number;
    out_.end.roots_bytes = at.next_offset();
    if (entry.kind == RootsKind::kRemade) ++out_.state.remade_roots;
    return {};
  }

  void add(const Line& line) {
    const Sha256Digest leaf = out_.end.tree.add(line.text);
    if (options_.observer != nullptr) options_.observer->line(line.text, leaf);
    out_.end.bytes = line.next_offset();
    note_target();
  }

  /// Where as many events have been read as the target says, keeps their chain value. It counts
  /// only once a root covers them, which `settle` sees to.
  void note_target() {
    const std::uint64_t read = out_.end.first_seq - 1 + out_.end.tree.size();
    if (!target_at(read)) return;
    target_chain_ =
        chain_value(out_.end.header_digest,
                    SegmentExtent{out_.end.tree.size(), out_.end.bytes, out_.end.tree.root()});
  }

  void settle() {
    chain_ = chain_value(out_.end.header_digest, extent_);
    // A segment without lines stands for no more than the one before it did.
    if (extent_.lines > 0 || out_.end.segment == 1) out_.state.chain = chain_;
    out_.state.events += extent_.lines;
    out_.state.bytes += extent_.bytes;
    if (options_.target_events && *options_.target_events <= out_.state.events) {
      out_.state.chain_at_target = target_chain_;
    }
  }

  /// What stands behind the last root of an unclosed log: whole events of this writer, in order,
  /// then what a crash left torn.
  Status unrooted(OpenLines& lines) {
    event::Decoder decoder;
    event::Event event;
    Line line;
    while (true) {
      REMIT_TRY_ASSIGN(const bool any, lines.next(line));
      if (!any) return {};
      const auto seq = static_cast<std::int64_t>(out_.state.events + out_.state.unrooted_lines + 1);
      if (line.end != LineEnd::kWhole || !decoder.decode(line.text, event) ||
          event.integer(event::Field::kSeq) != seq ||
          event.text(event::Field::kWriter) != out_.state.writer) {
        break;
      }
      add(line);
      ++out_.state.unrooted_lines;
    }
    const SegmentFiles paths(path_, out_.end.segment);
    REMIT_TRY_ASSIGN(const FileInfo info, files_.info(paths.lines));
    out_.state.torn_bytes = info.size - std::min(info.size, out_.end.bytes);
    return {};
  }

  /// What the directory holds before anything is read. A writer at work adds segments and removes
  /// its lock when it is done, so only what was seen by then can be held against the log.
  Status survey() {
    REMIT_TRY_ASSIGN(const auto names, files_.list(path_));
    for (const std::string& name : names) {
      locked_ = locked_ || name == kLockName;
      const std::string_view text = name;
      const std::size_t dot = std::min(text.find('.'), text.size());
      const auto number = parse_numbered(text.substr(0, dot));
      const std::string_view suffix = text.substr(dot);
      if (!number || (suffix != kLinesSuffix && suffix != kRootsSuffix)) continue;
      segments_seen_.push_back(*number);
      if (*number > highest_) {
        highest_ = *number;
        highest_name_ = name;
      }
    }
    return {};
  }

  void compare_with_survey() {
    // One segment more than the log names may be in the making, if the log is not at its end.
    if (highest_ > out_.state.segments + (out_.state.closed ? 0 : 1)) {
      damaged(DamageKind::kSegmentForeign, path_ + "/" + highest_name_, 0, 0,
              fmt::format("the log ends with segment {}", numbered(out_.state.segments)));
    } else if (!out_.state.closed && !locked_) {
      damaged(DamageKind::kRootsCut, SegmentFiles(path_, out_.state.segments).roots, 0, 0,
              "the log was closed (it has no lock file), and its last line is missing");
    }
  }

  FileSystem& files_;
  std::string path_;
  const WalkOptions& options_;
  std::string tombstone_;
  std::optional<Sha256Digest> target_chain_;
  SegmentExtent extent_;  ///< the last one proven, of the segment at hand
  Sha256Digest chain_{};  ///< for `extent_`
  bool locked_ = false;
  std::vector<std::uint64_t> segments_seen_;  ///< a number for each file
  std::uint64_t highest_ = 0;                 ///< number of a segment of which a file was seen
  std::string highest_name_;
  Walked out_;
};

}  // namespace

std::string_view damage_kind_name(DamageKind kind) {
  switch (kind) {
    case DamageKind::kWriterMissing:
      return "writer_missing";
    case DamageKind::kSegmentMissing:
      return "segment_missing";
    case DamageKind::kSegmentForeign:
      return "segment_foreign";
    case DamageKind::kLinesAltered:
      return "lines_altered";
    case DamageKind::kLinesCut:
      return "lines_cut";
    case DamageKind::kLinesAdded:
      return "lines_added";
    case DamageKind::kRootsMalformed:
      return "roots_malformed";
    case DamageKind::kRootsAltered:
      return "roots_altered";
    case DamageKind::kRootsCut:
      return "roots_cut";
    case DamageKind::kTombstoneMalformed:
      return "tombstone_malformed";
    case DamageKind::kHeadRolledBack:
      return "head_rolled_back";
    case DamageKind::kHeadContradicted:
      return "head_contradicted";
    case DamageKind::kCheckpointRolledBack:
      return "checkpoint_rolled_back";
    case DamageKind::kCheckpointContradicted:
      return "checkpoint_contradicted";
  }
  return "unknown";
}

std::string Damage::to_string() const {
  const std::string place = line == 0 ? file : fmt::format("{}:{} (byte {})", file, line, offset);
  return Error{ErrorCode::kDataLoss, what, place}.to_string();
}

Result<Walked> walk_writer(FileSystem& files, const std::string& root, const std::string& directory,
                           const WalkOptions& options) {
  const std::string path = root + "/" + directory;
  REMIT_TRY_ASSIGN(std::string tombstone, read_tombstone(files, path));
  for (int tries = 1;; ++tries) {
    auto walked = WriterWalk(files, path, directory, options, tombstone).run();
    if (walked && !walked->state.damage) return walked;
    // Retention may have removed what was about to be read, and says so before it does.
    REMIT_TRY_ASSIGN(std::string now, read_tombstone(files, path));
    if (now == tombstone || tries == kMaxWalks) return walked;
    tombstone = std::move(now);
  }
}

}  // namespace remit::evidence
