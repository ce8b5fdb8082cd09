// From settings to servers whose tools are known.
#include "gateway/servers.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/mutex.h"
#include "base/start_thread.h"
#include "process/child.h"

namespace remit::gateway {
namespace {

// The command of a server, with the environment that it may see.
process::Command command_of(const UpstreamSettings& settings, const std::string& directory) {
  process::Command command{.arguments = settings.command,
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
  return command;
}

// Waits for `span`, or until `stop` is asked for.
void pause(const Clock& clock, std::chrono::milliseconds span, const std::stop_token& stop) {
  Mutex mutex;
  CondVar woken;
  const std::stop_callback on_stop(stop, [&] {
    const MutexLock lock(mutex);
    woken.notify_all();
  });
  const MonotonicTime end = clock.monotonic_now() + span;
  MutexLock lock(mutex);
  while (!stop.stop_requested()) {
    const Duration left = end - clock.monotonic_now();
    if (left.count() <= 0) return;
    woken.wait_for(mutex, left);
  }
}

bool has_tools(const Upstream& upstream) {
  const json::Value* tools = upstream.capabilities().find("tools");
  return tools != nullptr && tools->if_object() != nullptr;
}

}  // namespace

Status Servers::start(const std::vector<UpstreamSettings>& upstreams,
                      const std::string& directory) {
  for (const UpstreamSettings& settings : upstreams) {
    upstreams_.push_back(
        std::make_unique<Upstream>(settings.name, parts_.listener, parts_.notices, parts_.answers));
    const Status started = upstreams_.back()->start(command_of(settings, directory));
    if (!started) return in_place("upstream " + settings.name, started.error());
  }
  return {};
}

std::chrono::milliseconds Servers::left_until(MonotonicTime deadline) const {
  return std::chrono::ceil<std::chrono::milliseconds>(deadline - parts_.clock.monotonic_now());
}

Status Servers::shake_hands(Upstream& upstream, const json::Object& capabilities,
                            std::chrono::milliseconds patience, const std::stop_token& stop) {
  const MonotonicTime deadline = parts_.clock.monotonic_now() + patience;
  if (!listings_.begin(upstream.name())) {
    return Error{ErrorCode::kUnavailable, "it is busy, or given up, since an earlier initialize"};
  }
  Status shaken = upstream.shake_hands(capabilities, stop, left_until(deadline));
  if (shaken) return list_tools(upstream, deadline, stop);
  listings_.abandon(upstream.name());
  return shaken;
}

Status Servers::list_tools(Upstream& upstream, MonotonicTime deadline,
                           const std::stop_token& stop) {
  Status status;
  auto next = ServerListings::Next::kList;
  while (next == ServerListings::Next::kList) {
    pause(parts_.clock, listings_.pause_before(upstream.name()), stop);
    std::vector<json::Object> tools;
    status = {};
    if (has_tools(upstream)) {
      auto listed = upstream.list_tools(left_until(deadline), stop);
      if (listed) tools = std::move(*listed);
      if (!listed) status = std::move(listed).error();
    }
    tools_.set(upstream.name(), tools);
    next = listings_.end(upstream.name(), status.has_value());
  }
  if (next == ServerListings::Next::kGiveUp) {
    tools_.set(upstream.name(), {});
    return Error{ErrorCode::kLimitExceeded, "its tools change without end"};
  }
  const auto snapshot = parts_.policy.get();
  if (status && has_tools(upstream) && snapshot != nullptr) {
    tools_.announce(*snapshot->bundle, upstream.name(), parts_.notices);
  }
  return status;
}

void Servers::note_change(Upstream& upstream, Relisting how) {
  const ServerListings::Next next = listings_.note_change(upstream.name());
  if (next == ServerListings::Next::kNothing) return;
  if (next == ServerListings::Next::kGiveUp) {
    tools_.set(upstream.name(), {});
    parts_.notices.say("server " + quoted(upstream.name()) +
                       " changes its tools without end; none of them can be called any more");
    return how.then();
  }
  const auto list_again = [this, &upstream, patience = how.patience, stop = std::move(how.stop),
                           then = std::move(how.then)] {
    const Status listed = list_tools(upstream, parts_.clock.monotonic_now() + patience, stop);
    if (!listed) {
      parts_.notices.say(
          "server " + quoted(upstream.name()) +
          " changed its tools and does not list them: " + listed.error().to_string());
    }
    then();
  };
  if (!how.workers.post(list_again)) listings_.abandon(upstream.name());
}

bool Servers::is_offered(const policy::Tool& tool) const {
  if (is_method_entry(tool.name)) return listings_.is_ready(tool.upstream_server);
  return listings_.is_settled(tool.upstream_server) &&
         LiveTools::state_of(tool, tools_.find(tool).get()) == ToolState::kLive;
}

bool Servers::wait_until_offered(const policy::Tool& tool, std::chrono::milliseconds span,
                                 const std::stop_token& stop) {
  if (!is_method_entry(tool.name)) {
    listings_.wait_until_settled(tool.upstream_server, span, stop);
  }
  return is_offered(tool);
}

Upstream* Servers::find(std::string_view name) const {
  for (const auto& upstream : upstreams_) {
    if (upstream->name() == name) return upstream.get();
  }
  return nullptr;
}

void Servers::close(std::chrono::milliseconds grace) {
  std::vector<std::thread> closers;
  for (const auto& upstream : upstreams_) {
    const auto close_one = [&upstream, grace] { upstream->close(grace); };
    closers.push_back(start_thread(close_one));
    if (closers.back().joinable()) continue;
    closers.pop_back();
    close_one();
  }
  for (std::thread& closer : closers) closer.join();
}

}  // namespace remit::gateway
