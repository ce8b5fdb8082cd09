// The property behind everything else: however the parts fail, a handler runs exactly when an allow
// for that very call was made durable before.
#include <gtest/gtest.h>

#include <stdexcept>
#include <unordered_set>

#include "tests/support/boundary_world.h"

namespace remit::enforcement::testing {
namespace {

/// A world in which every part misbehaves at random, and the judge of what it may lead to.
class UnreliableWorld {
 public:
  explicit UnreliableWorld(std::uint64_t seed) : dice_(seed) {
    world_.authenticator.behave = [this](const access::Credential&) { return identify(); };
    world_.invoices.behave = [this](const auto& query) { return resolve(query); };
    world_.files.behave = [this](const auto& query) { return resolve(query); };
    world_.decision_point->behave = [this](const auto& request) { return decide(request); };
    world_.evidence.on_commit = [this](const evidence::EventBatch& batch) { return commit(batch); };
    world_.evidence.on_append = [this](const evidence::EventBatch&) { return trouble(20); };
    world_.evidence.on_publish = [this] { return trouble(5); };
    world_.handler.behave = [this](const GrantedCall& call) { return run(call); };
  }

  /// One call in one of the two ways. False if the invariant is broken.
  bool step() {
    may_run_.clear();
    ran_.clear();
    publication();
    const access::ProposedCall call = proposal();
    if (dice(2) == 0) {
      world_.boundary->invoke(call, world_.handler);
      return as_promised(may_run_);
    }
    AuthorizeOutcome outcome = world_.boundary->authorize(call);
    if (!ran_.empty()) return false;
    CallPermit* permit = std::get_if<CallPermit>(&outcome);
    if (permit == nullptr) return true;
    if (may_run_.count(std::string(permit->invocation_id())) == 0) return false;
    publication();
    if (dice(4) == 0) world_.clock.advance(kPermitLifetime * 2);
    started_.clear();
    world_.boundary->spend(std::move(*permit), dice(8) == 0 ? "server.ping" : call.tool,
                           dice(8) == 0 ? "{}" : call.arguments_json, world_.handler);
    return as_promised(started_);
  }

  std::size_t runs() const { return world_.handler.runs(); }
  /// From now on the log takes everything and keeps nothing.
  void forget_everything() {
    world_.evidence.on_commit = [](const evidence::EventBatch&) { return Status{}; };
  }

 private:
  std::uint64_t dice(std::uint64_t sides) { return dice_.number(sides); }

  // What ran is what was made durable, no more and no less.
  bool as_promised(const std::unordered_set<std::string>& durable) const {
    return ran_.size() <= 1 && std::unordered_set<std::string>(ran_.begin(), ran_.end()) == durable;
  }

  // An error or an exception, once in `odds`.
  Status trouble(std::uint64_t odds) {
    if (dice(odds) != 0) return {};
    if (dice(3) == 0) throw std::runtime_error("fault");
    return Error{static_cast<ErrorCode>(dice(10)), "a fault"};
  }

  void publication() {
    if (dice(10) != 0) return;
    world_.publish();
    if (dice(2) == 0) static_cast<void>(world_.boundary->record_publication(*world_.policy.get()));
  }

  access::ProposedCall proposal() {
    static const std::vector<std::pair<const char*, const char*>> kCalls = {
        {"invoice.read", R"({"invoice":"march"})"},
        {"invoice.read", R"({"invoice":"foreign"})"},
        {"invoice.move", R"({"from":"a","to":"b"})"},
        {"invoice.move", R"({"from":"a","to":"missing"})"},
        {"files.read", R"({"paths":["a","b","c"]})"},
        {"report.make", R"({"options":{"invoice":"m"}})"},
        {"server.ping", ""},
        {"sums.add", R"({"a":1})"},
        {"admin.export", "{}"},
        {"unknown", "{}"},
        {"invoice.read", "{"},
    };
    const auto& [tool, arguments] = kCalls[dice(kCalls.size())];
    access::ProposedCall out = World::call(tool, arguments);
    if (dice(20) == 0) out.route = "nowhere";
    return out;
  }

  identity::Identity identify() {
    if (!trouble(20)) return {};
    identity::Identity out{.state = static_cast<access::PrincipalState>(3 - (dice(10) == 0))};
    if (dice(20) != 0) out.principal = FakeAuthenticator::alice();
    return out;
  }

  Result<access::Resource> resolve(const attributes::ResourceQuery& query) {
    REMIT_TRY(trouble(10));
    if (dice(10) == 0) world_.clock.advance(kResolveDeadline * 2);
    Result<access::Resource> out = World::find(query);
    if (out && dice(20) == 0) out->type = "Other";
    if (out && dice(20) == 0) out->id.clear();
    return out;
  }

  Result<access::Decision> decide(const decision::DecisionRequest& request) {
    REMIT_TRY(trouble(10));
    if (dice(10) == 0) world_.clock.advance(kDecideDeadline * 2);
    publication();
    if (request.resource.tenant != request.principal.tenant) {
      return access::Decision::deny(access::ReasonCode::kTenantMismatch, {"t"});
    }
    if (dice(4) == 0) return access::Decision::deny(static_cast<access::ReasonCode>(dice(22)));
    return access::Decision::allow(dice(20) == 0 ? std::vector<std::string>{}
                                                 : std::vector<std::string>{"p"});
  }

  // The sink is the judge: what it accepts here is what the log holds.
  Status commit(const evidence::EventBatch& batch) {
    REMIT_TRY(trouble(10));
    if (batch.policy_generation != 0 && batch.policy_generation < world_.evidence.generation()) {
      return Error{ErrorCode::kFailedPrecondition, "a newer policy was published"};
    }
    for (const event::Event& one : batch.events) {
      const std::string id{one.text(event::Field::kInvocationId)};
      if (one.kind == event::EventKind::kAuthorizationDecision &&
          one.text(event::Field::kDecision) == "allow") {
        may_run_.insert(id);
      }
      if (one.kind == event::EventKind::kExecutorStart) started_.insert(id);
    }
    return {};
  }

  HandlerResult run(const GrantedCall& call) {
    ran_.push_back(call.invocation_id());
    if (dice(10) == 0) throw std::runtime_error("fault");
    return HandlerResult{.outcome = HandlerOutcome::kSucceeded};
  }

  SeededRandom dice_;
  World world_;
  std::unordered_set<std::string> may_run_;  // allows that the log holds
  std::unordered_set<std::string> started_;  // starts that it holds
  std::vector<std::string> ran_;
};

TEST(RecordBeforeRun, HoldsHoweverThePartsFail) {
  constexpr std::uint64_t kSeeds = 40;
  constexpr int kCallsPerSeed = 250;
  std::size_t runs = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    UnreliableWorld world(seed);
    for (int i = 0; i < kCallsPerSeed; ++i) {
      ASSERT_TRUE(world.step()) << "seed " << seed << ", call " << i;
    }
    runs += world.runs();
  }
  // The property means little unless many calls do run, and many do not.
  EXPECT_GT(runs, kSeeds * kCallsPerSeed / 10);
  EXPECT_LT(runs, kSeeds * kCallsPerSeed);
}

// The judge itself: a log that says yes and keeps nothing must be noticed.
TEST(RecordBeforeRun, AForgetfulLogIsNoticed) {
  UnreliableWorld world(1);
  world.forget_everything();
  bool held = true;
  for (int i = 0; held && i < 1000; ++i) held = world.step();
  EXPECT_FALSE(held);
}

}  // namespace
}  // namespace remit::enforcement::testing
