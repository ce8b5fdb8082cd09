// Requests and answers, a line each, with a deadline.
#include "conformance/driver.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/limits.h"
#include "conformance/pack.h"
#include "conformance/words.h"

namespace remit::conformance {
namespace {

constexpr std::size_t kMaxWords = 1000;
constexpr std::size_t kMaxErrorShown = 300;

// Texts of a member that may be absent.
Result<std::vector<std::string>> texts(const json::Object& from, std::string_view key) {
  std::vector<std::string> out;
  const json::Value* value = from.find(key);
  if (value == nullptr) return out;
  const json::Array* items = value->if_array();
  if (items == nullptr || items->size() > kMaxWords) {
    return Error{ErrorCode::kInvalidInput, fmt::format("'{}' of the greeting is no list", key)};
  }
  for (const json::Value& item : *items) {
    if (item.if_string() == nullptr) {
      return Error{ErrorCode::kInvalidInput,
                   fmt::format("'{}' of the greeting holds something that is no text", key)};
    }
    out.push_back(*item.if_string());
  }
  return out;
}

// `setup`, `step call`: what a request asks for.
std::string asked_words(const json::Object& request) {
  const std::string step = text_of(request, "do");
  return text_of(request, "op") + (step.empty() ? "" : " " + step);
}

}  // namespace

Result<json::Object> read_answer(std::string_view line, std::int64_t id) {
  Result<json::Value> value = json::parse(line, {.max_bytes = kMaxDriverLineBytes});
  if (!value) {
    return Error{ErrorCode::kInvalidInput, fmt::format("the driver wrote {}, which is no JSON ({})",
                                                       quoted(line), value.error().message)};
  }
  json::Object* object = value->if_object();
  const json::Value* given = object == nullptr ? nullptr : object->find("id");
  if (given == nullptr || given->if_integer() == nullptr) {
    return Error{ErrorCode::kInvalidInput,
                 fmt::format("the driver wrote {}, which is no answer with an id", quoted(line))};
  }
  if (*given->if_integer() != id) {
    return Error{
        ErrorCode::kInvalidInput,
        fmt::format("the driver answered request {} where {} was asked", *given->if_integer(), id)};
  }
  json::Value* ok = object->find("ok");
  const json::Value* error = object->find("error");
  if ((ok == nullptr) == (error == nullptr)) {
    return Error{ErrorCode::kInvalidInput, "the driver's answer has not one of 'ok' and 'error'"};
  }
  if (error != nullptr) {
    const std::string text = text_of(*error, "message");
    return Error{ErrorCode::kFailedPrecondition,
                 fmt::format("the driver says {}", quoted(text, kMaxErrorShown))};
  }
  if (ok->if_object() == nullptr) {
    return Error{ErrorCode::kInvalidInput, "'ok' of the driver's answer is no object"};
  }
  return std::move(*ok->if_object());
}

Result<Hello> read_hello(const json::Object& answer) {
  const std::string protocol = text_of(answer, "protocol");
  if (protocol != kDriverProtocol) {
    return Error{ErrorCode::kUnsupported, fmt::format("the driver speaks {} and this runner {}",
                                                      quoted(protocol), kDriverProtocol)};
  }
  Hello out;
  if (const json::Value* subject = answer.find("subject")) {
    out.subject = text_of(*subject, "name");
    out.version = text_of(*subject, "version");
  }
  REMIT_TRY_ASSIGN(out.routes, texts(answer, "routes"));
  REMIT_TRY_ASSIGN(out.offers, texts(answer, "offers"));
  REMIT_TRY_ASSIGN(out.faults, texts(answer, "faults"));
  for (const std::string& route : out.routes) {
    if (!is_route(route)) {
      return Error{ErrorCode::kInvalidInput,
                   fmt::format("the driver offers {}, which is no route", quoted(route))};
    }
  }
  return out;
}

Driver::Driver(process::Child child, const Subject& subject, Spy& spy, const Clock& clock)
    : child_(std::move(child)),
      reader_(child_.output().get(), kMaxDriverLineBytes, spy.fd()),
      deadline_(subject.deadline),
      spy_(spy),
      clock_(clock) {}

Driver::~Driver() {
  child_.stop(kDriverGrace);
}

Result<std::unique_ptr<Driver>> Driver::start(const Subject& subject, Spy& spy,
                                              const Clock& clock) {
  process::ignore_broken_pipes();
  process::Command command;
  command.arguments = subject.command;
  command.working_directory = subject.working_directory;
  command.environment = process::pick_environment(process::harmless_variables());
  for (std::string& variable : process::pick_environment(subject.environment)) {
    command.environment.push_back(std::move(variable));
  }
  REMIT_TRY_ASSIGN(process::Child child, process::Child::start(command));
  std::unique_ptr<Driver> driver(new Driver(std::move(child), subject, spy, clock));
  REMIT_TRY_ASSIGN(const json::Object answer,
                   driver->ask({{"op", "hello"}, {"protocols", json::Array{kDriverProtocol}}}));
  REMIT_TRY_ASSIGN(driver->hello_, read_hello(answer));
  return driver;
}

Result<json::Object> Driver::ask(json::Object request) {
  asked_ = asked_words(request);
  json::Object line{{"id", ++last_id_}};
  for (json::Member& member : request.members()) {
    line.set(std::move(member.first), std::move(member.second));
  }
  const MonotonicTime until = clock_.monotonic_now() + deadline_;
  if (const Status sent =
          process::write_all(child_.input().get(), json::write(std::move(line)) + "\n", deadline_);
      !sent) {
    return sent.error().code == ErrorCode::kUnavailable ? ended() : sent.error();
  }
  REMIT_TRY_ASSIGN(const std::string text, next_line(until));
  REMIT_TRY_ASSIGN(json::Object answer, read_answer(text, last_id_));
  // Whatever the subject did before its driver answered stands in the socket by now.
  spy_.serve();
  if (std::optional<std::string> fault = spy_.take_fault()) {
    return Error{ErrorCode::kInvalidInput, std::move(*fault)};
  }
  return answer;
}

Result<std::string> Driver::next_line(MonotonicTime until) {
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - clock_.monotonic_now());
    const process::LineRead read = reader_.next(std::max(left, std::chrono::milliseconds{0}));
    switch (read.event) {
      case process::LineEvent::kLine:
        return std::string(read.line);
      case process::LineEvent::kWoken:
        spy_.serve();
        if (std::optional<std::string> fault = spy_.take_fault()) {
          return Error{ErrorCode::kInvalidInput, std::move(*fault)};
        }
        if (left.count() > 0) continue;
        [[fallthrough]];
      case process::LineEvent::kTimeout:
        return Error{ErrorCode::kDeadlineExceeded,
                     fmt::format("the driver did not answer {} within {} ms; does it write its "
                                 "answer at once (flush)?",
                                 quoted(asked_), deadline_.count())};
      case process::LineEvent::kTooLong:
        return Error{
            ErrorCode::kLimitExceeded,
            fmt::format("the driver wrote a line of more than {} bytes", kMaxDriverLineBytes)};
      case process::LineEvent::kCut:
      case process::LineEvent::kEnd:
        return ended();
      case process::LineEvent::kError:
        return Error{ErrorCode::kUnavailable, read.message};
    }
  }
}

Error Driver::ended() {
  const std::optional<process::ExitStatus> status = child_.wait_for(kDriverGrace);
  return Error{
      ErrorCode::kUnavailable,
      fmt::format("the driver {} where {} was asked",
                  status ? status->to_string() : std::string("closed its output"), quoted(asked_))};
}

}  // namespace remit::conformance
