// A small executor in C++ that can be told to be wrong in one way: one good core, and each fault a
// branch in the step in which that mistake is usually made.
//
// It shows that the conformance pack judges any executor: of Remit it uses the JSON library and
// nothing else. What a good executor looks like without the faults is examples/python_executor.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"

namespace remit::examples {

/// What became of one use of the tool.
enum class ToolResult : std::uint8_t { kDone, kFailed, kLost };

/// One call on its way: what was proposed, and what the executor found out about it.
struct Call {
  std::string who;  ///< a reference to a principal, from the credential; empty without one
  std::string tool;
  json::Object arguments;
  std::string key;
  std::string route;
  std::int64_t attempt = 1;

  std::string id, decision_id;
  std::string state = "missing";
  json::Value policy, principal, entry;
  std::vector<json::Value> resources;
  json::Object granted;  ///< the arguments with canonical ids in their places
  std::string approval;  ///< name of the one that lets it through
};

/// A call as it was proposed; `who` is empty without a credential, `key` without a key.
Call make_call(std::string who, std::string tool, json::Object arguments, std::string key,
               std::string route);

/// What a caller is told: a word for what became of the call, and a sentence.
struct Told {
  std::string saw, answer;
};

/// What outlives the process.
struct Stores {
  json::Object tools, principals, resources, approvals;
  json::Value policy;
  std::map<std::string, Call, std::less<>> rows;  ///< waiting work: who asked, not what was allowed
  std::map<std::string, Call, std::less<>> plans;  ///< what faulty executors believe later
  std::map<std::string, std::string> keys;
  std::vector<std::string> log;
  std::vector<std::string> down;
  std::int64_t ids = 0;
};

/// Not thread-safe. `stores` outlives it.
class Executor {
 public:
  using UseTool = std::function<ToolResult(const Call& call, const std::string& resource)>;

  Executor(Stores& stores, UseTool use_tool, std::string fault);

  void submit(const std::string& name, Call call);
  Told run_row(const std::string& name, std::int64_t attempt = 1);
  Told retry(const std::string& name);
  Told start_denied(const std::string& name);

 private:
  using Refusal = std::optional<std::string>;  ///< a reason, or nothing where the step passed

  [[nodiscard]] bool bad(std::string_view fault) const { return fault_ == fault; }
  [[nodiscard]] bool is_down(std::string_view part) const;
  Told invoke(Call call);
  Refusal check(Call& call);
  Refusal take_policy(Call& call);
  Refusal identify(Call& call);
  Refusal look_up_tool(Call& call);
  Refusal check_scopes(Call& call);
  Refusal check_arguments(Call& call);
  Refusal resolve(Call& call);
  Refusal look_up(Call& call, const std::string& reference, json::Value& out);
  Refusal decide(Call& call);
  Refusal find_approval(Call& call);
  [[nodiscard]] bool is_for(const json::Value& approval, const Call& call) const;
  Refusal claim(Call& call);
  void release(const Call& call);
  Told run(Call& call);
  Told reach(Call& call);
  Told refuse(Call& call, const std::string& reason);
  [[nodiscard]] Told tell(const std::string& reason) const;
  void guess(Call& call) const;
  [[nodiscard]] bool believes_plan(const Call& call) const;

  bool record(const std::vector<json::Object>& events);
  json::Object event(std::string_view name, const Call& call) const;
  json::Object decision(const Call& call, std::string_view decision, std::string_view reason) const;
  json::Object finish(const Call& call, std::string outcome) const;

  Stores& stores_;
  UseTool use_tool_;
  std::string fault_;
  bool is_resumed_;
  const Call* plan_ = nullptr;  ///< of the row that is being run
};

/// The faults that an executor can be told.
const std::vector<std::string_view>& faults();

}  // namespace remit::examples
