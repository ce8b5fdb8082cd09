// remit contract check: what a contract requires, in words.
#include <fmt/format.h>

#include "base/limits.h"
#include "base/nearest_word.h"
#include "cli/commands.h"
#include "cli/contracts.h"
#include "grading/redaction_file.h"
#include "json/value.h"

namespace remit::cli {
namespace {

using grading::Contract;
using grading::ContractWords;

std::string as_text(const Contract& contract) {
  const bool is_built_in = contract.name == contract.extends;
  std::string out = fmt::format("the contract {}{}\n", quoted(contract.name),
                                is_built_in ? "" : ", built on " + contract.extends);
  for (const ContractWords& part : grading::contract_in_words(contract)) {
    out += fmt::format("\n{}:\n", part.heading);
    for (const std::string& sentence : part.sentences) out += fmt::format("  {}\n", sentence);
    if (part.sentences.empty()) out += "  nothing\n";
  }
  return out;
}

std::string as_json(const Contract& contract) {
  std::string out = R"({"schema":"remit.contract-check/1","name":)";
  json::write_string(contract.name, out);
  out += ",\"extends\":";
  json::write_string(contract.extends, out);
  out += ",\"requires\":[";
  bool is_first = true;
  for (const ContractWords& part : grading::contract_in_words(contract)) {
    out += is_first ? "\n {\"of\":" : ",\n {\"of\":";
    is_first = false;
    json::write_string(part.heading, out);
    out += ",\"sentences\":[";
    for (const std::string& sentence : part.sentences) {
      if (out.back() != '[') out += ',';
      json::write_string(sentence, out);
    }
    out += "]}";
  }
  return out + "]}\n";
}

}  // namespace

std::optional<Contract> find_contract(World& world, const std::string& word,
                                      std::vector<Error>& errors) {
  if (std::optional<Contract> known = grading::built_in_contract(word)) return known;
  const Result<std::string> text = world.files.read(word, kMaxConfigBytes);
  if (!text) {
    errors.push_back(text.error());
    if (text.error().code != ErrorCode::kNotFound) return std::nullopt;
    constexpr std::string_view kNames[] = {"sequential", "fan_out", "queued"};
    errors.back().message +=
        fmt::format(", and no contract of this name is built in; those are {}{}",
                    grading::kBuiltInContracts, suggestion(word, kNames));
    return std::nullopt;
  }
  grading::ContractParse parsed = grading::parse_contract(*text, word);
  errors.insert(errors.end(), parsed.errors.begin(), parsed.errors.end());
  return std::move(parsed.contract);
}

int run_contract_check(const Arguments& arguments, World& world) {
  std::vector<Error> errors;
  const std::string& word = arguments.positionals().front();
  const std::optional<Contract> contract = find_contract(world, word, errors);
  if (contract) {
    errors = grading::load_redaction(world.files, contract->redaction.canaries,
                                     contract->redaction.forbid_fields, word)
                 .errors;
  }
  if (!errors.empty()) {
    for (const Error& error : errors) complain(world, error);
    return world.files.info(word) ? kExitFailed : kExitBadInput;
  }
  const bool wants_json = arguments.value("--format", "text") == "json";
  return print(world, wants_json ? as_json(*contract) : as_text(*contract), kExitOk);
}

}  // namespace remit::cli
