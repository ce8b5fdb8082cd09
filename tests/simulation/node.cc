// The life of a process: started, failing, dead, and there again.
#include "tests/simulation/node.h"

#include <array>
#include <initializer_list>
#include <stdexcept>

#include "base/bytes.h"
#include "enforcement/once.h"
#include "evidence/verify.h"
#include "tests/simulation/node_parts.h"

namespace remit::simulation {
namespace {

using access::ReasonCode;
using Fault = testing::FaultyFileSystem::Fault;
using Loss = testing::FaultyFileSystem::Loss;

constexpr char kKeyBytes[] = "0123456789abcdef0123456789abcdef";

DigestKey digest_key() {
  return DigestKey::from_bytes(bytes_of(kKeyBytes)).value();
}

}  // namespace

Node::Node(World& world, std::string name)
    : world_(world),
      name_(std::move(name)),
      authenticator_(std::make_unique<Authenticator>(*this)),
      store_(std::make_unique<Store>(*this)),
      sources_({{"Invoice", store_.get()}}),
      handler_(std::make_unique<Handler>(*this)) {
  start();
}

Node::~Node() {
  // In order of dependence: permits and boundary have last words for log and ledger.
  permits_.clear();
  boundary_.reset();
}

void Node::start() {
  is_changing_ = true;
  is_armed_ = is_crash_ = has_failed_log_ = false;
  files_.heal();
  auto log = evidence::FileEvidenceLog::open(
      files_, world_.clock, world_.random,
      {.directory = kRoot, .max_segment_bytes = 4096, .append_interval = std::chrono::hours{1}});
  if (!log) return world_.broken(name_ + ": the log does not open: " + log.error().to_string());
  log_ = *std::move(log);
  sink_ = std::make_unique<Sink>(*this);
  const DigestKey key = digest_key();
  auto real = ledger::DatabaseLedger::open({.location = world_.state,
                                            .key_check = enforcement::ledger_key_check(key),
                                            .renews_by_itself = false},
                                           world_.clock, world_.random);
  if (!real) return world_.broken(name_ + ": no ledger: " + real.error().to_string());
  ledger_ = std::make_unique<FaultyLedger>(*this, *std::move(real));
  boundary_.emplace(enforcement::Surroundings{.policy = policy_,
                                              .authenticator = *authenticator_,
                                              .sources = sources_,
                                              .evidence = *sink_,
                                              .clock = world_.clock,
                                              .random = world_.random,
                                              .digest_key = key,
                                              .ledger = ledger_.get()});
  static_cast<void>(boundary_->begin_run({.run_id = "simulation"}));
  if (version_.empty() ? world_.roll(16) != 0 : world_.roll(2) == 0) publish();
  is_changing_ = false;
}

bool Node::is_dead() {
  return is_crash_ && files_.has_failed();
}

// What a dead process leaves: nothing of it gets to disk or ledger, and what it did not sync is
// what the disk makes of it.
void Node::stop_dead() {
  is_changing_ = true;
  world_.count("deaths");
  permits_.clear();
  boundary_.reset();
  log_.reset();
  ledger_.reset();
  switch (world_.roll(3)) {
    case 0:
      files_.revive();
      break;
    case 1:
      files_.restart(static_cast<Loss>(world_.roll(3)));
      break;
    default:
      files_.restart_in_disorder(world_.roll(1'000'000));
      break;
  }
  const auto found = evidence::verify(files_, kRoot);
  if (found && !found->intact()) {
    world_.broken(name_ + ": what was left does not verify: " + found->damage->to_string());
  }
  start();
}

// As an operator does with a process whose log failed, or for a new version of it.
void Node::reopen() {
  is_changing_ = true;
  world_.count("restarts");
  permits_.clear();
  if (boundary_) static_cast<void>(boundary_->end_run());
  boundary_.reset();
  if (log_) static_cast<void>(log_->close());
  log_.reset();
  ledger_.reset();
  start();
}

void Node::end() {
  if (is_dead()) stop_dead();
  files_.heal();
  permits_.clear();
  if (boundary_) static_cast<void>(boundary_->end_run());
  boundary_.reset();
  const bool closed = log_ && log_->close();
  log_.reset();
  ledger_.reset();
  if (closed) return;
  // The next one closes what this one could not.
  start();
  if (log_ != nullptr) end();
}

// One of the next operations on the disk fails, and the process perhaps with it.
void Node::arm() {
  if (is_armed_ || world_.roll(10) != 0) return;
  is_armed_ = true;
  const Fault fault = static_cast<Fault>(world_.roll(3));
  is_crash_ = fault == Fault::kCrash;
  files_.fail_at(1 + world_.roll(12), fault);
}

void Node::meet_fate(ReasonCode reason) {
  for (Call* call : calls_) call->may_be.insert(reason);
}

Status Node::trouble(std::uint64_t odds, std::initializer_list<ReasonCode> reasons) {
  if (world_.roll(odds) != 0) return {};
  world_.count("faults");
  for (const ReasonCode reason : reasons) meet_fate(reason);
  if (world_.roll(3) == 0) throw std::runtime_error("simulated");
  static constexpr std::array kCodes = {
      ErrorCode::kInternal,         ErrorCode::kInvalidInput, ErrorCode::kLimitExceeded,
      ErrorCode::kAlreadyExists,    ErrorCode::kUnsupported,  ErrorCode::kFailedPrecondition,
      ErrorCode::kDeadlineExceeded, ErrorCode::kUnavailable,  ErrorCode::kDataLoss};
  return Error{kCodes[world_.roll(kCodes.size())], "simulated"};
}

// Whoever waited longer than it may is late.
void Node::pass_time(Duration longest) {
  world_.clock.advance(Duration{
      static_cast<Duration::rep>(world_.roll(static_cast<std::uint64_t>(longest.count())))});
}

void Node::publish() {
  version_ = kVersions[world_.roll(kVersions.size())];
  std::string_view rules = version_;
  if (world_.twist == Twist::kOldPolicy && version_ != "v1") rules = "v1";
  const auto snapshot =
      policy_.publish(bundle_of(version_), std::make_shared<DecisionPoint>(*this, rules));
  if (!snapshot) return world_.broken("a bundle is not published");
  world_.count("publications");
  for (Call* call : calls_) {
    ++call->publications;
    call->versions.insert(version_);
    call->may_be.insert(ReasonCode::kPolicyUnavailable);  // it may have changed too often
  }
  if (boundary_ && world_.roll(2) == 0) {
    static_cast<void>(boundary_->record_publication(**snapshot));
  }
}

}  // namespace remit::simulation
