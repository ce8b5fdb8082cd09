// What the commands of `remit evidence` share: keys, checkpoints, and their rows in the table.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/world.h"
#include "evidence/checkpoint.h"

namespace remit::cli {

/// The rows of `remit evidence` behind those that verify, in the order of help texts.
std::vector<Command> evidence_commands();

/// The keys that `--key` names. Error: `invalid_input`.
Result<std::vector<evidence::VerifierKey>> verifier_keys(const Arguments& arguments);

/// A checkpoint that is believed, and the note in which it was signed.
struct SignedCheckpoint {
  evidence::Checkpoint checkpoint;
  std::string note;
};
/// Reads the file `path`. Errors: those of reading and of `open_checkpoint`, with the path.
Result<SignedCheckpoint> read_checkpoint(World& world, const std::string& path,
                                         const std::vector<evidence::VerifierKey>& keys);
/// The same of a file, or of each file of a folder that ends with `.checkpoint`; a folder without
/// one is `invalid_input`.
Result<std::vector<evidence::Checkpoint>> read_checkpoints(
    World& world, const std::string& path, const std::vector<evidence::VerifierKey>& keys);

/// Whether `path` is no directory, which is then said: of a file within one, or of another, nothing
/// can be verified.
bool is_no_directory(World& world, const std::string& path);

}  // namespace remit::cli
