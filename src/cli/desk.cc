// The ledger from the outside.
#include "cli/desk.h"

#include "base/rfc3339.h"
#include "gateway/config.h"

namespace remit::cli {

std::unique_ptr<ledger::Desk> open_desk(const Arguments& arguments, World& world, int& exit_code) {
  const std::string file = arguments.value("--config");
  const gateway::ConfigOutcome read = gateway::read_config(world.files, file);
  exit_code = kExitBadInput;
  for (const Error& problem : read.problems) complain(world, problem);
  if (!read.config) return nullptr;
  if (!read.config->state) {
    complain(world, {ErrorCode::kInvalidInput,
                     "the configuration has no \"state\", in which a ledger would be kept", file});
    return nullptr;
  }
  auto opened = ledger::Desk::open(*read.config->state, world.clock, world.random);
  if (opened) return *std::move(opened);
  complain(world, opened.error());
  return nullptr;
}

int refuse(World& world, const Error& error) {
  complain(world, error);
  switch (error.code) {
    case ErrorCode::kInvalidInput:
      return kExitUsage;
    case ErrorCode::kNotFound:
    case ErrorCode::kAlreadyExists:
    case ErrorCode::kFailedPrecondition:
      return kExitFailed;
    default:
      return kExitBadInput;
  }
}

Flag config_flag() {
  return {.name = "--config",
          .value_name = "FILE",
          .help = "the configuration, remit.config/1, whose state is meant",
          .required = true};
}

Flag list_format_flag() {
  return {.name = "--format",
          .value_name = "FORMAT",
          .help = "what to print",
          .choices = {"text", "json"}};
}

Flag by_flag() {
  return {.name = "--by", .value_name = "NAME", .help = "who answers for it", .required = true};
}

Flag reason_flag() {
  return {.name = "--reason", .value_name = "TEXT", .help = "why, in words", .required = true};
}

std::string in_full(std::string_view text) {
  return quoted(text, text.size());
}

std::string time_text(std::optional<WallTime> time) {
  return time ? format_rfc3339(*time) : "-";
}

}  // namespace remit::cli
