// The handshake, the list of tools, and the level of the servers' log messages.
#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "gateway/call_meta.h"
#include "gateway/stdio_gateway.h"
#include "process/lines.h"

namespace remit::gateway {
namespace {

constexpr std::array<std::string_view, 8> kLogLevels{"debug", "info",     "notice", "warning",
                                                     "error", "critical", "alert",  "emergency"};

bool is_object(const json::Object& object, std::string_view key) {
  const json::Value* value = object.find(key);
  return value != nullptr && value->if_object() != nullptr;
}

bool is_text(const json::Object& object, std::string_view key) {
  const json::Value* value = object.find(key);
  return value != nullptr && value->if_string() != nullptr;
}

// Of the client's capabilities those that can be passed through to servers, each with the parts
// that are known.
json::Object passed_capabilities(const json::Object& client) {
  struct Passed {
    std::string_view name;
    std::array<std::string_view, 2> parts;
  };
  constexpr std::array kPassed{Passed{"sampling", {"context", "tools"}},
                               Passed{"elicitation", {"form", "url"}}, Passed{"roots", {}}};
  json::Object out;
  for (const Passed& passed : kPassed) {
    const json::Value* given = client.find(passed.name);
    if (given == nullptr || given->if_object() == nullptr) continue;
    json::Object parts;
    for (const std::string_view part : passed.parts) {
      if (!part.empty() && is_object(*given->if_object(), part)) {
        parts.set(std::string(part), json::Object{});
      }
    }
    out.set(std::string(passed.name), std::move(parts));
  }
  return out;
}

bool says_true(const json::Object& capabilities, std::string_view name, std::string_view part) {
  const json::Value* capability = capabilities.find(name);
  const json::Value* value = capability == nullptr ? nullptr : capability->find(part);
  return value != nullptr && value->if_bool() != nullptr && *value->if_bool();
}

// `GENERATION.INDEX` of the next tool in the catalogue.
std::string cursor_text(std::uint64_t generation, std::size_t index) {
  return std::to_string(generation) + "." + std::to_string(index);
}

std::optional<std::size_t> parse_cursor(std::string_view cursor, std::uint64_t generation) {
  const std::string prefix = std::to_string(generation) + ".";
  if (!cursor.starts_with(prefix)) return std::nullopt;
  const std::string_view digits = cursor.substr(prefix.size());
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return index;
}

}  // namespace

Status StdioGateway::start(const std::vector<UpstreamSettings>& upstreams,
                           const std::string& directory) {
  for (const UpstreamSettings& settings : upstreams) {
    process::Command command{
        .arguments = settings.command,
        .environment = process::pick_environment(process::harmless_variables()),
        .working_directory = directory};
    for (std::string& entry : process::pick_environment(settings.inherit)) {
      command.environment.push_back(std::move(entry));
    }
    for (const auto& [name, value] : settings.environment) {
      std::erase_if(command.environment,
                    [&](const std::string& entry) { return entry.starts_with(name + "="); });
      command.environment.push_back(name + "=" + value);
    }
    upstreams_.push_back(std::make_unique<Upstream>(settings.name, *this, parts_.notices));
    const Status started = upstreams_.back()->start(command);
    if (!started) return in_place("upstream " + settings.name, started.error());
  }
  return {};
}

bool StdioGateway::shake_hands(Upstream& upstream, const json::Object& capabilities) {
  {
    // A change that the server reports from here on makes `refresh_tools` list once more.
    const MutexLock lock(mutex_);
    listing_.emplace(upstream.name(), false);
  }
  Status status = upstream.shake_hands(capabilities, stop_.get_token());
  if (status && is_object(upstream.capabilities(), "tools")) status = refresh_tools(upstream);
  if (!status) {
    parts_.notices.say("server " + quoted(upstream.name()) +
                       " cannot be used: " + status.error().to_string());
    return false;
  }
  return true;
}

// Lists the server's tools until the list is of a moment after the last reported change. Without a
// list nothing is known to be as pinned, and nothing of the server can be called.
Status StdioGateway::refresh_tools(Upstream& upstream) {
  Status status;
  bool is_more = true;
  while (is_more) {
    const auto tools = upstream.list_tools(kHandshakeDeadline, stop_.get_token());
    status = tools ? Status{} : Status{tools.error()};
    live_tools_.set(upstream.name(), tools ? *tools : std::vector<json::Object>{});
    const MutexLock lock(mutex_);
    const auto at = listing_.find(upstream.name());
    is_more = std::exchange(at->second, false);
    if (!is_more) listing_.erase(at);
  }
  const auto snapshot = parts_.policy.get();
  if (status && snapshot != nullptr) {
    live_tools_.announce(*snapshot->bundle, upstream.name(), parts_.notices);
  }
  return status;
}

// All servers at once; the number that can be used.
std::size_t StdioGateway::shake_all_hands(const json::Object& capabilities) {
  std::atomic<std::size_t> usable{0};
  std::atomic<std::size_t> left{upstreams_.size()};
  auto done = process::Wakeup::make();
  if (!done) {
    parts_.notices.say(done.error().to_string());
    return 0;
  }
  std::vector<std::thread> hands;
  for (const auto& upstream : upstreams_) {
    hands.emplace_back([&, server = upstream.get()] {
      if (shake_hands(*server, capabilities)) ++usable;
      if (--left == 0) done->notify();
    });
  }
  // A signal ends the wait for servers that do not answer.
  process::wait_readable(done->fd(), signals_->fd());
  if (left > 0) stop_.request_stop();
  for (std::thread& hand : hands) hand.join();
  return usable;
}

void StdioGateway::initialize(const mcp::Request& request) {
  const auto fail = [&](int code, std::string message) {
    send_error({.id = request.id, .code = code, .message = std::move(message)});
  };
  if (client() != nullptr) return fail(mcp::kInvalidRequest, "initialize comes only once");
  if (!is_text(request.params, "protocolVersion") || !is_object(request.params, "capabilities") ||
      !is_object(request.params, "clientInfo")) {
    return fail(mcp::kInvalidParams,
                "initialize needs protocolVersion, capabilities and clientInfo");
  }
  auto facts = std::make_shared<ClientFacts>();
  // A version that is not spoken here is answered with the newest that is.
  facts->revision = mcp::parse_revision(*request.params.find("protocolVersion")->if_string())
                        .value_or(mcp::kNewestRevision);
  facts->capabilities = passed_capabilities(*request.params.find("capabilities")->if_object());
  if (shake_all_hands(facts->capabilities) == 0) {
    return fail(mcp::kInternalError, "no server could be initialized; the operator's log says why");
  }
  json::Object offered = offered_capabilities(facts->offered);
  const std::string result =
      json::write(json::Value{initialize_result(*facts, std::move(offered))});
  {
    const MutexLock lock(mutex_);
    client_ = std::move(facts);
  }
  send(mcp::result_line(request.id, result));
}

// What a server offers and the catalogue governs. Each name goes to `offered` as well.
json::Object StdioGateway::offered_capabilities(std::set<std::string, std::less<>>& offered) const {
  json::Object out;
  const auto offer = [&](std::string_view name, json::Object parts) {
    offered.emplace(name);
    out.set(std::string(name), std::move(parts));
  };
  offer("tools", json::Object{{"listChanged", true}});
  std::shared_ptr<const decision::PolicySnapshot> snapshot;
  for (const policy::Tool* entry :
       parts_.point.visible_tools(access::Credential::local(), snapshot)) {
    if (!is_method_entry(entry->name)) continue;
    const Upstream* upstream = find_upstream(entry->upstream_server);
    const mcp::Method* method =
        mcp::find_method(mcp::Sender::kClient, mcp::MethodKind::kRequest,
                         std::string_view(entry->name).substr(4), mcp::kNewestRevision);
    if (upstream == nullptr || method == nullptr) continue;
    const std::string_view name = method->capability;
    if (name != "resources" && name != "prompts" && name != "completions") continue;
    if (!is_object(upstream->capabilities(), name)) continue;
    json::Object parts;
    if (const json::Value* so_far = out.find(name)) parts = *so_far->if_object();
    if (name != "completions" && says_true(upstream->capabilities(), name, "listChanged")) {
      parts.set("listChanged", true);
    }
    if (method->name == "resources/subscribe" &&
        says_true(upstream->capabilities(), name, "subscribe")) {
      parts.set("subscribe", true);
    }
    offer(name, std::move(parts));
  }
  const bool is_logging = std::any_of(
      upstreams_.begin(), upstreams_.end(),
      [](const auto& upstream) { return is_object(upstream->capabilities(), "logging"); });
  if (is_logging) offer("logging", {});
  return out;
}

json::Object StdioGateway::initialize_result(const ClientFacts& facts,
                                             json::Object capabilities) const {
  json::Object result{{"protocolVersion", mcp::revision_name(facts.revision)},
                      {"capabilities", std::move(capabilities)},
                      {"serverInfo", json::Object{{"name", "remit"}, {"version", REMIT_VERSION}}}};
  std::string instructions;
  for (const auto& upstream : upstreams_) {
    if (upstream->instructions().empty()) continue;
    if (!instructions.empty()) instructions += "\n\n";
    if (upstreams_.size() > 1) instructions += upstream->name() + ": ";
    instructions += upstream->instructions();
  }
  if (!instructions.empty()) result.set("instructions", std::move(instructions));
  return result;
}

void StdioGateway::list_tools(const mcp::Request& request) {
  std::shared_ptr<const decision::PolicySnapshot> snapshot;
  const auto visible = parts_.point.visible_tools(access::Credential::local(), snapshot);
  const std::uint64_t generation = snapshot == nullptr ? 0 : snapshot->generation;
  std::size_t first = 0;
  if (const json::Value* given = request.params.find("cursor")) {
    const std::string* text = given->if_string();
    const auto index = text == nullptr ? std::nullopt : parse_cursor(*text, generation);
    if (!index) {
      return send_error({.id = request.id,
                         .code = mcp::kInvalidParams,
                         .message = "the cursor is not one of this list"});
    }
    first = *index;
  }
  json::Array tools;
  json::Object result;
  for (const policy::Tool* tool : visible) {
    const auto index = static_cast<std::size_t>(tool - snapshot->bundle->tools.data());
    if (index < first || is_method_entry(tool->name)) continue;
    const auto live = live_tools_.find(*tool);
    if (LiveTools::state_of(*tool, live.get()) != ToolState::kLive) continue;
    if (tools.size() == kToolsPerPage) {
      result.set("nextCursor", cursor_text(generation, index));
      break;
    }
    json::Object shown{{"name", tool->name}};
    for (const json::Member& member : live->definition.members()) {
      shown.set(member.first, member.second);
    }
    tools.emplace_back(std::move(shown));
  }
  result.set("tools", std::move(tools));
  if (snapshot != nullptr) {
    result.set("_meta", json::Object{{kPolicyVersionKey, snapshot->bundle->version}});
  }
  send(mcp::result_line(request.id, json::write(json::Value{std::move(result)})));
}

// The level filters what passes here; no server is told, so none changes by an ungoverned request.
void StdioGateway::set_log_level(const mcp::Request& request) {
  const json::Value* given = request.params.find("level");
  const std::string* level = given == nullptr ? nullptr : given->if_string();
  const auto found =
      level == nullptr ? kLogLevels.end() : std::find(kLogLevels.begin(), kLogLevels.end(), *level);
  if (found == kLogLevels.end()) {
    return send_error(
        {.id = request.id, .code = mcp::kInvalidParams, .message = "level is not a log level"});
  }
  log_level_ = static_cast<int>(found - kLogLevels.begin());
  send(mcp::result_line(request.id, "{}"));
}

void StdioGateway::pass_log_message(Upstream& upstream, const json::Object& params) {
  const json::Value* level = params.find("level");
  const json::Value* data = params.find("data");
  if (level == nullptr || level->if_string() == nullptr || data == nullptr) return;
  const auto found = std::find(kLogLevels.begin(), kLogLevels.end(), *level->if_string());
  if (found == kLogLevels.end() || found - kLogLevels.begin() < log_level_) return;
  json::Object passed{{"level", *level}, {"data", *data}};
  const json::Value* logger = params.find("logger");
  if (logger != nullptr && logger->if_string() != nullptr) {
    passed.set("logger", *logger);
  } else if (upstreams_.size() > 1) {
    passed.set("logger", upstream.name());
  }
  outbox_.offer(
      mcp::notification_line("notifications/message", json::write(json::Value{std::move(passed)})),
      kMaxQueuedBytesForNotifications);
}

}  // namespace remit::gateway
