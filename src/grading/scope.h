// What a grade does not say: the sentences under which its verdicts are to be read (REQ-GR-085).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "grading/casebook.h"
#include "grading/grading.h"
#include "grading/judge.h"
#include "grading/record_store.h"
#include "grading/rule_book.h"
#include "grading/unlisted_fields.h"

namespace remit::grading {

/// Puts what was and was not exercised into sentences. Not thread-safe.
class Scope {
 public:
  /// All outlive this.
  Scope(const Criteria& criteria, const RecordStore& store,
        const std::vector<trace::SilentFile>& silent_files, const UnlistedFields& unlisted);

  /// An invocation was judged that belongs to no case.
  void count_outside() { ++without_case_; }
  /// An invocation of which no event records a route.
  void count_without_route() { ++without_route_; }
  /// Takes note of what the call's events name.
  void look_at(const CallView& call);
  [[nodiscard]] std::vector<std::string> sentences(const Casebook& cases, const Judge& judge,
                                                   const RuleBook& rules,
                                                   const Population& population) const;

 private:
  [[nodiscard]] std::string meant_fields() const;
  void say_silent_files(std::vector<std::string>& out) const;
  void say_planning(const Casebook& cases, std::vector<std::string>& out) const;
  void say_forbidden(std::vector<std::string>& out) const;
  static void say_rules(const RuleBook& rules, std::vector<std::string>& out);
  void say_pinned(std::vector<std::string>& out) const;
  void say_routes(std::vector<std::string>& out) const;

  const Criteria& criteria_;
  const RecordStore& store_;
  const std::vector<trace::SilentFile>& silent_files_;
  const UnlistedFields& unlisted_;
  std::map<std::string_view, bool> forbidden_;  ///< of all cases, and whether an event names it
  std::uint64_t without_case_ = 0;
  std::uint64_t without_route_ = 0;
};

}  // namespace remit::grading
