// From names to readers of events.
#include "cli/inputs.h"

#include <set>
#include <utility>

#include <fmt/format.h>

namespace remit::cli {
namespace {

bool is_directory(FileSystem& files, const std::string& path) {
  const Result<FileInfo> info = files.info(path);
  if (!info) return false;
  // `info` does not follow links; a link to a directory can be listed.
  if (info->kind == FileInfo::Kind::kLink) return files.list(path).has_value();
  return info->kind == FileInfo::Kind::kDirectory;
}

Status open_directory(World& world, const std::string& directory,
                      const std::optional<evidence::Head>& head, grading::Evidence& out) {
  REMIT_TRY_ASSIGN(const evidence::VerifyReport report,
                   evidence::verify(world.files, directory, head));
  if (report.damage) {
    out.alterations.push_back({directory, Error{ErrorCode::kDataLoss, report.damage->to_string()}});
  }
  REMIT_TRY_ASSIGN(const std::vector<evidence::WriterSegments> writers,
                   evidence::list_segments(world.files, directory));
  if (writers.empty() && report.writers.empty() && !report.damage) {
    return without_writers(directory);
  }
  for (const evidence::WriterSegments& writer : writers) {
    out.inputs.push_back(trace::Input::of_log(directory + "/" + writer.directory, writer.segments));
  }
  return {};
}

}  // namespace

Error without_writers(const std::string& directory) {
  return {ErrorCode::kInvalidInput, "is not an evidence directory: no writer has a folder in it",
          directory};
}

Result<grading::Evidence> open_inputs(World& world, const std::vector<std::string>& words,
                                      const std::optional<evidence::Head>& head) {
  grading::Evidence out;
  std::set<std::string> seen;
  bool has_directory = false;
  for (const std::string& word : words) {
    if (!seen.insert(word).second) {
      return Error{ErrorCode::kInvalidInput, "is given twice as an input", word};
    }
    if (word == "-") {
      out.inputs.push_back(
          trace::Input::of_stream("-", std::make_unique<trace::DescriptorFile>(world.input_fd)));
    } else if (is_directory(world.files, word)) {
      has_directory = true;
      REMIT_TRY(open_directory(world, word, head, out));
    } else {
      out.inputs.push_back(trace::Input::of_file(word));
    }
  }
  if (head && !has_directory) {
    return Error{ErrorCode::kInvalidInput, "--head is for an evidence directory; none is given"};
  }
  return out;
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
