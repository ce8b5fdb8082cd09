// From names to readers of events.
#include "cli/inputs.h"

#include <map>
#include <utility>

#include <fmt/format.h>

namespace remit::cli {
namespace {

/// Opens what is named, each file once.
class InputOpener {
 public:
  InputOpener(World& world, trace::Form form, const std::optional<evidence::Head>& head)
      : world_(world), form_(form), head_(head) {}

  Status open(const std::string& word);
  [[nodiscard]] bool has_evidence_directory() const { return has_evidence_directory_; }
  grading::Evidence take() { return std::move(out_); }

 private:
  Status open_directory(const std::string& directory);
  Status open_files(const std::string& directory);
  Status open_file(const std::string& path);
  Status note(const std::string& path);

  World& world_;
  trace::Form form_;
  const std::optional<evidence::Head>& head_;
  grading::Evidence out_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::string> seen_;  ///< by identity
  bool has_standard_input_ = false;
  bool has_evidence_directory_ = false;
};

bool is_directory(FileSystem& files, const std::string& path) {
  const Result<FileInfo> info = files.info(path);
  if (!info) return false;
  // `info` does not follow links; a link to a directory can be listed.
  if (info->kind == FileInfo::Kind::kLink) return files.list(path).has_value();
  return info->kind == FileInfo::Kind::kDirectory;
}

Status InputOpener::open(const std::string& word) {
  if (word == "-") {
    if (std::exchange(has_standard_input_, true)) {
      return Error{ErrorCode::kInvalidInput, "is given twice as an input", word};
    }
    trace::Input input =
        trace::Input::of_stream("-", std::make_unique<trace::DescriptorFile>(world_.input_fd));
    input.form = form_;
    out_.inputs.push_back(std::move(input));
    return {};
  }
  return is_directory(world_.files, word) ? open_directory(word) : open_file(word);
}

Status InputOpener::open_file(const std::string& path) {
  REMIT_TRY(note(path));
  trace::Input input = trace::Input::of_file(path);
  input.form = form_;
  out_.inputs.push_back(std::move(input));
  return {};
}

// Refuses what was named before, by whatever path (REQ-IN-004). What cannot be looked at is told of
// when it is opened.
Status InputOpener::note(const std::string& path) {
  const Result<FileInfo> info = world_.files.info(path);
  if (!info || !info->identity) return {};
  const auto [first, is_new] = seen_.emplace(*info->identity, path);
  if (is_new) return {};
  if (first->second == path) {
    return Error{ErrorCode::kInvalidInput, "is given twice as an input", path};
  }
  return Error{ErrorCode::kInvalidInput,
               fmt::format("is given twice as an input: it is {} as well", quoted(first->second)),
               path};
}

Status InputOpener::open_directory(const std::string& directory) {
  REMIT_TRY(note(directory));
  REMIT_TRY_ASSIGN(const std::vector<evidence::WriterSegments> writers,
                   evidence::list_segments(world_.files, directory));
  REMIT_TRY_ASSIGN(const evidence::VerifyReport report,
                   evidence::verify(world_.files, directory, head_));
  if (writers.empty() && report.writers.empty() && !report.damage) return open_files(directory);
  has_evidence_directory_ = true;
  if (report.damage) {
    out_.alterations.push_back(
        {directory, Error{ErrorCode::kDataLoss, report.damage->to_string()}});
  }
  for (const evidence::WriterSegments& writer : writers) {
    for (const std::string& segment : writer.segments) REMIT_TRY(note(segment));
    out_.inputs.push_back(
        trace::Input::of_log(directory + "/" + writer.directory, writer.segments));
  }
  return {};
}

Status InputOpener::open_files(const std::string& directory) {
  REMIT_TRY_ASSIGN(const std::vector<std::string> names, world_.files.list(directory));
  const std::size_t before = out_.inputs.size();
  for (const std::string& name : names) {
    const std::string path = directory + (directory.ends_with('/') ? "" : "/") + name;
    if (has_event_ending(name) && !is_directory(world_.files, path)) REMIT_TRY(open_file(path));
  }
  if (out_.inputs.size() > before) return {};
  return Error{ErrorCode::kInvalidInput,
               "holds no evidence: no writer has a folder in it, and no file of it ends with "
               ".jsonl or .json, packed or not",
               directory};
}

}  // namespace

bool has_event_ending(std::string_view name) {
  if (name.starts_with('.')) return false;
  for (const std::string_view packed : {".gz", ".zst"}) {
    if (name.ends_with(packed)) name.remove_suffix(packed.size());
  }
  return name.ends_with(".jsonl") || name.ends_with(".json");
}

Error without_writers(const std::string& directory) {
  return {ErrorCode::kInvalidInput, "is not an evidence directory: no writer has a folder in it",
          directory};
}

Result<grading::Evidence> open_inputs(World& world, const std::vector<std::string>& words,
                                      trace::Form form, const std::optional<evidence::Head>& head) {
  InputOpener opener(world, form, head);
  for (const std::string& word : words) REMIT_TRY(opener.open(word));
  if (head && !opener.has_evidence_directory()) {
    return Error{ErrorCode::kInvalidInput, "--head is for an evidence directory; none is given"};
  }
  return opener.take();
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
