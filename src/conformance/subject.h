// The executor that is judged, as its owner describes it: `remit.subject/1`.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "conformance/executor.h"
#include "conformance/pack.h"

namespace remit::conformance {

struct Subject {
  std::string name;
  std::vector<std::string> command;      ///< the driver's; may be empty beside `executor`
  std::string working_directory;         ///< empty: ours
  std::vector<std::string> environment;  ///< names of variables that the driver gets beside the
                                         ///< harmless ones
  std::vector<std::string> routes;       ///< those that the executor has; each must be offered
  std::vector<std::string> without;      ///< abilities that it does not claim (REQ-CF-023)
  std::chrono::milliseconds deadline{};  ///< for one answer of the driver
  std::optional<Executor> executor;      ///< of a subject that is called over MCP or HTTP
  std::string file;                      ///< empty for a driver given on the command line
};

/// A subject, or everything that is wrong with its file, each with `FILE:LINE:COLUMN`.
struct SubjectParse {
  std::optional<Subject> subject;  ///< set if and only if `errors` is empty
  std::vector<Error> errors;
};

/// Reads a subject file. `directory` is where the file stands: the driver is started there; `pack`
/// is what the subject is for. Errors: those of `yaml::parse`, and `invalid_input` for an unknown
/// key, a wrong type or word, a name that `pack` does not have.
SubjectParse parse_subject(std::string_view text, const std::string& file,
                           const std::string& directory, const Pack& pack);

/// The subject of a driver without a file: all seven routes, every ability.
Subject subject_of_command(std::vector<std::string> command);

/// What `of` asks of the subject's harness: of an executor `needs_of`; of a driver steps and
/// abilities, since what a step is about it must take as it comes.
std::vector<std::string> needs_of_subject(const Subject& subject, const Case& of);
/// The reason for which the subject cannot do what `need` says; null where it gives none.
const std::string* why_not(const Subject& subject, std::string_view need);

}  // namespace remit::conformance
