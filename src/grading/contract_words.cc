// A contract in words, for people who decide whether it is the one they mean.
#include <string>
#include <utility>

#include "access/reason.h"
#include "base/error.h"
#include "grading/contract.h"
#include "grading/counted.h"

namespace remit::grading {
namespace {

using event::EventKind;
using event::Field;

void append(std::string& list, std::string_view separator, std::string_view item) {
  list.append(list.empty() ? "" : separator).append(item);
}

std::string names_text(std::string_view one, std::string_view many, const Names& names) {
  std::string list;
  for (const std::string& name : *names.patterns()) append(list, ", ", quoted(name));
  return std::string(names.patterns()->size() == 1 ? one : many).append(" ").append(list);
}

std::string heading_of(const Rule& rule) {
  if (!rule.tools.patterns() && !rule.routes.patterns()) return "for every invocation as well";
  std::string out = "for";
  if (rule.tools.patterns()) out += " " + names_text("the tool", "the tools", rule.tools);
  if (rule.routes.patterns()) out += " by " + names_text("the route", "the routes", rule.routes);
  return out;
}

std::string starts_text(const Bounds& bounds) {
  return bounds.at_most == 0 ? "no start" : bounds_text(bounds, "start", "starts");
}

std::string finishes_text(const FinishBounds& bounds) {
  if (bounds.equals_start) return "as many finishes as starts";
  return bounds.number.at_most == 0 ? "no finish"
                                    : bounds_text(bounds.number, "finish", "finishes");
}

std::string fields_text(std::uint64_t fields) {
  std::string list;
  for (; fields != 0; fields &= fields - 1) {
    append(list, ", ", event::field_name(static_cast<Field>(__builtin_ctzll(fields))));
  }
  return list;
}

/// Puts requirements into sentences: all of them, or those that a rule says something about.
class Speaker {
 public:
  Speaker(const Requirements& it, const Changes* changes) : it_(it), changes_(changes) {}

  std::vector<std::string> sentences() {
    say_numbers();
    say_order();
    if (is_said(changes_ != nullptr && changes_->adds_governed) && it_.is_governed) {
      say("each start needs an allow before it that is for its tool, action, resource and "
          "arguments");
    }
    const bool says_attempts = changes_ != nullptr && changes_->needs_decision_per_attempt;
    if (it_.needs_decision_per_attempt && is_said(says_attempts)) {
      say("each attempt needs a decision of its own");
    } else if (says_attempts) {
      say("all attempts may run under one decision");
    }
    say_fields();
    say_reasons();
    if (changes_ != nullptr && changes_->expects_shadow) {
      say(it_.expects_shadow
              ? "decisions may be tried in shadow mode: what they say then holds nothing back and "
                "is counted"
              : "a decision in shadow mode counts as if it had been enforced");
    }
    say_blocking();
    return std::move(out_);
  }

 private:
  [[nodiscard]] bool is_said(bool by_changes) const { return changes_ == nullptr || by_changes; }
  void say(std::string sentence) { out_.push_back(std::move(sentence)); }

  void say_numbers() {
    if (is_said(changes_ != nullptr && changes_->request)) {
      say(bounds_text(it_.request, "request", "requests"));
    }
    if (is_said(changes_ != nullptr && changes_->decision)) {
      say(bounds_text(it_.decision, "decision", "decisions"));
    }
    say_runs("where a decision allows: ", is_said(changes_ != nullptr && changes_->start_on_allow),
             it_.start_on_allow, is_said(changes_ != nullptr && changes_->finish_on_allow),
             it_.finish_on_allow);
    say_runs("where none allows: ", is_said(changes_ != nullptr && changes_->start_on_deny),
             it_.start_on_deny, is_said(changes_ != nullptr && changes_->finish_on_deny),
             it_.finish_on_deny);
  }

  void say_runs(const char* where, bool says_starts, const Bounds& starts, bool says_finishes,
                const FinishBounds& finishes) {
    std::string text;
    if (says_starts) append(text, " and ", starts_text(starts));
    if (says_finishes) append(text, " and ", finishes_text(finishes));
    if (!text.empty()) say(where + text);
  }

  void say_order() {
    if (!is_said(changes_ != nullptr && changes_->order)) return;
    std::string list;
    if (it_.order.request_decision) append(list, ", ", "request before decision");
    if (it_.order.decision_start) append(list, ", ", "decision before start");
    if (it_.order.start_finish) append(list, ", ", "start before finish");
    say(list.empty() ? "in any order" : "in order: " + list);
  }

  void say_fields() {
    if (changes_ == nullptr) say("every authorization.decision records policy_version");
    for (std::size_t i = 0; i < event::kEventKindCount; ++i) {
      const auto kind = static_cast<EventKind>(i);
      if (changes_ == nullptr || !changes_->required_fields.contains(kind)) continue;
      const std::string fields = fields_text(it_.required_fields[i]);
      say("every " + std::string(event::event_kind_name(kind)) + " records " +
          (fields.empty() ? "nothing in particular" : fields));
    }
  }

  void say_reasons() {
    if (!is_said(changes_ != nullptr && changes_->reasons) || !it_.reasons) return;
    std::string list;
    for (unsigned i = 0; i < static_cast<unsigned>(access::kReasonCount); ++i) {
      if ((*it_.reasons >> i & 1U) == 0) continue;
      append(list, ", ", access::reason_name(static_cast<access::ReasonCode>(i)));
    }
    say("a decision gives no other reason than " + list);
  }

  void say_blocking() {
    std::string blocking;
    std::string advisory;
    for (const Verdict verdict : kVerdicts) {
      if (!is_said(changes_ != nullptr && changes_->blocking[verdict])) continue;
      append(it_.blocking[verdict] ? blocking : advisory, ", ", verdict_name(verdict));
    }
    if (!blocking.empty()) say("these verdicts block the gate: " + blocking);
    if (!advisory.empty()) say("these are advisory: " + advisory);
  }

  const Requirements& it_;
  const Changes* changes_;
  std::vector<std::string> out_;
};

}  // namespace

std::vector<ContractWords> contract_in_words(const Contract& contract) {
  std::vector<ContractWords> out;
  out.push_back({"for every invocation", Speaker(contract.base, nullptr).sentences()});
  for (const Rule& rule : contract.rules) {
    Requirements said;
    rule.changes.apply(said);
    ContractWords words = {heading_of(rule), Speaker(said, &rule.changes).sentences()};
    out.push_back(std::move(words));
  }
  const Redaction& redaction = contract.redaction;
  ContractWords secrets = {"for every line of the evidence", {}};
  if (redaction.canaries) {
    secrets.sentences.push_back("none holds a canary of " + quoted(*redaction.canaries));
  }
  if (!redaction.forbid_fields.empty()) {
    std::string list;
    for (const std::string& field : redaction.forbid_fields) append(list, ", ", quoted(field));
    secrets.sentences.push_back("none has a field named " + list);
  }
  if (!secrets.sentences.empty()) out.push_back(std::move(secrets));
  return out;
}

}  // namespace remit::grading
