// What people read of the command table: `--help` and the man page.
#include <algorithm>

#include <fmt/format.h>

#include "cli/command.h"

namespace remit::cli {
namespace {

constexpr std::size_t kWidth = 96;

// Breaks `text` into lines of at most kWidth columns behind `indent` spaces; blank lines part
// paragraphs.
std::string wrapped(std::string_view text, std::size_t indent) {
  std::string out;
  std::string line(indent, ' ');
  bool has_word = false;
  const auto flush = [&] {
    if (has_word) out += line + "\n";
    line.assign(indent, ' ');
    has_word = false;
  };
  std::size_t at = 0;
  while (at < text.size()) {
    if (text[at] == '\n') {
      flush();
      out += "\n";
      while (at < text.size() && text[at] == '\n') ++at;
      continue;
    }
    const std::size_t end = std::min(text.find_first_of(" \n", at), text.size());
    const std::string_view word = text.substr(at, end - at);
    if (has_word && line.size() + 1 + word.size() > kWidth) flush();
    if (has_word) line += ' ';
    line += word;
    has_word = true;
    at = end;
    while (at < text.size() && text[at] == ' ') ++at;
  }
  flush();
  return out;
}

std::string flag_form(const Flag& flag) {
  return flag.value_name.empty() ? std::string(flag.name)
                                 : fmt::format("{} {}", flag.name, flag.value_name);
}

std::string flag_help(const Flag& flag) {
  std::string out(flag.help);
  if (!flag.choices.empty()) out += fmt::format(" ({})", fmt::join(flag.choices, ", "));
  if (flag.repeatable) out += "; may be repeated";
  if (flag.required) out += "; required";
  return out;
}

std::string positional_form(const Positional& positional) {
  const std::string name = fmt::format("{}{}", positional.name, positional.repeatable ? "..." : "");
  return positional.required ? name : "[" + name + "]";
}

std::string usage_line(const Command& command) {
  std::string out = fmt::format("remit {}", command.path);
  if (!command.flags.empty()) out += " [OPTIONS]";
  for (const Positional& positional : command.positionals) out += " " + positional_form(positional);
  if (!command.trailing.empty()) out += " [-- COMMAND...]";
  return out;
}

std::string entry(std::string_view name, std::string_view help) {
  return fmt::format("  {}\n{}", name, wrapped(help, 6));
}

// A command to type, over several lines where it is long: a shell reads `\` at their ends.
std::string example_command(std::string_view command) {
  constexpr std::size_t kRoom = kWidth - 8;
  std::string out = "  ";
  while (command.size() > kRoom) {
    const std::size_t cut = command.rfind(" --", kRoom);
    if (cut == command.npos || cut == 0) break;
    out.append(command.substr(0, cut)).append(" \\\n      ");
    command.remove_prefix(cut + 1);
  }
  return out.append(command).append("\n");
}

std::string command_help(const Command& command) {
  std::string out = fmt::format("{}.\n\nUsage: {}\n\n{}", command.summary, usage_line(command),
                                wrapped(command.description, 0));
  if (!command.positionals.empty()) {
    out += "\nArguments:\n";
    for (const Positional& positional : command.positionals) {
      out += entry(positional_form(positional), positional.help);
    }
  }
  if (!command.trailing.empty()) {
    if (command.positionals.empty()) out += "\nArguments:\n";
    out += entry("-- COMMAND...", command.trailing);
  }
  out += "\nOptions:\n";
  for (const Flag& flag : command.flags) out += entry(flag_form(flag), flag_help(flag));
  out += entry("--help", "print this and exit");
  if (!command.examples.empty()) out += "\nExamples:\n";
  for (const Example& example : command.examples) {
    out += example_command(example.command) + wrapped(example.meaning, 6);
  }
  return out;
}

constexpr std::string_view kSummary =
    "Remit decides at the executor whether an agent's tool call may run, records every step before "
    "it "
    "does, and grades the record.";

constexpr std::string_view kExitCodes =
    "0 done, or the gate passed; 1 the gate failed, or what was checked is not sound; 2 "
    "undetermined or not exercised; 64 the command line is wrong, or a contract, manifest, "
    "baseline "
    "or list that it names is refused; 65 an input cannot be opened or read; 70 a defect of remit; "
    "73 a report, a file or the output cannot be written";

std::string overview(std::string_view group) {
  std::string out = wrapped(kSummary, 0);
  out += fmt::format("\nUsage: remit {}COMMAND\n\nCommands:\n",
                     group.empty() ? "" : std::string(group) + " ");
  std::size_t width = 0;
  for (const Command& command : all_commands()) width = std::max(width, command.path.size());
  for (const Command& command : all_commands()) {
    if (!group.empty() && !command.path.starts_with(std::string(group) + " ")) continue;
    out += fmt::format("  {:<{}}  {}\n", command.path, width, command.summary);
  }
  out += "\nOptions:\n  -h, --help     print this and exit; `remit COMMAND --help` says more\n";
  out += "  -V, --version  print the version and exit\n\nExit codes:\n" + wrapped(kExitCodes, 2);
  return out;
}

// Text for roff: a backslash and a leading dot or quote would be instructions.
std::string roff(std::string_view text) {
  std::string out;
  bool at_line_start = true;
  for (const char c : text) {
    if (at_line_start && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
    at_line_start = c == '\n';
  }
  return out;
}

std::string man_command(const Command& command) {
  std::string out =
      fmt::format(".SS {}\n{}.\n.PP\n", roff(usage_line(command)), roff(command.summary));
  std::string description(command.description);
  for (std::size_t at = 0; (at = description.find("\n\n", at)) != std::string::npos; at += 5) {
    description.replace(at, 2, "\n.PP\n");
  }
  // Paragraph marks are the only dots at a line's start, so roff() must not see them.
  std::size_t from = 0;
  while (from < description.size()) {
    const std::size_t mark = std::min(description.find("\n.PP\n", from), description.size());
    out += roff(description.substr(from, mark - from));
    if (mark < description.size()) out += "\n.PP\n";
    from = mark + 5;
  }
  out += "\n";
  for (const Positional& positional : command.positionals) {
    out +=
        fmt::format(".TP\n.I {}\n{}\n", roff(positional_form(positional)), roff(positional.help));
  }
  if (!command.trailing.empty()) {
    out += fmt::format(".TP\n.B \\-\\-\n{}\n", roff(command.trailing));
  }
  for (const Flag& flag : command.flags) {
    out += fmt::format(".TP\n.B {}\n{}\n", roff(flag_form(flag)), roff(flag_help(flag)));
  }
  return out;
}

}  // namespace

std::string help_text(const ParsedLine& line) {
  return line.command == nullptr ? overview(line.group) : command_help(*line.command);
}

std::string man_page() {
  std::string out = fmt::format(
      ".TH REMIT 1\n.SH NAME\nremit \\- authorization boundary and grader for agents' tool calls\n"
      ".SH SYNOPSIS\n.B remit\n.I COMMAND\n[OPTIONS]\n.SH DESCRIPTION\n{}\n.SH COMMANDS\n",
      roff(kSummary));
  for (const Command& command : all_commands()) out += man_command(command);
  out += fmt::format(".SH EXIT STATUS\n{}\n", roff(kExitCodes));
  return out;
}

}  // namespace remit::cli
