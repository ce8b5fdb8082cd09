// The command line parser, over the command table: no word is dropped, split or given a meaning
// that the table does not name.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/nearest_word.h"
#include "cli/command.h"
#include "grading/counted.h"

namespace remit::cli {

std::string Arguments::value(std::string_view flag, std::string_view otherwise) const {
  const auto found = flags_.find(flag);
  if (found == flags_.end() || found->second.empty()) return std::string(otherwise);
  return found->second.back();
}

std::vector<std::string> Arguments::values(std::string_view flag) const {
  const auto found = flags_.find(flag);
  return found == flags_.end() ? std::vector<std::string>{} : found->second;
}

namespace {

Error usage_error(std::string message) {
  return Error{ErrorCode::kInvalidInput, std::move(message)};
}

std::string see_help(const Command& command) {
  return fmt::format("; see remit {} --help", command.path);
}

// The command whose path the words start with, and how many words it took.
const Command* find_command(const std::vector<std::string>& words, std::size_t& used) {
  for (const std::size_t count : {std::size_t{2}, std::size_t{1}}) {
    if (words.size() < count) continue;
    const std::string path = count == 2 ? words[0] + " " + words[1] : words[0];
    for (const Command& command : all_commands()) {
      if (command.path == path) {
        used = count;
        return &command;
      }
    }
  }
  return nullptr;
}

bool is_group(std::string_view word) {
  return std::any_of(all_commands().begin(), all_commands().end(), [&](const Command& command) {
    return command.path.size() > word.size() && command.path.starts_with(word) &&
           command.path[word.size()] == ' ';
  });
}

Error unknown_command(const std::vector<std::string>& words) {
  std::vector<std::string_view> known;
  for (const Command& command : all_commands()) known.push_back(command.path);
  std::string said = words.front();
  if (is_group(said) && words.size() > 1) said += " " + words[1];
  return usage_error(
      fmt::format("unknown command {}{}; see remit --help", quoted(said), suggestion(said, known)));
}

std::string most_arguments(std::size_t number) {
  if (number == 0) return "no argument";
  return "at most " + grading::counted(number, "argument", "arguments");
}

Error unknown_flag(const Command& command, std::string_view word) {
  std::vector<std::string_view> known = {"--help"};
  for (const Flag& flag : command.flags) known.push_back(flag.name);
  const std::string name(word.substr(0, word.find('=')));
  return usage_error(fmt::format("remit {} has no option {}{}{}", command.path, quoted(name),
                                 suggestion(name, known), see_help(command)));
}

}  // namespace

/// Reads the words of one command.
class ArgumentParser {
 public:
  explicit ArgumentParser(const Command& command) : command_(command) {}

  Result<Arguments> parse(const std::vector<std::string>& words) {
    Arguments out;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::string& word = words[i];
      if (word == "--") {
        if (command_.trailing.empty()) {
          return usage_error(
              fmt::format("remit {} takes nothing behind --{}", command_.path, see_help(command_)));
        }
        out.trailing_.assign(words.begin() + static_cast<std::ptrdiff_t>(i) + 1, words.end());
        break;
      }
      if (word.starts_with("-") && word != "-") {
        REMIT_TRY(take_flag(words, i, out));
      } else {
        out.positionals_.push_back(word);
      }
    }
    REMIT_TRY(check_flags(out));
    REMIT_TRY(check_positionals(out.positionals_.size()));
    return out;
  }

 private:
  /// The flag at `words[i]`, with a value exactly if it takes one: behind `=`, or the next word,
  /// where `i` then stands.
  Status take_flag(const std::vector<std::string>& words, std::size_t& i, Arguments& out) const {
    const std::string& word = words[i];
    const std::string_view name = std::string_view(word).substr(0, word.find('='));
    const auto flag = std::find_if(command_.flags.begin(), command_.flags.end(),
                                   [&](const Flag& each) { return each.name == name; });
    if (flag == command_.flags.end()) return unknown_flag(command_, word);
    const bool has_value = name.size() < word.size();
    if (flag->value_name.empty() && has_value) {
      return usage_error(fmt::format("{} takes no value{}", name, see_help(command_)));
    }
    std::vector<std::string>& given = out.flags_[std::string(name)];
    if (flag->value_name.empty()) return {};
    if (has_value) {
      given.push_back(word.substr(name.size() + 1));
      return {};
    }
    ++i;
    if (i == words.size() || words[i].starts_with("--")) {
      return usage_error(
          fmt::format("{} needs a value: {}{}", name, flag->value_name, see_help(command_)));
    }
    given.push_back(words[i]);
    return {};
  }

  [[nodiscard]] Status check_flags(const Arguments& out) const {
    for (const Flag& flag : command_.flags) {
      const std::vector<std::string> given = out.values(flag.name);
      if (flag.required && given.empty()) {
        return usage_error(fmt::format("remit {} needs {} {}{}", command_.path, flag.name,
                                       flag.value_name, see_help(command_)));
      }
      if (given.size() > 1 && !flag.repeatable) {
        return usage_error(
            fmt::format("{} was given {} times; once is enough", flag.name, given.size()));
      }
      if (flag.is_filled && std::find(given.begin(), given.end(), "") != given.end()) {
        return usage_error(
            fmt::format("{} is empty: is a variable unset?{}", flag.name, see_help(command_)));
      }
      REMIT_TRY(check_choices(flag, given));
    }
    return {};
  }

  static Status check_choices(const Flag& flag, const std::vector<std::string>& given) {
    if (flag.choices.empty()) return {};
    for (const std::string& value : given) {
      if (std::find(flag.choices.begin(), flag.choices.end(), value) == flag.choices.end()) {
        return usage_error(fmt::format("{} cannot be {}; it is one of {}", flag.name, quoted(value),
                                       fmt::join(flag.choices, ", ")));
      }
    }
    return {};
  }

  [[nodiscard]] Status check_positionals(std::size_t given) const {
    std::size_t needed = 0;
    bool unbounded = false;
    for (const Positional& positional : command_.positionals) {
      if (positional.required && given <= needed) {
        return usage_error(fmt::format("remit {} needs {}: {}{}", command_.path, positional.name,
                                       positional.help, see_help(command_)));
      }
      needed += positional.required ? 1 : 0;
      unbounded = unbounded || positional.repeatable;
    }
    if (!unbounded && given > command_.positionals.size()) {
      return usage_error(fmt::format("remit {} takes {}, and {} given{}", command_.path,
                                     most_arguments(command_.positionals.size()),
                                     given == 1 ? "1 was" : fmt::format("{} were", given),
                                     command_.trailing.empty()
                                         ? see_help(command_)
                                         : "; put -- before the command that is to be started"));
    }
    return {};
  }

  const Command& command_;
};

Result<ParsedLine> parse_command_line(const std::vector<std::string>& words) {
  ParsedLine line;
  line.is_incomplete = words.empty();
  if (words.empty()) return line;
  const std::string& first = words.front();
  if (first == "help" && words.size() > 1) {
    std::vector<std::string> about(words.begin() + 1, words.end());
    about.emplace_back("--help");
    return parse_command_line(about);
  }
  if (first == "--help" || first == "-h" || first == "help") return line;
  if (first == "--version" || first == "-V") {
    line.kind = ParsedLine::Kind::kVersion;
    return line;
  }
  std::size_t used = 0;
  line.command = find_command(words, used);
  const auto end_of_flags = std::find(words.begin(), words.end(), "--");
  const bool wants_help = std::any_of(words.begin(), end_of_flags, [](const std::string& word) {
    return word == "--help" || word == "-h";
  });
  if (line.command == nullptr) {
    if (is_group(first) && (wants_help || words.size() == 1)) {
      line.group = first;
      line.is_incomplete = !wants_help;
      return line;
    }
    return unknown_command(words);
  }
  if (wants_help) return line;
  line.kind = ParsedLine::Kind::kRun;
  ArgumentParser parser(*line.command);
  REMIT_TRY_ASSIGN(line.arguments,
                   parser.parse({words.begin() + static_cast<std::ptrdiff_t>(used), words.end()}));
  return line;
}

}  // namespace remit::cli
