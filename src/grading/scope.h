// What a grade does not say: the sentences under which its verdicts are to be read (REQ-GR-085).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "grading/casebook.h"
#include "grading/grading.h"
#include "grading/judge.h"
#include "grading/record_store.h"

namespace remit::grading {

/// Puts what was and was not exercised into sentences. Not thread-safe.
class Scope {
 public:
  /// Both outlive this.
  Scope(const Criteria& criteria, const RecordStore& store) : criteria_(criteria), store_(store) {}

  /// An invocation was judged that belongs to no case.
  void count_outside() { ++without_case_; }
  /// An invocation of which no event records a route.
  void count_without_route() { ++without_route_; }
  [[nodiscard]] std::vector<std::string> sentences(const Casebook& cases, const Judge& judge,
                                                   const Population& population) const;

 private:
  void say_planning(const Casebook& cases, std::vector<std::string>& out) const;
  void say_pinned(std::vector<std::string>& out) const;
  void say_routes(std::vector<std::string>& out) const;

  const Criteria& criteria_;
  const RecordStore& store_;
  std::uint64_t without_case_ = 0;
  std::uint64_t without_route_ = 0;
};

}  // namespace remit::grading
