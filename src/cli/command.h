// One definition per command and flag: the parser, `--help`, the man page and shell completion are
// all made of it, so that they cannot disagree.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace remit::cli {

class Arguments;
struct World;

/// One option. `value_name` is empty for a switch.
struct Flag {
  std::string_view name;             ///< with its dashes: `--format`
  std::string_view value_name = {};  ///< `FILE`, `ID`, …
  std::string_view help;             ///< one sentence without a full stop
  bool repeatable = false;
  bool required = false;
  std::vector<std::string_view> choices = {};  ///< allowed values, if the set is closed
  /// An empty value would stand for nothing or nobody, and is refused: it comes of a variable that
  /// is not set.
  bool is_filled = false;
};

/// One argument without dashes.
struct Positional {
  std::string_view name;
  std::string_view help;
  bool required = true;
  bool repeatable = false;
};

struct Example {
  std::string_view command;
  std::string_view meaning;
};

/// One command: `remit grade`, `remit policy check`.
struct Command {
  std::string_view path;         ///< words after `remit`, separated by one space
  std::string_view summary;      ///< one line
  std::string_view description;  ///< paragraphs, separated by blank lines
  std::vector<Flag> flags = {};
  std::vector<Positional> positionals = {};
  std::string_view trailing = {};  ///< meaning of what stands behind ` -- `; empty: nothing may
  std::vector<Example> examples = {};
  int (*run)(const Arguments& arguments, World& world) = nullptr;
};

/// Exit codes (docs/exit-codes.md, REQ-GR-083): 0, 1 and 2 are the grade's.
inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUndetermined = 2;
inline constexpr int kExitUsage = 64;
inline constexpr int kExitBadInput = 65;
inline constexpr int kExitInternal = 70;
inline constexpr int kExitCannotWrite = 73;

/// All commands, in the order in which `remit --help` lists them.
const std::vector<Command>& all_commands();

/// What a command line said. Asking for a flag that the command does not define is a defect.
class Arguments {
 public:
  [[nodiscard]] bool has(std::string_view flag) const { return flags_.contains(flag); }
  /// The value of a flag that was given, else `otherwise`.
  [[nodiscard]] std::string value(std::string_view flag, std::string_view otherwise = {}) const;
  [[nodiscard]] std::vector<std::string> values(std::string_view flag) const;
  [[nodiscard]] const std::vector<std::string>& positionals() const { return positionals_; }
  /// What stood behind ` -- `.
  [[nodiscard]] const std::vector<std::string>& trailing() const { return trailing_; }

 private:
  friend class ArgumentParser;
  std::map<std::string, std::vector<std::string>, std::less<>> flags_;
  std::vector<std::string> positionals_;
  std::vector<std::string> trailing_;
};

/// A command line, read: a command to run, or a request for help or the version.
struct ParsedLine {
  enum class Kind : unsigned char { kRun, kHelp, kVersion };
  Kind kind = Kind::kHelp;
  const Command* command = nullptr;  ///< null with kHelp: the help of `remit` itself, or of `group`
  std::string group = {};            ///< `policy` for `remit policy --help`
  bool is_incomplete = false;        ///< with kHelp: nobody asked for it, a command is missing
  Arguments arguments = {};
};

/// Reads the words after `remit`. Errors: `invalid_input` for an unknown command or flag (with the
/// nearest known one), a missing value or argument, a value outside a closed set, a flag given
/// twice.
Result<ParsedLine> parse_command_line(const std::vector<std::string>& words);

/// The text of `remit --help`, `remit GROUP --help` and `remit COMMAND --help`.
std::string help_text(const ParsedLine& line);

/// The man page remit(1), as roff.
std::string man_page();

/// A completion script for `bash`, `zsh` or `fish`.
Result<std::string> completion_script(std::string_view shell);

}  // namespace remit::cli
