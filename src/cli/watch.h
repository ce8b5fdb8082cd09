// Following a run that is still being written: what fails is told as it comes.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "cli/followed_files.h"
#include "cli/grade_request.h"
#include "cli/world.h"

namespace remit::cli {

/// What the next look found that the last did not have.
struct WatchNews {
  grading::Population population;
  grading::ByVerdict<grading::Value> verdicts;    ///< so far: of what can be told already
  std::vector<const grading::Finding*> findings;  ///< told for the first time
  std::size_t gone = 0;                           ///< told before and no longer found
};

/// Grades inputs again and again while they grow. A grade needs the whole record, since what comes
/// late may change what was read before; so each look reads everything from its start, and a look
/// that took long is followed by a rest of four times as long. Not thread-safe.
///
/// What may still come is no news: findings of absence are told by the last grade only. A last line
/// without its end is left for the next look, and a file that is not there yet, or no longer, is
/// waited for. After one was cut the next look starts over, and there is no last grade.
class Watch {
 public:
  /// Waits, and says whether to stop at once.
  using Wait = std::function<bool(Duration)>;
  using Tell = std::function<Status(const WatchNews&)>;

  /// All outlive the watch.
  Watch(World& world, const std::vector<std::string>& inputs, const GradeRequest& request)
      : world_(world), inputs_(inputs), request_(request), followed_(world.files, inputs) {}

  /// Looks and tells until every run has finished or `wait` says to stop, and returns the grade of
  /// everything that is there then. Errors: those of reading the inputs, at the end, a loss that
  /// was seen meanwhile among them; and those of `tell`.
  Result<grading::Grade> run(const Wait& wait, const Tell& tell);

  static constexpr Duration kRest = std::chrono::milliseconds{200};

 private:
  /// Grades what is there; true once all that was started has finished. What cannot be read yet is
  /// said once, on the error output.
  Result<bool> look(const Tell& tell);
  [[nodiscard]] Error openly(Error error) const;

  World& world_;
  const std::vector<std::string>& inputs_;
  const GradeRequest& request_;
  FollowedFiles followed_;
  std::string last_complaint_;
  std::set<std::string> told_;
  std::set<std::string> altered_;  ///< alterations of the last look, not told until seen again
  grading::Population told_population_;
};

/// One line of text, or one JSON object on a line (`remit.watch/1`), with its end.
std::string watch_text(const WatchNews& news);
std::string watch_json(const WatchNews& news);
/// The same of the last grade, whose JSON is given.
std::string watch_json_end(std::string_view grade_json);

}  // namespace remit::cli
