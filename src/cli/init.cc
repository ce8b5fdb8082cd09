// remit init: a working configuration and bundle for a server that has none.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <memory>
#include <span>

#include <fmt/format.h>

#include "base/limits.h"
#include "cli/commands.h"
#include "gateway/tool_listing.h"
#include "grading/counted.h"
#include "json/value.h"
#include "policy/starter.h"

namespace remit::cli {
namespace {

constexpr std::chrono::seconds kServerPatience{30};
constexpr std::size_t kMaxToolsTold = 50;

// A word as a double-quoted YAML scalar, which JSON's string form is.
std::string yaml_text(std::string_view text) {
  std::string out;
  json::write_string(text, out);
  return out;
}

std::string yaml_list(const std::vector<std::string>& words) {
  std::vector<std::string> texts;
  texts.reserve(words.size());
  for (const std::string& word : words) texts.push_back(yaml_text(word));
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

std::string config_text(const std::string& server, const std::string& tenant,
                        const std::vector<std::string>& scopes,
                        const std::vector<std::string>& command) {
  return fmt::format(
      "# What `remit stdio` runs with. Paths are relative to this file.\n"
      "config: remit.config/1\n"
      "bundle: ./bundle\n"
      "identity:\n"
      "  # Over stdio the caller is whoever started the process. The starter may only read: "
      "who is to\n"
      "  # use tools that write or destroy is given the scopes {0}:write and {0}:destructive.\n"
      "  pinned:\n"
      "    principal: {{subject: me, tenant: {1}, class: developer, scopes: {2}}}\n"
      "upstreams:\n"
      "  - {{name: {3}, stdio: {{command: {4}}}}}\n"
      "evidence: {{directory: ./evidence, digest_key: digest.key}}\n",
      server, yaml_text(tenant), yaml_list(scopes), yaml_text(server), yaml_list(command));
}

// The gateway starts servers in the configuration's directory, so words that name something
// relative to ours are made absolute. A program's bare name is looked up on PATH and stays as it
// is.
std::vector<std::string> command_from_anywhere(World& world,
                                               const std::vector<std::string>& words) {
  std::vector<std::string> out;
  for (const std::string& word : words) {
    const bool is_bare_program = out.empty() && word.find('/') == std::string::npos;
    const bool names_something = !word.empty() && word.front() != '/' && !is_bare_program &&
                                 world.files.info(word).has_value();
    std::error_code error;
    const std::filesystem::path here = std::filesystem::current_path(error);
    out.push_back(names_something && !error ? (here / word).lexically_normal().string() : word);
  }
  return out;
}

Result<json::Value> read_tool_list(World& world, const std::string& file) {
  REMIT_TRY_ASSIGN(const std::string text, world.files.read(file, kMaxConfigBytes));
  Result<json::Value> tools = json::parse(text);
  if (!tools) return in_place(file, tools.error());
  return tools;
}

Result<json::Value> find_tools(const Arguments& arguments, World& world) {
  if (arguments.has("--tools")) return read_tool_list(world, arguments.value("--tools"));
  return gateway::list_server_tools(
      {.arguments = arguments.trailing(),
       .environment = process::pick_environment(process::harmless_variables())},
      kServerPatience);
}

// Writes one file that must not be there yet.
Status write_new(FileSystem& files, const std::string& path, std::string_view text) {
  Result<std::unique_ptr<AppendFile>> file = files.open_append(path, OpenMode::kMustCreate);
  if (!file) return file.error();
  REMIT_TRY((*file)->append(std::as_bytes(std::span{text.data(), text.size()})));
  return (*file)->sync();
}

Status write_starter(World& world, const std::string& directory, const std::string& config,
                     const policy::StarterBundle& starter) {
  const std::string bundle = directory + "/bundle";
  // The configuration comes last: where it stands, the rest is complete.
  if (world.files.info(directory + "/remit.yaml")) {
    return Error{ErrorCode::kAlreadyExists,
                 "a configuration is here already; choose another --directory",
                 directory + "/remit.yaml"};
  }
  for (const std::string& path : {directory, bundle, bundle + "/schemas", bundle + "/policies"}) {
    REMIT_TRY(world.files.make_directory(path));
  }
  for (const policy::StarterFile& file : starter.files) {
    REMIT_TRY(write_new(world.files, bundle + "/" + file.path, file.text));
  }
  std::string key(32, '\0');
  world.random.fill(std::as_writable_bytes(std::span{key.data(), key.size()}));
  REMIT_TRY(write_new(world.files, directory + "/digest.key", key));
  return write_new(world.files, directory + "/remit.yaml", config);
}

int exit_code_for(const Error& error) {
  if (error.code == ErrorCode::kInternal) return kExitInternal;
  return error.code == ErrorCode::kAlreadyExists ? kExitCannotWrite : kExitBadInput;
}

// `--effect TOOL=KIND`, each.
Result<policy::SaidEffects> said_effects(const Arguments& arguments) {
  policy::SaidEffects out;
  for (const std::string& word : arguments.values("--effect")) {
    const std::size_t equals = word.rfind('=');
    const std::string kind = equals == std::string::npos ? "" : word.substr(equals + 1);
    const auto* const known = std::find(std::begin(policy::kStarterKinds),
                                        std::end(policy::kStarterKinds), std::string_view(kind));
    if (known == std::end(policy::kStarterKinds)) {
      return Error{ErrorCode::kInvalidInput,
                   fmt::format("--effect takes TOOL=EFFECT, of which EFFECT is one of {}; not {}",
                               fmt::join(policy::kStarterKinds, ", "), remit::quoted(word))};
    }
    if (!out.emplace(word.substr(0, equals), kind).second) {
      return Error{ErrorCode::kInvalidInput, fmt::format("--effect is given twice for {}",
                                                         remit::quoted(word.substr(0, equals)))};
    }
  }
  return out;
}

std::string_view said_words(policy::EffectSource source) {
  switch (source) {
    case policy::EffectSource::kServer:
      return "as the server says";
    case policy::EffectSource::kPerson:
      return "as you say";
    case policy::EffectSource::kNobody:
      break;
  }
  return "since the server says nothing of it";
}

bool is_usable(const policy::StarterEntry& tool) {
  return tool.kind == "read";
}

// What the pinned principal can do with each tool today, and where a person says otherwise.
std::string tools_text(const policy::StarterBundle& starter, const std::string& server,
                       const std::string& directory) {
  const auto usable = std::count_if(starter.tools.begin(), starter.tools.end(), is_usable);
  std::string out = fmt::format("{} of {} can be used as it stands, for the principal may read:\n",
                                usable, grading::counted(starter.tools.size(), "tool", "tools"));
  std::size_t shown = 0;
  for (const policy::StarterEntry& tool : starter.tools) {
    if (shown++ == kMaxToolsTold) {
      out += fmt::format("  and {} more, which {}/bundle/catalogue.yaml lists\n",
                         starter.tools.size() - kMaxToolsTold, directory);
      break;
    }
    out += fmt::format("  {}: {}, {}{}\n", tool.name, tool.kind, said_words(tool.said_by),
                       is_usable(tool)
                           ? std::string()
                           : fmt::format(": hidden, for it needs {}:{}", server, tool.kind));
  }
  const bool is_open =
      std::any_of(starter.tools.begin(), starter.tools.end(),
                  [](const auto& tool) { return tool.said_by == policy::EffectSource::kNobody; });
  if (is_open) {
    out += fmt::format(
        "of the tools that the server says nothing of, it is for you to say what they do: with\n"
        "--effect TOOL=EFFECT in another directory, or by hand in {0}/bundle: `effect` and\n"
        "`scopes` in catalogue.yaml and the tool's group in schema.cedarschema\n",
        directory);
  }
  return out;
}

}  // namespace

int run_init(const Arguments& arguments, World& world) {
  const std::string directory = arguments.value("--directory", ".");
  const std::string server = arguments.value("--server", "server");
  if (arguments.trailing().empty()) {
    complain(world,
             Error{ErrorCode::kInvalidInput,
                   "remit init needs the server's command behind --; see remit init --help"});
    return kExitUsage;
  }
  const Result<policy::SaidEffects> said = said_effects(arguments);
  if (!said) {
    complain(world, said.error());
    return kExitUsage;
  }
  const Result<json::Value> tools = find_tools(arguments, world);
  if (!tools) {
    complain(world, tools.error());
    return exit_code_for(tools.error());
  }
  const Result<policy::StarterBundle> starter = policy::starter_bundle(*tools, server, *said);
  if (!starter) {
    complain(world, in_place(arguments.value("--tools"), starter.error()));
    return exit_code_for(starter.error());
  }
  const std::string config =
      config_text(server, arguments.value("--tenant", "local"), starter->scopes,
                  command_from_anywhere(world, arguments.trailing()));
  const Status written = write_starter(world, directory, config, *starter);
  if (!written) {
    complain(world, written.error());
    return exit_code_for(written.error());
  }
  for (const std::string& warning : starter->warnings) {
    complain(world, Error{ErrorCode::kInvalidInput, "warning: " + warning});
  }
  return print(
      world,
      fmt::format("wrote {0}/remit.yaml and {0}/bundle for {1} of {2}\n"
                  "{3}"
                  "who may do more is for you to say: scopes in {0}/remit.yaml, policies in "
                  "{0}/bundle\n"
                  "check it:  remit policy check {0}/bundle\n"
                  "run it:    remit stdio --config {0}/remit.yaml\n",
                  directory, grading::counted(starter->tools.size(), "tool", "tools"), server,
                  tools_text(*starter, server, directory)),
      kExitOk);
}

}  // namespace remit::cli
