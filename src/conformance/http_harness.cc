// Requests sent, while the tool behind the executor is served by its own threads.
#include "conformance/http_harness.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/limits.h"
#include "conformance/http_form.h"
#include "conformance/words.h"
#include "process/file_descriptor.h"

namespace remit::conformance {
namespace {

constexpr std::chrono::milliseconds kLook{20};  // between two looks at a server that starts
constexpr std::uint64_t kMaxUrlFileBytes = 4096;

void wait(std::chrono::milliseconds time) {
  ::poll(nullptr, 0, static_cast<int>(time.count()));
}

}  // namespace

Seen seen_of(const http::Response& response, const AnswerMarks& marks) {
  const std::string words = fmt::format("{} {}", response.status, response.body);
  if (response.status >= 200 && response.status < 300) return {"result", words};
  const Result<json::Value> body = json::parse(response.body);
  const std::string_view status = body ? status_in(*body) : std::string_view{};
  if (!status.empty()) return {std::string(status), words};
  if (has_mark(response.body, marks.denied_texts)) return {"denied", words};
  if (is_one_of(response.status, marks.denied_codes)) return {"denied", words};
  if (is_one_of(response.status, marks.failed_codes)) return {"failed", words};
  return {"unknown", words};
}

Result<std::unique_ptr<HttpHarness>> HttpHarness::start(const Subject& subject, Spy& spy,
                                                        const HarnessWorld& world) {
  std::unique_ptr<HttpHarness> out(new HttpHarness(subject, spy, world));
  process::ignore_broken_pipes();
  REMIT_TRY_ASSIGN(out->client_, http::Client::create({}, world.clock));
  REMIT_TRY_ASSIGN(out->tool_, HttpSpy::start(subject.executor->forms, world.clock));
  REMIT_TRY(out->greet());
  return out;
}

HttpHarness::~HttpHarness() {
  HttpHarness::end();
}

Status HttpHarness::prepare(json::Object& spy_members, Placeholders& values) {
  values["spy_url"] = tool_->open_trial(spy_facts());
  spy_members.set("url", values["spy_url"]);
  return {};
}

Status HttpHarness::plan(const std::string&) {
  return be_ready();
}

Status HttpHarness::be_ready() {
  // One that died answered a call by that; the next one is asked of a new one.
  if (!check_process()) forget_process();
  if (url_) return {};
  const MonotonicTime until = world_.clock.monotonic_now() + executor().deadline;
  if (!executor().command.empty() && !child_) {
    REMIT_TRY(start_process());
  }
  REMIT_TRY_ASSIGN(const std::string text, find_url(until));
  Result<http::Url> url = http::Url::parse(text);
  if (!url) return in_place("the executor's url", url.error());
  url_ = *std::move(url);
  const Status connected = wait_until_connected(until);
  if (!connected) url_.reset();
  return connected;
}

Status HttpHarness::start_process() {
  if (!executor().url_file.empty()) {
    // Where an earlier one listened says nothing of where this one will.
    const std::string file = filled(executor().url_file, values_for(std::string(kNobody)));
    if (world_.files.info(file)) REMIT_TRY(world_.files.remove(file));
  }
  process::Command command = command_for(std::string(kNobody));
  // A server that nobody listens to must not be held up by what it prints.
  command.is_output_discarded = true;
  REMIT_TRY_ASSIGN(child_, process::Child::start(command));
  return {};
}

void HttpHarness::forget_process() {
  url_.reset();
  child_.reset();
}

Status HttpHarness::check_process() {
  if (!child_) return {};
  const std::optional<process::ExitStatus> status = child_->wait_for(std::chrono::milliseconds{0});
  if (!status) return {};
  return Error{ErrorCode::kUnavailable, fmt::format("the executor {}", status->to_string())};
}

Result<std::string> HttpHarness::find_url(MonotonicTime until) {
  const Placeholders values = values_for(std::string(kNobody));
  if (!executor().url.empty()) return filled(executor().url, values);
  const std::string file = filled(executor().url_file, values);
  for (;;) {
    const Result<std::string> text = world_.files.read(file, kMaxUrlFileBytes);
    // A file that is being written has no end of a line yet.
    if (text && text->ends_with('\n')) return without_line_end(*text);
    REMIT_TRY(check_process());
    if (world_.clock.monotonic_now() >= until) {
      return Error{ErrorCode::kDeadlineExceeded, "the executor did not say where it listens", file};
    }
    wait(kLook);
  }
}

// A connection without a request asks for nothing and leaves no record. One that somebody else
// started listens already; ours may still be about to.
Status HttpHarness::wait_until_connected(MonotonicTime until) {
  for (;;) {
    const Status reached = client_->reach(*url_, until);
    if (reached) return {};
    REMIT_TRY(check_process());
    if (!child_ || world_.clock.monotonic_now() >= until) {
      return Error{reached.error().code, "the executor does not listen: " + reached.error().message,
                   reached.error().where};
    }
    wait(kLook);
  }
}

// What reached the tool counts as if it had come to the spy itself.
void HttpHarness::pass_effects() {
  for (Effect& effect : tool_->take_effects()) spy_.count(std::move(effect));
}

Result<Seen> HttpHarness::call(const ClientCall& call) {
  REMIT_TRY(be_ready());
  const HttpForm* form = form_of(executor().forms, call.tool);
  if (form == nullptr) {
    return Error{ErrorCode::kFailedPrecondition,
                 fmt::format("the subject names no request for {}", quoted(call.tool))};
  }
  REMIT_TRY_ASSIGN(http::Request asked, request_of(*form, call.tool, call.arguments));
  Placeholders values = values_for(call.caller);
  for (const auto& [name, value] : executor().headers) {
    const bool is_credential = value.find("{credential}") != std::string::npos;
    if (is_credential && values["credential"].empty()) continue;
    asked.headers.set(name, filled(value, values));
  }
  if (!call.key.empty()) asked.headers.set(executor().key, call.key);
  http::ClientRequest request{.method = asked.method,
                              .url = *url_,
                              .headers = asked.headers,
                              .body = asked.body,
                              .deadline = world_.clock.monotonic_now() + executor().deadline};
  const std::string base = url_->target == "/" ? "" : url_->target;
  request.url.target = base + asked.target;
  tool_->answer_next(spy_.next_answer());
  const Result<http::Response> answer = client_->send(request);
  pass_effects();
  if (answer) return seen_of(*answer, executor().marks);
  return Seen{"unknown", answer.error().to_string()};
}

// A server is told to end; what it still asks of the tool is answered meanwhile.
void HttpHarness::end() {
  if (child_) child_->stop_by_signal(executor().deadline);
  forget_process();
  if (tool_ != nullptr) pass_effects();
}

std::vector<std::int64_t> HttpHarness::processes() const {
  std::vector<std::int64_t> out;
  if (child_) out.push_back(child_->pid());
  return out;
}

}  // namespace remit::conformance
