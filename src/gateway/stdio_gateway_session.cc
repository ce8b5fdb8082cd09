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

// How soon the wait for servers sees a signal or the end of the input.
constexpr std::chrono::milliseconds kLookUp{20};

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
  if (outbox_.is_broken()) {
    return Error{ErrorCode::kUnavailable, "no thread can be started to write to the client"};
  }
  return servers_.start(upstreams, directory);
}

// The handshakes that one `initialize` began.
struct StdioGateway::HandRound {
  std::size_t left = 0;
  std::size_t usable = 0;
  bool is_over = false;  // the client is not made to wait any longer
};

// All servers at once; the number that can be used. Servers that are slower than the client's
// patience go on, and their tools are announced as a change.
std::size_t StdioGateway::shake_all_hands(const json::Object& capabilities) {
  // Guarded by `mutex_`; a slow server's handshake outlives this call.
  const auto round = std::make_shared<HandRound>(HandRound{.left = servers_.all().size()});
  for (const auto& upstream : servers_.all()) {
    const auto shake = [this, round, capabilities, server = upstream.get()](Status status) {
      if (status) {
        status = servers_.shake_hands(*server, capabilities, parts_.patience.handshake,
                                      stop_.get_token());
      }
      if (!status) {
        parts_.notices.say("server " + quoted(server->name()) +
                           " cannot be used: " + status.error().to_string());
      }
      bool is_late = false;
      {
        const MutexLock lock(mutex_);
        --round->left;
        if (status) ++round->usable;
        is_late = round->is_over;
        hand_shaken_.notify_all();
      }
      if (status && is_late) tell_changed_tools();
    };
    if (!workers_.post([shake] { shake({}); })) {
      shake(Error{ErrorCode::kUnavailable, "no thread can be started for its handshake"});
    }
  }
  if (!wait_for_hands(*round)) stop_.request_stop();
  const MutexLock lock(mutex_);
  round->is_over = true;
  return round->usable;
}

// Until all hands are shaken, or some are and the rest is slow. A signal ends the wait at once; a
// client that closed its end is owed an answer for as long as beside a usable server. False if the
// rest is not to be waited for at all.
bool StdioGateway::wait_for_hands(const HandRound& round) {
  const MonotonicTime begin = parts_.clock.monotonic_now();
  std::optional<MonotonicTime> closed;
  MutexLock lock(mutex_);
  while (round.left > 0) {
    const MonotonicTime now = parts_.clock.monotonic_now();
    if (round.usable > 0 && now - begin >= parts_.patience.slow_server) {
      parts_.notices.say("the client is answered before " + std::to_string(round.left) +
                         " of the servers; their tools come when they do");
      return true;
    }
    if (!closed && process::has_hung_up(input_fd_)) closed = now;
    const bool is_over = process::is_readable(signals_->fd()) ||
                         (closed && now - *closed >= parts_.patience.slow_server);
    if (is_over) return false;
    hand_shaken_.wait_for(mutex_, kLookUp);
  }
  return true;
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
  // The answer goes first: nothing that servers say may come before it.
  send(mcp::result_line(request.id, result));
  const MutexLock lock(mutex_);
  client_ = std::move(facts);
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
    const Upstream* upstream = servers_.find(entry->upstream_server);
    const mcp::Method* method =
        mcp::find_method(mcp::Sender::kClient, mcp::MethodKind::kRequest,
                         std::string_view(entry->name).substr(4), mcp::kNewestRevision);
    if (upstream == nullptr || method == nullptr) continue;
    if (!servers_.listings().is_ready(upstream->name())) continue;
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
  const bool is_logging =
      std::any_of(servers_.all().begin(), servers_.all().end(), [this](const auto& upstream) {
        return servers_.listings().is_ready(upstream->name()) &&
               is_object(upstream->capabilities(), "logging");
      });
  if (is_logging) offer("logging", {});
  return out;
}

json::Object StdioGateway::initialize_result(const ClientFacts& facts,
                                             json::Object capabilities) const {
  json::Object result{{"protocolVersion", mcp::revision_name(facts.revision)},
                      {"capabilities", std::move(capabilities)},
                      {"serverInfo", json::Object{{"name", "remit"}, {"version", REMIT_VERSION}}}};
  std::string instructions;
  for (const auto& upstream : servers_.all()) {
    if (!servers_.listings().is_ready(upstream->name()) || upstream->instructions().empty())
      continue;
    if (!instructions.empty()) instructions += "\n\n";
    if (servers_.all().size() > 1) instructions += upstream->name() + ": ";
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
    if (!servers_.listings().is_ready(tool->upstream_server)) continue;
    const auto live = servers_.tools().find(*tool);
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
  } else if (servers_.all().size() > 1) {
    passed.set("logger", upstream.name());
  }
  outbox_.offer(
      mcp::notification_line("notifications/message", json::write(json::Value{std::move(passed)})),
      kMaxQueuedBytesForNotifications);
}

}  // namespace remit::gateway
