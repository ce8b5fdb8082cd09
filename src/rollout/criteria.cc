// Reading criteria: every mistake is told with its place.
#include "rollout/criteria.h"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/limits.h"
#include "yaml/yaml.h"

namespace remit::rollout {
namespace {

constexpr std::int64_t kMostCalls = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kMostHours = 24 * 366;

class CriteriaReader {
 public:
  explicit CriteriaReader(yaml::Problems& problems) : problems_(problems) {}

  Criteria read(const yaml::Node& root) {
    Criteria out;
    yaml::ObjectReader reader(root, "the criteria", problems_);
    if (!reader.format("rollout", "remit.rollout/1")) return out;
    for (const yaml::Node& node : entries(reader, "policies")) {
      out.policies.push_back(policy(node));
    }
    needs(reader).apply(out.needs);
    if (const auto losses = number(reader, "losses", 0, kMostCalls)) out.losses = *losses;
    if (reader.optional_node("refused_as") != nullptr) {
      out.refused_as = reader.optional_strings("refused_as");
    }
    for (const yaml::Node& node : entries(reader, "rules")) out.rules.push_back(rule(node));
    for (const yaml::Node& node : entries(reader, "expected_denials")) {
      out.expected.push_back(expected(node));
    }
    for (const yaml::Node& node : entries(reader, "unused")) out.unused.push_back(unused(node));
    reader.finish();
    return out;
  }

 private:
  static std::optional<std::uint64_t> number(yaml::ObjectReader& reader, std::string_view key,
                                             std::int64_t least, std::int64_t most) {
    const std::optional<std::int64_t> value = reader.optional_integer(key, least, most);
    if (!value) return std::nullopt;
    return static_cast<std::uint64_t>(*value);
  }

  AskedPolicy policy(const yaml::Node& node) {
    yaml::ObjectReader reader(node, "a policy", problems_);
    AskedPolicy out{reader.required_string("version"), reader.optional_string("digest")};
    reader.finish();
    return out;
  }

  NeedsChange needs(yaml::ObjectReader& parent) {
    NeedsChange out;
    if (const yaml::Node* node = parent.optional_node("at_least")) {
      yaml::ObjectReader reader(*node, "'at_least'", problems_);
      out.calls = number(reader, "calls", 1, kMostCalls);
      out.principals = number(reader, "principals", 0, Distinct::kMost);
      out.hours = number(reader, "hours", 0, kMostHours);
      if (reader.finish() && node->keys().empty()) problems_.add(*node, "'at_least' says nothing");
    }
    if (const yaml::Node* node = parent.optional_node("at_most")) {
      yaml::ObjectReader reader(*node, "'at_most'", problems_);
      out.would_deny = number(reader, "would_deny", 0, kMostCalls);
      out.would_allow = number(reader, "would_allow", 0, kMostCalls);
      out.unsettled = number(reader, "unsettled", 0, kMostCalls);
      if (reader.finish() && node->keys().empty()) problems_.add(*node, "'at_most' says nothing");
    }
    return out;
  }

  std::span<const yaml::Node> entries(yaml::ObjectReader& reader, const char* key) {
    const std::span<const yaml::Node> out = reader.optional_list(key);
    entries_ += out.size();
    if (entries_ <= kMaxContractRules) return out;
    reader.problem(key, fmt::format("more than {} rules and entries", kMaxContractRules),
                   ErrorCode::kLimitExceeded);
    return {};
  }

  grading::Names names(yaml::ObjectReader& reader, const char* key) {
    const yaml::Node* node = reader.optional_node(key);
    if (node == nullptr) return {};
    std::vector<std::string> out = reader.optional_strings(key);
    if (node->kind() == yaml::Node::Kind::kList && node->items().empty()) {
      problems_.add(*node, fmt::format("'{}' names nothing", key));
    }
    for (const yaml::Node& item : node->items()) {
      const std::string* text = item.if_string();
      if (text == nullptr || text->find('*') >= text->size() - 1) continue;
      problems_.add(item, "'*' stands for the rest of a name, at its end; it cannot stand in " +
                              quoted(*text));
    }
    return grading::Names(std::move(out));
  }

  Match match(yaml::ObjectReader& parent) {
    Match out;
    const yaml::Node* node = parent.required_node("match");
    if (node == nullptr) return out;
    yaml::ObjectReader reader(*node, "'match'", problems_);
    out.routes = names(reader, "route");
    out.tools = names(reader, "tool");
    if (reader.finish() && node->keys().empty()) problems_.add(*node, "'match' names nothing");
    return out;
  }

  NeedsRule rule(const yaml::Node& node) {
    yaml::ObjectReader reader(node, "a rule", problems_);
    NeedsRule out{match(reader), needs(reader)};
    if (reader.finish() && node.keys().size() < 2) {
      problems_.add(node, "this rule changes nothing");
    }
    return out;
  }

  ExpectedDenial expected(const yaml::Node& node) {
    yaml::ObjectReader reader(node, "an expected denial", problems_);
    ExpectedDenial out;
    out.match = match(reader);
    out.line = node.place().line;
    const std::string reason = reader.required_string("reason");
    const std::optional<access::ReasonCode> code = access::parse_reason(reason);
    // What is broken denies as well, and nobody can have wanted that (REQ-RO-032).
    if (code && (access::is_policy_reason(*code) || *code == access::ReasonCode::kNotPermitted)) {
      out.reason = *code;
    } else if (!reason.empty()) {
      reader.problem("reason",
                     fmt::format("a wanted denial is one of tenant_mismatch, approval_required, "
                                 "stale_approval, forbidden, not_permitted, not {}",
                                 quoted(reason)));
    }
    out.owner = reader.required_string("owner");
    out.why = reader.required_string("why");
    out.expires = reader.required_string("expires");
    if (const std::optional<grading::Day> day = grading::parse_day(out.expires)) {
      out.last_day = *day;
    } else if (!out.expires.empty()) {
      reader.problem("expires", fmt::format("{} is no day YYYY-MM-DD", quoted(out.expires)));
    }
    reader.finish();
    return out;
  }

  UnusedPairs unused(const yaml::Node& node) {
    yaml::ObjectReader reader(node, "an unused pair", problems_);
    UnusedPairs out;
    out.match = match(reader);
    out.line = node.place().line;
    out.owner = reader.required_string("owner");
    out.why = reader.required_string("why");
    reader.finish();
    return out;
  }

  yaml::Problems& problems_;
  std::size_t entries_ = 0;
};

}  // namespace

void NeedsChange::apply(Needs& out) const {
  out.calls = calls.value_or(out.calls);
  out.principals = principals.value_or(out.principals);
  out.hours = hours.value_or(out.hours);
  out.would_deny = would_deny.value_or(out.would_deny);
  out.would_allow = would_allow.value_or(out.would_allow);
  out.unsettled = unsettled.value_or(out.unsettled);
}

Needs Criteria::needs_of(const Pair& pair) const {
  Needs out = needs;
  for (const NeedsRule& rule : rules) {
    if (rule.match.fits(pair)) rule.change.apply(out);
  }
  return out;
}

CriteriaParse parse_criteria(std::string_view text, const std::string& file) {
  CriteriaParse out;
  yaml::Problems problems(file);
  const Result<yaml::Node> root = yaml::parse(text);
  if (root) {
    Criteria criteria = CriteriaReader(problems).read(*root);
    if (problems.empty()) out.criteria = std::move(criteria);
  } else {
    problems.add(root.error());
  }
  out.errors = problems.take();
  return out;
}

}  // namespace remit::rollout
