// The desk's driver (remit.driver/1, spec/driver.md): it carries the calls of the conformance pack
// to the seven doors.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent_session.h"
#include "base/clock.h"
#include "base/file_system.h"
#include "base/random.h"
#include "fixture_world.h"
#include "http/server.h"
#include "legacy.h"
#include "office.h"
#include "process/file_descriptor.h"
#include "queued.h"
#include "spy_books.h"

namespace remit::examples {

/// Drives one office after the other. A derived class may put a door of its own in the place of
/// one, in order to be found out.
class Driver {
 public:
  /// `signals` outlives it.
  explicit Driver(const process::TerminationSignals& signals);
  virtual ~Driver();
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  /// The answer to one request. Errors are faults of this driver.
  virtual Result<json::Object> answer(const json::Value& request);

 protected:
  [[nodiscard]] Books& books() { return *books_; }
  [[nodiscard]] Office& office() { return *office_; }

  /// What the tools act on in a trial whose setup has `spy`.
  virtual std::unique_ptr<Books> books_for(const json::Value& spy);

  // The doors whose caller waits.
  virtual Result<Told> through_direct(const Asked& asked);
  virtual Result<Told> through_admin(const Asked& asked);
  virtual Result<Told> through_agent(const Asked& asked);
  Result<Told> through_legacy(const Asked& asked);
  /// What the legacy door serves in the place of `old`.
  virtual Result<std::unique_ptr<http::Handler>> before(http::Handler& old,
                                                        std::vector<adapter::Endpoint> endpoints);

 private:
  /// The session at the agent's door, which is begun where there is none.
  Result<AgentSession*> agent();
  Result<json::Object> set_up(const json::Value& request);
  Status open_office(const std::string& evidence);
  Status close_office();
  Status grant_approvals(const json::Object& approvals);
  Status take_back(const std::string& approval);

  Result<json::Object> step(const json::Value& request);
  Status change(const std::string& what, const json::Value& request);
  Status set_down(const std::string& part, bool down);
  Result<Told> carry(const std::string& what, const json::Value& request);
  Result<Told> submit(const std::string& call, const Asked& asked, const std::string& person);
  Result<Told> run(const std::string& call);
  Result<Told> run_row(const std::string& row);
  Result<Told> through_door(const Asked& asked);
  [[nodiscard]] bool is_deferred() const;
  [[nodiscard]] std::string queue_name() const;
  Asked asked_by(const json::Value& request, std::string& person) const;
  Result<json::Object> collect();
  void end_trial();

  const process::TerminationSignals& signals_;
  PosixFileSystem files_;
  SystemClock clock_;
  SystemRandom random_;
  std::string spy_socket_, spy_token_;
  std::string route_;
  std::unique_ptr<FixtureWorld> world_;
  std::unique_ptr<Books> books_;
  std::unique_ptr<Office> office_;
  std::unique_ptr<AgentSession> agent_;
  std::map<std::string, std::string> approvals_;  // ids by name in the fixture
  std::map<std::string, Asked> plans_;            // by call
  std::map<std::string, std::string> rows_;       // likewise, of deferred work
};

/// The program: answers the requests of standard input with a driver that `make` makes, or, with
/// the word `--serve`, stands in for the MCP server behind the agent's door.
int run_driver(
    const std::vector<std::string>& words,
    const std::function<std::unique_ptr<Driver>(const process::TerminationSignals&)>& make);

}  // namespace remit::examples
