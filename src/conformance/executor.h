// An executor that is asked over MCP or HTTP, as its owner describes it: the part of a subject file
// that a driver would otherwise be.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "conformance/answer_words.h"
#include "conformance/pack.h"
#include "yaml/yaml.h"

namespace remit::conformance {

/// What the executor is spoken to in.
enum class Protocol : std::uint8_t { kMcp, kHttp };

/// The caller of a call that brings no credential.
inline constexpr std::string_view kNobody = "nobody";

/// Routes on which one request is one call, so that a client alone can ask for it.
inline constexpr std::array<std::string_view, 4> kClientRoutes = {"direct", "agent", "admin",
                                                                  "legacy"};

/// How a tool is asked for by HTTP; `*` stands for every tool that has no form of its own.
struct HttpForm {
  std::string tool;
  std::string method;
  std::string path;  ///< `/invoices/{invoice}/label`: arguments, and `{tool}`
};

/// An executor. Its texts may hold placeholders (REQ-CF-082): `{directory}` and so on.
struct Executor {
  Protocol protocol = Protocol::kMcp;
  std::vector<std::string> command;  ///< of HTTP empty where somebody else started it
  std::vector<std::pair<std::string, std::string>> variables;
  std::vector<std::string> inherit;      ///< names of variables that it gets of ours
  std::chrono::milliseconds deadline{};  ///< for one answer of it
  /// By name; the credential is what `{credential}` stands for, and may be empty.
  std::map<std::string, std::string, std::less<>> callers;
  std::map<std::string, std::string, std::less<>> cannot;  ///< what it cannot do, and why
  AnswerMarks marks;
  std::string evidence_directory, evidence_lines;  ///< one of them, or neither: the driver has it
  std::string invocation_id;  ///< where the tool finds it: a member of `_meta`, or a header
  std::string key;            ///< where the executor finds the key: likewise
  // Of HTTP.
  std::string url, url_file;  ///< one of them
  std::vector<HttpForm> forms;
  std::vector<std::pair<std::string, std::string>> headers;
};

/// The words of a pack that a subject file may name.
struct PackWords {
  std::set<std::string, std::less<>> principals;  ///< of its fixtures, and kNobody
  std::set<std::string, std::less<>> needs;       ///< what its cases need (REQ-CF-083)
};
PackWords words_of(const Pack& pack);

/// Reads the members of a subject that describe an executor: the map `mcp` or `http`, and beside it
/// `evidence`, `callers` and `cannot`. Nothing where the subject has neither map. What is wrong
/// becomes a problem, also a placeholder, a caller or a need that there is none of.
std::optional<Executor> read_executor(yaml::ObjectReader& subject, const PackWords& words,
                                      yaml::Problems& problems);

/// What `text` says with each `{name}` of `values` in its place; other braces stay.
std::string filled(std::string_view text,
                   const std::map<std::string, std::string, std::less<>>& values);

/// Everything that a case asks of an executor beside its calls, in words of the subject file
/// (REQ-CF-084): abilities, steps, parts that are taken down, callers.
std::vector<std::string> needs_of(const Case& of);

}  // namespace remit::conformance
