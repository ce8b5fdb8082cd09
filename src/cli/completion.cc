// Shell completion scripts, made of the command table.
#include <set>

#include <fmt/format.h>

#include "base/shell_quoted.h"
#include "cli/command.h"

namespace remit::cli {
namespace {

// `first word` -> the words that may follow it, in table order.
std::vector<std::string> first_words() {
  std::vector<std::string> out;
  std::set<std::string> seen;
  for (const Command& command : all_commands()) {
    const std::string word(command.path.substr(0, command.path.find(' ')));
    if (seen.insert(word).second) out.push_back(word);
  }
  return out;
}

std::vector<std::string> second_words(std::string_view first) {
  std::vector<std::string> out;
  for (const Command& command : all_commands()) {
    const std::size_t space = command.path.find(' ');
    if (space != std::string_view::npos && command.path.substr(0, space) == first) {
      out.emplace_back(command.path.substr(space + 1));
    }
  }
  return out;
}

std::vector<std::string_view> flag_names(const Command& command) {
  std::vector<std::string_view> out;
  for (const Flag& flag : command.flags) out.push_back(flag.name);
  out.emplace_back("--help");
  return out;
}

std::string bash_script() {
  std::string out =
      "# bash completion for remit; source it, or put it where bash-completion looks.\n"
      "_remit() {\n"
      "  local current=\"${COMP_WORDS[COMP_CWORD]}\" previous=\"${COMP_WORDS[COMP_CWORD-1]}\"\n"
      "  local first=\"${COMP_WORDS[1]}\" second=\"${COMP_WORDS[2]}\"\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n";
  out += fmt::format(
      "    COMPREPLY=($(compgen -W \"{} --help --version\" -- \"$current\")); return\n  fi\n",
      fmt::join(first_words(), " "));
  for (const std::string& first : first_words()) {
    const auto seconds = second_words(first);
    if (seconds.empty()) continue;
    out += fmt::format(
        "  if [ \"$COMP_CWORD\" -eq 2 ] && [ \"$first\" = \"{}\" ]; then\n"
        "    COMPREPLY=($(compgen -W \"{}\" -- \"$current\")); return\n  fi\n",
        first, fmt::join(seconds, " "));
  }
  out += "  case \"$first $second:$previous\" in\n";
  for (const Command& command : all_commands()) {
    const bool has_second = command.path.find(' ') != std::string_view::npos;
    for (const Flag& flag : command.flags) {
      if (flag.choices.empty()) continue;
      out += fmt::format(
          "    \"{}\"{}:{}) COMPREPLY=($(compgen -W \"{}\" -- \"$current\")); return ;;\n",
          command.path, has_second ? "" : "\\ *", flag.name, fmt::join(flag.choices, " "));
    }
  }
  out += "  esac\n  case \"$first $second\" in\n";
  for (const Command& command : all_commands()) {
    const bool has_second = command.path.find(' ') != std::string_view::npos;
    out += fmt::format(
        "    \"{}\"{}) [ \"${{current#-}}\" != \"$current\" ] && "
        "COMPREPLY=($(compgen -W \"{}\" -- \"$current\")) && return ;;\n",
        command.path, has_second ? "" : "\\ *", fmt::join(flag_names(command), " "));
  }
  out +=
      "  esac\n  COMPREPLY=($(compgen -f -- \"$current\"))\n}\n"
      "complete -o filenames -F _remit remit\n";
  return out;
}

std::string zsh_script() {
  std::string out = "#compdef remit\n_remit() {\n  local -a words_1\n  words_1=(";
  for (const std::string& first : first_words()) out += " " + shell_quoted(first);
  out += ")\n  if (( CURRENT == 2 )); then compadd -- $words_1 --help --version; return; fi\n";
  for (const std::string& first : first_words()) {
    const auto seconds = second_words(first);
    if (seconds.empty()) continue;
    out += fmt::format(
        "  if (( CURRENT == 3 )) && [[ $words[2] == {} ]]; then compadd -- {}; return; fi\n", first,
        fmt::join(seconds, " "));
  }
  out += "  case \"$words[2] $words[3]\" in\n";
  for (const Command& command : all_commands()) {
    const bool has_second = command.path.find(' ') != std::string_view::npos;
    out += fmt::format("    \"{}\"{}) [[ $PREFIX == -* ]] && compadd -- {} ;;\n", command.path,
                       has_second ? "" : "\\ *", fmt::join(flag_names(command), " "));
  }
  out += "  esac\n  _files\n}\ncompdef _remit remit\n";
  return out;
}

std::string fish_script() {
  std::string out = "complete -c remit -n __fish_use_subcommand -f\n";
  for (const std::string& first : first_words()) {
    out += fmt::format("complete -c remit -n __fish_use_subcommand -a {}\n", first);
    for (const std::string& second : second_words(first)) {
      out += fmt::format("complete -c remit -n '__fish_seen_subcommand_from {}' -a {}\n", first,
                         second);
    }
  }
  for (const Command& command : all_commands()) {
    std::string condition;
    std::string_view path = command.path;
    const std::size_t space = path.find(' ');
    condition = fmt::format("__fish_seen_subcommand_from {}", path.substr(0, space));
    if (space != std::string_view::npos) {
      condition += fmt::format("; and __fish_seen_subcommand_from {}", path.substr(space + 1));
    }
    for (const Flag& flag : command.flags) {
      out +=
          fmt::format("complete -c remit -n '{}' -l {}{} -d {}\n", condition, flag.name.substr(2),
                      flag.value_name.empty() ? "" : " -r", shell_quoted(flag.help));
      if (!flag.choices.empty()) {
        out += fmt::format("complete -c remit -n '{}' -l {} -xa '{}'\n", condition,
                           flag.name.substr(2), fmt::join(flag.choices, " "));
      }
    }
  }
  return out;
}

}  // namespace

Result<std::string> completion_script(std::string_view shell) {
  if (shell == "bash") return bash_script();
  if (shell == "zsh") return zsh_script();
  if (shell == "fish") return fish_script();
  return Error{ErrorCode::kInvalidInput,
               fmt::format("no completion for shell {}; there is one for bash, zsh and fish",
                           quoted(shell))};
}

}  // namespace remit::cli
