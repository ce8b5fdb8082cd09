// Verification of an evidence directory, and its head.
#include "evidence/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/bytes.h"
#include "base/limits.h"
#include "evidence/fields.h"
#include "evidence/layout.h"
#include "evidence/log_tree.h"
#include "evidence/tombstone.h"

namespace remit::evidence {
namespace {

constexpr std::string_view kHeadFormat = "remit-head-1";
constexpr std::size_t kMaxOriginShown = 2 * kMaxIdBytes;

/// Takes the text up to `end`, and `end`; all of it where `end` is absent.
std::string_view take(std::string_view& text, char end) {
  const std::size_t at = text.find(end);
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return taken;
}

bool read_number(std::string_view text, std::uint64_t& out) {
  const std::optional<std::uint64_t> number = parse_number(text);
  out = number.value_or(0);
  return number.has_value();
}

/// Adds one writer at one moment to the digest that is the head.
void fold(Sha256& head, const std::string& directory, std::uint64_t events,
          const Sha256Digest& chain) {
  head.update(fmt::format("{} {} {}\n", directory, events, to_hex(chain)));
}

Head head_of(const std::vector<WriterState>& writers) {
  Head head;
  head.writers = writers.size();
  Sha256 digest;
  for (std::size_t i = 0; i < writers.size(); ++i) {
    const WriterState& writer = writers[i];
    if (!writer.closed) head.open.push_back({i + 1, writer.events});
    fold(digest, writer.directory, writer.events, writer.chain);
  }
  head.digest = digest.finish();
  return head;
}

Damage kept_damage(DamageKind kind, std::string file, std::string what) {
  return Damage{kind, std::move(file), 0, 0, std::move(what)};
}

/// What `kept` holds against the writers, none of which is damaged; what cannot be compared goes to
/// `unknown`.
std::optional<Damage> compare(const std::vector<WriterState>& writers, const Head& kept,
                              std::vector<std::string>& unknown) {
  if (writers.size() < kept.writers) {
    return kept_damage(DamageKind::kHeadRolledBack, writer_directory(writers.size() + 1),
                       fmt::format("missing: the head was taken of {} writers", kept.writers));
  }
  Sha256 digest;
  auto open = kept.open.begin();
  for (std::uint64_t number = 1; number <= kept.writers; ++number) {
    const WriterState& writer = writers[static_cast<std::size_t>(number - 1)];
    if (open == kept.open.end() || open->writer != number) {
      if (!writer.closed) {
        return kept_damage(DamageKind::kHeadRolledBack, writer.directory,
                           "not closed: it was when the head was taken");
      }
      fold(digest, writer.directory, writer.events, writer.chain);
      continue;
    }
    if (!writer.chain_at_target && open->events < writer.removed.events) {
      unknown.push_back(
          fmt::format("the head counts {} events of {}: retention has removed {} since",
                      open->events, writer.directory, writer.removed.events));
      return std::nullopt;
    }
    if (!writer.chain_at_target) {
      return kept_damage(DamageKind::kHeadRolledBack, writer.directory,
                         fmt::format("{} events are proven: {} were when the head was taken",
                                     writer.events, open->events));
    }
    fold(digest, writer.directory, open->events, *writer.chain_at_target);
    ++open;
  }
  if (digest.finish() == kept.digest) return std::nullopt;
  return kept_damage(DamageKind::kHeadContradicted, "",
                     "this is not the evidence that the head was taken of: it was written anew");
}

/// The checkpoints of one log, by rising size.
using OfLog = std::vector<const Checkpoint*>;

std::map<std::string, OfLog> by_directory(const std::vector<Checkpoint>& checkpoints) {
  std::map<std::string, OfLog> out;
  for (const Checkpoint& checkpoint : checkpoints) {
    const auto log = log_of(checkpoint.origin);
    out[log ? log->directory : std::string{}].push_back(&checkpoint);
  }
  for (auto& [directory, list] : out) {
    std::sort(list.begin(), list.end(),
              [](const Checkpoint* a, const Checkpoint* b) { return a->size < b->size; });
  }
  return out;
}

/// What the checkpoints of one log hold against it, which is not damaged. The first that it does
/// not fit is told, with the last that it fits: what was rewritten stands between them.
void compare(const WriterState& writer, const OfLog& checkpoints, const TreeRoots& roots,
             VerifyReport& report) {
  std::uint64_t fits = 0;
  std::string unknown;
  for (const Checkpoint* one : checkpoints) {
    const auto log = log_of(one->origin);
    if (!log || log->writer != writer.writer) {
      report.damage =
          kept_damage(DamageKind::kCheckpointContradicted, writer.directory,
                      fmt::format("written anew by another writer: a checkpoint is of the log {}",
                                  quoted(one->origin, kMaxOriginShown)));
      return;
    }
    // Lines whose roots a crash took are there all the same.
    const std::uint64_t there = writer.events + writer.unrooted_lines;
    if (one->size > there) {
      report.damage = kept_damage(
          DamageKind::kCheckpointRolledBack, writer.directory,
          fmt::format("rolled back: {} events are there, and a checkpoint is of {}: from event {} "
                      "on they are gone",
                      there, one->size, there + 1));
      return;
    }
    const auto root = roots.at(one->size);
    if (!root) {
      unknown = fmt::format("a checkpoint is of {} events of {}: retention has removed {} since",
                            one->size, writer.directory, writer.removed.events);
    } else if (*root != one->root) {
      report.damage = kept_damage(
          DamageKind::kCheckpointContradicted, writer.directory,
          fmt::format("rewritten: of events {} to {} at least one is not what was signed", fits + 1,
                      one->size));
      return;
    } else {
      fits = one->size;
      report.checkpoints.push_back({writer.directory, one->size});
    }
  }
  // One that fits stands for all before it: who signed them saw to that.
  if (fits == 0 && !unknown.empty()) report.unknown.push_back(std::move(unknown));
}

}  // namespace

std::string Head::to_string() const {
  std::string list;
  for (const Open& one : open) {
    list += fmt::format("{}{}@{}", list.empty() ? "" : ",", one.writer, one.events);
  }
  return fmt::format("{}:{}:{}:{}", kHeadFormat, writers, list.empty() ? "-" : list,
                     to_hex(digest));
}

Result<Head> Head::parse(std::string_view text) {
  const Error malformed{ErrorCode::kInvalidInput,
                        "not a head: expected remit-head-1:WRITERS:OPEN:DIGEST"};
  std::string_view rest = text;
  Head out;
  if (take(rest, ':') != kHeadFormat || !read_number(take(rest, ':'), out.writers)) {
    return malformed;
  }
  std::string_view list = take(rest, ':');
  if (list == "-") list = {};
  while (!list.empty()) {
    std::string_view item = take(list, ',');
    Open one;
    if (!read_number(take(item, '@'), one.writer) || !read_number(item, one.events)) {
      return malformed;
    }
    const std::uint64_t least = out.open.empty() ? 1 : out.open.back().writer + 1;
    if (one.writer < least || one.writer > out.writers) return malformed;
    out.open.push_back(one);
  }
  const std::optional<Sha256Digest> digest = as_digest(from_hex(rest));
  if (!digest) return malformed;
  out.digest = *digest;
  if (out.to_string() != text) return malformed;
  return out;
}

std::optional<std::uint64_t> Head::events_of_open(std::uint64_t writer) const {
  const auto found =
      std::find_if(open.begin(), open.end(), [&](const Open& one) { return one.writer == writer; });
  if (found == open.end()) return std::nullopt;
  return found->events;
}

bool VerifyReport::is_open(std::string_view writer) const {
  return std::ranges::any_of(writers, [&](const WriterState& state) {
    return state.directory == writer && !state.closed && !state.damage;
  });
}

std::uint64_t VerifyReport::removed() const {
  std::uint64_t out = 0;
  for (const WriterState& writer : writers) out += writer.removed.events;
  return out;
}

Result<VerifyReport> verify(FileSystem& files, const std::string& directory, const Kept& kept) {
  REMIT_TRY_ASSIGN(const auto writers, list_segments(files, directory));
  const std::map<std::string, OfLog> checkpoints = by_directory(kept.checkpoints);
  VerifyReport report;
  for (const WriterSegments& writer : writers) {
    const std::uint64_t number = report.writers.size() + 1;
    if (writer.directory != writer_directory(number)) {
      report.damage = Damage{DamageKind::kWriterMissing, directory + "/" + writer_directory(number),
                             0, 0, fmt::format("missing, and {} is there", writer.directory)};
      return report;
    }
    const auto of_log = checkpoints.find(writer.directory);
    std::vector<std::uint64_t> sizes;
    if (of_log != checkpoints.end()) {
      for (const Checkpoint* one : of_log->second) sizes.push_back(one->size);
    }
    TreeRoots roots(std::move(sizes));
    WalkOptions options;
    if (kept.head) options.target_events = kept.head->events_of_open(number);
    // The tree of a whole log costs a hash a line, and nobody asks for it without checkpoints.
    if (of_log != checkpoints.end()) options.observer = &roots;
    REMIT_TRY_ASSIGN(Walked walked, walk_writer(files, directory, writer.directory, options));
    if (!report.damage) report.damage = walked.state.damage;
    if (of_log != checkpoints.end() && !report.damage) {
      compare(walked.state, of_log->second, roots, report);
    }
    report.writers.push_back(std::move(walked.state));
  }
  report.head = head_of(report.writers);
  if (report.damage) return report;
  for (const auto& [log, list] : checkpoints) {
    const bool is_there =
        std::any_of(report.writers.begin(), report.writers.end(),
                    [&](const WriterState& writer) { return writer.directory == log; });
    if (is_there) continue;
    report.damage = kept_damage(DamageKind::kCheckpointRolledBack, directory + "/" + log,
                                fmt::format("missing: a checkpoint is of the log {}",
                                            quoted(list.front()->origin, kMaxOriginShown)));
    return report;
  }
  if (kept.head) report.damage = compare(report.writers, *kept.head, report.unknown);
  return report;
}

Result<std::vector<WriterSegments>> list_segments(FileSystem& files, const std::string& directory) {
  REMIT_TRY_ASSIGN(const auto names, files.list(directory));
  std::vector<std::pair<std::uint64_t, std::string>> writers;
  for (const std::string& name : names) {
    if (const auto number = parse_writer_directory(name)) writers.emplace_back(*number, name);
  }
  // By number: names sort differently once they have seven digits.
  std::sort(writers.begin(), writers.end());
  std::vector<WriterSegments> out;
  for (const auto& [number, name] : writers) {
    const std::string path = directory + "/" + name;
    REMIT_TRY_ASSIGN(const auto inside, files.list(path));
    REMIT_TRY_ASSIGN(const std::string text, read_tombstone(files, path));
    const auto tombstone = parse_tombstone(text);
    const std::uint64_t removed = tombstone ? tombstone->segments : 0;
    std::vector<std::uint64_t> segments;
    for (const std::string_view file : inside) {
      if (!file.ends_with(kLinesSuffix)) continue;
      const auto segment = parse_numbered(file.substr(0, file.size() - kLinesSuffix.size()));
      if (!segment || *segment <= removed) continue;
      REMIT_TRY_ASSIGN(const FileInfo info, files.info(SegmentFiles(path, *segment).lines));
      if (info.kind == FileInfo::Kind::kFile) segments.push_back(*segment);
    }
    std::sort(segments.begin(), segments.end());
    WriterSegments one{name, {}};
    for (const std::uint64_t segment : segments) {
      one.segments.push_back(SegmentFiles(path, segment).lines);
    }
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace remit::evidence
