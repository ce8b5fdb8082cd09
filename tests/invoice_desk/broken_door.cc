// The invoice desk with one of its doors broken on purpose, for tests that must find it.
//
//   broken_door legacy                    a driver whose old handler is served without the adapter
//   broken_door admin                     a driver whose command line has the books
//   broken_door direct                    a driver whose own code keeps the first yes for ever
//   broken_door old-api DATABASE PORT     the old API of the desk, served by itself
#include <sys/stat.h>

#include <iostream>
#include <set>
#include <utility>

#include "desk.h"
#include "driver.h"

namespace remit::examples {
namespace {

/// Lets through to the old handler whatever comes.
class NoAdapter final : public http::Handler {
 public:
  explicit NoAdapter(http::Handler& old) : old_(old) {}
  http::Response handle(const http::Request& request, std::stop_token stop) override {
    return old_.handle(request, std::move(stop));
  }

 private:
  http::Handler& old_;
};

class BrokenDriver final : public Driver {
 public:
  BrokenDriver(std::string door, const process::TerminationSignals& signals)
      : Driver(signals), door_(std::move(door)) {}

 protected:
  Result<std::unique_ptr<http::Handler>> before(http::Handler& old,
                                                std::vector<adapter::Endpoint> endpoints) override {
    if (door_ != "legacy") return Driver::before(old, std::move(endpoints));
    return std::unique_ptr<http::Handler>(std::make_unique<NoAdapter>(old));
  }

  Result<Told> through_admin(const Asked& asked) override {
    return door_ == "admin" ? straight_to_the_books(asked) : Driver::through_admin(asked);
  }

  Result<Told> through_direct(const Asked& asked) override {
    if (door_ != "direct") return Driver::through_direct(asked);
    if (allowed_.contains(asked.tool)) return straight_to_the_books(asked);
    REMIT_TRY_ASSIGN(Told told, Driver::through_direct(asked));
    if (told.word == "result") allowed_.insert(asked.tool);
    return told;
  }

 private:
  Result<Told> straight_to_the_books(const Asked& asked) {
    REMIT_TRY_ASSIGN(json::Value arguments, json::parse(asked.arguments_json));
    const Result<json::Value> done =
        books().use({.tool = asked.tool,
                     .resource = "",
                     .arguments = std::move(arguments),
                     .origin = {.invocation_id = "by-hand", .run_id = {}, .case_id = {}}});
    if (done) return Told{"result", json::write(*done)};
    return Told{"failed", "not done"};
  }

  const std::string door_;
  std::set<std::string> allowed_;
};

int serve_old_api(const std::string& database, const std::string& word) {
  const auto signals = process::TerminationSignals::take();
  Result<Desk> desk = Desk::open(database);
  const std::optional<std::uint16_t> port = read_port(word);
  if (!signals || !desk || !port) return 1;
  const SystemClock clock;
  OldDesk old(*desk);
  return serve_until_told(old, *port, clock, *signals) ? 0 : 1;
}

int run(const std::vector<std::string>& words) {
  if (words.size() == 3 && words[0] == "old-api") return serve_old_api(words[1], words[2]);
  if (words.empty()) {
    std::cerr << "usage: broken_door legacy | admin | direct | old-api DATABASE PORT\n";
    return 64;
  }
  return run_driver(words, [&](const process::TerminationSignals& signals) {
    return std::make_unique<BrokenDriver>(words[0], signals);
  });
}

}  // namespace
}  // namespace remit::examples

int main(int argc, char** argv) {
  ::umask(077);
  return remit::examples::run({argv + 1, argv + argc});
}
