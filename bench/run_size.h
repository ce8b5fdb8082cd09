// How much a benchmark does: what its figures need, or the least that prints every row.
#pragma once

#include <algorithm>
#include <string_view>

namespace remit::bench {

/// What `--smoke`, as the first word of a program, says: the run only shows that the program works,
/// and its figures mean nothing.
class RunSize {
 public:
  /// Takes that word off those of `main`.
  RunSize(int& count, char** words)
      : is_smoke_(count > 1 && std::string_view(words[1]) == "--smoke") {
    if (!is_smoke_) return;
    std::copy(words + 2, words + count, words + 1);
    words[--count] = nullptr;
  }

  /// `whole`, or `least` in a smoke run.
  template <class T>
  [[nodiscard]] T of(T whole, T least) const {
    return is_smoke_ ? least : whole;
  }

 private:
  bool is_smoke_;
};

}  // namespace remit::bench
