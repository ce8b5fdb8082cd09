// The spy: the tool itself, held by the runner, so that effects are counted where no executor can
// change the count.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_descriptor.h"
#include "base/random.h"
#include "base/result.h"
#include "json/value.h"

namespace remit::conformance {

/// One time that a handler reached the tool.
struct Effect {
  std::string token;          ///< of the trial that it belongs to
  std::string invocation_id;  ///< empty where the handler gave none
  std::string tool;
  std::string resource;  ///< as the handler gave it; empty for none
  json::Value arguments;
};

/// What the tool answers.
enum class ToolAnswer : std::uint8_t {
  kDone,    ///< `{"ok":true}`
  kFailed,  ///< `{"ok":false,…}`
  kLost,    ///< nothing: the connection ends
};

/// Listens on a Unix socket in a directory of its own that nobody else may enter (spec/driver.md,
/// "The spy"). Works when `serve` is called and at no other time, so it needs no thread. Not
/// thread-safe.
class Spy {
 public:
  /// Makes the socket below `directory`. Errors: `unavailable`; `limit_exceeded` where the path is
  /// longer than a socket's name may be.
  static Result<Spy> open(const std::string& directory, Random& random);
  Spy(Spy&&) noexcept;
  Spy& operator=(Spy&&) = delete;
  Spy(const Spy&) = delete;
  Spy& operator=(const Spy&) = delete;
  /// Closes the socket and removes its directory.
  ~Spy();

  /// Path of the socket.
  [[nodiscard]] const std::string& path() const { return path_; }
  /// Readable while there is something to serve.
  [[nodiscard]] int fd() const { return poll_.get(); }

  /// Takes what came, without waiting, and answers it.
  void serve();

  /// How the next effect is answered; those behind it succeed.
  void answer_next(ToolAnswer answer) { next_answer_ = answer; }
  [[nodiscard]] ToolAnswer next_answer() const { return next_answer_; }
  /// Counts an effect that reached the tool by another way than the socket, and was answered there
  /// as `next_answer` said. One too many is a fault.
  void count(Effect effect);

  /// The effects since the last time, in the order in which they came.
  std::vector<Effect> take_effects();
  /// What was wrong with what came since the last time: not JSON, too long, too many.
  std::optional<std::string> take_fault();
  [[nodiscard]] bool has_fault() const { return fault_.has_value(); }

 private:
  struct Line;
  Spy(FileDescriptor listener, FileDescriptor poll, std::string directory, std::string path);
  void accept_all();
  void read_from(int fd);
  void take_line(Line& from, std::string_view line);
  void fault(std::string what);
  void drop(int fd);

  FileDescriptor listener_;
  FileDescriptor poll_;
  std::string directory_;
  std::string path_;
  std::map<int, std::unique_ptr<Line>> lines_;
  std::vector<Effect> effects_;
  std::optional<std::string> fault_;
  ToolAnswer next_answer_ = ToolAnswer::kDone;
};

}  // namespace remit::conformance
