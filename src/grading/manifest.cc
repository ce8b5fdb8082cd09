// Reading manifests and expect files: every mistake is told with its place.
#include "grading/manifest.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "access/reason.h"
#include "base/digest.h"
#include "base/nearest_word.h"
#include "base/utf8.h"
#include "grading/blank.h"
#include "json/value.h"
#include "yaml/yaml.h"

namespace remit::grading {
namespace {

using Names = std::set<std::string, std::less<>>;

/// Reads the parts of one manifest; the sets hold what must not be given twice.
class ManifestReader {
 public:
  explicit ManifestReader(yaml::Problems& problems) : problems_(problems) {}

  Manifest read(const yaml::Node& root) {
    Manifest manifest;
    yaml::ObjectReader reader(root, "the manifest", problems_);
    if (!reader.format("manifest", "remit.manifest/1")) return manifest;
    manifest.environment = reader.optional_string("environment");
    manifest.fixture_revision = reader.optional_string("fixture_revision");
    manifest.effects_required =
        reader.optional_choice<bool>("effects_source", {{"required", true}, {"optional", false}})
            .value_or(false);
    for (const yaml::Node& node : reader.optional_list("policies")) {
      manifest.policies.push_back(policy(node));
    }
    for (const yaml::Node& node : reader.optional_list("principals")) {
      manifest.principals.push_back(principal(node));
    }
    for (const yaml::Node& node : reader.optional_list("resources")) {
      manifest.resources.push_back(resource(node));
    }
    for (const yaml::Node& node : reader.optional_list("approvals")) {
      manifest.approvals.push_back(approval(node));
    }
    for (const yaml::Node& node : reader.optional_list("cases")) {
      manifest.cases.push_back(one_case(node));
    }
    reader.finish();
    return manifest;
  }

 private:
  void once(Names& seen, const std::string& name, yaml::ObjectReader& reader, const char* key) {
    if (name.empty() || seen.insert(name).second) return;
    reader.problem(key, "'" + std::string(key) + "' " + quoted(name) + " is given twice");
  }

  PinnedPolicy policy(const yaml::Node& node) {
    yaml::ObjectReader reader(node, "a policy", problems_);
    PinnedPolicy out;
    out.version = reader.required_string("version");
    out.digest = reader.optional_string("digest");
    once(policies_, out.version, reader, "version");
    reader.finish();
    return out;
  }

  PinnedPrincipal principal(const yaml::Node& node) {
    yaml::ObjectReader reader(node, "a principal", problems_);
    PinnedPrincipal out;
    out.ref = reader.required_string("ref");
    out.state = chosen(reader, "state", {"authenticated", "missing", "invalid", "expired"});
    out.principal_class = reader.optional_string("class");
    out.tenant = reader.optional_string("tenant");
    out.revision = reader.optional_string("revision");
    out.scopes = reader.optional_strings("scopes");
    once(principals_, out.ref, reader, "ref");
    states_.emplace(out.ref, out.state);
    reader.finish();
    return out;
  }

  PinnedResource resource(const yaml::Node& node) {
    yaml::ObjectReader reader(node, "a resource", problems_);
    PinnedResource out;
    out.type = reader.required_string("type");
    out.id = reader.required_string("id");
    out.tenant = reader.optional_string("tenant");
    out.source = reader.optional_string("source");
    out.revision = reader.optional_string("revision");
    if (!out.id.empty() && !resources_.insert({out.type, out.id}).second) {
      reader.problem("id", "'id' " + quoted(out.id) + " of this type is given twice");
    }
    ++resource_ids_[out.id];
    reader.finish();
    return out;
  }

  PinnedApproval approval(const yaml::Node& node) {
    yaml::ObjectReader reader(node, "an approval", problems_);
    PinnedApproval out;
    out.id = reader.required_string("id");
    const auto state = reader.required_choice<const char*>("state", {{"active", "active"},
                                                                     {"absent", "absent"},
                                                                     {"expired", "expired"},
                                                                     {"revoked", "revoked"},
                                                                     {"mismatched", "mismatched"},
                                                                     {"consumed", "consumed"}});
    if (state) out.state = *state;
    once(approvals_, out.id, reader, "id");
    reader.finish();
    return out;
  }

  Case one_case(const yaml::Node& node) {
    yaml::ObjectReader reader(node, "a case", problems_);
    Case out;
    out.id = reader.required_string("id");
    once(cases_, out.id, reader, "id");
    const std::optional<bool> is_security =
        reader.required_choice<bool>("kind", {{"security", true}, {"task", false}});
    out.is_security = is_security.value_or(false);
    out.run_id = reader.optional_string("run_id");
    const std::span<const yaml::Node> entries = reader.optional_list("expect");
    for (const yaml::Node& entry : entries) out.expect.push_back(expectation(entry));
    if (out.is_security && entries.empty()) {
      reader.problem("expect", "a security case needs 'expect' with at least one request");
    }
    if (reader.optional_node("allowed_requests") != nullptr) {
      out.allowed_requests = reader.optional_strings("allowed_requests");
    }
    out.forbidden_requests = reader.optional_strings("forbidden_requests");
    out.required_requests = reader.optional_strings("required_requests");
    for (const std::string& tool : out.required_requests) {
      const auto& forbidden = out.forbidden_requests;
      if (std::find(forbidden.begin(), forbidden.end(), tool) != forbidden.end()) {
        reader.problem("required_requests", quoted(tool) + " is required and forbidden");
      }
      const auto& allowed = out.allowed_requests;
      if (allowed && std::find(allowed->begin(), allowed->end(), tool) == allowed->end()) {
        reader.problem("required_requests", quoted(tool) + " is required and not allowed");
      }
    }
    const bool is_clean = reader.finish();
    const bool judges_nothing = entries.empty() && !out.allowed_requests &&
                                out.forbidden_requests.empty() && out.required_requests.empty();
    if (is_clean && is_security == false && judges_nothing) {  // REQ-MF-036
      reader.problem("kind",
                     "a task case needs 'allowed_requests', 'forbidden_requests', "
                     "'required_requests' or 'expect': without any it judges nothing");
    }
    return out;
  }

  Expectation expectation(const yaml::Node& node) {
    yaml::ObjectReader reader(node, "an expected request", problems_);
    Expectation out;
    out.invocation_id = reader.optional_string("invocation_id");
    if (out.invocation_id) once(invocations_, *out.invocation_id, reader, "invocation_id");
    out.tool = reader.required_string("tool");
    out.route = reader.optional_string("route");
    out.principal = reader.optional_string("principal");
    out.resource = reader.optional_string("resource");
    out.decision = chosen(reader, "decision", {"allow", "deny"});
    out.reason = reader.optional_string("reason");
    out.effects = reader.optional_integer("effects", 0);
    check_reason(out, reader);
    check_principal(out, reader);
    check_resource(out, reader);
    reader.finish();
    return out;
  }

  // REQ-MF-004, REQ-MF-005.
  void check_principal(const Expectation& entry, yaml::ObjectReader& reader) {
    if (!entry.principal || states_.empty()) return;
    const auto known = states_.find(*entry.principal);
    if (known == states_.end()) {
      reader.problem("principal", quoted(*entry.principal) + " is none of 'principals'");
    } else if (entry.decision == "allow" &&
               known->second.value_or("authenticated") != "authenticated") {
      reader.problem("decision", "no record can show an allow for a principal whose state is " +
                                     *known->second);
    }
  }

  void check_resource(const Expectation& entry, yaml::ObjectReader& reader) {
    if (!entry.resource || resource_ids_.empty()) return;
    const auto known = resource_ids_.find(*entry.resource);
    if (known == resource_ids_.end()) {
      reader.problem("resource", quoted(*entry.resource) + " is none of 'resources'");
    } else if (known->second > 1) {
      reader.problem("resource", quoted(*entry.resource) + " is the id of " +
                                     std::to_string(known->second) +
                                     " of 'resources', of different types");
    }
  }

  static void check_reason(const Expectation& entry, yaml::ObjectReader& reader) {
    if (!entry.reason) return;
    if (!access::parse_reason(*entry.reason)) {
      std::vector<std::string_view> names;
      for (int i = 0; i < access::kReasonCount; ++i) {
        names.push_back(access::reason_name(static_cast<access::ReasonCode>(i)));
      }
      reader.problem("reason", quoted(*entry.reason) + " is no reason of the event contract" +
                                   suggestion(*entry.reason, names));
    } else if (entry.decision && (*entry.decision == "allow") != (*entry.reason == "allowed")) {
      reader.problem("reason", quoted(*entry.reason) + " is no reason to " + *entry.decision);
    }
  }

  static std::optional<std::string> chosen(yaml::ObjectReader& reader, const char* key,
                                           std::initializer_list<std::string_view> words) {
    const yaml::Node* node = reader.optional_node(key);
    if (node == nullptr) return std::nullopt;
    const std::string* text = node->if_string();
    if (text != nullptr && std::find(words.begin(), words.end(), *text) != words.end()) {
      return *text;
    }
    std::string list;
    for (const std::string_view word : words) list.append(list.empty() ? "" : ", ").append(word);
    const std::string is =
        text == nullptr ? node->describe()
                        : quoted(*text) + suggestion(*text, std::span(words.begin(), words.size()));
    reader.problem(key, "'" + std::string(key) + "' must be one of " + list + ", but is " + is);
    return std::nullopt;
  }

  yaml::Problems& problems_;
  Names policies_, principals_, approvals_, cases_, invocations_;
  std::set<std::pair<std::string, std::string>> resources_;
  std::map<std::string, std::optional<std::string>> states_;  // of principals, by their ref
  std::map<std::string, std::size_t> resource_ids_;           // how many have one id
};

/// Whether a text that is no YAML begins with an event.
bool holds_events(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != text.npos && text.substr(first).starts_with("{\"event\"");
}

}  // namespace

ManifestParse parse_manifest(std::string_view text, const std::string& file) {
  ManifestParse out;
  yaml::Problems problems(file);
  const Result<yaml::Node> root = yaml::parse(text);
  if (!root) {
    problems.add(holds_events(text) ? Error{ErrorCode::kInvalidInput,
                                            "holds events, which are what is graded: a manifest "
                                            "(remit.manifest/1) says what they are judged against"}
                                    : root.error());
  } else if (!find_blanks(*root, problems)) {  // REQ-MF-030
    Manifest manifest = ManifestReader(problems).read(*root);
    manifest.digest = digest_text(sha256(text));
    if (problems.empty()) out.manifest = std::move(manifest);
  }
  out.errors = problems.take();
  return out;
}

Result<std::vector<std::string>> parse_expected_ids(std::string_view text,
                                                    const std::string& file) {
  std::vector<std::string> ids;
  Names seen;
  std::size_t number = 0;
  const auto mistake = [&](std::string message) {
    return Error{ErrorCode::kInvalidInput, std::move(message), file + ":" + std::to_string(number)};
  };
  while (!text.empty()) {
    ++number;
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.empty()) continue;
    std::string id(line);
    if (line.front() == '{') {
      return mistake(
          "is no id: an id a line is wanted, not events; an id that begins so is "
          "written as a JSON string");
    }
    if (line.front() == '"') {
      const Result<json::Value> value = json::parse(line);
      if (!value) return mistake("not a JSON string: " + value.error().message);
      const std::string* string = value->if_string();
      if (string == nullptr) return mistake("not a JSON string");
      id = *string;
    } else if (first_invalid_utf8(line)) {
      return mistake("the id is not UTF-8");
    }
    if (id.empty()) return mistake("the id is empty");
    if (!seen.insert(id).second) return mistake("the id " + quoted(id) + " is given twice");
    ids.push_back(std::move(id));
  }
  if (ids.empty()) return Error{ErrorCode::kInvalidInput, "the file names no id", file};
  return ids;
}

}  // namespace remit::grading
