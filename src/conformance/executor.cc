// The members of a subject file that describe an executor, and what cases ask of one.
#include "conformance/executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/limits.h"
#include "base/nearest_word.h"

namespace remit::conformance {
namespace {

constexpr std::string_view kInvocationMeta = "io.remit/invocation-id";
constexpr std::string_view kKeyMeta = "io.remit/idempotency-key";
constexpr std::string_view kInvocationHeader = "Remit-Invocation-Id";
constexpr std::string_view kKeyHeader = "Idempotency-Key";

// Steps that are no client's to take.
constexpr std::array<std::string_view, 3> kBeyondClients = {"force_start", "plant", "retry"};

// Unknown tool, of MCP.
const std::vector<std::int64_t> kDeniedErrors = {-32602};
const std::vector<std::int64_t> kDeniedStatuses = {400, 401, 403, 404, 409, 413, 422, 429, 503};
const std::vector<std::int64_t> kFailedStatuses = {500, 502};
const std::vector<std::int64_t> kUnknownStatuses = {504};

constexpr std::array<std::string_view, 7> kMethods = {"GET",   "HEAD",   "POST",   "PUT",
                                                      "PATCH", "DELETE", "OPTIONS"};
// Of a trial, and of whoever calls in it.
constexpr std::array<std::string_view, 5> kTrialPlaceholders = {"directory", "remit", "spy", "case",
                                                                "route"};
constexpr std::array<std::string_view, 2> kCallerPlaceholders = {"caller", "credential"};
constexpr std::string_view kSpyUrl = "spy_url";
constexpr std::size_t kLeastOfPrefix = 3;

// The known word that is nearest, or the one that `word` is a beginning of.
std::string_view meant_by(std::string_view word, const std::vector<std::string_view>& known) {
  const std::string_view near = nearest_word(word, known);
  if (!near.empty() || word.size() < kLeastOfPrefix) return near;
  const auto longer = std::find_if(known.begin(), known.end(),
                                   [&](std::string_view each) { return each.starts_with(word); });
  return longer == known.end() ? std::string_view{} : *longer;
}

std::string hint(std::string_view word, const std::vector<std::string_view>& known) {
  const std::string_view near = meant_by(word, known);
  if (!near.empty()) return did_you_mean(near);
  return fmt::format("; there are {}", fmt::join(known, ", "));
}

std::string upper_case(std::string text) {
  for (char& c : text) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

// The words in braces that could be placeholders; `${NAME}` is a shell's, other braces are text.
std::vector<std::string_view> braced_words(std::string_view text) {
  std::vector<std::string_view> out;
  for (std::size_t at = text.find('{'); at != std::string_view::npos; at = text.find('{', at + 1)) {
    const std::size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_", at + 1);
    const bool is_word = end != std::string_view::npos && end > at + 1 && text[end] == '}';
    const bool is_shells = at > 0 && text[at - 1] == '$';
    if (is_word && !is_shells) out.push_back(text.substr(at + 1, end - at - 1));
  }
  return out;
}

// Empty for what is no text.
std::string text_at(const yaml::Node* node) {
  return node == nullptr || node->if_string() == nullptr ? "" : *node->if_string();
}

class ExecutorReader {
 public:
  ExecutorReader(const PackWords& words, yaml::Problems& problems)
      : words_(words), problems_(problems) {}

  std::optional<Executor> read(yaml::ObjectReader& subject) {
    const yaml::Node* mcp = subject.optional_node("mcp");
    const yaml::Node* http = subject.optional_node("http");
    if (mcp == nullptr && http == nullptr) return std::nullopt;
    if (mcp != nullptr && http != nullptr) subject.problem("http", "is there beside 'mcp'");
    out_.protocol = mcp != nullptr ? Protocol::kMcp : Protocol::kHttp;
    if (mcp != nullptr) read_mcp(*mcp);
    if (http != nullptr) read_http(*http);
    read_callers(subject);
    read_reasons(subject);
    for (const std::string_view word : kBeyondClients) {
      out_.cannot.emplace(word, "no client can ask for it by a request");
    }
    if (const yaml::Node* node = subject.optional_node("evidence")) {
      yaml::ObjectReader evidence(*node, "the evidence", problems_);
      out_.evidence_directory = evidence.optional_string("directory").value_or("");
      out_.evidence_lines = evidence.optional_string("lines").value_or("");
      for (const char* key : {"directory", "lines"}) check_places(node->find(key), Whose::kTrial);
      if (out_.evidence_directory.empty() == out_.evidence_lines.empty()) {
        problems_.add(*node, "evidence has one of 'directory' and 'lines'");
      }
      evidence.finish();
    }
    return std::move(out_);
  }

 private:
  /// Whose placeholders a text may hold.
  enum class Whose : std::uint8_t { kTrial, kCaller };

  void check_places(const yaml::Node* node, Whose whose) {
    std::vector<std::string_view> known(kTrialPlaceholders.begin(), kTrialPlaceholders.end());
    if (out_.protocol == Protocol::kHttp) known.push_back(kSpyUrl);
    if (whose == Whose::kCaller) {
      known.insert(known.end(), kCallerPlaceholders.begin(), kCallerPlaceholders.end());
    }
    const std::string text = text_at(node);
    for (const std::string_view word : braced_words(text)) {
      if (std::find(known.begin(), known.end(), word) != known.end()) continue;
      problems_.add(*node, fmt::format("{} is no placeholder here{}",
                                       quoted(fmt::format("{{{}}}", word)), hint(word, known)));
    }
  }

  void check_word(yaml::Place place, const std::string& word, std::string_view what,
                  const std::set<std::string, std::less<>>& known) {
    if (known.contains(word)) return;
    problems_.add(place, fmt::format("{} is no {} of the pack{}", quoted(word), what,
                                     hint(word, {known.begin(), known.end()})));
  }

  void read_mcp(const yaml::Node& node) {
    yaml::ObjectReader reader(node, "mcp", problems_);
    read_process(reader);
    if (reader.optional_node("command") == nullptr)
      reader.problem("command", "a client starts its server: 'command' is missing");
    out_.invocation_id =
        reader.optional_string("invocation_id").value_or(std::string(kInvocationMeta));
    out_.key = reader.optional_string("key").value_or(std::string(kKeyMeta));
    out_.marks.denied_codes = integers(reader, "denied_codes", kDeniedErrors);
    out_.marks.denied_texts = reader.optional_strings("denied_texts");
    reader.finish();
  }

  void read_http(const yaml::Node& node) {
    yaml::ObjectReader reader(node, "http", problems_);
    read_process(reader);
    out_.url = reader.optional_string("url").value_or("");
    out_.url_file = reader.optional_string("url_file").value_or("");
    for (const char* key : {"url", "url_file"}) check_places(node.find(key), Whose::kCaller);
    if (out_.url.empty() == out_.url_file.empty()) {
      problems_.add(node, "http has one of 'url' and 'url_file'");
    }
    out_.headers = read_map(reader, "headers", Whose::kCaller);
    for (const yaml::Node& each : reader.required_list("requests")) {
      yaml::ObjectReader form(each, "a request", problems_);
      out_.forms.push_back({form.required_string("tool"), form.required_string("method"),
                            form.required_string("path")});
      if (!out_.forms.back().path.starts_with('/')) form.problem("path", "begins with /");
      check_method(each);
      form.finish();
    }
    out_.invocation_id =
        reader.optional_string("invocation_id").value_or(std::string(kInvocationHeader));
    out_.key = reader.optional_string("key").value_or(std::string(kKeyHeader));
    out_.marks.denied_codes = integers(reader, "denied_statuses", kDeniedStatuses);
    out_.marks.denied_texts = reader.optional_strings("denied_texts");
    out_.marks.failed_codes = integers(reader, "failed_statuses", kFailedStatuses);
    out_.marks.unknown_codes = integers(reader, "unknown_statuses", kUnknownStatuses);
    reader.finish();
  }

  void check_method(const yaml::Node& form) {
    const std::string method = text_at(form.find("method"));
    if (method.empty() || std::find(kMethods.begin(), kMethods.end(), method) != kMethods.end()) {
      return;
    }
    problems_.add(*form.find("method"),
                  fmt::format("{} is no method of HTTP{}", quoted(method),
                              hint(upper_case(method), {kMethods.begin(), kMethods.end()})));
  }

  void read_process(yaml::ObjectReader& reader) {
    for (const yaml::Node& word : reader.optional_list("command")) {
      if (word.if_string() == nullptr) problems_.add(word, "is text");
      check_places(&word, Whose::kCaller);
      out_.command.push_back(word.if_string() == nullptr ? "" : *word.if_string());
    }
    if (reader.optional_node("command") != nullptr &&
        (out_.command.empty() || out_.command.front().empty())) {
      reader.problem("command", "names no program");
    }
    out_.deadline = std::chrono::milliseconds{
        reader.optional_integer("deadline_ms", 1, kMaxDriverDeadline.count())
            .value_or(kExecutorDeadline.count())};
    out_.variables = read_map(reader, "environment", Whose::kCaller);
    out_.inherit = reader.optional_strings("inherit");
  }

  std::vector<std::pair<std::string, std::string>> read_map(yaml::ObjectReader& reader,
                                                            std::string_view key,
                                                            std::optional<Whose> whose) {
    std::vector<std::pair<std::string, std::string>> out;
    const yaml::Node* node = reader.optional_node(key);
    if (node == nullptr) return out;
    if (node->kind() != yaml::Node::Kind::kMap) problems_.add(*node, "is a map of texts");
    for (std::size_t i = 0; i < node->keys().size(); ++i) {
      const std::string* value = node->values()[i].if_string();
      if (value == nullptr) problems_.add(node->values()[i], "is text; put it in quotes");
      if (whose) check_places(&node->values()[i], *whose);
      out.emplace_back(node->keys()[i].text, value == nullptr ? "" : *value);
    }
    return out;
  }

  std::vector<std::int64_t> integers(yaml::ObjectReader& reader, std::string_view key,
                                     const std::vector<std::int64_t>& otherwise) {
    if (reader.optional_node(key) == nullptr) return otherwise;
    std::vector<std::int64_t> out;
    for (const yaml::Node& node : reader.optional_list(key)) {
      if (!node.if_integer()) problems_.add(node, "is a whole number");
      out.push_back(node.if_integer().value_or(0));
    }
    return out;
  }

  // A list of names, or a map of names and credentials.
  void read_callers(yaml::ObjectReader& subject) {
    const yaml::Node* node = subject.required_node("callers");
    if (node == nullptr) return;
    if (node->kind() == yaml::Node::Kind::kList) {
      for (const std::string& name : subject.required_strings("callers")) {
        out_.callers.emplace(name, "");
      }
      for (const yaml::Node& each : node->items()) {
        if (!text_at(&each).empty()) {
          check_word(each.place(), text_at(&each), "principal", words_.principals);
        }
      }
    } else {
      for (auto& [name, credential] : read_map(subject, "callers", Whose::kTrial)) {
        out_.callers.emplace(std::move(name), std::move(credential));
      }
      for (const yaml::Key& key : node->keys()) {
        check_word(key.place, key.text, "principal", words_.principals);
      }
    }
    if (out_.callers.empty()) subject.problem("callers", "names nobody");
  }

  void read_reasons(yaml::ObjectReader& subject) {
    const yaml::Node* node = subject.optional_node("cannot");
    for (const yaml::Key& key : node == nullptr ? std::span<const yaml::Key>{} : node->keys()) {
      check_word(key.place, key.text, "need", words_.needs);
    }
    for (auto& [word, reason] : read_map(subject, "cannot", std::nullopt)) {
      if (reason.empty()) subject.problem("cannot", "each says why");
      out_.cannot.emplace(std::move(word), std::move(reason));
    }
  }

  const PackWords& words_;
  yaml::Problems& problems_;
  Executor out_;
};

}  // namespace

PackWords words_of(const Pack& pack) {
  PackWords out;
  out.principals.emplace(kNobody);
  out.needs.emplace("fixture");
  out.needs.insert(kAbilities.begin(), kAbilities.end());
  out.needs.insert(kParts.begin(), kParts.end());
  for (const Case& one : pack.cases) {
    for (std::string& need : needs_of(one)) out.needs.insert(std::move(need));
    const json::Value* principals = one.fixture.find("principals");
    if (principals == nullptr || principals->if_object() == nullptr) continue;
    for (const json::Member& each : principals->if_object()->members()) {
      out.principals.insert(each.first);
    }
  }
  out.needs.insert(out.principals.begin(), out.principals.end());
  return out;
}

std::optional<Executor> read_executor(yaml::ObjectReader& subject, const PackWords& words,
                                      yaml::Problems& problems) {
  return ExecutorReader(words, problems).read(subject);
}

std::string filled(std::string_view text,
                   const std::map<std::string, std::string, std::less<>>& values) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text[at] == '{' ? text.find('}', at) : std::string_view::npos;
    const auto found = end == std::string_view::npos
                           ? values.end()
                           : values.find(text.substr(at + 1, end - at - 1));
    if (found == values.end()) {
      out += text[at++];
    } else {
      out += found->second;
      at = end + 1;
    }
  }
  return out;
}

std::vector<std::string> needs_of(const Case& of) {
  std::set<std::string> out(of.needs.begin(), of.needs.end());
  if (of.has_own_fixture) out.emplace("fixture");
  for (const Step& step : of.steps) {
    if (!is_asked_of_driver(step.kind)) continue;
    out.emplace(step_name(step.kind));
    const json::Value* part = step.members.find("part");
    if (part != nullptr && part->if_string() != nullptr) out.insert(*part->if_string());
    if (step.kind == StepKind::kCall || step.kind == StepKind::kSubmit) {
      out.emplace(step.principal.empty() ? kNobody : std::string_view(step.principal));
    }
  }
  return {out.begin(), out.end()};
}

}  // namespace remit::conformance
