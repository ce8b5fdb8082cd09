// Executors asked over MCP and HTTP: their subject files, what cases need of them, what answers
// are taken for. Whole runs are in tests/conformance.
#include "conformance/executor.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/file_descriptor.h"
#include "base/file_system.h"
#include "base/random.h"
#include "conformance/effect_owners.h"
#include "conformance/executor_harness.h"
#include "conformance/formats.h"
#include "conformance/http_form.h"
#include "conformance/http_harness.h"
#include "conformance/http_spy.h"
#include "conformance/mcp_harness.h"
#include "conformance/run.h"
#include "conformance/spy_server.h"
#include "conformance/subject.h"
#include "http/client.h"
#include "process/file_descriptor.h"

namespace remit::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using PackRun = Run;  // within a test, Run is a member of its base class

constexpr const char* kMcp = R"(subject: remit.subject/1
name: proxy
driver: {command: [world]}
mcp: {command: [proxy, "{directory}"], environment: {CREDENTIAL: "{credential}"}, denied_codes: [-32001]}
evidence: {lines: "{directory}/events.jsonl"}
callers: {alice: secret, nobody: ""}
cannot: {policy: it has none}
without: [approval]
)";

constexpr const char* kHttp = R"(subject: remit.subject/1
name: service
http:
  url: "http://127.0.0.1:8808"
  headers: {Authorization: "Bearer {credential}"}
  requests: [{tool: "*", method: POST, path: "/tools/{tool}"}]
evidence: {directory: evidence}
callers: [alice]
routes: [legacy, admin]
)";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

const Pack& built_in() {
  static const Pack pack = *parse_pack(built_in_pack_files()).pack;
  return pack;
}

// REQ-CF-080, REQ-CF-081, REQ-CF-083
TEST(ExecutorSubject, IsRead) {
  const SubjectParse parsed = parse_subject(kMcp, "s.yaml", "place", built_in());
  ASSERT_TRUE(parsed.subject.has_value()) << parsed.errors.front().to_string();
  const Subject& subject = *parsed.subject;
  EXPECT_THAT(subject.routes, ElementsAre("agent"));
  ASSERT_TRUE(subject.executor.has_value());
  EXPECT_EQ(subject.executor->callers.at("alice"), "secret");
  EXPECT_EQ(subject.executor->cannot.at("policy"), "it has none");
  EXPECT_TRUE(subject.executor->cannot.contains("force_start")) << "no client's to ask for";
  EXPECT_EQ(subject.executor->key, "io.remit/idempotency-key");
  const SubjectParse http = parse_subject(kHttp, "s.yaml", "place", built_in());
  ASSERT_TRUE(http.subject.has_value()) << http.errors.front().to_string();
  EXPECT_EQ(http.subject->executor->key, "Idempotency-Key");
}

// REQ-CF-080
TEST(ExecutorSubject, IsRefused) {
  const struct {
    const char* text;
    const char* from;
    const char* to;
    const char* message;
  } kRows[] = {
      {kMcp, "callers: {alice: secret, nobody: \"\"}\n", "", "callers"},
      {kMcp, "callers: {alice: secret, nobody: \"\"}", "callers: {}", "names nobody"},
      {kMcp, "{policy: it has none}", "{policy: \"\"}", "says why"},
      {kMcp, "{lines: \"{directory}/events.jsonl\"}", "{}", "one of 'directory' and 'lines'"},
      {kMcp, "driver: {command: [world]}\nmcp", "http: {}\nmcp", "is there beside 'mcp'"},
      {kMcp, "command: [proxy, \"{directory}\"], ", "", "command"},
      {kMcp, "without:", "routes: [queued]\nwithout:", "a client comes by one of"},
      {kHttp, "evidence: {directory: evidence}\n", "", "where no driver collects the record"},
      {kHttp, "  url: \"http://127.0.0.1:8808\"\n", "", "one of 'url' and 'url_file'"},
      {kHttp, "path: \"/tools", "path: \"tools", "begins with /"},
      {kHttp, "callers: [alice]", "callers: [alice]\ncolour: red", "colour"},
      {kHttp, "{credential}", "{credentials}", "did you mean credential?"},
      {kMcp, "\"{directory}\"]", "\"{dir}\"]", "did you mean directory?"},
      {kMcp, "\"{directory}\"]", "\"{spy_url}\"]", "no placeholder here"},
      {kMcp, "\"{credential}\"", "\"{crdential}\"", "did you mean credential?"},
      {kMcp, "{lines: \"{directory}", "{lines: \"{caller}", "no placeholder here"},
      {kMcp, "alice: secret", "alice: \"{caller}\"", "no placeholder here"},
      {kHttp, "127.0.0.1:8808", "127.0.0.1:{prot}", "no placeholder here"},
      {kHttp, "method: POST", "method: PSOT", "did you mean POST?"},
      {kHttp, "method: POST", "method: post", "did you mean POST?"},
      {kHttp, "callers: [alice]", "callers: [alise]", "did you mean alice?"},
      {kMcp, "alice: secret", "alise: secret", "did you mean alice?"},
      {kMcp, "policy: it has none", "polcy: it has none", "did you mean policy?"},
      {kMcp, "policy: it has none", "nobdy: it has none", "did you mean nobody?"},
      {kMcp, "mcp: {", "mpc: {", "did you mean mcp?"},
  };
  for (const auto& row : kRows) {
    const SubjectParse parsed =
        parse_subject(replaced(row.text, row.from, row.to), "s.yaml", "", built_in());
    EXPECT_FALSE(parsed.subject.has_value()) << row.message;
    std::string all;
    for (const Error& error : parsed.errors) all += error.to_string() + "\n";
    EXPECT_THAT(all, HasSubstr(row.message));
  }
}

// REQ-CF-080: one key that is misspelt is not four that are unknown.
TEST(ExecutorSubject, SaysOnceThatItHasNone) {
  std::string text = replaced(kMcp, "mcp: {", "mpc: {");
  text = replaced(text, "driver: {command: [world]}\n", "");
  const SubjectParse parsed = parse_subject(text, "s.yaml", "", built_in());
  ASSERT_EQ(parsed.errors.size(), 2U);
  EXPECT_THAT(parsed.errors[1].message, HasSubstr("neither 'mcp' nor 'http'"));
}

// REQ-CF-082: what is no word in braces, or a shell's, is text.
TEST(Placeholders, AreNotWhateverStandsInBraces) {
  const std::string text = replaced(
      kMcp, "\"{directory}\"]", "'{\"a\":1}', '${HOME}', '${home}', '{}', '{A}', '{ x }', '{']");
  EXPECT_THAT(parse_subject(text, "s.yaml", "", built_in()).errors, ::testing::IsEmpty());
}

// REQ-CF-082
TEST(Placeholders, AreFilled) {
  const Placeholders values = {{"directory", "/tmp/x"}, {"caller", "alice"}};
  EXPECT_EQ(filled("{directory}/{caller}.yaml", values), "/tmp/x/alice.yaml");
  EXPECT_EQ(filled("{other} {\"a\":1} {", values), "{other} {\"a\":1} {");
}

// REQ-CF-084
TEST(Needs, AreTheStepsPartsAndCallersOfACase) {
  EXPECT_THAT(needs_of(*built_in().find_case("allowed")), ElementsAre("alice", "call"));
  EXPECT_THAT(needs_of(*built_in().find_case("missing-identity")), ElementsAre("call", "nobody"));
  EXPECT_THAT(needs_of(*built_in().find_case("resolver-down")),
              IsSupersetOf({"take_down", "bring_up", "resolver"}));
  EXPECT_THAT(needs_of(*built_in().find_case("stale-approval")),
              IsSupersetOf({"approval", "fixture"}));
}

McpAnswer result(const std::string& text, bool is_error) {
  const json::Object block{{"type", "text"}, {"text", text}};
  return mcp::ResultResponse{mcp::RequestId(1),
                             {{"content", json::Array{block}}, {"isError", is_error}}};
}

McpAnswer error(std::int64_t code, const std::string& message,
                std::optional<json::Value> data = std::nullopt) {
  return mcp::ErrorResponse{mcp::RequestId(1), code, message, std::move(data)};
}

// REQ-CF-090
TEST(McpAnswers, AreToldApart) {
  const AnswerMarks marks{.denied_codes = {-32001}, .denied_texts = {"not allowed"}};
  EXPECT_EQ(seen_of(result("done", false), marks).saw, "result");
  EXPECT_EQ(seen_of(result("not allowed", false), marks).saw, "result") << "it says it did it";
  EXPECT_EQ(seen_of(result("broken", true), marks).saw, "failed");
  EXPECT_EQ(seen_of(result("you are not allowed to", true), marks).saw, "denied");
  EXPECT_EQ(seen_of(result(R"({"status":"denied"})", true), marks).saw, "denied");
  EXPECT_EQ(seen_of(result(R"({"status":"unknown"})", true), marks).saw, "unknown");
  EXPECT_EQ(seen_of(result(R"({"status":"result"})", true), marks).saw, "failed");
  EXPECT_EQ(seen_of(error(-32001, "no"), marks).saw, "denied");
  EXPECT_EQ(seen_of(error(-32603, "oh"), marks).saw, "failed");
  EXPECT_EQ(seen_of(error(-32603, "oh", json::Object{{"status", "unknown"}}), marks).saw,
            "unknown");
}

// REQ-CF-091
TEST(HttpAnswers, AreToldApart) {
  const AnswerMarks marks = parse_subject(kHttp, "s.yaml", "", built_in()).subject->executor->marks;
  const auto saw = [&](int status, const std::string& body) {
    return seen_of(http::Response{.status = status, .body = body}, marks).saw;
  };
  EXPECT_EQ(saw(200, R"({"status":"denied"})"), "result") << "it says it did it";
  EXPECT_EQ(saw(204, ""), "result");
  for (const int status : {401, 403, 404, 409, 422, 429, 503}) EXPECT_EQ(saw(status, ""), "denied");
  EXPECT_EQ(saw(422, R"({"status":"failed"})"), "failed");
  EXPECT_EQ(saw(502, ""), "failed");
  EXPECT_EQ(saw(504, ""), "unknown");
  EXPECT_EQ(saw(301, ""), "unknown");
}

// REQ-CF-082
TEST(HttpForms, SayTheSameBothWays) {
  const std::vector<HttpForm> forms = {
      {"invoice.read", "GET", "/invoices/{invoice}"},
      {"invoice.label", "POST", "/invoices/{invoice}/label"},
      {"*", "POST", "/tools/{tool}"},
  };
  const struct {
    const char* tool;
    json::Object arguments;
    const char* target;
  } kRows[] = {
      {"invoice.read", {{"invoice", "a/b c"}}, "/invoices/a%2Fb%20c"},
      {"invoice.read", {{"invoice", "a"}, {"extra", "x&y"}}, "/invoices/a?extra=x%26y"},
      {"invoice.label", {{"invoice", "a"}, {"label", "paid"}}, "/invoices/a/label"},
      {"Invoice.Read", {{"amount", 5}}, "/tools/Invoice.Read"},
  };
  for (const auto& row : kRows) {
    const HttpForm* form = form_of(forms, row.tool);
    ASSERT_NE(form, nullptr) << row.tool;
    const Result<http::Request> request = request_of(*form, row.tool, row.arguments);
    ASSERT_TRUE(request) << row.tool;
    EXPECT_EQ(request->target, row.target);
    const std::optional<FormMatch> match = match_form(forms, *request);
    ASSERT_TRUE(match) << row.tool;
    EXPECT_EQ(match->tool, row.tool);
    EXPECT_EQ(json::canonical(match->arguments), json::canonical(row.arguments));
  }
  EXPECT_FALSE(request_of(forms[0], "invoice.read", {}));
  EXPECT_FALSE(request_of(forms[0], "invoice.read", {{"invoice", json::Array{}}}));
  EXPECT_FALSE(
      match_form(forms, {.method = "PUT", .target = "/tools/x", .headers = {}, .body = {}}));
  EXPECT_EQ(form_of({forms[0]}, "other"), nullptr);
}

/// A spy of the runner that is served by a thread, as the runner's own would.
class ServedSpy {
 public:
  explicit ServedSpy(ToolAnswer first = ToolAnswer::kDone) : spy_(*Spy::open("/tmp", random_)) {
    spy_.answer_next(first);
    server_ = std::jthread([this](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        spy_.serve();
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
      }
    });
  }
  [[nodiscard]] SpyFacts facts() const {
    return {spy_.path(), "t1", "id", *built_in().cases.front().fixture.find("tools")->if_object()};
  }
  std::vector<Effect> stop() {
    server_ = std::jthread();
    return spy_.take_effects();
  }

 private:
  SystemRandom random_;
  Spy spy_;
  std::jthread server_;
};

std::string answers_of(const SpyFacts& facts, const std::string& asked) {
  auto in = process::make_pipe();
  auto out = process::make_pipe();
  EXPECT_TRUE(in && out);
  EXPECT_TRUE(process::write_all(in->write_end.get(), asked, std::chrono::seconds{30}));
  in->write_end.close();
  EXPECT_TRUE(serve_spy(facts, in->read_end.get(), out->write_end.get()));
  out->write_end.close();
  std::string answers;
  process::LineReader reader(out->read_end.get(), kMaxMcpLineBytes);
  for (auto read = reader.next(); read.event == process::LineEvent::kLine; read = reader.next()) {
    answers += std::string(read.line) + "\n";
  }
  return answers;
}

constexpr const char* kToolCall =
    R"({"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"invoice.read",)"
    R"("arguments":{"invoice":"canonical-invoice-4"},"_meta":{"id":"i-1"}}})"
    "\n";

// REQ-CF-086
TEST(SpyServer, IsAToolThatTells) {
  ServedSpy spy;
  const std::string answers = answers_of(
      spy.facts(),
      std::string(
          R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":")") +
          R"(2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}})" + "\n" +
          R"({"jsonrpc":"2.0","id":2,"method":"tools/list"})" + "\n" + kToolCall +
          R"({"jsonrpc":"2.0","id":4,"method":"resources/list"})" + "\n" + "nonsense\n");
  EXPECT_THAT(answers, HasSubstr(R"("protocolVersion":"2025-06-18")"));
  EXPECT_THAT(answers, HasSubstr(R"("name":"refund.create")"));
  EXPECT_THAT(answers, HasSubstr("\"isError\":false"));
  EXPECT_THAT(answers, HasSubstr("-32601"));
  EXPECT_THAT(answers, HasSubstr("-32700"));
  const std::vector<Effect> effects = spy.stop();
  ASSERT_EQ(effects.size(), 1U);
  EXPECT_EQ(effects.front().token, "t1");
  EXPECT_EQ(effects.front().invocation_id, "i-1");
  EXPECT_EQ(effects.front().resource, "canonical-invoice-4");
}

// REQ-CF-086
TEST(SpyServer, FailsAndLosesAsTheCaseSays) {
  {
    const ServedSpy spy(ToolAnswer::kFailed);
    EXPECT_THAT(answers_of(spy.facts(), kToolCall), HasSubstr("\"isError\":true"));
  }
  ServedSpy spy(ToolAnswer::kLost);
  EXPECT_EQ(answers_of(spy.facts(), kToolCall), "");
  EXPECT_EQ(spy.stop().size(), 1U) << "the tool was reached all the same";
}

// REQ-CF-086
TEST(HttpSpy, CountsEvenWhatIsNoCall) {
  const SystemClock clock;
  auto tool = HttpSpy::start({{"*", "POST", "/tools/{tool}"}}, clock);
  ASSERT_TRUE(tool) << tool.error().to_string();
  auto client = http::Client::create({}, clock);
  ASSERT_TRUE(client);
  const std::string base = (*tool)->open_trial({"", "t1", "Invocation", {}});
  const auto ask = [&](const std::string& method, const std::string& place) {
    const auto until = clock.monotonic_now() + std::chrono::seconds{60};
    auto answer = (*client)->send({.method = method,
                                   .url = *http::Url::parse(place),
                                   .headers = {{"Invocation", "i-1"}},
                                   .deadline = until});
    return answer ? answer->status : 0;
  };
  EXPECT_EQ(ask("POST", base + "/tools/invoice.read"), 200);
  EXPECT_EQ(ask("GET", base + "/elsewhere"), 200);
  (*tool)->answer_next(ToolAnswer::kFailed);
  EXPECT_EQ(ask("POST", base + "/tools/invoice.read"), 422);
  (*tool)->answer_next(ToolAnswer::kLost);
  EXPECT_EQ(ask("POST", base + "/tools/invoice.read"), 0);
  EXPECT_EQ(ask("POST", base + "x/tools/invoice.read"), 404) << "of no trial";
  EXPECT_EQ(ask("POST", base.substr(0, base.rfind('/')) + "/tools/invoice.read"), 404);
  const std::vector<Effect> effects = (*tool)->take_effects();
  ASSERT_EQ(effects.size(), 6U) << "what is of no trial has reached the tool all the same";
  EXPECT_EQ(effects[0].tool, "invoice.read");
  EXPECT_EQ(effects[0].token, "t1");
  EXPECT_EQ(effects[0].invocation_id, "i-1");
  EXPECT_EQ(effects[1].tool, "GET /elsewhere");
  EXPECT_EQ(effects[4].token, "");
  EXPECT_EQ(effects[5].token, "");
  EXPECT_EQ(effects[5].tool, "invoice.read");
}

// REQ-DR-031, REQ-CF-086
TEST(EffectOwners, BlameWhatIsLateOrOfNoTrial) {
  EffectOwners owners;
  owners.add("t0", 0);
  owners.add("t1", 1);
  owners.add("t2", 2);
  owners.disregard("t1");
  std::vector<std::pair<std::size_t, std::string>> blamed;
  const std::vector<Effect> own = owners.own(
      "t2",
      {{"t0", "i", "a", "", {}},
       {"t1", "i", "b", "", {}},
       {"t2", "i", "c", "", {}},
       {"", "i", "d", "", {}},
       {"t3", "i", "e", "", {}}},
      2, [&](std::size_t trial, const Mismatch& how) { blamed.emplace_back(trial, how.what); });
  ASSERT_EQ(own.size(), 1U);
  EXPECT_EQ(own.front().tool, "c");
  EXPECT_THAT(blamed, ElementsAre(std::pair(0U, "late_effect"), std::pair(2U, "unknown_token"),
                                  std::pair(2U, "unknown_token")));
}

PackRun run_subject(const std::string& text, const RunOptions& options,
                    const std::string& scratch = "/tmp") {
  PosixFileSystem files;
  const SystemClock clock;
  SystemRandom random;
  SubjectParse parsed = parse_subject(text, "s.yaml", "/", built_in());
  EXPECT_TRUE(parsed.subject.has_value());
  auto run = run_pack(built_in(), *parsed.subject, options, {files, clock, random, scratch});
  EXPECT_TRUE(run);
  return *std::move(run);
}

// REQ-CF-083, REQ-CF-084, REQ-CF-092
TEST(ExecutorRuns, SayWhatCannotBeAskedAndWhatIsMissing) {
  // Without a driver the world is always the same one, and the executor does not even start.
  const std::string lonely = replaced(kMcp, "driver: {command: [world]}\n", "");
  RunOptions options;
  options.cases = {"allowed", "policy-unavailable", "denied-then-started", "resolver-down"};
  const PackRun run = run_subject(replaced(lonely, "[proxy,", "[\"false\","), options);
  ASSERT_EQ(run.trials.size(), 2U);
  EXPECT_EQ(run.trials[0].verdict, Verdict::kFault);
  EXPECT_THAT(run.trials[0].fault, HasSubstr("before anything was asked"));
  EXPECT_EQ(run.trials[1].verdict, Verdict::kFailed) << "nobody takes the resolver down";
  EXPECT_EQ(run.trials[1].mismatches.front().what, "missing_step");
  EXPECT_THAT(run.scope, ::testing::Contains(HasSubstr("policy-unavailable (\"it has none\")")));
  EXPECT_THAT(run.scope, ::testing::Contains(HasSubstr("denied-then-started (\"no client")));
  EXPECT_EQ(run.exit_code, 1);
}

/// A port of this machine at which nobody listens and nobody else can.
class HeldPort {
 public:
  HeldPort() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const plain = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(socket_.get(), plain, size), 0);
    EXPECT_EQ(::getsockname(socket_.get(), plain, &size), 0);
    place_ = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  }
  [[nodiscard]] const std::string& place() const { return place_; }

 private:
  FileDescriptor socket_;
  std::string place_;
};

// REQ-CF-092: nothing was asked of whoever does not listen, wherever the address is from.
TEST(ExecutorRuns, SayThatNobodyListens) {
  const HeldPort port;
  std::string text = replaced(kHttp, "127.0.0.1:8808", port.place());
  text += "cannot: {fixture: there is one}\n";
  RunOptions options;
  options.cases = {"allowed", "wrong-tenant"};
  options.routes = {"legacy"};
  const PackRun run = run_subject(text, options);
  ASSERT_EQ(run.trials.size(), 2U);
  for (const TrialResult& trial : run.trials) {
    EXPECT_EQ(trial.verdict, Verdict::kFault);
    EXPECT_THAT(trial.fault, HasSubstr(port.place()));
    EXPECT_THAT(trial.fault, HasSubstr("does not listen: cannot connect: Connection refused"));
  }
  EXPECT_EQ(run.exit_code, 2);
}

// REQ-CF-034: what cannot be asked is no pass, also where nothing else was asked for.
TEST(ExecutorRuns, PassNothingThatWasNotAsked) {
  RunOptions options;
  options.cases = {"denied-then-started"};
  const PackRun run = run_subject(kMcp, options);
  EXPECT_TRUE(run.trials.empty());
  EXPECT_EQ(run.exit_code, 2);
}

std::string source_directory() {
  const char* directory = std::getenv("REMIT_SOURCE_DIR");
  return directory == nullptr ? "." : directory;
}

std::string hostile_executor(const std::string& protocol, const std::string& mode) {
  return "subject: remit.subject/1\nname: hostile\n" + protocol + ": {command: [python3, -B, " +
         source_directory() + "/tests/conformance/hostile_executor.py, " + protocol + ", " + mode +
         ", '{directory}'], deadline_ms: 8000" +
         (protocol == "mcp" ? "}\n"
                            : ", url_file: '{directory}/url', "
                              "requests: [{tool: '*', method: POST, path: '/tools/{tool}'}]}\n") +
         "evidence: {lines: '{directory}/events.jsonl'}\ncallers: [alice]\n"
         "cannot: {fixture: there is one}\n";
}

// REQ-CF-092: what an executor writes besides its answer buys it no time.
TEST(HostileExecutors, DoNotHoldTheRunByWhatTheyWrite) {
  for (const char* mode : {"notes", "pings", "bytes"}) {
    RunOptions options;
    options.cases = {"allowed"};
    const PackRun run = run_subject(hostile_executor("mcp", mode), options);
    ASSERT_EQ(run.trials.size(), 1U) << mode;
    EXPECT_EQ(run.exit_code, 1) << mode << ": the call was seen as unknown; "
                                << run.trials.front().fault;
  }
}

// REQ-CF-092: one that prints more than a pipe holds before it answers.
TEST(HostileExecutors, AreReadWhileTheyAreAsked) {
  RunOptions options;
  options.cases = {"allowed"};
  const PackRun run = run_subject(
      replaced(hostile_executor("http", "prints"), "deadline_ms: 8000", "deadline_ms: 60000"),
      options);
  ASSERT_EQ(run.trials.size(), 1U);
  for (const Mismatch& each : run.trials.front().mismatches) {
    EXPECT_NE(each.what, "caller_saw") << each.message;
  }
  EXPECT_EQ(run.trials.front().fault, "");
}

// REQ-CF-040: whoever writes a subject sees by what an answer can be told.
TEST(ExecutorRuns, ShowTheAnswerThatWasNotExpected) {
  const struct {
    const char* protocol;
    const char* answer;
  } kRows[] = {{"mcp", "\"error -32050: go away"}, {"http", "\"418 go away"}};
  for (const auto& row : kRows) {
    std::string text = hostile_executor(row.protocol, "refuses");
    text = replaced(text, "deadline_ms: 8000", "deadline_ms: 60000");
    RunOptions options;
    options.cases = {"allowed"};
    const PackRun run = run_subject(text, options);
    ASSERT_EQ(run.trials.size(), 1U) << row.protocol;
    ASSERT_FALSE(run.trials.front().mismatches.empty()) << run.trials.front().fault;
    const Mismatch& seen = run.trials.front().mismatches.front();
    EXPECT_EQ(seen.what, "caller_saw");
    EXPECT_THAT(seen.answer, HasSubstr(row.answer));
    for (const Format& format : formats()) {
      const std::string report = format.write(run);
      EXPECT_THAT(report, HasSubstr("go away")) << format.name;
      EXPECT_EQ(report.find('\x1b'), std::string::npos) << format.name;
    }
  }
}

// REQ-CF-080: what the file says of a variable stands in the place of ours, and not behind it.
TEST(ExecutorRuns, GiveEachVariableOnce) {
  std::string folder = ::testing::TempDir() + "variables.XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const std::string seen = folder + "/seen";
  ASSERT_EQ(::setenv("REMIT_TEST_VARIABLE", "ours", 1), 0);
  const std::string text =
      "subject: remit.subject/1\nname: variables\nmcp: {command: [cp, /proc/self/environ, '" +
      seen +
      "'], environment: {PATH: '/usr/bin:/bin', REMIT_TEST_VARIABLE: mine}, "
      "inherit: [REMIT_TEST_VARIABLE, PATH]}\n"
      "evidence: {lines: x}\ncallers: [alice]\ncannot: {fixture: there is one}\n";
  RunOptions options;
  options.cases = {"allowed"};
  EXPECT_EQ(run_subject(text, options).exit_code, 2) << "it speaks no MCP";
  PosixFileSystem files;
  const Result<std::string> variables = files.read(seen, 1U << 20U);
  ASSERT_TRUE(variables) << variables.error().to_string();
  const std::string all = std::string(1, '\0') + *variables;
  for (const std::string name : {"PATH=", "REMIT_TEST_VARIABLE="}) {
    const std::string start = std::string(1, '\0') + name;
    EXPECT_NE(all.find(start), std::string::npos) << name;
    EXPECT_EQ(all.find(start), all.rfind(start)) << name;
  }
  EXPECT_THAT(all, HasSubstr("REMIT_TEST_VARIABLE=mine"));
  std::filesystem::remove_all(folder);
}

// REQ-CF-082: the directory of a trial goes with whatever the driver put there on its way out.
TEST(HostileExecutors, LeaveNothingBehind) {
  std::string folder = ::testing::TempDir() + "scratch.XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const std::string world = "driver: {command: [python3, -B, " + source_directory() +
                            "/tests/conformance/hostile_driver.py, leaves-files]}\n";
  std::string text =
      replaced(hostile_executor("mcp", "refuses"), "deadline_ms: 8000", "deadline_ms: 60000");
  text = replaced(text, "cannot: {fixture: there is one}\n", world);
  RunOptions options;
  options.cases = {"allowed"};
  const PackRun run = run_subject(text, options, folder);
  ASSERT_EQ(run.trials.size(), 1U);
  EXPECT_THAT(run.trials.front().fault, HasSubstr("the driver says \"cannot\""))
      << "the trial ends where its directory is still there";
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  std::filesystem::remove_all(folder);
}

// REQ-CF-085: another takes the place of one that ended within a trial, at another address.
TEST(HostileExecutors, AreAskedWhereTheyListenNow) {
  const std::string world = "driver: {command: [python3, -B, " + source_directory() +
                            "/tests/conformance/hostile_driver.py, polite]}\n";
  std::string text = hostile_executor("http", "dies");
  text = replaced(text, "deadline_ms: 8000", "deadline_ms: 60000");
  text = replaced(text, "cannot: {fixture: there is one}\n", world);
  RunOptions options;
  options.cases = {"existence-not-betrayed"};
  const PackRun run = run_subject(text, options);
  ASSERT_FALSE(run.trials.empty());
  for (const TrialResult& trial : run.trials) {
    EXPECT_EQ(trial.fault, "") << trial.case_id;
    EXPECT_TRUE(trial.verdicts.has_value()) << "its calls were made";
  }
}

// REQ-CF-060, REQ-RP-004
TEST(Reports, QuoteWhatTheSubjectSaysOfItself) {
  const std::string bad = "desk\n::error title=x::\x1b[8m\xe2\x80\xae" + std::string(5000, 'x');
  PackRun run;
  run.subject = bad;
  run.subject_version = bad;
  for (const Format& format : formats()) {
    if (format.name == "json") continue;  // data, escaped as JSON is
    const std::string text = format.write(run);
    EXPECT_EQ(text.find("\n::error"), std::string::npos) << format.name;
    EXPECT_EQ(text.find('\x1b'), std::string::npos) << format.name;
    EXPECT_EQ(text.find("\xe2\x80\xae"), std::string::npos) << format.name;
    EXPECT_EQ(text.find(std::string(1000, 'x')), std::string::npos) << format.name;
  }
}

// REQ-CF-060
TEST(Reports, QuoteReasonsOfTheSubject) {
  RunOptions options;
  options.cases = {"policy-unavailable"};
  const PackRun run =
      run_subject(replaced(kMcp, "it has none", "\"none\\n::error::boo \\e[31m\""), options);
  ASSERT_FALSE(run.scope.empty());
  for (const std::string& sentence : run.scope) {
    EXPECT_EQ(sentence.find('\n'), std::string::npos);
    EXPECT_EQ(sentence.find('\x1b'), std::string::npos);
  }
  EXPECT_THAT(run.scope, ::testing::Contains(HasSubstr("::error::boo")));
}

}  // namespace
}  // namespace remit::conformance
