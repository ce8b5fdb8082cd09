// What the commands of `remit conform` read and refuse alike.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/command.h"
#include "cli/world.h"
#include "conformance/pack.h"
#include "conformance/subject.h"

namespace remit::cli {

/// Each complains on the error output and returns kExitUsage.
int refuse_all(World& world, const std::vector<Error>& errors);
int refuse_one(World& world, std::string message);

/// The pack of `--pack`, else the one that is built in; complains where there is none.
std::optional<conformance::Pack> find_pack(const Arguments& arguments, World& world);

/// The subject that a file describes, for `pack`; complains.
std::optional<conformance::Subject> read_subject(World& world, const std::string& file,
                                                 const conformance::Pack& pack);

/// The subject of `--subject`, or of the command behind `--`, for `pack`; complains.
std::optional<conformance::Subject> find_subject(const Arguments& arguments, World& world,
                                                 const conformance::Pack& pack);

/// The program itself, which executors start as their tool: by its own path, whatever it was
/// called.
std::string own_program();

/// Where a run makes its socket and directories.
std::string scratch_of(const World& world);

}  // namespace remit::cli
