// Reading contract files: every mistake is told with its place.
#include <algorithm>
#include <initializer_list>
#include <limits>
#include <utility>

#include "access/reason.h"
#include "base/limits.h"
#include "grading/contract.h"
#include "yaml/yaml.h"

namespace remit::grading {
namespace {

constexpr std::int64_t kMostEvents = std::numeric_limits<std::int32_t>::max();

bool requires_something(const Requirements& it) {
  return !it.request.is_any() || !it.decision.is_any() || !it.start_on_allow.is_any() ||
         !it.start_on_deny.is_any() || !it.finish_on_allow.is_any() ||
         !it.finish_on_deny.is_any() || it.order != Order{} || it.is_governed || it.reasons ||
         it.required_fields != RequiredFields{};
}

/// Reads the parts of one contract.
class ContractReader {
 public:
  explicit ContractReader(yaml::Problems& problems) : problems_(problems) {}

  Contract read(const yaml::Node& root) {
    Contract contract;
    yaml::ObjectReader reader(root, "the contract", problems_);
    if (!reader.format("contract", "remit.contract/1")) return contract;
    const std::string name = reader.required_string("name");
    const auto extends =
        reader
            .optional_choice<std::string_view>("extends", {{"sequential", "sequential"},
                                                           {"fan_out", "fan_out"},
                                                           {"queued", "queued"},
                                                           {"none", "none"}})
            .value_or("sequential");
    contract = built_in_contract(extends).value_or(sequential_contract());
    if (extends == "none") {
      const ByVerdict<bool> blocking = contract.base.blocking;
      contract.base = {};
      contract.base.blocking = blocking;
    }
    contract.extends = extends;
    contract.name = name;
    if (const yaml::Node* node = reader.optional_node("blocking"); node != nullptr) {
      Changes changes;
      read_blocking(*node, changes);
      changes.apply(contract.base);
    }
    const std::span<const yaml::Node> rules = reader.optional_list("rules");
    if (rules.size() > kMaxContractRules) {
      reader.problem("rules",
                     "a contract may have at most " + std::to_string(kMaxContractRules) + " rules",
                     ErrorCode::kLimitExceeded);
    } else {
      for (const yaml::Node& node : rules) contract.rules.push_back(rule(node, contract));
      if (names_ > kMaxContractNames) {
        reader.problem("rules",
                       "the rules of a contract may name at most " +
                           std::to_string(kMaxContractNames) + " tools and routes",
                       ErrorCode::kLimitExceeded);
      } else {
        check_effects(contract, rules);
      }
    }
    if (const yaml::Node* node = reader.optional_node("redaction"); node != nullptr) {
      contract.redaction = redaction(*node);
    }
    reader.finish();
    if (problems_.empty()) check_whole(contract, reader);
    return contract;
  }

 private:
  // REQ-CT-031: a rule of which a later one leaves nothing.
  void check_effects(const Contract& contract, std::span<const yaml::Node> nodes) {
    for (std::size_t i = 0; i < contract.rules.size(); ++i) {
      const Rule& rule = contract.rules[i];
      if (rule.changes == Changes{}) continue;  // told already
      for (std::size_t k = i + 1; k < contract.rules.size(); ++k) {
        const Rule& later = contract.rules[k];
        if (!rule.changes.are_covered_by(later.changes)) continue;
        if (!later.tools.cover(rule.tools) || !later.routes.cover(rule.routes)) continue;
        problems_.add(nodes[i], "this rule never has effect: the one at line " +
                                    std::to_string(nodes[k].place().line) +
                                    " is for all its invocations and sets all that it sets");
        break;
      }
    }
  }

  // REQ-CT-030.
  static void check_whole(const Contract& contract, yaml::ObjectReader& reader) {
    const bool requires_any =
        requires_something(contract.base) ||
        std::any_of(contract.rules.begin(), contract.rules.end(), [&](const Rule& rule) {
          Requirements out = contract.base;
          rule.changes.apply(out);
          return requires_something(out);
        });
    if (!requires_any) {
      reader.problem("extends",
                     "this contract cannot be violated: it builds on none, and no rule requires "
                     "anything");
    }
    const ByVerdict<bool> blocking = contract.ever_blocking();
    const bool may_block = std::any_of(std::begin(kVerdicts), std::end(kVerdicts),
                                       [&](Verdict verdict) { return blocking[verdict]; });
    if (!may_block) {
      reader.problem(
          "blocking",
          "no verdict blocks, so that the gate could never fail; --advisory is for that");
    }
  }

  void read_blocking(const yaml::Node& node, Changes& changes) {
    yaml::ObjectReader reader(node, "'blocking'", problems_);
    for (const Verdict verdict : kVerdicts) {
      changes.blocking[verdict] = reader.optional_bool(verdict_name(verdict));
    }
    if (reader.finish() && node.keys().empty()) problems_.add(node, "'blocking' names no verdict");
  }

  Rule rule(const yaml::Node& node, const Contract& contract) {
    yaml::ObjectReader reader(node, "a rule", problems_);
    Rule out;
    if (const yaml::Node* match = reader.optional_node("match"); match != nullptr) {
      yaml::ObjectReader names(*match, "'match'", problems_);
      out.tools = patterns(names, "tool");
      out.routes = patterns(names, "route");
      if (names.finish() && match->keys().empty())
        problems_.add(*match, "'match' names nothing: it names 'tool' or 'route', or both");
    }
    Changes& changes = out.changes;
    changes.request = bounds_of(reader, "request");
    changes.decision = bounds_of(reader, "decision");
    if (const yaml::Node* starts = reader.optional_node("start"); starts != nullptr) {
      yaml::ObjectReader sides(*starts, "'start'", problems_);
      changes.start_on_allow = bounds_of(sides, "on_allow");
      changes.start_on_deny = bounds_of(sides, "on_deny");
      check_side(sides, changes.start_on_deny);
      if (sides.finish() && starts->keys().empty()) says_nothing(*starts, "start");
    }
    if (const yaml::Node* finishes = reader.optional_node("finish"); finishes != nullptr) {
      yaml::ObjectReader sides(*finishes, "'finish'", problems_);
      changes.finish_on_allow = finish_bounds_of(sides, "on_allow");
      changes.finish_on_deny = finish_bounds_of(sides, "on_deny");
      if (changes.finish_on_deny) check_side(sides, changes.finish_on_deny->number);
      if (sides.finish() && finishes->keys().empty()) says_nothing(*finishes, "finish");
    }
    read_order(reader, changes);
    changes.adds_governed =
        reader.optional_choice<bool>("governed", {{"each_start", true}}).value_or(false);
    read_attempts(reader, contract, changes);
    if (const yaml::Node* fields = reader.optional_node("required_fields"); fields != nullptr) {
      read_required_fields(*fields, changes);
    }
    read_reasons(reader, changes);
    changes.expects_shadow = reader.optional_bool("shadow");
    if (const yaml::Node* blocking = reader.optional_node("blocking"); blocking != nullptr) {
      read_blocking(*blocking, changes);
    }
    const std::size_t matched = node.find("match") != nullptr ? 1 : 0;
    if (reader.finish() && node.keys().size() == matched) {
      problems_.add(node, "this rule requires and changes nothing");
    }
    return out;
  }

  void says_nothing(const yaml::Node& node, const char* key) {
    problems_.add(node, "'" + std::string(key) + "' says nothing");
  }

  // A call that was denied cannot be required to run.
  static void check_side(yaml::ObjectReader& sides, const std::optional<Bounds>& bounds) {
    if (bounds && bounds->at_least > 0) {
      sides.problem("on_deny",
                    "a denied call cannot be required to run: 'on_deny' takes "
                    "'exactly: 0' or 'at_most'");
    }
  }

  Names patterns(yaml::ObjectReader& reader, const char* key) {
    const yaml::Node* node = reader.optional_node(key);
    if (node == nullptr) return {};
    std::vector<std::string> names = reader.optional_strings(key);
    if (node->kind() == yaml::Node::Kind::kList && node->items().empty()) {
      problems_.add(*node, "'" + std::string(key) + "' names nothing");
    }
    for (const yaml::Node& item : node->items()) {
      const std::string* text = item.if_string();
      if (text == nullptr || text->find('*') >= text->size() - 1) continue;
      problems_.add(item, "'*' stands for the rest of a name, at its end; it cannot stand in " +
                              quoted(*text));
    }
    names_ += names.size();
    return Names(std::move(names));
  }

  // The bounds that an open map says; its other keys are the caller's.
  static std::optional<Bounds> read_bounds(yaml::ObjectReader& reader, const yaml::Node& node,
                                           std::string_view what) {
    const auto exactly = reader.optional_integer("exactly", 0, kMostEvents);
    const auto at_least = reader.optional_integer("at_least", 0, kMostEvents);
    const auto at_most = reader.optional_integer("at_most", 0, kMostEvents);
    if (node.find("exactly") != nullptr && node.keys().size() > 1) {
      reader.problem("exactly", "'exactly' stands alone");
    }
    if (at_least && at_most && *at_least > *at_most) {
      reader.problem("at_least", "no number is at least " + std::to_string(*at_least) +
                                     " and at most " + std::to_string(*at_most));
    }
    if (node.kind() == yaml::Node::Kind::kMap && node.keys().empty()) {
      reader.problem("exactly", std::string(what) + " needs 'exactly', 'at_least' or 'at_most'");
    }
    Bounds out;
    out.at_least = static_cast<std::uint64_t>(exactly.value_or(at_least.value_or(0)));
    if (exactly || at_most) {
      out.at_most = static_cast<std::uint64_t>(exactly ? *exactly : *at_most);
    }
    return out;
  }

  std::optional<Bounds> bounds_of(yaml::ObjectReader& parent, const char* key) {
    const yaml::Node* node = parent.optional_node(key);
    if (node == nullptr) return std::nullopt;
    const std::string what = "'" + std::string(key) + "'";
    yaml::ObjectReader reader(*node, what, problems_);
    const std::optional<Bounds> out = read_bounds(reader, *node, what);
    reader.finish();
    return out;
  }

  std::optional<FinishBounds> finish_bounds_of(yaml::ObjectReader& parent, const char* key) {
    const yaml::Node* node = parent.optional_node(key);
    if (node == nullptr) return std::nullopt;
    const std::string what = "'" + std::string(key) + "'";
    yaml::ObjectReader reader(*node, what, problems_);
    FinishBounds out;
    const auto equals = reader.optional_choice<bool>("equals", {{"start", true}});
    out.equals_start = equals.value_or(false);
    out.number = read_bounds(reader, *node, what).value_or(Bounds{});
    if (out.equals_start && node->keys().size() > 1) {
      reader.problem("equals", "'equals: start' stands alone");
    }
    reader.finish();
    return out;
  }

  void read_order(yaml::ObjectReader& reader, Changes& changes) {
    const yaml::Node* node = reader.optional_node("order");
    if (node == nullptr) return;
    Order order;
    for (const yaml::Node& item : reader.optional_list("order")) {
      const std::string* text = item.if_string();
      bool* pair = nullptr;
      if (text != nullptr && *text == "request < decision") pair = &order.request_decision;
      if (text != nullptr && *text == "decision < start") pair = &order.decision_start;
      if (text != nullptr && *text == "start < finish") pair = &order.start_finish;
      if (pair == nullptr) {
        problems_.add(item,
                      "an order is 'request < decision', 'decision < start' or 'start < finish', "
                      "not " +
                          (text != nullptr ? quoted(*text) : item.describe()));
      } else if (std::exchange(*pair, true)) {
        problems_.add(item, quoted(*text) + " is given twice");
      }
    }
    changes.order = order;
  }

  // REQ-CT-025: what is not governed is under no decision, whichever its attempt.
  static void read_attempts(yaml::ObjectReader& reader, const Contract& contract,
                            Changes& changes) {
    changes.needs_decision_per_attempt = reader.optional_bool("decision_per_attempt");
    if (!changes.needs_decision_per_attempt.value_or(false)) return;
    if (changes.adds_governed || contract.base.is_governed) return;
    reader.problem("decision_per_attempt",
                   "'decision_per_attempt' needs 'governed: each_start' in the same rule");
  }

  void read_required_fields(const yaml::Node& node, Changes& changes) {
    yaml::ObjectReader reader(node, "'required_fields'", problems_);
    for (const yaml::Key& key : node.keys()) {
      const auto kind = event::parse_event_kind(key.text);
      const bool is_of_call = kind && event::is_call_event(*kind);
      const std::vector<std::string> names = reader.optional_strings(key.text);
      if (!is_of_call) {
        problems_.add(key.place, quoted(key.text) + " is no event of an invocation");
        continue;
      }
      std::uint64_t fields = 0;
      for (const yaml::Node& item : reader.optional_node(key.text)->items()) {
        const std::string* text = item.if_string();
        if (text == nullptr) continue;  // told already
        const auto field = event::parse_field(*text);
        if (!field) {
          problems_.add(item, quoted(*text) + " is no field of the event contract");
        } else {
          fields |= std::uint64_t{1} << static_cast<unsigned>(*field);
        }
      }
      changes.required_fields[*kind] = fields;
    }
    if (reader.finish() && node.keys().empty()) says_nothing(node, "required_fields");
  }

  void read_reasons(yaml::ObjectReader& reader, Changes& changes) {
    const yaml::Node* node = reader.optional_node("reasons");
    if (node == nullptr) return;
    std::uint32_t reasons = 0;
    const std::vector<std::string> names = reader.optional_strings("reasons");
    if (node->kind() == yaml::Node::Kind::kList && node->items().empty()) {
      problems_.add(*node, "'reasons' names none, so that no decision could give one");
    }
    for (const yaml::Node& item : node->items()) {
      const std::string* text = item.if_string();
      if (text == nullptr) continue;
      const auto reason = access::parse_reason(*text);
      if (!reason) {
        problems_.add(item, quoted(*text) + " is no reason of the event contract");
      } else {
        reasons |= std::uint32_t{1} << static_cast<unsigned>(*reason);
      }
    }
    changes.reasons = reasons;
  }

  Redaction redaction(const yaml::Node& node) {
    yaml::ObjectReader reader(node, "'redaction'", problems_);
    Redaction out;
    out.canaries = reader.optional_string("canaries");
    out.forbid_fields = reader.optional_strings("forbid_fields");
    if (reader.finish() && !out.canaries && out.forbid_fields.empty()) {
      says_nothing(node, "redaction");
    }
    return out;
  }

  yaml::Problems& problems_;
  std::size_t names_ = 0;  ///< of tools and routes, in all rules
};

}  // namespace

ContractParse parse_contract(std::string_view text, const std::string& file) {
  ContractParse out;
  yaml::Problems problems(file);
  const Result<yaml::Node> root = yaml::parse(text);
  if (root) {
    Contract contract = ContractReader(problems).read(*root);
    if (problems.empty()) out.contract = std::move(contract);
  } else {
    problems.add(root.error());
  }
  out.errors = problems.take();
  return out;
}

}  // namespace remit::grading
