// remit explain-code: what a finding code or a reason means, who owns it, and what to do.
#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "base/nearest_word.h"
#include "cli/commands.h"
#include "grading/code_guide.h"
#include "json/value.h"

namespace remit::cli {
namespace {

using grading::CodeGuide;
using grading::CodeInfo;

std::string sentence(std::string_view text) {
  std::string out(text);
  if (!out.empty() && out.front() >= 'a' && out.front() <= 'z') out.front() -= 'a' - 'A';
  return out + ".";
}

std::string effect_of(const CodeInfo& info) {
  return fmt::format("{} {}", grading::verdict_name(info.verdict),
                     info.soft ? "undetermined" : "failed");
}

std::string told(const CodeInfo& info) {
  const CodeGuide& guide = grading::code_guide(info.code);
  std::string out = fmt::format(
      "{}\n\n  found when   {}\n  makes        {}\n  owner        {}\n  usual cause  {}\n"
      "  what to do   {}\n",
      info.name, sentence(info.meaning), effect_of(info), grading::owner_name(info.owner),
      sentence(guide.cause), sentence(guide.remedy));
  if (info.absence) {
    out += "\nWhere events of its writer were lost it leaves its verdict undetermined.\n";
  }
  return out;
}

std::string reason_table() {
  std::string out = "reasons of decisions\n";
  for (const grading::ReasonGuide& one : grading::reason_guides()) {
    out += fmt::format("  {:<26}{:<18}{}\n", one.name, one.speaker, one.when);
  }
  return out;
}

std::string table() {
  std::string out;
  const grading::Verdict* last = nullptr;
  for (const CodeInfo& info : grading::code_table()) {
    if (last == nullptr || *last != info.verdict) {
      out +=
          fmt::format("{}{}\n", last == nullptr ? "" : "\n", grading::verdict_name(info.verdict));
      last = &info.verdict;
    }
    out += fmt::format("  {:<26}{:<18}{}{}\n", info.name, grading::owner_name(info.owner),
                       info.meaning, info.soft ? " (undetermined)" : "");
  }
  return out + "\n" + reason_table() +
         "\nremit explain-code CODE tells the usual cause and what to do.\n";
}

void write_json(const CodeInfo& info, std::string& out) {
  const CodeGuide& guide = grading::code_guide(info.code);
  const auto member = [&](std::string_view name, std::string_view value) {
    out += out.back() == '{' ? "\"" : ",\"";
    out.append(name).append("\":");
    json::write_string(value, out);
  };
  out += '{';
  member("code", info.name);
  member("verdict", grading::verdict_name(info.verdict));
  member("value", info.soft ? "undetermined" : "failed");
  member("owner", grading::owner_name(info.owner));
  member("meaning", info.meaning);
  member("cause", guide.cause);
  member("remedy", guide.remedy);
  out += '}';
}

const grading::ReasonGuide* find_reason(std::string_view word) {
  const std::span<const grading::ReasonGuide> all = grading::reason_guides();
  const auto found = std::find_if(
      all.begin(), all.end(), [&](const grading::ReasonGuide& one) { return one.name == word; });
  return found == all.end() ? nullptr : &*found;
}

int tell_reason(const grading::ReasonGuide& one, bool wants_json, World& world) {
  if (!wants_json) {
    return print(world,
                 fmt::format("{}\n\n  the reason of a decision, no finding\n  given by     {}\n"
                             "  given when   {}\n",
                             one.name, one.speaker, sentence(one.when)),
                 kExitOk);
  }
  std::string out = "{\"reason\":";
  const auto value = [&](std::string_view text) { json::write_string(text, out); };
  value(one.name);
  out += ",\"given_by\":";
  value(one.speaker);
  out += ",\"when\":";
  value(one.when);
  return print(world, out + "}\n", kExitOk);
}

int refuse_code(const std::string& word, World& world) {
  std::vector<std::string_view> names;
  for (const CodeInfo& info : grading::code_table()) names.push_back(info.name);
  for (const grading::ReasonGuide& one : grading::reason_guides()) names.push_back(one.name);
  complain(world, Error{ErrorCode::kInvalidInput,
                        fmt::format("{} is no code of a finding and no reason of a decision; "
                                    "remit explain-code lists all{}",
                                    quoted(word), suggestion(word, names))});
  return kExitUsage;
}

}  // namespace

int run_explain_code(const Arguments& arguments, World& world) {
  const bool wants_json = arguments.value("--format", "text") == "json";
  if (arguments.positionals().empty()) {
    if (!wants_json) return print(world, table(), kExitOk);
    std::string out;
    for (const CodeInfo& info : grading::code_table()) {
      out += out.empty() ? "[" : ",\n ";
      write_json(info, out);
    }
    return print(world, out + "]\n", kExitOk);
  }
  const std::string& word = arguments.positionals().front();
  const std::optional<grading::Code> code = grading::parse_code(word);
  if (!code) {
    const grading::ReasonGuide* const reason = find_reason(word);
    return reason == nullptr ? refuse_code(word, world) : tell_reason(*reason, wants_json, world);
  }
  const CodeInfo& info = grading::code_info(*code);
  if (!wants_json) return print(world, told(info), kExitOk);
  std::string out;
  write_json(info, out);
  return print(world, out + "\n", kExitOk);
}

}  // namespace remit::cli
