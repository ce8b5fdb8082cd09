// What a report shows in place of texts that hold a canary (REQ-RD-050, REQ-RD-051).
#pragma once

#include <map>
#include <set>
#include <string>

#include "naive_redaction.h"

namespace remit::twin {

/// Halves of short canaries at the end of a text, which are masked too, are not looked for.
class NaiveMasks {
 public:
  /// `texts` are all those from outside that the report would show.
  NaiveMasks(const NaiveRedaction& wanted, const std::set<std::string>& texts);

  [[nodiscard]] std::string shown(const std::string& text) const;
  /// The sentence, or where it shows a canary what `instead` and the canary's name make of it.
  [[nodiscard]] std::string sentence(const std::string& text, const std::string& instead,
                                     const std::string& end = "") const;

 private:
  const NaiveRedaction& wanted_;
  std::map<std::string, std::string> masks_;
};

}  // namespace remit::twin
