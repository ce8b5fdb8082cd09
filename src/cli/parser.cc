// The command line parser: CLI11, configured from the command table.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "cli/command.h"

// `quoted` is qualified in this file: CLI11 brings std::quoted, which argument-dependent look-up
// would prefer.
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

// Levenshtein distance; words are short.
std::size_t distance(std::string_view left, std::string_view right) {
  std::vector<std::size_t> row(right.size() + 1);
  for (std::size_t j = 0; j <= right.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= left.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= right.size(); ++j) {
      const std::size_t above = row[j];
      const std::size_t change = diagonal + (left[i - 1] == right[j - 1] ? 0 : 1);
      row[j] = std::min({above + 1, row[j - 1] + 1, change});
      diagonal = above;
    }
  }
  return row.back();
}

std::string suggestion(std::string_view word, const std::vector<std::string_view>& known) {
  std::string_view best;
  std::size_t best_distance = 3;  // further away than two edits is no help
  for (const std::string_view candidate : known) {
    const std::size_t edits = distance(word, candidate);
    if (edits < best_distance && edits < candidate.size()) {
      best = candidate;
      best_distance = edits;
    }
  }
  return best.empty() ? "" : fmt::format("; did you mean {}?", best);
}

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
  return usage_error(fmt::format("unknown command {}{}; see remit --help", remit::quoted(said),
                                 suggestion(said, known)));
}

Error unknown_flag(const Command& command, std::string_view word) {
  std::vector<std::string_view> known = {"--help"};
  for (const Flag& flag : command.flags) known.push_back(flag.name);
  const std::string name(word.substr(0, word.find('=')));
  return usage_error(fmt::format("remit {} has no option {}{}{}", command.path, remit::quoted(name),
                                 suggestion(name, known), see_help(command)));
}

}  // namespace

// Fills Arguments from CLI11, which does the splitting of words; what the words mean is checked
// here, so that messages are ours.
class ArgumentParser {
 public:
  explicit ArgumentParser(const Command& command) : command_(command) {
    app_.set_help_flag();  // ours; handled before
    app_.allow_extras(false);
    for (const Flag& flag : command.flags) {
      auto& slot = values_[std::string(flag.name)];
      if (flag.value_name.empty()) {
        switches_.push_back(app_.add_flag(std::string(flag.name)));
        switch_names_.push_back(flag.name);
        continue;
      }
      app_.add_option(std::string(flag.name), slot)->allow_extra_args(false)->take_all();
    }
    app_.add_option("words", positionals_)->allow_extra_args(true);
  }

  Result<Arguments> parse(std::vector<std::string> words) {
    Arguments out;
    const auto dashes = std::find(words.begin(), words.end(), "--");
    if (dashes != words.end()) {
      if (command_.trailing.empty()) {
        return usage_error(
            fmt::format("remit {} takes nothing behind --{}", command_.path, see_help(command_)));
      }
      out.trailing_.assign(dashes + 1, words.end());
      words.erase(dashes, words.end());
    }
    REMIT_TRY(check_flags(words));
    std::reverse(words.begin(), words.end());  // CLI11 takes them from the back
    try {
      app_.parse(words);
    } catch (const CLI::Error& error) {
      return usage_error(fmt::format("{}{}", lower_first(error.what()), see_help(command_)));
    }
    REMIT_TRY(collect(out));
    return out;
  }

 private:
  static std::string lower_first(std::string text) {
    if (!text.empty() && text.size() > 1 && text[1] >= 'a') {
      text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
    }
    return text;
  }

  // Everything that looks like a flag is one of the command's, with a value exactly if it takes
  // one.
  [[nodiscard]] Status check_flags(const std::vector<std::string>& words) const {
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::string& word = words[i];
      if (!word.starts_with("-") || word == "-") continue;
      const std::string_view name = std::string_view(word).substr(0, word.find('='));
      const auto flag = std::find_if(command_.flags.begin(), command_.flags.end(),
                                     [&](const Flag& each) { return each.name == name; });
      if (flag == command_.flags.end()) return unknown_flag(command_, word);
      const bool has_value = name.size() < word.size();
      if (flag->value_name.empty() && has_value) {
        return usage_error(fmt::format("{} takes no value{}", name, see_help(command_)));
      }
      if (flag->value_name.empty() || has_value) continue;
      if (++i == words.size() || (words[i].starts_with("--") && words[i].size() > 2)) {
        return usage_error(
            fmt::format("{} needs a value: {}{}", name, flag->value_name, see_help(command_)));
      }
    }
    return {};
  }

  Status collect(Arguments& out) {
    for (std::size_t i = 0; i < switches_.size(); ++i) {
      if (switches_[i]->count() > 0) out.flags_[std::string(switch_names_[i])] = {};
    }
    for (const Flag& flag : command_.flags) {
      const auto& given = values_[std::string(flag.name)];
      if (given.empty()) {
        if (flag.required) {
          return usage_error(fmt::format("remit {} needs {} {}{}", command_.path, flag.name,
                                         flag.value_name, see_help(command_)));
        }
        continue;
      }
      if (given.size() > 1 && !flag.repeatable) {
        return usage_error(
            fmt::format("{} was given {} times; once is enough", flag.name, given.size()));
      }
      REMIT_TRY(check_choices(flag, given));
      out.flags_[std::string(flag.name)] = given;
    }
    out.positionals_ = positionals_;
    return check_positionals(out.positionals_.size());
  }

  static Status check_choices(const Flag& flag, const std::vector<std::string>& given) {
    if (flag.choices.empty()) return {};
    for (const std::string& value : given) {
      if (std::find(flag.choices.begin(), flag.choices.end(), value) == flag.choices.end()) {
        return usage_error(fmt::format("{} cannot be {}; it is one of {}", flag.name,
                                       remit::quoted(value), fmt::join(flag.choices, ", ")));
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
      return usage_error(fmt::format("remit {} takes at most {} argument(s), {} were given{}",
                                     command_.path, command_.positionals.size(), given,
                                     see_help(command_)));
    }
    return {};
  }

  const Command& command_;
  CLI::App app_;
  std::map<std::string, std::vector<std::string>> values_;
  std::vector<CLI::Option*> switches_;
  std::vector<std::string_view> switch_names_;
  std::vector<std::string> positionals_;
};

Result<ParsedLine> parse_command_line(const std::vector<std::string>& words) {
  ParsedLine line;
  if (words.empty()) return line;
  const std::string& first = words.front();
  if (first == "--help" || first == "-h" || first == "help") return line;
  if (first == "--version") {
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
