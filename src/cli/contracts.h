// Contracts as people name them: a built-in one, or a file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/world.h"
#include "grading/contract.h"

namespace remit::cli {

/// The contract that `word` names: a built-in one, else the file of that path. Nothing if it is
/// refused; then `errors` has everything that is wrong with it.
std::optional<grading::Contract> find_contract(World& world, const std::string& word,
                                               std::vector<Error>& errors);

}  // namespace remit::cli
