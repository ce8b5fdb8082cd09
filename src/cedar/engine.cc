// Loading through the shim: findings become errors with file, line and column.
#include "cedar/engine.h"

#include <remit_shim_cedar.h>

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/limits.h"
#include "cedar/shim_text.h"
#include "cedar/source_place.h"

namespace remit::cedar {
namespace {

struct FreeReport {
  void operator()(remit_cedar_report* report) const { remit_cedar_report_free(report); }
};
using Report = std::unique_ptr<remit_cedar_report, FreeReport>;

remit_cedar_limits limits() {
  remit_cedar_limits out = remit_cedar_default_limits();
  out.max_policies = kMaxPolicies;
  out.max_policy_bytes = kMaxPolicyBytes;
  out.max_nesting = kMaxPolicyNesting;
  out.max_schema_bytes = kMaxConfigBytes;
  return out;
}

}  // namespace

/// Builds one engine; a friend so that an engine is complete from the moment anyone else sees it.
struct EngineLoader {
  const std::vector<policy::PolicySource>& policies;
  const policy::PolicySource& schema;
  EngineOutcome out;

  const policy::PolicySource& source(std::uint32_t number) const {
    return number < policies.size() ? policies[number] : schema;
  }

  void add(const remit_cedar_finding& finding) {
    const policy::PolicySource& from = source(finding.source);
    const bool placed = finding.offset != 0 || finding.length != 0;
    const ErrorCode code =
        finding.kind == REMIT_CEDAR_LIMIT ? ErrorCode::kLimitExceeded : ErrorCode::kInvalidInput;
    std::string message(view(finding.message));
    if (finding.policy.size > 0) {
      message = fmt::format("policy {}: {}", quoted(view(finding.policy)), message);
    }
    if (finding.help.size > 0) message += fmt::format(" ({})", view(finding.help));
    std::vector<Error>& to = finding.kind == REMIT_CEDAR_WARNING ? out.warnings : out.problems;
    to.push_back({code, std::move(message),
                  placed || finding.source != REMIT_CEDAR_SCHEMA_SOURCE
                      ? place_in(from.file, from.text, finding.offset)
                      : from.file});
  }

  void add_all(const remit_cedar_report* report) {
    const std::uint32_t count = remit_cedar_report_size(report);
    for (std::uint32_t i = 0; i < count; ++i) {
      remit_cedar_finding finding{};
      if (remit_cedar_report_get(report, i, &finding) == REMIT_SHIM_OK) add(finding);
    }
    const std::uint32_t omitted = remit_cedar_report_omitted(report);
    if (omitted == 0) return;
    std::vector<Error>& to = out.problems.empty() ? out.warnings : out.problems;
    to.push_back(
        {ErrorCode::kInvalidInput, fmt::format("{} further findings are not shown", omitted)});
  }

  void read_policy(const remit_cedar_policy& policy, Engine& engine) {
    PolicyFacts facts{.id = std::string(view(policy.id)), .permits = !policy.forbids};
    const policy::PolicySource& from = source(policy.source);
    const auto refuse = [&](std::string message) {
      out.problems.push_back({ErrorCode::kInvalidInput, std::move(message),
                              place_in(from.file, from.text, policy.offset)});
    };
    if (policy.has_reason) {
      const std::string_view name = view(policy.reason);
      const std::optional<access::ReasonCode> reason = access::parse_reason(name);
      if (!policy.forbids) {
        refuse(
            fmt::format("policy {}: a permit gives no reason; take @reason out", quoted(facts.id)));
      } else if (!reason || !access::is_policy_reason(*reason)) {
        refuse(
            fmt::format("policy {}: @reason {} is not one that a policy may give: "
                        "tenant_mismatch, approval_required, stale_approval or forbidden",
                        quoted(facts.id), quoted(name)));
      } else {
        facts.reason = *reason;
      }
    }
    engine.policies_.push_back(std::move(facts));
  }

  void read(const remit_cedar_engine* handle) {
    std::shared_ptr<Engine> engine(new Engine(handle));
    const std::uint32_t count = remit_cedar_engine_policy_count(handle);
    engine->policies_.reserve(count);
    for (std::uint32_t i = 0; i < count; ++i) {
      remit_cedar_policy policy{};
      if (remit_cedar_engine_policy(handle, i, &policy) != REMIT_SHIM_OK) {
        out.problems.push_back(REMIT_BUG("a policy that was counted is missing"));
        return;
      }
      read_policy(policy, *engine);
    }
    Result<SchemaTypes> types = read_description(view(remit_cedar_engine_description(handle)));
    if (!types) {
      out.problems.push_back(std::move(types).error());
      return;
    }
    engine->types_ = *std::move(types);
    if (out.problems.empty()) out.engine = std::move(engine);
  }

  void run() {
    std::vector<remit_str> texts;
    texts.reserve(policies.size());
    for (const policy::PolicySource& from : policies) texts.push_back(shim_text(from.text));
    const remit_cedar_limits bounds = limits();
    const remit_cedar_engine* handle = nullptr;
    remit_cedar_report* raw = nullptr;
    const remit_shim_status status = remit_cedar_load(
        texts.data(), texts.size(), shim_text(schema.text), &bounds, &handle, &raw);
    const Report report(raw);
    if (status != REMIT_SHIM_OK) {
      out.problems.push_back(
          {ErrorCode::kInternal, fmt::format("policies cannot be loaded: {}",
                                             quoted(view(remit_shim_last_message()), 256))});
      return;
    }
    add_all(report.get());
    if (handle != nullptr) read(handle);
  }
};

Engine::~Engine() {
  remit_cedar_engine_release(handle_);
}

bool Engine::is_out_of_reach(std::uint32_t action) const {
  bool permitted = false;
  bool forbidden = false;
  return remit_cedar_engine_standing(handle_, action, &permitted, &forbidden) == REMIT_SHIM_OK &&
         !permitted && !forbidden;
}

EngineOutcome load_engine(const std::vector<policy::PolicySource>& policies,
                          const policy::PolicySource& schema) {
  EngineLoader loader{policies, schema, {}};
  loader.run();
  return std::move(loader.out);
}

}  // namespace remit::cedar
