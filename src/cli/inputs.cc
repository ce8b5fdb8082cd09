// From names to readers of events.
#include "cli/inputs.h"

#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "evidence/layout.h"
#include "trace/run_sources.h"

namespace remit::cli {
namespace {

using FileIdentity = std::pair<std::uint64_t, std::uint64_t>;

/// Opens what is named, each file once.
class InputOpener {
 public:
  InputOpener(World& world, trace::Form form, const std::optional<evidence::Head>& head)
      : world_(world), form_(form), head_(head) {}

  Status open(const std::string& word);
  [[nodiscard]] bool has_evidence_directory() const { return has_evidence_directory_; }
  [[nodiscard]] const PassedOver& passed_over() const { return passed_over_; }
  grading::Evidence take() { return std::move(out_); }

 private:
  Status open_directory(const std::string& directory);
  Status open_files(const std::string& directory);
  Status open_file(const std::string& path);
  Status refuse_segment(const std::string& path);
  Status refuse_strangers(const std::string& directory,
                          const std::vector<evidence::WriterSegments>& writers);
  Status note(const std::string& path, const FileInfo& info);
  Status note(FileIdentity identity, const std::string& path);

  /// What is known of a path; nothing of what cannot be looked at, which is told of when it is
  /// opened.
  [[nodiscard]] FileInfo look_at(const std::string& path) const {
    return world_.files.info(path).value_or(FileInfo{});
  }

  World& world_;
  trace::Form form_;
  const std::optional<evidence::Head>& head_;
  grading::Evidence out_;
  std::map<FileIdentity, std::string> seen_;  ///< by identity
  bool has_standard_input_ = false;
  bool has_evidence_directory_ = false;
  PassedOver passed_over_;
};

bool is_directory(FileSystem& files, const std::string& path) {
  const Result<FileInfo> info = files.info(path);
  if (!info) return false;
  // `info` does not follow links; a link to a directory can be listed.
  if (info->kind == FileInfo::Kind::kLink) return files.list(path).has_value();
  return info->kind == FileInfo::Kind::kDirectory;
}

/// What a file of a folder is, as far as its name tells (REQ-IN-003).
enum class NamedFile : std::uint8_t { kOther, kEvents, kPackedOtherwise };

NamedFile told_by_name(std::string_view name) {
  if (name.starts_with('.')) return NamedFile::kOther;
  std::string small(name);
  std::ranges::transform(small, small.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
  });
  const auto take_ending = [&](std::string_view ending) {
    const bool is_there = small.ends_with(ending);
    if (is_there) small.resize(small.size() - ending.size());
    return is_there;
  };
  bool is_readable = true;
  if (!take_ending(".gz") && !take_ending(".zst")) {
    for (const std::string_view packed :
         {".bz2", ".xz", ".lzma", ".lz4", ".br", ".z", ".zip", ".7z", ".tgz", ".tar"}) {
      if (take_ending(packed)) is_readable = false;
    }
  }
  if (!take_ending(".jsonl") && !take_ending(".ndjson") && !take_ending(".json")) {
    return NamedFile::kOther;
  }
  return is_readable ? NamedFile::kEvents : NamedFile::kPackedOtherwise;
}

Status InputOpener::open(const std::string& word) {
  if (word.empty()) {
    return Error{ErrorCode::kInvalidInput, "the name of an input is empty: is a variable unset?"};
  }
  if (word == "-") {
    if (std::exchange(has_standard_input_, true)) {
      return Error{ErrorCode::kInvalidInput, "is given twice as an input", word};
    }
    struct stat found{};
    if (::fstat(world_.input_fd, &found) == 0) REMIT_TRY(note({found.st_dev, found.st_ino}, word));
    trace::Input input =
        trace::Input::of_stream("-", std::make_unique<trace::DescriptorFile>(world_.input_fd));
    input.form = form_;
    out_.inputs.push_back(std::move(input));
    return {};
  }
  return is_directory(world_.files, word) ? open_directory(word) : open_file(word);
}

// REQ-IN-007: read as a plain file it would be graded and not verified, and nobody would see it.
Status InputOpener::refuse_segment(const std::string& path) {
  constexpr std::string_view kLines = ".jsonl";
  if (!path.ends_with(kLines)) return {};
  const std::string roots = path.substr(0, path.size() - kLines.size()) + ".roots";
  if (!world_.files.info(roots)) return {};
  return Error{ErrorCode::kInvalidInput,
               "is a segment of an evidence directory: give the directory of all writers, so that "
               "it is verified",
               path};
}

Status InputOpener::open_file(const std::string& path) {
  REMIT_TRY(refuse_segment(path));
  const FileInfo info = look_at(path);
  REMIT_TRY(note(path, info));
  trace::Input input = trace::Input::of_file(path);
  input.form = form_;
  input.named = {info};
  out_.inputs.push_back(std::move(input));
  return {};
}

// Refuses what was named before, by whatever path (REQ-IN-004).
Status InputOpener::note(const std::string& path, const FileInfo& info) {
  return info.identity ? note(*info.identity, path) : Status{};
}

Status InputOpener::note(FileIdentity identity, const std::string& path) {
  const auto [first, is_new] = seen_.emplace(identity, path);
  if (is_new) return {};
  if (first->second == path) {
    return Error{ErrorCode::kInvalidInput, "is given twice as an input", path};
  }
  return Error{ErrorCode::kInvalidInput,
               fmt::format("is given twice as an input: it is {} as well", quoted(first->second)),
               path};
}

Status InputOpener::open_directory(const std::string& directory) {
  REMIT_TRY(note(directory, look_at(directory)));
  REMIT_TRY_ASSIGN(const std::vector<evidence::WriterSegments> writers,
                   evidence::list_segments(world_.files, directory));
  // Looked at before they are verified: what changes between that and the reading was not verified.
  std::vector<trace::Input> logs;
  for (const evidence::WriterSegments& writer : writers) {
    logs.push_back(trace::Input::of_log(directory + "/" + writer.directory, writer.segments));
    for (const std::string& path : writer.segments) logs.back().named.push_back(look_at(path));
  }
  REMIT_TRY_ASSIGN(const evidence::VerifyReport report,
                   evidence::verify(world_.files, directory, {.head = head_}));
  if (writers.empty() && report.writers.empty() && !report.damage) return open_files(directory);
  REMIT_TRY(refuse_strangers(directory, writers));
  has_evidence_directory_ = true;
  if (report.damage) {
    out_.alterations.push_back(
        {directory, Error{ErrorCode::kDataLoss, report.damage->to_string()}});
  }
  if (!report.unknown.empty()) {
    return Error{ErrorCode::kFailedPrecondition, report.unknown.front(), directory};
  }
  for (std::size_t w = 0; w < writers.size(); ++w) {
    trace::Input& log = logs[w];
    log.is_unclosed = report.is_open(writers[w].directory);
    if (w < report.writers.size()) {
      log.removed_events = static_cast<std::int64_t>(report.writers[w].removed.events);
      log.removed_of = report.writers[w].writer;
    }
    for (std::size_t i = 0; i < log.paths.size(); ++i) REMIT_TRY(note(log.paths[i], log.named[i]));
    out_.inputs.push_back(std::move(log));
  }
  return {};
}

// Of an evidence directory only what its writers wrote is read. Files of events beside it would be
// missed by nobody, so they are refused (REQ-IN-006).
Status InputOpener::refuse_strangers(const std::string& directory,
                                     const std::vector<evidence::WriterSegments>& writers) {
  const auto refuse = [](const std::string& path) {
    return Error{ErrorCode::kInvalidInput,
                 "is no writer's and stands in an evidence directory: give it by itself, from "
                 "another place",
                 path};
  };
  REMIT_TRY_ASSIGN(const std::vector<std::string> names, world_.files.list(directory));
  for (const std::string& name : names) {
    const std::string path = directory + (directory.ends_with('/') ? "" : "/") + name;
    const bool is_folder = is_directory(world_.files, path);
    if (!is_folder && told_by_name(name) != NamedFile::kOther) return refuse(path);
    const bool is_writer = std::ranges::any_of(
        writers, [&](const evidence::WriterSegments& one) { return one.directory == name; });
    if (!is_folder || is_writer || name.starts_with('.')) continue;
    REMIT_TRY_ASSIGN(const std::vector<std::string> inside, world_.files.list(path));
    // A writer that died before it had a name has written nothing yet.
    const bool is_unborn = name.starts_with(evidence::kUnbornPrefix);
    for (const std::string& file : inside) {
      const Result<FileInfo> info = world_.files.info(path + "/" + file);
      const bool is_empty = info && info->kind == FileInfo::Kind::kFile && info->size == 0;
      if (is_unborn && is_empty) continue;
      if (told_by_name(file) != NamedFile::kOther) return refuse(path + "/" + file);
    }
  }
  return {};
}

Status InputOpener::open_files(const std::string& directory) {
  REMIT_TRY_ASSIGN(const std::vector<std::string> names, world_.files.list(directory));
  const std::size_t before = out_.inputs.size();
  for (const std::string& name : names) {
    const std::string path = directory + (directory.ends_with('/') ? "" : "/") + name;
    const NamedFile kind = told_by_name(name);
    const bool is_folder = is_directory(world_.files, path);
    if (is_folder || kind == NamedFile::kOther) {
      // Nobody expects hidden files to be evidence.
      if (!name.starts_with('.')) ++(is_folder ? passed_over_.folders : passed_over_.files);
      continue;
    }
    if (kind == NamedFile::kPackedOtherwise) {
      return Error{ErrorCode::kInvalidInput,
                   "is packed in a way that is not read: unpack it, or pack it by gzip or zstd",
                   path};
    }
    // REQ-IN-012: nobody named it, so that nobody knows that it is waited for.
    if (look_at(path).target_kind == FileInfo::Kind::kOther) {
      return Error{ErrorCode::kInvalidInput,
                   "is a pipe, a socket or a device, or leads to one: give it by its own name if "
                   "it is to be read",
                   path};
    }
    REMIT_TRY(open_file(path));
  }
  if (out_.inputs.size() > before) return {};
  return Error{ErrorCode::kInvalidInput,
               "holds no evidence: no writer has a folder in it, and no file of it ends with "
               ".jsonl, .ndjson or .json, packed or not",
               directory};
}

}  // namespace

bool has_event_ending(std::string_view name) {
  return told_by_name(name) == NamedFile::kEvents;
}

Error without_writers(const std::string& directory) {
  return {ErrorCode::kInvalidInput, "is not an evidence directory: no writer has a folder in it",
          directory};
}

Result<grading::Evidence> open_inputs(World& world, const std::vector<std::string>& words,
                                      trace::Form form, const std::optional<evidence::Head>& head,
                                      PassedOver* passed_over) {
  InputOpener opener(world, form, head);
  for (const std::string& word : words) REMIT_TRY(opener.open(word));
  if (head && !opener.has_evidence_directory()) {
    return Error{ErrorCode::kInvalidInput, "--head is for an evidence directory; none is given"};
  }
  if (passed_over != nullptr) {
    *passed_over = opener.passed_over();
    passed_over->is_without_head = opener.has_evidence_directory() && !head;
  }
  grading::Evidence evidence = opener.take();
  trace::tell_runs_apart(evidence.inputs);
  return evidence;
}

trace::Form form_of(const Arguments& arguments) {
  return trace::parse_form(arguments.value("--input-format")).value_or(trace::Form::kAuto);
}

Status for_each_event(World& world, std::vector<trace::Input>& inputs,
                      const std::function<Status(const event::Event&, const trace::Line&)>& take,
                      const std::function<void(const Error&)>& refuse) {
  event::Decoder decoder;
  for (const trace::Input& input : inputs) {
    trace::EventReader reader(world.files, input, decoder);
    trace::Item item = trace::Item::kSource;
    while (item != trace::Item::kEnd) {
      REMIT_TRY_ASSIGN(item, reader.next());
      if (item == trace::Item::kEvent) REMIT_TRY(take(reader.event(), reader.line()));
      if (item != trace::Item::kMalformed) continue;
      Error error = reader.error();
      error.where = fmt::format("{}: byte {}", reader.source(), reader.error_offset());
      refuse(error);
    }
  }
  return {};
}

}  // namespace remit::cli
