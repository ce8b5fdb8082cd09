// One process of the simulated world: the real boundary, log and ledger on parts that misbehave.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "enforcement/enforcement_point.h"
#include "evidence/file_evidence_log.h"
#include "ledger/database_ledger.h"
#include "tests/simulation/facts.h"
#include "tests/support/fake_clock.h"
#include "tests/support/faulty_file_system.h"
#include "tests/support/seeded_random.h"

namespace remit::simulation {

/// What is planted into the boundary's surroundings to see whether the judge would notice.
enum class Twist : std::uint8_t {
  kNone,
  kForgetfulLog,     ///< says that it keeps, and does not
  kForgetfulLedger,  ///< grants every claim
  kTrustingStore,    ///< takes every resource for the caller's own
  kOldPolicy,        ///< decides by the rules of the version before
  kSideDoor,         ///< the tool is reached without the boundary
  kMuteLedger        ///< forgets how runs ended, and calls them not run
};

/// What reached a tool.
struct Effect {
  std::string invocation;
  std::string tool;
  std::string token;
  std::string key;        ///< the caller's, empty for none
  std::string arguments;  ///< as the handler got them
  bool is_known = false;  ///< how it ended was told to a process that lived on
};

/// What a caller that lived to hear it was told.
struct Told {
  std::string invocation;
  std::optional<access::ReasonCode> denial;  ///< none: the handler was entered, or was to be
};

/// What the nodes share, and what the judge looks at.
struct World {
  World(std::uint64_t seed, Twist planted) : dice(seed), random(seed + 1), twist(planted) {}

  std::uint64_t roll(std::uint64_t sides) { return dice.number(sides); }
  /// Notes that an invariant did not hold.
  void broken(const std::string& what) { violations.push_back(what); }
  void count(const std::string& what) { ++counts[what]; }

  testing::SeededRandom dice;
  testing::SeededRandom random;
  testing::FakeClock clock;
  const Twist twist;
  Facts facts = first_facts();
  ledger::Location state;
  std::vector<Effect> effects;
  std::map<std::string, std::int64_t> granted;  ///< approvals, by tool, person and arguments
  std::vector<std::string> violations;
  std::map<std::string, std::uint64_t> counts;
  /// Lets another node do something in the midst of this one's call.
  std::function<void()> meanwhile;
};

/// A process that calls tools through its boundary, dies and comes back.
class Node {
 public:
  Node(World& world, std::string name);
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  /// One call, or one half of one, and what follows from it for the process.
  void step();
  [[nodiscard]] bool is_busy() const { return is_changing_ || !calls_.empty(); }
  /// Another process did something in the midst of this one's calls, and may have taken long.
  void interrupt() {
    meet_fate(access::ReasonCode::kResolverUnavailable);
    meet_fate(access::ReasonCode::kPolicyUnavailable);
  }
  /// Ends in order, and starts no more.
  void end();

  FileSystem& files() { return files_; }
  [[nodiscard]] const std::vector<Told>& told() const { return told_; }
  /// What stands before the ids of its invocations in `Effect`.
  [[nodiscard]] std::string mark() const { return name_ + "/"; }
  static constexpr const char* kRoot = "/evidence";

 private:
  class Authenticator;
  class Store;
  class DecisionPoint;
  class Sink;
  class FaultyLedger;
  class Handler;

  /// A call that is under way, or whose permit is out.
  struct Call {
    Proposal proposal;
    Facts facts;  ///< when it was proposed
    std::set<access::ReasonCode> may_be = {};
    std::set<std::string> versions = {};  ///< that were in force meanwhile
    int looked_up = 0;
    int publications = 0;  ///< while it was under way
    bool is_cancelled = false;
  };
  struct Kept {
    Call call;
    enforcement::CallPermit permit;
  };

  void start();
  void stop_dead();
  void reopen();
  [[nodiscard]] bool is_dead();
  void arm();
  Proposal propose();
  Call new_call();
  void publish();
  void meet_fate(access::ReasonCode reason);
  Status trouble(std::uint64_t odds, std::initializer_list<access::ReasonCode> reasons);
  void pass_time(Duration longest);

  void invoke();
  void authorize();
  void spend();
  void ask_for_advice();
  void check_denial(const Call& call, const enforcement::Denial& denial);
  void check_result(const Call& call, const enforcement::HandlerResult& result,
                    const std::vector<std::size_t>& entered);
  [[nodiscard]] std::vector<std::size_t> entered_since(std::size_t before) const;
  void settle(const enforcement::CallOutcome& outcome, std::size_t effects_before);
  enforcement::HandlerResult run(const enforcement::GrantedCall& granted);
  void check_granted(const Call& call, const enforcement::GrantedCall& granted);
  [[nodiscard]] bool has_ledger(const Call& call) const;
  [[nodiscard]] std::string where(const Call& call) const;

  World& world_;
  const std::string name_;
  testing::FaultyFileSystem files_;
  decision::CurrentPolicy policy_;
  std::string version_;       ///< in force; empty: none
  bool is_changing_ = false;  ///< is being stopped or started
  bool is_armed_ = false;
  bool is_crash_ = false;
  bool has_failed_log_ = false;
  std::unique_ptr<Authenticator> authenticator_;
  std::unique_ptr<Store> store_;
  std::unordered_map<std::string, const attributes::AttributeSource*> sources_;
  std::unique_ptr<Handler> handler_;
  std::unique_ptr<evidence::FileEvidenceLog> log_;
  std::unique_ptr<Sink> sink_;
  std::unique_ptr<FaultyLedger> ledger_;
  std::optional<enforcement::EnforcementPoint> boundary_;
  std::vector<Kept> permits_;
  std::vector<Call*> calls_;  ///< under way, the innermost last
  std::vector<Told> told_;
};

}  // namespace remit::simulation
