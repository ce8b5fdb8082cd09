// What happens around the calls: rights and owners change, people approve, clocks step.
#include "tests/simulation/simulation.h"

#include <memory>
#include <utility>

#include "ledger/desk.h"

namespace remit::simulation {
namespace {

constexpr int kSteps = 24;
constexpr int kDeepest = 2;  // calls within calls, each of another process

class Days {
 public:
  Days(World& world, std::vector<Node*> nodes) : world_(world), nodes_(std::move(nodes)) {
    auto desk = ledger::Desk::open(world_.state, world_.clock, world_.random);
    if (desk) desk_ = *std::move(desk);
    if (!desk) world_.broken("no desk: " + desk.error().to_string());
    world_.meanwhile = [this] { meanwhile(); };
  }

  void pass() {
    for (int i = 0; i < kSteps && world_.violations.empty(); ++i) {
      happen();
      nodes_[world_.roll(nodes_.size())]->step();
    }
  }

 private:
  // While one process is in the midst of a call, another one makes one.
  void meanwhile() {
    if (depth_ + 1 == kDeepest || world_.roll(12) != 0) return;
    for (Node* node : nodes_) {
      if (node->is_busy()) node->interrupt();
    }
    for (Node* node : nodes_) {
      if (node->is_busy()) continue;
      ++depth_;
      world_.count("meanwhile");
      node->step();
      --depth_;
      return;
    }
  }

  void happen() {
    world_.clock.advance(std::chrono::milliseconds{world_.roll(400)});
    switch (world_.roll(12)) {
      case 0:
        toggle(world_.facts.people.at("alice").scopes, "invoice:move");
        break;
      case 1:
        toggle(world_.facts.people.at("carol").scopes, "once");
        break;
      case 2:
        world_.facts.owner["inv-6"] = world_.roll(2) == 0 ? "tenant-a" : "tenant-b";
        break;
      case 3:
        world_.facts.people.at("bob").state = world_.roll(3) == 0
                                                  ? access::PrincipalState::kInvalid
                                                  : access::PrincipalState::kAuthenticated;
        break;
      case 4:
        world_.clock.advance(std::chrono::seconds{world_.roll(60)});
        break;
      case 5:
        step_clock();
        break;
      case 6:
      case 7:
      case 8:
        approve();
        break;
      case 9:
        revoke();
        break;
      default:
        break;
    }
  }

  static void toggle(std::set<std::string>& scopes, const char* scope) {
    if (scopes.erase(scope) == 0) scopes.insert(scope);
  }

  // An operator or a time server sets it, up to a day away.
  void step_clock() {
    constexpr std::int64_t kDayNs = 86'400'000'000'000;
    const auto by = static_cast<std::int64_t>(world_.roll(kDayNs));
    const std::int64_t now = world_.clock.wall_now().unix_ns;
    world_.clock.set_wall(WallTime{world_.roll(2) == 0 ? now + by : now - by});
    world_.count("clock steps");
  }

  void approve() {
    if (!desk_) return;
    const auto pending = desk_->pending();
    if (!pending || pending->empty()) return;
    const auto& asked = (*pending)[world_.roll(pending->size())].asked;
    const auto granted = desk_->grant({.request = asked.request,
                                       .by = "judge",
                                       .reason = "simulated",
                                       .lifetime = std::chrono::seconds{60 + world_.roll(3600)}});
    if (!granted) return;
    world_.count("approvals");
    ++world_.granted[asked.tool + " " + asked.subject + " " + asked.arguments];
  }

  void revoke() {
    if (!desk_) return;
    const auto active = desk_->approvals(false);
    if (!active || active->empty()) return;
    static_cast<void>(
        desk_->revoke((*active)[world_.roll(active->size())].id, "judge", "simulated"));
  }

  World& world_;
  const std::vector<Node*> nodes_;
  std::unique_ptr<ledger::Desk> desk_;
  int depth_ = 0;
};

}  // namespace

Life live(std::uint64_t seed, Twist twist, const std::string& state) {
  World world(seed, twist);
  world.state = {ledger::Location::Kind::kSqlite, state};
  world.meanwhile = [] {};
  Node first(world, "first");
  Node second(world, "second");
  {
    Days days(world, {&first, &second});
    days.pass();
    world.meanwhile = [] {};
  }
  for (Node* node : {&first, &second}) {
    node->end();
    judge(world, *node);
  }
  judge_effects(world);
  return {std::move(world.violations), std::move(world.counts)};
}

}  // namespace remit::simulation
