// Files told apart by what they are, not by how they are named.
#include "cli/report_places.h"

#include <cstdint>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/file_replacement.h"
#include "cli/inputs.h"
#include "evidence/verify.h"
#include "grading/redaction_file.h"

namespace remit::cli {
namespace {

using Identity = std::pair<std::uint64_t, std::uint64_t>;

/// More directories do not stand in each other.
constexpr int kMaxDepth = 4096;

/// `text=FILE, json=FILE, …`.
std::string write_words() {
  std::string out;
  for (const report::Format& format : report::formats()) {
    out += fmt::format("{}{}=FILE", out.empty() ? "" : ", ", format.name);
  }
  return out;
}

std::optional<Identity> identity_of(FileSystem& files, const std::string& path) {
  const Result<FileInfo> info = files.info(path);
  return info ? info->identity : std::nullopt;
}

std::string without_slashes(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

/// The last name of `place` in the directory that it stands in; nothing where that is not there.
std::optional<std::pair<Identity, std::string>> name_of(FileSystem& files,
                                                        const std::string& place) {
  const std::optional<Identity> directory = identity_of(files, directory_of(place));
  if (!directory) return std::nullopt;
  return std::pair{*directory, place.substr(place.rfind('/') + 1)};
}

/// What a run is graded by, and the places that are taken.
class ReportPlaces {
 public:
  explicit ReportPlaces(World& world) : files_(world.files), input_fd_(world.input_fd) {}

  void add_input(const std::string& word);
  void add_file(const std::string& path, std::string what) {
    if (const auto identity = identity_of(files_, path)) read_.emplace(*identity, std::move(what));
  }
  /// Takes the place, unless it must not.
  std::optional<Error> take(const std::string& path);

 private:
  [[nodiscard]] std::optional<Error> in_evidence(const std::string& path) const;

  FileSystem& files_;
  int input_fd_;
  std::map<Identity, std::string> read_;      // what each is
  std::map<Identity, std::string> evidence_;  // directories, as they were named
  std::map<std::pair<Identity, std::string>, std::string> taken_;  // by directory and name
};

void ReportPlaces::add_input(const std::string& word) {
  const std::string path = word == "-" ? fmt::format("/dev/fd/{}", input_fd_) : word;
  add_file(path, "an input");
  const Result<std::vector<std::string>> names = files_.list(path);
  if (!names) return;  // a file
  const auto writers = evidence::list_segments(files_, path);
  if (!writers || !writers->empty()) {
    if (const auto identity = identity_of(files_, path)) evidence_.emplace(*identity, word);
    return;
  }
  for (const std::string& name : *names) {
    if (has_event_ending(name)) add_file(path + "/" + name, "an input");
  }
}

std::optional<Error> ReportPlaces::in_evidence(const std::string& path) const {
  if (evidence_.empty()) return std::nullopt;
  std::string directory = directory_of(path);
  std::optional<Identity> below;
  for (int depth = 0; depth < kMaxDepth; ++depth) {
    const std::optional<Identity> identity = identity_of(files_, directory);
    if (!identity || identity == below) return std::nullopt;  // no such directory, or the root
    const auto found = evidence_.find(*identity);
    if (found != evidence_.end()) {
      return Error{ErrorCode::kInvalidInput,
                   fmt::format("lies in the evidence directory {}, into which no report goes",
                               quoted(found->second)),
                   path};
    }
    below = identity;
    directory += "/..";
  }
  return std::nullopt;
}

std::optional<Error> ReportPlaces::take(const std::string& path) {
  const std::string place = without_slashes(path);
  if (const auto identity = identity_of(files_, place)) {
    const auto found = read_.find(*identity);
    if (found != read_.end()) {
      return Error{ErrorCode::kInvalidInput,
                   fmt::format("is {}, in whose place no report goes", found->second), path};
    }
  }
  if (std::optional<Error> error = in_evidence(place)) return error;
  const auto name = name_of(files_, place);
  if (!name) return std::nullopt;  // is told when the report is written
  if (taken_.emplace(*name, path).second) return std::nullopt;
  return Error{ErrorCode::kInvalidInput, "is given twice as the place of a report", path};
}

/// Whether `path` would stand in the directory `handoff`, which may not be there yet.
bool stands_in(FileSystem& files, const std::string& path, const std::string& handoff) {
  const std::string directory = without_slashes(directory_of(path));
  const std::optional<Identity> identity = identity_of(files, handoff);
  if (identity) return identity == identity_of(files, directory);
  const auto name = name_of(files, directory);
  return name && name == name_of(files, handoff);
}

}  // namespace

Result<std::vector<ReportFile>> report_files(const Arguments& arguments) {
  std::vector<ReportFile> out;
  for (const std::string& word : arguments.values("--write")) {
    const std::size_t equals = word.find('=');
    const ReportFile file{report::find_format(word.substr(0, equals)),
                          equals == std::string::npos ? "" : word.substr(equals + 1)};
    if (file.format == nullptr || file.path.empty()) {
      return Error{ErrorCode::kInvalidInput,
                   fmt::format("--write takes one of {}; not {}", write_words(), quoted(word))};
    }
    out.push_back(file);
  }
  return out;
}

std::optional<Error> misplaced_report(const Arguments& arguments, World& world,
                                      const GradeRequest& request,
                                      const std::vector<ReportFile>& reports) {
  if (reports.empty() && !arguments.has("--handoff")) return std::nullopt;
  ReportPlaces places(world);
  for (const std::string& word : arguments.positionals()) places.add_input(word);
  for (const char* flag : {"--contract", "--manifest", "--baseline", "--expect-file"}) {
    if (arguments.has(flag))
      places.add_file(arguments.value(flag), fmt::format("read by {}", flag));
  }
  const std::optional<std::string>& canaries = request.criteria.contract.redaction.canaries;
  if (canaries) {
    places.add_file(grading::canaries_path(arguments.value("--contract"), *canaries),
                    "the contract's file of canaries");
  }
  for (const ReportFile& file : reports) {
    if (std::optional<Error> error = places.take(file.path)) return error;
  }
  if (!arguments.has("--handoff")) return std::nullopt;
  const std::string handoff = arguments.value("--handoff");
  for (const ReportFile& file : reports) {
    if (!stands_in(world.files, file.path, without_slashes(handoff))) continue;
    return Error{
        ErrorCode::kInvalidInput,
        fmt::format("stands in {}, which --handoff makes and nothing else fills", quoted(handoff)),
        file.path};
  }
  return places.take(handoff);
}

Status can_write(const Arguments& arguments, World& world, const std::vector<ReportFile>& reports) {
  for (const ReportFile& file : reports) {
    REMIT_TRY(FileReplacement::open(world.files, world.random, file.path));
  }
  if (!arguments.has("--handoff")) return {};
  const std::string place = without_slashes(arguments.value("--handoff"));
  const Result<FileInfo> info = world.files.info(place);
  if (info) {
    const Result<std::vector<std::string>> names = world.files.list(place);
    const bool is_free = info->kind == FileInfo::Kind::kDirectory && names && names->empty();
    if (!is_free) return Error{ErrorCode::kAlreadyExists, "is not a new or empty directory", place};
  }
  const auto begun =
      FileReplacement::open(world.files, world.random, name_beside(place, world.random));
  if (begun) return {};
  // The name beside tells people nothing.
  return Error{begun.error().code, begun.error().message, place};
}

}  // namespace remit::cli
