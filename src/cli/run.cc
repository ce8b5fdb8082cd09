// From words to an exit code.
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>

#include <fmt/format.h>

#include "cli/commands.h"

namespace remit::cli {

Status FdOutput::write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t wrote = ::write(fd_, text.data(), text.size());
    if (wrote < 0 && errno == EINTR) continue;
    // Whoever shares the other end may have made it non-blocking; a reader that is gone ends it.
    pollfd writable{fd_, POLLOUT, 0};
    if (wrote < 0 && errno == EAGAIN && (::poll(&writable, 1, -1) > 0 || errno == EINTR)) continue;
    if (wrote <= 0) {
      return Error{ErrorCode::kUnavailable,
                   fmt::format("cannot write the output: {}", ::strerrordesc_np(errno))};
    }
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return {};
}

void complain(World& world, const Error& error) {
  // Nothing more can be done about an error output that does not take the message.
  (void)world.err.write(fmt::format("remit: {}\n", error.to_string()));
}

int print(World& world, std::string_view text, int exit_code) {
  const Status written = world.out.write(text);
  if (written) return exit_code;
  complain(world, written.error());
  return kExitCannotWrite;
}

namespace {

int run_line(const std::vector<std::string>& words, World& world) {
  const Result<ParsedLine> line = parse_command_line(words);
  if (!line) {
    complain(world, line.error());
    return kExitUsage;
  }
  switch (line->kind) {
    case ParsedLine::Kind::kHelp:
      if (line->is_incomplete) {  // a script whose variable is empty must not go on as if it had
                                  // run
        (void)world.err.write(help_text(*line));
        return kExitUsage;
      }
      return print(world, help_text(*line), kExitOk);
    case ParsedLine::Kind::kVersion:
      return run_version(line->arguments, world);
    case ParsedLine::Kind::kRun:
      return line->command->run(line->arguments, world);
  }
  return kExitInternal;
}

}  // namespace

int run_command_line(const std::vector<std::string>& words, World& world) {
  // What was made and is not whole yet is removed on the way to here.
  try {
    return run_line(words, world);
  } catch (const std::bad_alloc&) {
    (void)world.err.write(kOutOfMemory);
    return kExitBadInput;
  }
}

}  // namespace remit::cli
