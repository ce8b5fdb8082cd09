// Packs and subjects from files and words.
#include "cli/conform_inputs.h"

#include <unistd.h>

#include <array>
#include <utility>

#include "base/limits.h"
#include "cli/commands.h"

namespace remit::cli {
namespace {

using conformance::Pack;
using conformance::Subject;

// The files of a pack on disk: `pack.yaml`, `faults.yaml` where there is one, and `cases`.
Result<std::vector<conformance::PackFile>> pack_files(World& world, const std::string& directory) {
  std::vector<conformance::PackFile> out;
  const auto read = [&](const std::string& name) -> Status {
    REMIT_TRY_ASSIGN(std::string text, world.files.read(directory + "/" + name, kMaxConfigBytes));
    out.push_back({name, std::move(text)});
    return {};
  };
  for (const auto& [prefix, place] :
       {std::pair<std::string, std::string>{"", directory}, {"cases/", directory + "/cases"}}) {
    REMIT_TRY_ASSIGN(const std::vector<std::string> names, world.files.list(place));
    for (const std::string& name : names) {
      if (name.ends_with(".yaml")) REMIT_TRY(read(prefix + name));
    }
  }
  return out;
}

}  // namespace

int refuse_all(World& world, const std::vector<Error>& errors) {
  for (const Error& error : errors) complain(world, error);
  return kExitUsage;
}

int refuse_one(World& world, std::string message) {
  return refuse_all(world, {Error{ErrorCode::kInvalidInput, std::move(message)}});
}

std::optional<Pack> find_pack(const Arguments& arguments, World& world) {
  conformance::PackParse parsed;
  if (arguments.has("--pack")) {
    const auto files = pack_files(world, arguments.value("--pack"));
    if (!files) {
      complain(world, files.error());
      return std::nullopt;
    }
    parsed = conformance::parse_pack(*files);
  } else {
    parsed = conformance::parse_pack(conformance::built_in_pack_files());
  }
  for (const Error& error : parsed.errors) complain(world, error);
  return std::move(parsed.pack);
}

std::optional<Subject> read_subject(World& world, const std::string& file, const Pack& pack) {
  const Result<std::string> text = world.files.read(file, kMaxConfigBytes);
  if (!text) {
    complain(world, text.error());
    return std::nullopt;
  }
  conformance::SubjectParse parsed =
      conformance::parse_subject(*text, file, directory_of(file), pack);
  for (const Error& error : parsed.errors) complain(world, error);
  return std::move(parsed.subject);
}

std::optional<Subject> find_subject(const Arguments& arguments, World& world, const Pack& pack) {
  const bool has_command = !arguments.trailing().empty();
  if (arguments.has("--subject") == has_command) {
    refuse_one(world,
               has_command
                   ? "the subject is --subject FILE or the command behind --, not both"
                   : "name the subject by --subject FILE, or its driver's command behind --");
    return std::nullopt;
  }
  if (!has_command) return read_subject(world, arguments.value("--subject"), pack);
  return conformance::subject_of_command(arguments.trailing());
}

std::string own_program() {
  std::array<char, 4096> path{};
  const ssize_t size = ::readlink("/proc/self/exe", path.data(), path.size());
  const bool is_whole = size > 0 && static_cast<std::size_t>(size) < path.size();
  return is_whole ? std::string(path.data(), static_cast<std::size_t>(size)) : "remit";
}

std::string scratch_of(const World& world) {
  return world.scratch_directory.empty() ? "/tmp" : world.scratch_directory;
}

}  // namespace remit::cli
