// Which harness a subject has.
#include "conformance/harness.h"

#include <utility>

#include "conformance/driver.h"
#include "conformance/http_harness.h"
#include "conformance/mcp_harness.h"

namespace remit::conformance {
namespace {

template <class Kind>
Result<std::unique_ptr<Harness>> as_harness(Result<std::unique_ptr<Kind>> started) {
  if (!started) return std::move(started).error();
  return std::unique_ptr<Harness>(std::move(*started));
}

}  // namespace

Result<std::unique_ptr<Harness>> start_harness(const Subject& subject, Spy& spy,
                                               const HarnessWorld& world) {
  if (!subject.executor) return as_harness(Driver::start(subject, spy, world.clock));
  if (subject.executor->protocol == Protocol::kMcp) {
    return as_harness(McpHarness::start(subject, spy, world));
  }
  return as_harness(HttpHarness::start(subject, spy, world));
}

}  // namespace remit::conformance
