// From what a contract says of redaction to what is looked for: its file of canaries is read.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file_system.h"
#include "redaction/inspector.h"

namespace remit::grading {

/// What is to be looked for, or everything that is wrong with it.
struct RedactionLoad {
  std::shared_ptr<const redaction::Redaction> redaction;  ///< null also where nothing is asked for
  std::vector<Error> errors;
};

/// The path of the file of canaries that the contract `contract_path` calls `canaries`.
std::string canaries_path(const std::string& contract_path, const std::string& canaries);

/// Reads `canaries`, a path relative to the folder of the contract `contract_path`, and checks
/// `forbid_fields`. Errors, none of which holds a canary: those of reading the file, of
/// `parse_canaries` and of Redaction::make, with the file and line or the contract as place.
RedactionLoad load_redaction(FileSystem& files, const std::optional<std::string>& canaries,
                             std::vector<std::string> forbid_fields,
                             const std::string& contract_path);

}  // namespace remit::grading
