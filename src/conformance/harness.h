// What carries a trial to a subject: a driver, or this program itself as a client of MCP or HTTP.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/random.h"
#include "base/result.h"
#include "conformance/spy.h"
#include "conformance/subject.h"
#include "json/value.h"

namespace remit::conformance {

/// What a harness says of itself and of its subject.
struct Hello {
  std::string subject, version;
  std::vector<std::string> routes;
  std::vector<std::string> offers;  ///< steps, and abilities of kAbilities
  std::vector<std::string> faults;  ///< of a known-bad subject: what it can be told to do wrong
};

/// Takes the requests `setup`, `step`, `collect` and `reset` of spec/driver.md, whoever carries
/// them out. Every error of `ask` is a fault of the harness and says nothing of the subject; the
/// harness is then of no further use. Not thread-safe.
class Harness {
 public:
  Harness() = default;
  Harness(const Harness&) = delete;
  Harness& operator=(const Harness&) = delete;
  virtual ~Harness() = default;

  [[nodiscard]] virtual const Hello& hello() const = 0;

  /// Carries `request` out and returns the members of its answer. The spy is served meanwhile.
  virtual Result<json::Object> ask(json::Object request) = 0;
};

/// What a harness works with. All outlive it.
struct HarnessWorld {
  FileSystem& files;
  const Clock& clock;
  Random& random;
  std::string scratch_directory;  ///< for a directory of each trial
  std::string program;            ///< path of `remit`, which is the spy that executors start
};

/// The harness of `subject`: its driver, or a client of its protocol. `subject`, `spy` and `world`
/// outlive it. Errors, each a fault of the harness: those of starting and greeting a driver.
Result<std::unique_ptr<Harness>> start_harness(const Subject& subject, Spy& spy,
                                               const HarnessWorld& world);

}  // namespace remit::conformance
