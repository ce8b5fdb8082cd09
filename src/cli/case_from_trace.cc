// remit case from-trace: a recorded call as a case of a manifest, its expectation left to a person.
#include <fmt/format.h>

#include "base/file_replacement.h"
#include "base/limits.h"
#include "cli/commands.h"
#include "cli/inputs.h"
#include "grading/blank.h"
#include "grading/case_draft.h"

namespace remit::cli {
namespace {

std::optional<std::string> given(const Arguments& arguments, std::string_view flag) {
  if (!arguments.has(flag)) return std::nullopt;
  return arguments.value(flag);
}

Status write_whole(World& world, const std::string& path, const std::string& text) {
  REMIT_TRY_ASSIGN(FileReplacement file, FileReplacement::open(world.files, world.random, path));
  REMIT_TRY(file.append(text));
  return file.commit();
}

// A draft that somebody has begun to fill in is never written over.
int write_new(World& world, const std::string& path, const std::string& text, int exit_code) {
  if (world.files.info(path)) {
    complain(world,
             Error{ErrorCode::kAlreadyExists, "is there already and is not overwritten", path});
    return kExitCannotWrite;
  }
  const Status written = write_whole(world, path, text);
  if (written) return exit_code;
  complain(world, written.error());
  return kExitCannotWrite;
}

// The manifest as it is, with the draft in it; in place whole or not at all.
int add_to(World& world, const std::string& path, const grading::CaseDraft& draft, int exit_code) {
  const Result<std::string> manifest = world.files.read(path, kMaxConfigBytes);
  if (!manifest) {
    complain(world, manifest.error());
    return kExitUsage;
  }
  const Result<std::string> text = draft.text_into(*manifest, path);
  if (!text) {
    complain(world, text.error());
    return text.error().code == ErrorCode::kNotFound ? kExitFailed : kExitUsage;
  }
  if (const Status written = write_whole(world, path, *text); !written) {
    complain(world, written.error());
    return kExitCannotWrite;
  }
  return print(
      world,
      fmt::format("added to {}; remit grade refuses it until every {} in it is filled in\n",
                  quoted(path), grading::kBlank),
      exit_code);
}

}  // namespace

int run_case_from_trace(const Arguments& arguments, World& world) {
  if (arguments.has("--invocation") && arguments.has("--run-id")) {
    complain(world, Error{ErrorCode::kInvalidInput, "give --invocation or --run-id, not both"});
    return kExitUsage;
  }
  if (arguments.has("--out") && arguments.has("--into")) {
    complain(world, Error{ErrorCode::kInvalidInput, "give --out or --into, not both"});
    return kExitUsage;
  }
  Result<grading::Evidence> opened =
      open_inputs(world, arguments.positionals(), form_of(arguments));
  if (!opened) {
    complain(world, opened.error());
    return kExitBadInput;
  }
  int exit_code = kExitOk;
  for (const grading::Alteration& one : opened->alterations) {
    exit_code = kExitFailed;
    complain(world, Error{one.error.code, "the evidence is altered, and its facts with it: " +
                                              one.error.to_string()});
  }
  grading::CaseDraft draft({given(arguments, "--invocation"), given(arguments, "--run-id")});
  const Status read = for_each_event(
      world, opened->inputs,
      [&](const event::Event& event, const trace::Line& /*line*/) { return draft.add(event); },
      [&](const Error& error) {
        exit_code = kExitFailed;
        complain(world, error);
      });
  if (!read) {
    complain(world, read.error());
    return kExitBadInput;
  }
  if (arguments.has("--into")) return add_to(world, arguments.value("--into"), draft, exit_code);
  const Result<std::string> text = draft.text();
  if (!text) {
    complain(world, text.error());
    return kExitFailed;
  }
  if (!arguments.has("--out")) return print(world, *text, exit_code);
  return write_new(world, arguments.value("--out"), *text, exit_code);
}

}  // namespace remit::cli
