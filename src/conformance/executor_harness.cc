// Trials of an executor without a driver of its own.
#include "conformance/executor_harness.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/limits.h"
#include "conformance/words.h"
#include "evidence/verify.h"

namespace remit::conformance {
namespace {

constexpr std::string_view kSpyFile = "/spy.json";

json::Object object_of(const json::Object& from, std::string_view key) {
  const json::Value* value = from.find(key);
  return value == nullptr || value->if_object() == nullptr ? json::Object{} : *value->if_object();
}

Error nonsense(std::string message) {
  return Error{ErrorCode::kInvalidInput, std::move(message)};
}

ClientCall call_of(const json::Object& request) {
  const std::string as = text_of(request, "as");
  return {as.empty() ? std::string(kNobody) : as, text_of(request, "tool"),
          object_of(request, "arguments"), text_of(request, "key")};
}

// The lines of a text; one that is cut short at the end is a line for the grader to refuse.
void add_lines(std::string_view text, json::Array& out) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    out.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

// `NAME=VALUE` in the place of another of that name: of two a program takes whichever it likes.
void set_variable(const std::string& variable, std::vector<std::string>& environment) {
  const std::string name = variable.substr(0, variable.find('=') + 1);
  const auto same = std::find_if(environment.begin(), environment.end(),
                                 [&](const auto& each) { return each.starts_with(name); });
  if (same == environment.end()) {
    environment.push_back(variable);
  } else {
    *same = variable;
  }
}

}  // namespace

ExecutorHarness::ExecutorHarness(const Subject& subject, Spy& spy, const HarnessWorld& world)
    : subject_(subject), spy_(spy), world_(world) {}

ExecutorHarness::~ExecutorHarness() {
  // What the driver writes on its way out goes with the directory.
  driver_.reset();
  remove_directory();
}

Status ExecutorHarness::greet() {
  hello_.subject = subject_.name;
  hello_.routes = subject_.routes;
  hello_.offers = {"call", "submit", "run"};
  if (!executor().command.empty()) hello_.offers.emplace_back("restart");
  for (const auto& [name, credential] : executor().callers) hello_.offers.push_back(name);
  for (const std::string_view ability : kAbilities) {
    if (std::find(subject_.without.begin(), subject_.without.end(), ability) ==
        subject_.without.end()) {
      hello_.offers.emplace_back(ability);
    }
  }
  if (subject_.command.empty()) return {};
  REMIT_TRY_ASSIGN(driver_, Driver::start(subject_, spy_, world_.clock));
  const Hello& world = driver_->hello();
  if (!world.subject.empty()) hello_.subject = world.subject;
  hello_.version = world.version;
  hello_.faults = world.faults;
  hello_.offers.emplace_back("fixture");
  for (const std::string& offer : world.offers) hello_.offers.push_back(offer);
  for (const std::string_view part : kParts) hello_.offers.emplace_back(part);
  return {};
}

Placeholders ExecutorHarness::values_for(const std::string& caller) const {
  Placeholders out = values_;
  out["caller"] = caller;
  const auto made = credentials_.find(caller);
  const auto given = executor().callers.find(caller);
  if (made != credentials_.end()) {
    out["credential"] = made->second;
  } else if (given != executor().callers.end()) {
    out["credential"] = filled(given->second, values_);
  }
  return out;
}

process::Command ExecutorHarness::command_for(const std::string& caller) const {
  const Placeholders values = values_for(caller);
  process::Command out;
  for (const std::string& word : executor().command) out.arguments.push_back(filled(word, values));
  out.working_directory = subject_.working_directory;
  out.environment = process::pick_environment(process::harmless_variables());
  for (const std::string& variable : process::pick_environment(executor().inherit)) {
    set_variable(variable, out.environment);
  }
  for (const auto& [name, value] : executor().variables) {
    // Whoever brings no credential brings no empty one either.
    const bool is_credential = value.find("{credential}") != std::string::npos;
    if (is_credential && values.find("credential")->second.empty()) continue;
    set_variable(name + "=" + filled(value, values), out.environment);
  }
  return out;
}

Result<json::Object> ExecutorHarness::ask(json::Object request) {
  const std::string op = text_of(request, "op");
  Result<json::Object> answer = op == "setup"     ? set_up(std::move(request))
                                : op == "step"    ? step(std::move(request))
                                : op == "collect" ? collect()
                                                  : reset();
  spy_.serve();
  if (std::optional<std::string> fault = spy_.take_fault()) return nonsense(std::move(*fault));
  return answer;
}

Result<json::Object> ExecutorHarness::set_up(json::Object request) {
  end();
  remove_directory();
  submitted_.clear();
  credentials_.clear();
  directory_ = fmt::format("{}/remit-trial-{}", world_.scratch_directory, random_id(world_.random));
  REMIT_TRY(world_.files.make_directory(directory_));
  json::Object spy = object_of(request, "spy");
  const std::string file = directory_ + std::string(kSpyFile);
  facts_ = {text_of(spy, "socket"), text_of(spy, "token"), executor().invocation_id,
            object_of(object_of(request, "fixture"), "tools")};
  REMIT_TRY(world_.files.replace(file, spy_facts_json(facts_)));
  values_ = {{"directory", directory_},
             {"remit", world_.program},
             {"spy", file},
             {"case", text_of(request, "case")},
             {"route", text_of(request, "route")},
             {"credential", ""}};
  REMIT_TRY(prepare(spy, values_));
  if (driver_ == nullptr) return json::Object{};
  request.set("directory", directory_);
  request.set("spy", std::move(spy));
  REMIT_TRY_ASSIGN(json::Object answer, driver_->ask(std::move(request)));
  const json::Object made = object_of(answer, "credentials");
  for (const json::Member& each : made.members()) {
    if (each.second.if_string() == nullptr) return nonsense("a credential of the setup is no text");
    credentials_[each.first] = *each.second.if_string();
  }
  return answer;
}

Result<json::Object> ExecutorHarness::step(json::Object request) {
  const std::string word = text_of(request, "do");
  const std::string name = text_of(request, "call");
  if (word == "call") return carry_out(call_of(request));
  if (word == "submit") {
    const ClientCall call = call_of(request);
    REMIT_TRY(plan(call.caller));
    submitted_.insert_or_assign(name, call);
    return json::Object{{"saw", "accepted"}, {"answer", ""}};
  }
  if (word == "run") {
    const auto found = submitted_.find(name);
    if (found == submitted_.end()) return nonsense("what is run was not submitted");
    return carry_out(found->second);
  }
  if (word == "restart") {
    end();
    return json::Object{};
  }
  return change_world(word, std::move(request));
}

Result<json::Object> ExecutorHarness::carry_out(const ClientCall& call) {
  REMIT_TRY_ASSIGN(const Seen seen, this->call(call));
  return json::Object{{"saw", seen.saw}, {"answer", seen.answer.substr(0, kMaxAnswerBytes)}};
}

Result<json::Object> ExecutorHarness::change_world(const std::string& word, json::Object request) {
  if (driver_ == nullptr) return nonsense(fmt::format("nothing carries out {}", word));
  json::Array numbers;
  for (const std::int64_t number : processes()) numbers.emplace_back(number);
  request.set("processes", std::move(numbers));
  REMIT_TRY_ASSIGN(json::Object answer, driver_->ask(std::move(request)));
  // An executor that reads something only when it starts is started anew for the next call.
  const json::Value* restart = answer.find("restart");
  if (restart != nullptr && restart->if_bool() != nullptr && *restart->if_bool()) end();
  return answer;
}

Result<json::Object> ExecutorHarness::collect() {
  end();
  if (!executor().evidence_directory.empty()) {
    json::Object out;
    REMIT_TRY(collect_directory(filled(executor().evidence_directory, values_), out));
    return out;
  }
  if (!executor().evidence_lines.empty()) {
    json::Object out;
    REMIT_TRY(collect_lines(filled(executor().evidence_lines, values_), out));
    return out;
  }
  return driver_->ask({{"op", "collect"}});
}

// Whoever recorded nothing has no directory; that is for the grader to say.
Status ExecutorHarness::collect_directory(const std::string& directory, json::Object& out) {
  json::Array events;
  if (world_.files.info(directory)) {
    REMIT_TRY_ASSIGN(const evidence::VerifyReport report,
                     evidence::verify(world_.files, directory));
    if (report.damage) out.set("altered", report.damage->to_string());
    REMIT_TRY_ASSIGN(const std::vector<evidence::WriterSegments> writers,
                     evidence::list_segments(world_.files, directory));
    for (const evidence::WriterSegments& writer : writers) {
      for (const std::string& segment : writer.segments) {
        REMIT_TRY_ASSIGN(const std::string text, world_.files.read(segment, kMaxRecordBytes));
        add_lines(text, events);
      }
    }
  }
  out.set("events", std::move(events));
  return {};
}

Status ExecutorHarness::collect_lines(const std::string& file, json::Object& out) {
  json::Array events;
  if (world_.files.info(file)) {
    REMIT_TRY_ASSIGN(const std::string text, world_.files.read(file, kMaxRecordBytes));
    add_lines(text, events);
  }
  out.set("events", std::move(events));
  return {};
}

Result<json::Object> ExecutorHarness::reset() {
  end();
  json::Object answer;
  if (driver_ != nullptr) {
    REMIT_TRY_ASSIGN(answer, driver_->ask({{"op", "reset"}}));
  }
  remove_directory();
  return answer;
}

// The directory is a trial's own, with whatever executor and driver put there.
void ExecutorHarness::remove_directory() {
  if (directory_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
  directory_.clear();
}

}  // namespace remit::conformance
