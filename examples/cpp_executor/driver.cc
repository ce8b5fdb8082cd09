// A driver (remit.driver/1) for the executor beside it: a line of JSON each way.
#include <iostream>
#include <memory>

#include "tool.h"

namespace remit::examples {

constexpr std::string_view kGreeting = R"({"protocol":"remit.driver/1",
 "subject":{"name":"cpp_executor","version":"1"},
 "routes":["direct","queued","retry","agent","admin","scheduled","legacy"],
 "offers":["call","submit","run","plant","retry","force_start","set_policy","set_principal",
           "set_resource","revoke_approval","take_down","bring_up","restart",
           "approval","keys","fan_out"]})";

struct Request {
  json::Value value;
  const json::Value& at(std::string_view key) const { return *value.find(key); }
  const json::Object& object(std::string_view key) const { return *at(key).if_object(); }
  std::string text(std::string_view key) const {
    const json::Value* found = value.find(key);
    return found == nullptr || found->if_string() == nullptr ? "" : *found->if_string();
  }
};

struct Driver {
  std::unique_ptr<Stores> stores;
  std::unique_ptr<Executor> executor;
  std::string route, fault;
  Spy spy;

  void start() {
    const auto tool = [this](const Call& call, const std::string& id) {
      return use_tool(spy, call, id);
    };
    executor = std::make_unique<Executor>(*stores, tool, fault);
  }
  void set_up(const Request& request) {
    const Request world{request.at("fixture")};
    stores = std::make_unique<Stores>();
    stores->tools = world.object("tools");
    stores->principals = world.object("principals");
    stores->resources = world.object("resources");
    stores->approvals = world.object("approvals");
    stores->policy = world.at("policy");
    const Request tool{request.at("spy")};
    spy = {tool.text("socket"), tool.text("token")};
    route = request.text("route");
    fault = request.text("fault");
    start();
  }
  void change(const Request& request, const std::string& what) {
    const std::string name = request.text("name");
    if (what == "set_policy") stores->policy = request.at("policy");
    if (what == "set_principal") stores->principals.set(name, request.at("principal"));
    if (what == "set_resource") stores->resources.set(name, request.at("resource"));
    if (what == "revoke_approval") {
      stores->approvals.find(request.text("approval"))->if_object()->set("state", "revoked");
    }
    if (what == "take_down") stores->down.push_back(request.text("part"));
    if (what == "bring_up") std::erase(stores->down, request.text("part"));
    if (what == "restart") start();
  }
  json::Object step(const Request& request) {
    const std::string what = request.text("do");
    const std::string name = request.text("call");
    if (name.empty()) return change(request, what), json::Object{};
    Told told{"accepted", "will be done"};
    if (what == "call" || what == "submit" || what == "plant") {
      executor->submit(name, make_call(request.text("as"), request.text("tool"),
                                       request.object("arguments"), request.text("key"), route));
    }
    if (what == "call" || what == "run") told = executor->run_row(name);
    if (what == "retry") told = executor->retry(request.text("of"));
    if (what == "force_start") told = executor->start_denied(request.text("of"));
    return {{"saw", told.saw}, {"answer", told.answer}};
  }
  json::Object answer(const Request& request) {
    const std::string op = request.text("op");
    if (op == "step") return step(request);
    if (op == "setup") set_up(request);
    if (op == "collect") return {{"events", json::Array(stores->log.begin(), stores->log.end())}};
    if (op != "hello") return {};
    json::Object greeting = *json::parse(kGreeting)->if_object();
    greeting.set("faults", json::Array(faults().begin(), faults().end()));
    return greeting;
  }
};

}  // namespace remit::examples

int main() {
  remit::examples::Driver driver;
  for (std::string line; std::getline(std::cin, line);) {
    const remit::examples::Request request{*remit::json::parse(line)};
    const remit::json::Object reply{{"id", request.at("id")}, {"ok", driver.answer(request)}};
    std::cout << remit::json::write(reply) << std::endl;
  }
}
