// Inputs of events as people name them: files, evidence directories, standard input.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/world.h"
#include "event/event.h"
#include "evidence/verify.h"
#include "grading/grading.h"
#include "trace/event_reader.h"

namespace remit::cli {

/// Opens what `words` name: `-` is standard input, a directory is an evidence directory, which is
/// verified first (against `head` where given) and whose writers become an input each; anything
/// else is a file of JSON Lines. Errors: what cannot be opened or read; `invalid_input` for a name
/// given twice, and for a `head` without an evidence directory.
Result<grading::Evidence> open_inputs(World& world, const std::vector<std::string>& words,
                                      const std::optional<evidence::Head>& head = std::nullopt);

/// What is wrong with a directory in which no writer has a folder.
Error without_writers(const std::string& directory);

/// Reads `inputs` to their end and gives each event, with the line it stood on, to `take`, and each
/// line that is no event to `refuse`. Errors: those of opening and reading, and what `take`
/// returns.
Status for_each_event(World& world, std::vector<trace::Input>& inputs,
                      const std::function<Status(const event::Event&, const trace::Line&)>& take,
                      const std::function<void(const Error&)>& refuse);

}  // namespace remit::cli
