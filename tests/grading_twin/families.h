// Small alphabets of event lines, each for a part of the rules, and what their traces are judged
// by.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "naive_grader.h"

namespace remit::twin {

/// Lines of one invocation; `@` stands for its id, `#` for further fields (writer, seq).
using Forms = std::vector<std::string_view>;

struct Family {
  std::string_view name;
  Forms forms;
  std::vector<TwinCriteria> criteria;
  std::size_t daily_length = 0;           // of the traces that are compared by day
  std::size_t nightly_length = 0;         // and with REMIT_NIGHTLY=1; under a sanitizer one less
  std::size_t daily_criteria_each = 0;    // by how many criteria each trace is judged by day
  std::size_t nightly_criteria_each = 0;  // and with REMIT_NIGHTLY=1

  [[nodiscard]] std::size_t length() const;
  [[nodiscard]] std::size_t criteria_each() const;
};

/// All families. The first is that of the four core events.
const std::vector<Family>& families();

extern const Forms kCore;     ///< what every trace consists of
extern const Forms kFurther;  ///< what changes a judgement
extern const Forms kRare;     ///< what rarely does

/// Criteria over the names that `kCore`, `kFurther` and `kRare` use.
const std::vector<TwinCriteria>& common_criteria();

std::string line_of(std::string_view form, std::string_view id, std::string_view fields = "");

}  // namespace remit::twin
