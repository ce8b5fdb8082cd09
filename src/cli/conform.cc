// remit conform: the pack, its runner, and the proof that it can fail.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "base/nearest_word.h"
#include "cli/commands.h"
#include "cli/conform_inputs.h"
#include "conformance/fault_table.h"
#include "conformance/formats.h"
#include "conformance/known_failures.h"
#include "conformance/pack.h"
#include "conformance/run.h"
#include "conformance/subject.h"

namespace remit::cli {
namespace {

using conformance::Pack;
using conformance::Subject;

// Words that name no case or route are refused: a misspelt one would run nothing and look like a
// pass of less.
std::optional<std::string> unknown_word(const Arguments& arguments, const Pack& pack) {
  for (const std::string& word : arguments.values("--case")) {
    if (pack.find_case(word) != nullptr) continue;
    std::vector<std::string_view> known;
    for (const conformance::Case& one : pack.cases) known.push_back(one.id);
    return fmt::format("the pack has no case {}{}", quoted(word), suggestion(word, known));
  }
  return std::nullopt;
}

std::vector<std::string> split_at_commas(const std::vector<std::string>& values) {
  std::vector<std::string> out;
  for (const std::string& value : values) {
    std::size_t start = 0;
    for (std::size_t comma = value.find(',');; comma = value.find(',', start)) {
      out.push_back(value.substr(start, comma - start));
      if (comma == std::string::npos) break;
      start = comma + 1;
    }
  }
  return out;
}

struct FormatFile {
  const conformance::Format* format;
  std::string path;
};

Result<std::vector<FormatFile>> files_to_write(const Arguments& arguments) {
  std::vector<FormatFile> out;
  for (const std::string& word : arguments.values("--write")) {
    const std::size_t equals = word.find('=');
    const FormatFile file{conformance::find_format(word.substr(0, equals)),
                          equals == std::string::npos ? "" : word.substr(equals + 1)};
    if (file.format == nullptr || file.path.empty()) {
      return Error{ErrorCode::kInvalidInput,
                   fmt::format("--write takes FORMAT=FILE; not {}", quoted(word))};
    }
    for (const char* flag : {"--subject", "--known-failures"}) {
      if (arguments.value(flag) == file.path) {
        return Error{ErrorCode::kInvalidInput,
                     fmt::format("is read by {}, and no report goes in its place", flag),
                     file.path};
      }
    }
    out.push_back(file);
  }
  return out;
}

// Where `--keep` puts records: CASE-ROUTE/record and, beside it, what it is graded by.
class Keeper {
 public:
  Keeper(FileSystem& files, std::string directory)
      : files_(files), directory_(std::move(directory)) {}

  // Records of another run in the same place would be taken for this one's.
  Status open() {
    REMIT_TRY(files_.make_directory(directory_));
    REMIT_TRY_ASSIGN(const std::vector<std::string> names, files_.list(directory_));
    if (names.empty()) return {};
    return Error{ErrorCode::kAlreadyExists, "is not empty; name another directory, or remove it",
                 directory_};
  }

  std::string keep(const conformance::TrialRecord& record) {
    const std::string place = fmt::format("{}/{}-{}", directory_, record.case_id, record.route);
    if (const Status done = write(place, record); !done && status_) status_ = done;
    return place;
  }

  // The first thing that could not be written.
  [[nodiscard]] const Status& status() const { return status_; }

 private:
  Status write(const std::string& place, const conformance::TrialRecord& record) {
    REMIT_TRY(files_.make_directory(place));
    REMIT_TRY(files_.make_directory(place + "/record"));
    REMIT_TRY(files_.replace(place + "/record/subject.jsonl", record.subject_events));
    REMIT_TRY(files_.replace(place + "/record/spy.jsonl", record.spy_events));
    return files_.replace(place + "/manifest.json", record.manifest);
  }

  FileSystem& files_;
  std::string directory_;
  Status status_;
};

int cannot_write(World& world, const Error& error) {
  complain(world, error);
  return kExitCannotWrite;
}

}  // namespace

int run_conform_run(const Arguments& arguments, World& world) {
  const std::optional<Pack> pack = find_pack(arguments, world);
  if (!pack) return kExitUsage;
  const std::optional<Subject> subject = find_subject(arguments, world, *pack);
  if (!subject) return kExitUsage;
  if (const auto unknown = unknown_word(arguments, *pack)) return refuse_one(world, *unknown);
  conformance::RunOptions options;
  options.cases = arguments.values("--case");
  options.routes = split_at_commas(arguments.values("--routes"));
  for (const std::string& route : options.routes) {
    if (!conformance::is_route(route)) {
      return refuse_one(world, fmt::format("{} is no route; there are {}", quoted(route),
                                           fmt::join(conformance::kRoutes, ", ")));
    }
  }
  if (arguments.has("--known-failures")) {
    const std::string file = arguments.value("--known-failures");
    const Result<std::string> text = world.files.read(file, kMaxConfigBytes);
    if (!text) return refuse_all(world, {text.error()});
    auto parsed = conformance::parse_known_failures(*text, file, *pack);
    if (!parsed.known) return refuse_all(world, parsed.errors);
    options.known = std::move(parsed.known);
  }
  const Result<std::vector<FormatFile>> reports = files_to_write(arguments);
  if (!reports) return refuse_all(world, {reports.error()});
  std::optional<Keeper> keeper;
  if (arguments.has("--keep")) {
    keeper.emplace(world.files, arguments.value("--keep"));
    if (const Status open = keeper->open(); !open) return cannot_write(world, open.error());
    options.keep = [&](const conformance::TrialRecord& record) { return keeper->keep(record); };
  }
  const conformance::RunWorld run_world{world.files, world.clock, world.random, scratch_of(world),
                                        own_program()};
  const Result<conformance::Run> run = conformance::run_pack(*pack, *subject, options, run_world);
  if (!run) {
    complain(world, run.error());
    return kExitInternal;
  }
  if (keeper && !keeper->status()) return cannot_write(world, keeper->status().error());
  for (const FormatFile& file : *reports) {
    if (const Status done = world.files.replace(file.path, file.format->write(*run)); !done) {
      return cannot_write(world, done.error());
    }
  }
  const conformance::Format* format = conformance::find_format(arguments.value("--format", "text"));
  return print(world, format->write(*run), run->exit_code);
}

int run_conform_list(const Arguments& arguments, World& world) {
  const std::optional<Pack> pack = find_pack(arguments, world);
  if (!pack) return kExitUsage;
  std::string out = fmt::format("pack v{}, {}\n", pack->version, pack->digest);
  for (const conformance::Requirement& requirement : pack->requirements) {
    out += fmt::format("\n{}: {}\n", requirement.id, requirement.statement);
    for (const std::string& id : requirement.cases) {
      const conformance::Case& one = *pack->find_case(id);
      out += fmt::format("  {} ({})\n    {}\n    proves {}\n    does not prove {}\n", one.id,
                         fmt::join(one.routes, ", "), one.title, one.proves, one.does_not_prove);
    }
  }
  std::size_t trials = 0;
  for (const conformance::Case& one : pack->cases) trials += one.routes.size();
  out += fmt::format("\n{} requirements, {} cases, {} trials over {} routes, {} faults to catch\n",
                     pack->requirements.size(), pack->cases.size(), trials,
                     conformance::kRoutes.size(), pack->faults.size());
  return print(world, out, kExitOk);
}

int run_conform_self_test(const Arguments& arguments, World& world) {
  const std::optional<Pack> pack = find_pack(arguments, world);
  if (!pack) return kExitUsage;
  std::vector<Subject> subjects;
  for (const std::string& file : arguments.values("--subject")) {
    std::optional<Subject> subject = read_subject(world, file, *pack);
    if (!subject) return kExitUsage;
    subjects.push_back(std::move(*subject));
  }
  if (!arguments.trailing().empty()) {
    subjects.push_back(conformance::subject_of_command(arguments.trailing()));
  }
  if (subjects.empty()) {
    return refuse_one(world, "name a known-bad subject by --subject FILE, or its driver behind --");
  }
  const conformance::RunWorld run_world{world.files, world.clock, world.random, scratch_of(world),
                                        own_program()};
  std::string out;
  bool all_caught = true;
  for (const Subject& subject : subjects) {
    const Result<conformance::SelfTest> test =
        conformance::self_test(*pack, subject, run_world, {});
    if (!test) {
      complain(world, test.error());
      return kExitInternal;
    }
    all_caught = all_caught && test->passed();
    out += conformance::self_test_text(*test);
  }
  return print(world, out, all_caught ? kExitOk : kExitFailed);
}

}  // namespace remit::cli
