// An executor that is asked over MCP: a client before it, the spy's server behind it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "conformance/executor_harness.h"
#include "conformance/mcp_session.h"

namespace remit::conformance {

/// What a caller saw of the answer to `tools/call` (REQ-CF-090).
Seen seen_of(const McpAnswer& answer, const AnswerMarks& marks);

/// Starts the executor once for each caller of a trial.
class McpHarness final : public ExecutorHarness {
 public:
  /// `subject`, `spy` and `world` outlive it. Errors: those of starting and greeting the driver.
  static Result<std::unique_ptr<McpHarness>> start(const Subject& subject, Spy& spy,
                                                   const HarnessWorld& world);
  ~McpHarness() override;

 protected:
  Status plan(const std::string& caller) override;
  Result<Seen> call(const ClientCall& call) override;
  void end() override;
  [[nodiscard]] std::vector<std::int64_t> processes() const override;
  Status prepare(json::Object& spy_members, Placeholders& values) override;

 private:
  using ExecutorHarness::ExecutorHarness;
  Result<McpSession*> session_for(const std::string& caller);

  std::map<std::string, std::unique_ptr<McpSession>, std::less<>> sessions_;  // by caller
};

}  // namespace remit::conformance
