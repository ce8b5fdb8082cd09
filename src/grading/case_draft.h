// From recorded calls to a manifest whose facts are filled in and whose expectations a person has
// yet to write (spec/manifest.md, Drafts).
//
//     CaseDraft draft({.invocation_id = "i3"});
//     while (…) REMIT_TRY(draft.add(reader.event()));
//     REMIT_TRY_ASSIGN(std::string yaml, draft.text());
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/result.h"
#include "event/event.h"

namespace remit::grading {

/// Which invocations become entries; all of them where neither is given.
struct DraftSelection {
  std::optional<std::string> invocation_id;
  std::optional<std::string> run_id;
};

/// Collects facts as events come. It copies what it keeps. Not thread-safe.
class CaseDraft {
 public:
  explicit CaseDraft(DraftSelection selection) : selection_(std::move(selection)) {}

  /// Errors: `limit_exceeded` beyond kMaxDraftInvocations.
  Status add(const event::Event& event);

  /// The manifest as YAML. Facts that the trace contradicts itself on, and everything that says
  /// what should have been, are blanks. Errors: `not_found` where nothing was selected.
  [[nodiscard]] Result<std::string> text() const;

  /// `manifest`, the text of the file `file`, with the drafted cases behind its own and the things
  /// that they name behind those that it pins; all that was there stays byte for byte (REQ-MF-035).
  /// Errors: `not_found` as above; `invalid_input` where it is no manifest, blanks aside;
  /// `already_exists` for a case whose id it has; `failed_precondition` where a list of it is not
  /// written one item a line.
  [[nodiscard]] Result<std::string> text_into(std::string_view manifest,
                                              const std::string& file) const;

 private:
  /// The first different values that were recorded of one fact, in the order of the first of each.
  using Fact = std::vector<std::string>;
  enum class Section : std::uint8_t { kPolicy, kPrincipal, kResource, kApproval };
  /// One attribute of one thing, as one event says it.
  struct Observation {
    Section section;
    std::string name;            ///< of the policy, principal, resource or approval
    std::string_view attribute;  ///< its key in a manifest; empty where only the name was recorded
    std::string value;

    friend auto operator<=>(const Observation&, const Observation&) = default;
  };
  struct Call {
    std::string id;
    Fact run_id, case_id, tool, route;  ///< the first counts, and requests before all others
    Fact environment, principal, resource;
    std::vector<Observation> observations;  ///< in the order of the first of each
    std::set<Observation> sorted;           ///< the same, where they are many
    bool has_request = false;
  };
  /// A thing with what was recorded of its attributes.
  struct Thing {
    std::string name;
    std::vector<std::pair<std::string_view, Fact>> attributes;
  };
  class Text;
  /// What is selected, as the sections of a manifest.
  struct Parts {
    Fact environment;
    std::vector<const Call*> calls;
    std::vector<std::pair<std::string, std::vector<const Call*>>> cases;
  };
  /// How a section of a manifest is written.
  struct SectionForm {
    Section section;
    std::string_view list, key, required;
  };
  static const std::array<SectionForm, 4> kSectionForms;

  [[nodiscard]] Result<Parts> parts() const;
  [[nodiscard]] std::string case_id_of(const Call& call) const;
  static std::string things_text(const SectionForm& form, const std::vector<Thing>& things);
  static std::string case_text(const std::string& id, const std::vector<const Call*>& members);
  [[nodiscard]] bool is_selected(const Call& call) const;
  [[nodiscard]] std::vector<Thing> things(const std::vector<const Call*>& calls,
                                          Section section) const;
  static void take_names(const event::Event& event, Call& call);
  static void take_facts(const event::Event& event, Call& call);
  static void observe(Call& call, Section section, std::string_view name,
                      std::string_view attribute, std::string_view value);

  DraftSelection selection_;
  std::vector<Call> calls_;  ///< in the order of their first events
  std::unordered_map<std::string, std::size_t> index_;
  std::vector<std::string> published_;  ///< versions, in order
  std::unordered_set<std::string> is_published_;
  Fact environment_;  ///< of `run.started`, of the selected run where one is
};

}  // namespace remit::grading
