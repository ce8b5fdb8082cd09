// Requests of the runner: a world for each trial, its steps, and its record.
#include "driver.h"

#include <filesystem>
#include <iostream>
#include <sstream>
#include <utility>

#include "ledger/desk.h"
#include "mcp_server.h"
#include "policy/bundle.h"
#include "retry.h"
#include "scheduled.h"

namespace remit::examples {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kGreeting = R"({"protocol":"remit.driver/1",
 "subject":{"name":"invoice_desk","version":"1"},
 "routes":["direct","queued","retry","agent","admin","scheduled","legacy"],
 "offers":["call","submit","run","plant","retry","force_start","set_policy","set_principal",
           "set_resource","revoke_approval","take_down","bring_up","restart","approval","keys"],
 "faults":[]})";

constexpr std::chrono::hours kDay{24};
constexpr std::uint64_t kMaxLogBytes = 4'000'000;

std::string text(const json::Value& from, std::string_view key) {
  const json::Value* value = from.find(key);
  const std::string* found = value == nullptr ? nullptr : value->if_string();
  return found == nullptr ? "" : *found;
}

Error refused(std::string what) {
  return {ErrorCode::kInvalidInput, std::move(what)};
}

/// A decision point that cannot be asked.
class NobodyDecides final : public decision::DecisionPoint {
 public:
  [[nodiscard]] Result<access::Decision> decide(
      const decision::DecisionRequest& /*request*/) const override {
    return Error{ErrorCode::kUnavailable, "nobody decides"};
  }
  [[nodiscard]] std::string_view name() const override { return "nobody"; }
};

/// The machine's clock, so many hours behind: what is granted by it has long run out.
class LateClock final : public Clock {
 public:
  [[nodiscard]] WallTime wall_now() const override {
    return {clock_.wall_now().unix_ns - std::chrono::nanoseconds(kDay).count()};
  }
  [[nodiscard]] MonotonicTime monotonic_now() const override { return clock_.monotonic_now(); }

 private:
  SystemClock clock_;
};

/// Books that nobody reads: what the rehearsal of an approval acts on.
class BlankBooks final : public Books {
 public:
  Result<json::Value> use(const ToolUse& /*use*/) override { return json::Value(json::Object{}); }
};

}  // namespace

Driver::Driver(const process::TerminationSignals& signals) : signals_(signals) {}

Driver::~Driver() {
  end_trial();
}

Result<json::Object> Driver::answer(const json::Value& request) {
  const std::string op = text(request, "op");
  if (op == "hello") return *json::parse(kGreeting)->if_object();
  if (op == "setup") return set_up(request);
  if (office_ == nullptr && op != "reset") return refused("nothing is set up");
  if (op == "step") return step(request);
  if (op == "collect") return collect();
  if (op != "reset") return refused("an op that is not known: " + remit::quoted(op));
  end_trial();
  return json::Object{};
}

// What is still open ends with the trial; what it could not write any more is nobody's.
void Driver::end_trial() {
  agent_.reset();
  office_.reset();
  books_.reset();
  world_.reset();
  plans_.clear();
  rows_.clear();
  approvals_.clear();
}

Result<json::Object> Driver::set_up(const json::Value& request) {
  end_trial();
  route_ = text(request, "route");
  const json::Value* spy = request.find("spy");
  const json::Value* fixture = request.find("fixture");
  if (spy == nullptr || fixture == nullptr) return refused("a setup without spy or fixture");
  spy_socket_ = text(*spy, "socket");
  spy_token_ = text(*spy, "token");
  REMIT_TRY_ASSIGN(world_, FixtureWorld::make(*fixture, clock_, random_));
  const json::Value* approvals = fixture->find("approvals");
  if (approvals != nullptr && approvals->if_object() != nullptr &&
      !approvals->if_object()->empty()) {
    REMIT_TRY(grant_approvals(*approvals->if_object()));
  }
  books_ = books_for(*spy);
  REMIT_TRY(open_office("evidence"));
  json::Object principals;
  for (const std::string& name : world_->people()) {
    principals.set(name, office_->staff().reference_of(name));
  }
  return json::Object{{"principals", std::move(principals)}};
}

std::unique_ptr<Books> Driver::books_for(const json::Value& /*spy*/) {
  return std::make_unique<SpyBooks>(spy_socket_, spy_token_);
}

Status Driver::open_office(const std::string& evidence) {
  // Work is tried once: the runner asks what became of a call as soon as it is carried.
  REMIT_TRY_ASSIGN(office_, Office::open({.directory = world_->directory(),
                                          .bundle = world_->bundle(),
                                          .evidence = evidence,
                                          .attempts = 1},
                                         *books_, files_, clock_, random_));
  return {};
}

Status Driver::close_office() {
  agent_.reset();
  return office_->close();
}

// As people do it: somebody asks, is told that an approval is needed, and another grants it. The
// asking is no part of the trial and stands in a log of its own.
Status Driver::grant_approvals(const json::Object& approvals) {
  books_ = std::make_unique<BlankBooks>();
  REMIT_TRY(open_office("rehearsal"));
  const LateClock late;
  const ledger::Location location{.text = world_->directory() + "/state.db"};
  for (const auto& [name, approval] : approvals.members()) {
    const access::ProposedCall call{
        .route = "direct",
        .credential = access::Credential::reference(text(approval, "principal")),
        .tool = text(approval, "tool"),
        .arguments_json = json::write(*approval.find("arguments")),
        .idempotency_key = "rehearsal"};
    const enforcement::CallOutcome asked = office_->point().invoke(call, office_->tools());
    const auto* denial = std::get_if<enforcement::Denial>(&asked);
    if (denial == nullptr || denial->approval_request.empty()) {
      return refused("nothing to approve in " + remit::quoted(name));
    }
    const std::string state = text(approval, "state");
    const Clock& clock = state == "expired" ? static_cast<const Clock&>(late) : clock_;
    REMIT_TRY_ASSIGN(const auto desk, ledger::Desk::open(location, clock, random_));
    REMIT_TRY_ASSIGN(approvals_[name], desk->grant({.request = denial->approval_request,
                                                    .by = "carol",
                                                    .reason = "for the trial",
                                                    .lifetime = std::chrono::hours(1)}));
    if (state == "revoked") REMIT_TRY(take_back(name));
    if (state == "consumed") static_cast<void>(office_->point().invoke(call, office_->tools()));
  }
  REMIT_TRY(close_office());
  office_.reset();
  return {};
}

Status Driver::take_back(const std::string& approval) {
  REMIT_TRY_ASSIGN(const auto desk, ledger::Desk::open({.text = world_->directory() + "/state.db"},
                                                       clock_, random_));
  return desk->revoke(approvals_[approval], "carol", "changed her mind");
}

bool Driver::is_deferred() const {
  return route_ == "queued" || route_ == "scheduled" || route_ == "retry";
}

std::string Driver::queue_name() const {
  return route_ == "retry" ? kSecondTries : std::string(queue::kDefaultQueue);
}

Result<json::Object> Driver::step(const json::Value& request) {
  const std::string what = text(request, "do");
  if (request.find("call") == nullptr) {
    REMIT_TRY(change(what, request));
    return json::Object{};
  }
  REMIT_TRY_ASSIGN(const Told told, carry(what, request));
  return json::Object{{"saw", told.word}, {"answer", told.text}};
}

Status Driver::change(const std::string& what, const json::Value& request) {
  const std::string name = text(request, "name");
  if (what == "set_policy") {
    REMIT_TRY(world_->set_policy(*request.find("policy")));
    return office_->put_in_force(world_->bundle());
  }
  if (what == "set_principal") return world_->set_principal(name, *request.find("principal"));
  if (what == "set_resource") return world_->set_resource(name, *request.find("resource"));
  if (what == "revoke_approval") return take_back(text(request, "approval"));
  if (what == "take_down") return set_down(text(request, "part"), true);
  if (what == "bring_up") return set_down(text(request, "part"), false);
  if (what != "restart") return refused("a step that is not known: " + remit::quoted(what));
  REMIT_TRY(close_office());
  office_.reset();
  return open_office("evidence");
}

Status Driver::set_down(const std::string& part, bool down) {
  if (part == "resolver") return world_->move_invoices(down);
  if (part == "policy") {
    if (!down) return office_->put_in_force(world_->bundle());
    const auto bundle = office_->policy().get()->bundle;
    REMIT_TRY_ASSIGN(const auto snapshot,
                     office_->policy().publish(bundle, std::make_shared<const NobodyDecides>()));
    return office_->point().record_publication(*snapshot);
  }
  if (part != "evidence") return refused("a part that is not known: " + remit::quoted(part));
  // A log whose files went away refuses until it is opened anew, so that nothing follows a hole.
  const std::string log = world_->directory() + "/evidence";
  REMIT_TRY(down ? files_.rename(log, log + "-away") : files_.rename(log + "-away", log));
  if (down) return {};
  agent_.reset();
  office_.reset();
  return open_office("evidence");
}

Asked Driver::asked_by(const json::Value& request, std::string& person) const {
  person = text(request, "as");
  Asked out{.credential = {},
            .tool = text(request, "tool"),
            .arguments_json = json::write(*request.find("arguments")),
            .key = text(request, "key")};
  if (!person.empty()) out.credential = world_->credential_of(person, office_->staff());
  return out;
}

Result<Told> Driver::carry(const std::string& what, const json::Value& request) {
  const std::string call = text(request, "call");
  if (what == "call" || what == "submit" || what == "plant") {
    std::string person;
    const Asked asked = asked_by(request, person);
    REMIT_TRY_ASSIGN(const Told accepted, submit(call, asked, person));
    return what == "call" ? run(call) : accepted;
  }
  if (what == "run") return run(call);
  const std::string of = text(request, "of");
  if (what == "retry" && is_deferred()) {
    REMIT_TRY(try_again(*office_, rows_.at(of), "carol", "the tool is well again"));
    return run_row(rows_.at(of));
  }
  if (what == "retry") return run(of);
  if (what != "force_start") return refused("a step that is not known: " + remit::quoted(what));
  // A worker may look again; and a handler without a permit is not to be had.
  if (is_deferred()) return run_row(rows_.at(of));
  return Told{"denied", "there is no way to a handler but by the boundary"};
}

// The first half. Nothing of what would_allow says is kept: it is advice to a planner.
Result<Told> Driver::submit(const std::string& call, const Asked& asked,
                            const std::string& person) {
  if (!is_deferred()) {
    plans_[call] = asked;
    static_cast<void>(office_->point().would_allow({.route = route_,
                                                    .credential = asked.credential,
                                                    .tool = asked.tool,
                                                    .arguments_json = asked.arguments_json,
                                                    .idempotency_key = asked.key}));
    return Told{"accepted", "it is planned"};
  }
  const Errand errand{person, asked.tool, asked.arguments_json, asked.key};
  Result<std::string> row = Error{};
  if (person.empty()) {
    row = world_->plant(queue_name(), route_, asked.tool, asked.arguments_json);
  } else if (route_ == "queued") {
    row = put_off(*office_, errand);
  } else if (route_ == "scheduled") {
    row = put_off_until(*office_, errand, clock_.wall_now());
  } else {
    row = put_back(*office_, errand);
  }
  if (!row) return row.error();
  rows_[call] = *row;
  return Told{"accepted", "it will be done"};
}

Result<Told> Driver::run(const std::string& call) {
  if (is_deferred()) return run_row(rows_.at(call));
  return through_door(plans_.at(call));
}

// Rows in front of it are taken up as well: it is a queue.
Result<Told> Driver::run_row(const std::string& row) {
  REMIT_TRY(office_->queue().tidy(queue_name()));
  queue::Worker worker = worker_of(*office_, queue_name());
  while (true) {
    REMIT_TRY_ASSIGN(Told told, told_of_row(*office_, row));
    if (told.word != "pending" || worker.work_once() != queue::Turn::kWorked) return told;
  }
}

Result<Told> Driver::through_door(const Asked& asked) {
  if (route_ == "direct") return through_direct(asked);
  if (route_ == "admin") return through_admin(asked);
  if (route_ == "agent") return through_agent(asked);
  if (route_ == "legacy") return through_legacy(asked);
  return refused("a route that is not known: " + remit::quoted(route_));
}

Result<AgentSession*> Driver::agent() {
  if (agent_ == nullptr) {
    const std::string bundle = world_->directory() + "/" + world_->bundle();
    REMIT_TRY_ASSIGN(agent_, AgentSession::start(*office_,
                                                 {fs::read_symlink("/proc/self/exe").string(),
                                                  "--serve", spy_socket_, spy_token_, bundle},
                                                 signals_));
  }
  return agent_.get();
}

Result<json::Object> Driver::collect() {
  REMIT_TRY(close_office());
  json::Array lines;
  const std::string log = world_->directory() + "/evidence";
  REMIT_TRY_ASSIGN(const std::vector<std::string> writers, files_.list(log));
  for (const std::string& writer : writers) {
    if (!writer.starts_with("writer-")) continue;
    REMIT_TRY_ASSIGN(const std::vector<std::string> names, files_.list(log + "/" + writer));
    for (const std::string& name : names) {
      if (!name.ends_with(".jsonl")) continue;
      REMIT_TRY_ASSIGN(const std::string bytes,
                       files_.read(log + "/" + writer + "/" + name, kMaxLogBytes));
      std::istringstream in(bytes);
      for (std::string line; std::getline(in, line);) lines.emplace_back(line);
    }
  }
  return json::Object{{"events", std::move(lines)}};
}

namespace {

int serve_spy(const std::vector<std::string>& words) {
  PosixFileSystem files;
  const policy::BundleOutcome loaded = policy::load_bundle(files, words[3]);
  if (loaded.bundle == nullptr) {
    std::cerr << "the desk's server: " << loaded.problems.front().to_string() << '\n';
    return 1;
  }
  std::vector<OfferedTool> offered;
  for (const policy::Tool& tool : loaded.bundle->tools) {
    offered.push_back({tool.name, "", tool.arguments_schema});
  }
  SpyBooks books(words[1], words[2]);
  return serve_mcp(books, offered);
}

}  // namespace

int run_driver(
    const std::vector<std::string>& words,
    const std::function<std::unique_ptr<Driver>(const process::TerminationSignals&)>& make) {
  process::ignore_broken_pipes();
  if (words.size() == 4 && words[0] == "--serve") return serve_spy(words);
  const auto signals = process::TerminationSignals::take();
  if (!signals) {
    std::cerr << "driver: " << signals.error().to_string() << '\n';
    return 1;
  }
  const std::unique_ptr<Driver> driver = make(*signals);
  for (std::string line; std::getline(std::cin, line);) {
    const Result<json::Value> request = json::parse(line);
    const json::Value* id = request ? request->find("id") : nullptr;
    if (id == nullptr) {
      std::cerr << "driver: a line that is no request\n";
      return 1;
    }
    const Result<json::Object> answer = driver->answer(*request);
    json::Object reply{{"id", *id}};
    if (answer) {
      reply.set("ok", *answer);
    } else {
      reply.set("error", json::Object{{"message", answer.error().to_string()}});
    }
    std::cout << json::write(reply) << std::endl;
  }
  return 0;
}

}  // namespace remit::examples
