// What `remit stdio` costs a tools/call: the same client against a bare server and against the same
// server behind the boundary, in one run, with 1 and with 16 calls in flight.
//
// usage: stdio_bench [--calls N]     (the program starts itself again as the server and the
// gateway)
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/random.h"
#include "bench/run_size.h"
#include "gateway/run_stdio.h"
#include "json/value.h"
#include "mcp/message.h"
#include "process/child.h"
#include "process/lines.h"

namespace {

using namespace remit;
using SteadyClock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kPatience{60'000};

constexpr const char* kSchema =
    R"({"type":"object","properties":{"text":{"type":"string"}},"required":["text"]})";

// A server with one tool, as fast as it gets: it answers on the thread that reads.
int serve() {
  std::ios::sync_with_stdio(false);
  std::string line;
  const std::string tools =
      std::string(R"({"tools":[{"name":"echo","inputSchema":)") + kSchema + "}]}";
  while (std::getline(std::cin, line)) {
    const auto parsed = mcp::parse_message(line);
    const auto* message = std::get_if<mcp::Message>(&parsed);
    const auto* request = message == nullptr ? nullptr : std::get_if<mcp::Request>(message);
    if (request == nullptr) continue;
    std::string result = R"({"content":[{"type":"text","text":"ok"}]})";
    if (request->method == "initialize") {
      result = R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{}},)"
               R"("serverInfo":{"name":"bare","version":"1"}})";
    } else if (request->method == "tools/list") {
      result = tools;
    }
    std::cout << mcp::result_line(request->id, result) << std::flush;
  }
  return 0;
}

int stand_between(const char* config) {
  PosixFileSystem files;
  const SystemClock clock;
  SystemRandom random;
  const auto problems = gateway::run_stdio({.config_file = config}, files, clock, random);
  for (const Error& problem : problems) std::fprintf(stderr, "%s\n", problem.to_string().c_str());
  return problems.empty() ? 0 : 1;
}

void put(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
  std::filesystem::permissions(
      path, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

// A bundle with one tool and one permit, and a configuration that starts this program as the
// server.
std::string make_world(const std::filesystem::path& folder, const std::string& self) {
  put(folder / "bundle/bundle.yaml",
      "bundle: remit.bundle/1\nversion: v1\ndescription: bench\nenvironment: bench\nroutes:\n"
      "  - {name: agent, transport: stdio}\n");
  put(folder / "bundle/catalogue.yaml",
      "catalogue: remit.catalogue/1\ntools:\n  - {name: echo, upstream: {server: bare, tool: echo},"
      " effect: read, scopes: [echo], arguments: schemas/echo.json}\n");
  put(folder / "bundle/schemas/echo.json", kSchema);
  put(folder / "bundle/schema.cedarschema",
      "entity Principal = { \"tenant\": String, \"class\": String, \"scopes\": Set<String>, "
      "\"on_behalf_of\"?: String };\nentity Server = { \"tenant\": String };\n"
      "action \"echo\" appliesTo { principal: [Principal], resource: [Server], context: { "
      "\"route\": "
      "String, \"environment\": String, \"now\": datetime, \"approval\": { \"state\": String, "
      "\"id\"?: String }, \"arguments\": {} } };\n");
  put(folder / "bundle/policies/echo.cedar",
      "@id(\"echo\") permit (principal, action == Action::\"echo\", resource)\n"
      "when { principal.tenant == resource.tenant };\n");
  put(folder / "digest.key", std::string(32, 'k'));
  std::filesystem::permissions(folder / "digest.key", std::filesystem::perms(0600));
  put(folder / "remit.yaml",
      "config: remit.config/1\nbundle: bundle\nidentity:\n  pinned: {principal: {subject: me, "
      "tenant: "
      "t, class: c, scopes: [echo]}}\nupstreams:\n  - {name: bare, stdio: {command: [\"" +
          self +
          "\", --server]}}\nevidence: {directory: evidence, digest_key: digest.key}\n"
          "limits: {calls_per_second: 0}\n");
  return (folder / "remit.yaml").string();
}

struct Figures {
  double p50_us = 0;
  double p99_us = 0;
  double calls_per_s = 0;
};

// One client of a child that speaks MCP.
class Client {
 public:
  explicit Client(process::Child child)
      : child_(std::move(child)), reader_(child_.output().get(), kMaxMcpLineBytes) {}

  bool begin() {
    send(mcp::request_line(mcp::RequestId{-1}, "initialize",
                           R"({"protocolVersion":"2025-11-25","capabilities":{},)"
                           R"("clientInfo":{"name":"bench","version":"1"}})"));
    const bool is_ready = receive().has_value();
    send(mcp::notification_line("notifications/initialized", ""));
    return is_ready;
  }

  // `calls` calls with `in_flight` of them under way.
  std::optional<Figures> measure(std::size_t calls, std::size_t in_flight) {
    std::unordered_map<std::int64_t, SteadyClock::time_point> begun;
    std::vector<double> took_us;
    const auto start = SteadyClock::now();
    for (std::size_t i = 0; i < std::min(in_flight, calls); ++i) call(begun);
    while (took_us.size() < calls) {
      const auto id = receive();
      if (!id || !begun.contains(*id)) return std::nullopt;
      const std::chrono::duration<double, std::micro> took = SteadyClock::now() - begun[*id];
      begun.erase(*id);
      took_us.push_back(took.count());
      if (took_us.size() + begun.size() < calls) call(begun);
    }
    const std::chrono::duration<double> all = SteadyClock::now() - start;
    std::sort(took_us.begin(), took_us.end());
    return Figures{took_us[calls / 2], took_us[calls * 99 / 100],
                   static_cast<double>(calls) / all.count()};
  }

 private:
  void send(const std::string& line) {
    if (!process::write_all(child_.input().get(), line, kPatience)) std::exit(1);
  }
  void call(std::unordered_map<std::int64_t, SteadyClock::time_point>& begun) {
    const std::int64_t id = next_id_++;
    begun[id] = SteadyClock::now();
    send(mcp::request_line(mcp::RequestId{id}, "tools/call",
                           R"({"name":"echo","arguments":{"text":"hello"}})"));
  }
  // The id of the next answer that is a result and no denial.
  std::optional<std::int64_t> receive() {
    const process::LineRead read = reader_.next(kPatience);
    if (read.event != process::LineEvent::kLine) return std::nullopt;
    const auto parsed = mcp::parse_message(read.line);
    const auto* message = std::get_if<mcp::Message>(&parsed);
    const auto* result = message == nullptr ? nullptr : std::get_if<mcp::ResultResponse>(message);
    if (result == nullptr || result->result.find("isError") != nullptr) return std::nullopt;
    return *result->id.if_number();
  }

  process::Child child_;
  process::LineReader reader_;
  std::int64_t next_id_ = 1;
};

std::optional<Client> start(const std::vector<std::string>& command) {
  auto child = process::Child::start(
      {.arguments = command, .environment = process::pick_environment({"PATH", "HOME"})});
  if (!child) {
    std::fprintf(stderr, "%s\n", child.error().to_string().c_str());
    return std::nullopt;
  }
  std::optional<Client> client(std::in_place, std::move(*child));
  if (!client->begin()) return std::nullopt;
  return client;
}

int compare(std::size_t calls) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  std::string pattern = (std::filesystem::temp_directory_path() / "stdio-bench-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) return 1;
  const std::filesystem::path folder = pattern;
  const std::string config = make_world(folder, self);
  int code = 0;
  {
    auto bare = start({self, "--server"});
    auto guarded = start({self, "--gateway", config});
    if (!bare || !guarded) return 1;
    std::printf("tools/call, %zu calls each; the boundary records every one durably\n", calls);
    std::printf("%-9s %-12s %10s %10s %10s\n", "in flight", "", "p50 us", "p99 us", "calls/s");
    for (const std::size_t in_flight : {std::size_t{1}, std::size_t{16}}) {
      bare->measure(calls / 10, in_flight);
      guarded->measure(calls / 10, in_flight);
      const auto plain = bare->measure(calls, in_flight);
      const auto safe = guarded->measure(calls, in_flight);
      if (!plain || !safe) {
        code = 1;
        break;
      }
      const auto print = [&](const char* name, const Figures& figures) {
        std::printf("%9zu %-12s %10.1f %10.1f %10.0f\n", in_flight, name, figures.p50_us,
                    figures.p99_us, figures.calls_per_s);
      };
      print("bare", *plain);
      print("remit stdio", *safe);
      std::printf("%9s %-12s %9.1fx %9.1fx %9.3fx\n", "", "ratio", safe->p50_us / plain->p50_us,
                  safe->p99_us / plain->p99_us, safe->calls_per_s / plain->calls_per_s);
    }
  }
  std::filesystem::remove_all(folder);
  if (code != 0) std::fprintf(stderr, "a call was not answered as it should be\n");
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--server") return serve();
  if (argc == 3 && std::string_view(argv[1]) == "--gateway") return stand_between(argv[2]);
  const bench::RunSize size(argc, argv);
  std::size_t calls = size.of<std::size_t>(5000, 20);
  if (argc == 3 && std::string_view(argv[1]) == "--calls") {
    calls = static_cast<std::size_t>(std::max(100, std::atoi(argv[2])));
  }
  return compare(calls);
}
