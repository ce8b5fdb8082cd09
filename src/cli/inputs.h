// Inputs of events as people name them: files, evidence directories, standard input.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"
#include "cli/world.h"
#include "event/event.h"
#include "evidence/verify.h"
#include "grading/grading.h"
#include "trace/event_reader.h"
#include "trace/form.h"

namespace remit::cli {

/// What of directories was not read, by its name alone, or could not be checked.
struct PassedOver {
  std::uint64_t folders = 0;
  std::uint64_t files = 0;
  bool is_without_head = false;  ///< evidence was read, and nobody said which head it must have
};

/// Opens what `words` name: `-` is standard input; an evidence directory is verified first (against
/// `head` where given) and its writers become an input each; of any other directory each file of
/// events is an input; anything else is a file. `form` is that of all but evidence directories.
/// Errors: what cannot be opened or read; `invalid_input` for a file given twice, by whatever
/// names, for a directory without evidence, and for a `head` without an evidence directory.
/// `passed_over`, if given, is filled.
Result<grading::Evidence> open_inputs(World& world, const std::vector<std::string>& words,
                                      trace::Form form,
                                      const std::optional<evidence::Head>& head = std::nullopt,
                                      PassedOver* passed_over = nullptr);

/// Whether a file of this name is read where it stands in a directory of events (REQ-IN-003).
bool has_event_ending(std::string_view name);

/// What `--input-format` says.
trace::Form form_of(const Arguments& arguments);

/// What is wrong with a directory in which no writer has a folder.
Error without_writers(const std::string& directory);

/// Reads `inputs` to their end and gives each event, with the line it stood on, to `take`, and each
/// line that is no event to `refuse`. Errors: those of opening and reading, and what `take`
/// returns.
Status for_each_event(World& world, std::vector<trace::Input>& inputs,
                      const std::function<Status(const event::Event&, const trace::Line&)>& take,
                      const std::function<void(const Error&)>& refuse);

}  // namespace remit::cli
