// The invoice desk's old endpoints behind the HTTP adapter, asked by HTTP: its world is made by the
// desk's own driver, in one process with the server. With the word `--bare` the old handler is
// served by itself, which the pack must find.
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "adapter/http_adapter.h"
#include "base/mutex.h"
#include "driver.h"
#include "http/client.h"
#include "http/server.h"
#include "legacy.h"

namespace remit::examples {
namespace {

constexpr std::chrono::seconds kPatience{30};
constexpr std::string_view kTools = "/tools/";

std::string text(const json::Value& from, std::string_view key) {
  const json::Value* value = from.find(key);
  const std::string* found = value == nullptr ? nullptr : value->if_string();
  return found == nullptr ? "" : *found;
}

/// Books that are kept by a service: each use is a request to it.
class ServiceBooks final : public Books {
 public:
  ServiceBooks(std::string url, std::unique_ptr<http::Client> client)
      : url_(std::move(url)), client_(std::move(client)) {}

  Result<json::Value> use(const ToolUse& use) override {
    REMIT_TRY_ASSIGN(http::Url url, http::Url::parse(url_ + std::string(kTools) + use.tool));
    const Result<http::Response> answer =
        client_->send({.method = "POST",
                       .url = std::move(url),
                       .headers = {{"Content-Type", "application/json"},
                                   {"Remit-Invocation-Id", use.origin.invocation_id}},
                       .body = json::write(use.arguments),
                       .deadline = clock_.monotonic_now() + kPatience});
    if (!answer) return Error{ErrorCode::kDataLoss, "the answer was lost"};
    if (answer->status == 200) return json::Value(json::Object{{"done", true}});
    return Error{ErrorCode::kFailedPrecondition, "the books refused"};
  }

 private:
  const std::string url_;
  const std::unique_ptr<http::Client> client_;
  const SystemClock clock_;
};

/// An old handler: one endpoint for each tool, and no question asked.
class OldTools final : public http::Handler {
 public:
  explicit OldTools(Books& books) : books_(books) {}

  http::Response handle(const http::Request& request, std::stop_token /*stop*/) override {
    const Result<json::Value> body = json::parse(request.body);
    if (!body || !request.path().starts_with(kTools)) return http::text_response(400, "what?");
    const std::string* id = request.headers.find("Remit-Invocation-Id");
    ToolUse use;
    use.tool = request.path().substr(kTools.size());
    use.arguments = *body;
    use.origin.invocation_id = id == nullptr ? "" : *id;
    const Result<json::Value> done = books_.use(use);
    if (done) return {.status = 200, .body = json::write(*done)};
    const bool is_lost = done.error().code == ErrorCode::kDataLoss;
    return http::text_response(is_lost ? 504 : 409, R"({"status":"failed"})");
  }

 private:
  Books& books_;
};

class HttpDesk final : public Driver, private http::Handler {
 public:
  HttpDesk(const process::TerminationSignals& signals, bool is_bare)
      : Driver(signals), is_bare_(is_bare) {}
  ~HttpDesk() override { server_.reset(); }

  Result<json::Object> answer(const json::Value& request) override {
    const std::string op = text(request, "op");
    if (op == "setup" || op == "reset") server_.reset();
    const MutexLock lock(mutex_);
    REMIT_TRY_ASSIGN(json::Object out, Driver::answer(request));
    if (op == "setup") REMIT_TRY(serve(request, out));
    return out;
  }

 protected:
  std::unique_ptr<Books> books_for(const json::Value& spy) override {
    return std::make_unique<ServiceBooks>(text(spy, "url"),
                                          std::move(*http::Client::create({}, clock_)));
  }

 private:
  // Callers are told their badges; one that is not valid has a badge that no office made.
  Status serve(const json::Value& request, json::Object& out) {
    endpoints_ = {};
    const json::Value& fixture = *request.find("fixture");
    for (const json::Member& tool : fixture.find("tools")->if_object()->members()) {
      endpoints_.push_back({"POST", std::string(kTools) + tool.first, tool.first});
    }
    for (const char* closed : {"invoice.delete", "Invoice.Read"}) {
      endpoints_.push_back({"POST", std::string(kTools) + closed, closed});
    }
    json::Object credentials;
    for (const json::Member& one : fixture.find("principals")->if_object()->members()) {
      const bool is_invalid = text(one.second, "state") == "invalid";
      credentials.set(one.first,
                      is_invalid ? one.first + ".forged" : office().staff().badge_of(one.first));
    }
    out.set("credentials", std::move(credentials));
    REMIT_TRY_ASSIGN(server_, http::Server::start({}, *this, clock_));
    PosixFileSystem files;
    return files.replace(text(request, "directory") + "/url",
                         "http://127.0.0.1:" + std::to_string(server_->port()) + "\n");
  }

  // The office may be another one than at the last request.
  http::Response handle(const http::Request& request, std::stop_token stop) override {
    const MutexLock lock(mutex_);
    OldTools old(books());
    if (is_bare_) return old.handle(request, std::move(stop));
    auto guarded = guard_old_desk(office(), old, endpoints_);
    if (!guarded) return http::text_response(500, "no door");
    return (*guarded)->handle(request, std::move(stop));
  }

  const SystemClock clock_;
  const bool is_bare_;
  std::vector<adapter::Endpoint> endpoints_;
  Mutex mutex_;  // requests come on the server's threads, the world changes on the driver's
  std::unique_ptr<http::Server> server_;
};

}  // namespace
}  // namespace remit::examples

int main(int count, char** words) {
  const bool is_bare = count > 1 && std::string(words[1]) == "--bare";
  return remit::examples::run_driver({}, [&](const remit::process::TerminationSignals& signals) {
    return std::make_unique<remit::examples::HttpDesk>(signals, is_bare);
  });
}
