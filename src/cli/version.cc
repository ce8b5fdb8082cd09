// remit version and remit generate: what the program says of itself.
#include <fmt/format.h>

#include "cli/commands.h"

namespace remit::cli {

int run_version(const Arguments& /*arguments*/, World& world) {
  return print(world,
               fmt::format("remit {}\nevents remit.event/1, grades remit.grade/1\n", REMIT_VERSION),
               kExitOk);
}

int run_generate(const Arguments& arguments, World& world) {
  const std::string& what = arguments.positionals().front();
  if (what == "man") return print(world, man_page(), kExitOk);
  if (what.starts_with("complete-")) {
    const Result<std::string> script = completion_script(std::string_view(what).substr(9));
    if (script) return print(world, *script, kExitOk);
  }
  complain(world, Error{ErrorCode::kInvalidInput,
                        fmt::format("cannot generate {}; it is one of man, complete-bash, "
                                    "complete-zsh, complete-fish",
                                    quoted(what))});
  return kExitUsage;
}

}  // namespace remit::cli
