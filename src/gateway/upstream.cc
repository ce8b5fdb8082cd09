// The reader thread of a server, and the requests that wait for it.
#include "gateway/upstream.h"

#include <set>
#include <utility>

#include "base/start_thread.h"
#include "gateway/peer_lines.h"
#include "mcp/methods.h"

namespace remit::gateway {
namespace {

using SteadyClock = std::chrono::steady_clock;

Error unavailable(const Answer& answer, std::string_view method) {
  ErrorCode code = ErrorCode::kUnavailable;
  std::string what;
  switch (answer.kind) {
    case AnswerKind::kTimedOut:
      code = ErrorCode::kDeadlineExceeded;
      what = "did not answer in time";
      break;
    case AnswerKind::kError:
      what = "answered with the error " + quoted(answer.error.message);
      break;
    case AnswerKind::kMalformed:
      what = "answered with something else: " + answer.detail;
      break;
    case AnswerKind::kCancelled:
    case AnswerKind::kAbandoned:
      what = "was not waited for";
      break;
    case AnswerKind::kChanged:
    case AnswerKind::kUnreachable:
    case AnswerKind::kLate:
    case AnswerKind::kClaimLost:
    case AnswerKind::kEnded:
    case AnswerKind::kResult:
      what = "ended before it answered";
      break;
  }
  return Error{code, std::string(method) + ": the server " + what};
}

}  // namespace

// One open request, on the stack of the thread that waits; guarded by the upstream's mutex.
struct Upstream::Pending {
  const UpstreamRequest& request;
  CondVar changed;
  bool is_done = false;
  bool is_stopped = false;
  Answer answer = {};
};

Upstream::Upstream(std::string name, UpstreamListener& listener, const Notices& notices,
                   AnswerBytes& answers)
    : name_(std::move(name)), listener_(listener), notices_(notices), answers_(answers) {}

Upstream::~Upstream() {
  close(std::chrono::milliseconds{0});
}

Status Upstream::start(const process::Command& command) {
  REMIT_TRY_ASSIGN(process::Wakeup wakeup, process::Wakeup::make());
  REMIT_TRY_ASSIGN(process::Child child, process::Child::start(command));
  wakeup_ = std::move(wakeup);
  child_ = std::move(child);
  outbox_ = std::make_unique<Outbox>(child_->input().get());
  if (!outbox_->is_broken()) reader_ = start_thread([this] { read_lines(); });
  if (reader_.joinable()) return {};
  outbox_.reset();
  child_.reset();
  return Error{ErrorCode::kUnavailable, "no thread can be started for it"};
}

bool Upstream::post(std::string line) {
  return outbox_ != nullptr && outbox_->offer(std::move(line));
}

bool Upstream::has_ended() const {
  const MutexLock lock(mutex_);
  return has_ended_;
}

bool Upstream::has_live_call() const {
  const MutexLock lock(mutex_);
  for (const auto& [id, pending] : pending_) {
    if (pending->request.is_call && !pending->is_done) return true;
  }
  return false;
}

std::optional<mcp::RequestId> Upstream::progress_token_of(const json::Value& token) const {
  const std::int64_t* id = token.if_integer();
  if (id == nullptr) return std::nullopt;
  const MutexLock lock(mutex_);
  const auto found = pending_.find(*id);
  if (found == pending_.end() || found->second->is_done) return std::nullopt;
  return found->second->request.progress_token;
}

Answer Upstream::ask(const UpstreamRequest& request, std::stop_token stop) {
  Pending pending{.request = request, .changed = {}};
  {
    const MutexLock lock(mutex_);
    if (has_ended_) return Answer{.kind = AnswerKind::kUnreachable};
    pending_.emplace(request.id, &pending);
  }
  const bool is_sent =
      outbox_ != nullptr && outbox_->offer_tagged(mcp::request_line(mcp::RequestId{request.id},
                                                                    request.method, request.params),
                                                  request.id);
  {
    // Not made under the lock: it may run its function at once.
    const std::stop_callback on_stop(stop, [this, &pending] {
      const MutexLock lock(mutex_);
      pending.is_stopped = true;
      pending.changed.notify_all();
    });
    const auto deadline = SteadyClock::now() + request.timeout;
    MutexLock lock(mutex_);
    while (is_sent && !pending.is_done && !pending.is_stopped) {
      const auto left = deadline - SteadyClock::now();
      if (left.count() <= 0) break;
      pending.changed.wait_for(mutex_, left);
    }
    pending_.erase(request.id);
  }
  // Nobody else knows `pending` any more.
  if (!is_sent) return Answer{.kind = AnswerKind::kUnreachable};
  if (pending.is_done) return std::move(pending.answer);
  if (outbox_->withdraw(request.id)) {
    return Answer{.kind = pending.is_stopped ? AnswerKind::kCancelled : AnswerKind::kUnreachable};
  }
  stop_waiting(request, pending.is_stopped ? "cancelled" : "no answer in time");
  return Answer{.kind = pending.is_stopped ? AnswerKind::kAbandoned : AnswerKind::kTimedOut};
}

void Upstream::stop_waiting(const UpstreamRequest& request, std::string_view reason) {
  if (request.method == "initialize") return;  // the one request that must not be cancelled
  post(mcp::notification_line(
      "notifications/cancelled",
      json::write(json::Object{{"requestId", request.id}, {"reason", reason}})));
}

Status Upstream::shake_hands(const json::Object& capabilities, std::stop_token stop,
                             std::chrono::milliseconds timeout) {
  const json::Object params{
      {"protocolVersion", mcp::revision_name(mcp::kNewestRevision)},
      {"capabilities", capabilities},
      {"clientInfo", json::Object{{"name", "remit"}, {"version", REMIT_VERSION}}}};
  const std::string text = json::write(params);
  Answer answer = ask({.id = next_id(), .method = "initialize", .params = text, .timeout = timeout},
                      std::move(stop));
  if (answer.kind != AnswerKind::kResult) return unavailable(answer, "initialize");
  const std::string& version = *answer.result.find("protocolVersion")->if_string();
  if (!mcp::parse_revision(version)) {
    return Error{ErrorCode::kUnsupported, "initialize: the server speaks only protocol version " +
                                              quoted(version) +
                                              "; 2025-11-25 and 2025-06-18 are spoken here"};
  }
  capabilities_ = *answer.result.find("capabilities")->if_object();
  const json::Value* instructions = answer.result.find("instructions");
  if (instructions != nullptr && instructions->if_string() != nullptr) {
    instructions_ = *instructions->if_string();
  }
  if (!post(mcp::notification_line("notifications/initialized", ""))) {
    return unavailable(Answer{}, "initialize");
  }
  return {};
}

Result<std::vector<json::Object>> Upstream::list_tools(std::chrono::milliseconds timeout,
                                                       std::stop_token stop) {
  std::vector<json::Object> out;
  std::string params;
  std::set<std::string> cursors;
  const auto deadline = SteadyClock::now() + timeout;
  for (std::size_t page = 0; page < kMaxListPages; ++page) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - SteadyClock::now());
    if (left.count() <= 0) return unavailable({.kind = AnswerKind::kTimedOut}, "tools/list");
    Answer answer =
        ask({.id = next_id(), .method = "tools/list", .params = params, .timeout = left}, stop);
    if (answer.kind != AnswerKind::kResult) return unavailable(answer, "tools/list");
    for (json::Value& tool : *answer.result.find("tools")->if_array()) {
      out.push_back(std::move(*tool.if_object()));
    }
    if (out.size() > kMaxTools) break;
    const json::Value* cursor = answer.result.find("nextCursor");
    if (cursor == nullptr) return out;
    if (!cursors.insert(*cursor->if_string()).second) break;
    params = json::write(json::Object{{"cursor", *cursor->if_string()}});
  }
  return Error{ErrorCode::kLimitExceeded, "tools/list: the server's list has no end"};
}

void Upstream::settle(const mcp::RequestId& id, Answer answer, std::size_t bytes) {
  const std::int64_t* number = id.if_number();
  const auto open = number == nullptr ? std::nullopt : find_open(*number);
  if (!open) {
    // Late, twice, or never asked for. Late ones are to be expected after a cancellation.
    strays_.count(notices_, "server " + quoted(name_) + " answered a request that is not open");
    return;
  }
  if (answer.kind == AnswerKind::kResult) {
    const Status shape = mcp::check_result(open->method, answer.result);
    if (!shape) answer = {.kind = AnswerKind::kMalformed, .detail = shape.error().message};
  }
  // The client is not held up by a list of tools, and a list not by the client.
  if (open->is_call) answer.share = answers_.hold(bytes);
  const MutexLock lock(mutex_);
  const auto found = pending_.find(*number);
  if (found == pending_.end()) return;  // given up meanwhile
  found->second->answer = std::move(answer);
  found->second->is_done = true;
  found->second->changed.notify_all();
}

// A request that is waited for; only this thread settles one, so it stays so.
std::optional<Upstream::Open> Upstream::find_open(std::int64_t id) const {
  const MutexLock lock(mutex_);
  const auto found = pending_.find(id);
  if (found == pending_.end() || found->second->is_done) return std::nullopt;
  const UpstreamRequest& request = found->second->request;
  return Open{.method = std::string(request.method), .is_call = request.is_call};
}

// Something came that may have been an answer but has no id: it is, if only one is awaited.
void Upstream::settle_only(Answer answer) {
  std::optional<std::int64_t> id;
  {
    const MutexLock lock(mutex_);
    if (pending_.size() == 1) id = pending_.begin()->first;
  }
  if (id) settle(mcp::RequestId{*id}, std::move(answer));
}

void Upstream::settle_all() {
  const MutexLock lock(mutex_);
  has_ended_ = true;
  for (auto& [id, pending] : pending_) {
    if (pending->is_done) continue;
    pending->is_done = true;
    pending->changed.notify_all();
  }
}

void Upstream::take_fault(const mcp::MessageFault& fault) {
  faults_.count(notices_,
                "server " + quoted(name_) + " sent a line that is no message: " + fault.message);
  ++faults_in_a_row_;
  if (fault.is_response && fault.id) {
    settle(*fault.id, {.kind = AnswerKind::kMalformed, .detail = fault.message});
  } else if (fault.id) {
    post(mcp::error_line({.id = fault.id, .code = fault.code, .message = fault.message}));
  }
}

void Upstream::take_line(std::string_view line) {
  auto parsed = mcp::parse_message(line);
  if (const auto* fault = std::get_if<mcp::MessageFault>(&parsed)) return take_fault(*fault);
  faults_in_a_row_ = 0;
  auto& message = std::get<mcp::Message>(parsed);
  if (auto* result = std::get_if<mcp::ResultResponse>(&message)) {
    settle(result->id, {.kind = AnswerKind::kResult, .result = std::move(result->result)},
           line.size());
  } else if (auto* error = std::get_if<mcp::ErrorResponse>(&message)) {
    if (!error->id) return take_fault({.message = "an error without an id"});
    const mcp::RequestId id = *error->id;
    settle(id, {.kind = AnswerKind::kError, .error = std::move(*error)}, line.size());
  } else if (auto* request = std::get_if<mcp::Request>(&message)) {
    listener_.on_request(*this, std::move(*request));
  } else {
    listener_.on_notification(*this, std::move(std::get<mcp::Notification>(message)));
  }
}

void Upstream::read_lines() {
  read_peer_lines(
      child_->output().get(), kMaxMcpLineBytes, wakeup_->fd(),
      {.line = [this](std::string_view line) { take_line(line); },
       .too_long =
           [this] {
             take_fault({.message = "longer than the bound of a line", .is_limit = true});
             settle_only(
                 {.kind = AnswerKind::kMalformed, .detail = "longer than the bound of a line"});
           },
       .cut = {},
       .goes_on = [this] { return faults_in_a_row_ < kMaxFaultsInARow; }});
  if (faults_in_a_row_ >= kMaxFaultsInARow) {
    notices_.say("server " + quoted(name_) + " sends no messages; it is given up");
  }
  bool is_expected = false;
  {
    const MutexLock lock(mutex_);
    is_expected = is_closing_;
  }
  if (!is_expected) notices_.say("server " + quoted(name_) + " ended");
  settle_all();
}

void Upstream::close(std::chrono::milliseconds grace) {
  {
    const MutexLock lock(mutex_);
    if (std::exchange(is_closing_, true)) return;
  }
  if (!child_) return;
  outbox_->close(grace);
  // Its output is still read meanwhile, so that it is not kept from ending by a full pipe.
  child_->stop(grace);
  wakeup_->notify();
  reader_.join();
}

}  // namespace remit::gateway
