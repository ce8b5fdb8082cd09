// How much a benchmark does: what its figures need, or the least that prints every row.
#pragma once

#include <algorithm>
#include <string_view>

namespace remit::bench {

/// Whether this run only shows that the program works; its figures mean nothing then.
inline bool is_smoke_run = false;

/// Takes `--smoke` off the words of `main`, where it is the first one.
inline void take_smoke(int& count, char** words) {
  is_smoke_run = count > 1 && std::string_view(words[1]) == "--smoke";
  if (!is_smoke_run) return;
  std::copy(words + 2, words + count, words + 1);
  words[--count] = nullptr;
}

/// `whole`, or `least` in a smoke run.
template <class T>
T sized(T whole, T least) {
  return is_smoke_run ? least : whole;
}

}  // namespace remit::bench
