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
    case ErrorCode::kLimitExceeded:
      return kExitFailed;
    case ErrorCode::kInternal:
      return kExitInternal;
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

std::string as_it_is(std::string_view text) {
  std::string escaped = in_full(text);
  std::string out;
  for (std::size_t i = 1; i + 1 < escaped.size(); ++i) {
    const bool is_escape = escaped[i] == '\\' && (escaped[i + 1] == '"' || escaped[i + 1] == '\\');
    if (is_escape) ++i;
    out += escaped[i];
  }
  return out;
}

std::string full_id(std::string_view given, const std::vector<std::string>& ids) {
  constexpr std::size_t kLeastPrefix = 4;
  if (given.size() < kLeastPrefix) return std::string(given);
  const std::string* found = nullptr;
  for (const std::string& id : ids) {
    if (id == given) return id;
    if (!id.starts_with(given)) continue;
    if (found != nullptr) return std::string(given);
    found = &id;
  }
  return found == nullptr ? std::string(given) : *found;
}

std::string time_text(std::optional<WallTime> time) {
  return time ? format_rfc3339(*time) : "-";
}

}  // namespace remit::cli
