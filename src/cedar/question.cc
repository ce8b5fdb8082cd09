// One request to the engine: what the boundary knows, put in by typed calls.
#include "cedar/question.h"

#include <remit_shim_cedar.h>

#include <cmath>
#include <memory>
#include <optional>
#include <variant>

#include <fmt/format.h>

#include "base/limits.h"
#include "base/rfc3339.h"
#include "cedar/shim_text.h"

namespace remit::cedar {
namespace {

struct FreeRequest {
  void operator()(remit_cedar_request* request) const { remit_cedar_request_free(request); }
};

/// `2026-11-30T18:02:14.042Z`, the form of Cedar's `datetime` with milliseconds.
std::string datetime(WallTime time) {
  constexpr std::size_t kUpToMilliseconds = 23;
  std::string text = format_rfc3339(time);
  text.resize(kUpToMilliseconds);
  text += 'Z';
  return text;
}

/// The integer that a JSON number is: `12.0` and `1.2e1` are 12 (RFC 8785), whoever wrote them so.
std::optional<std::int64_t> integer_of(const json::Value& value) {
  if (const std::int64_t* integer = value.if_integer()) return *integer;
  const double* number = value.if_double();
  if (number == nullptr || std::trunc(*number) != *number ||
      std::abs(*number) > static_cast<double>(kMaxSafeInteger)) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(*number);
}

/// Fills one engine request. The engine remembers the first call that fails, so statuses are looked
/// at once, when it decides; `misfit` holds what never reached it.
class Filler {
 public:
  explicit Filler(remit_cedar_request* request) : request_(request) {}

  void principal(std::uint32_t type, const access::Principal& principal) {
    remit_cedar_request_principal(request_, type, shim_text(principal.subject));
    put_owner(principal.tenant);
    put("class", principal.class_name);
    put("scopes", principal.scopes);
    if (!principal.on_behalf_of.empty()) put("on_behalf_of", principal.on_behalf_of);
  }

  void resource(std::uint32_t type, const access::Resource& resource) {
    remit_cedar_request_resource(request_, type, shim_text(resource.id));
    put_owner(resource.tenant);
    for (const auto& [name, value] : resource.attributes) {
      std::visit([&](const auto& held) { put(name, held); }, value);
    }
  }

  void context(const decision::DecisionRequest& request, const decision::ApprovalFacts& approval,
               const Shape& arguments) {
    remit_cedar_request_context(request_);
    put("route", request.route);
    put("environment", request.environment);
    put_extension("now", "datetime", datetime(request.now));
    remit_cedar_open_record(request_, shim_text("approval"));
    put("state", approval.state);
    if (!approval.id.empty()) put("id", approval.id);
    remit_cedar_close(request_);
    put_argument("arguments", request.arguments, arguments);
  }

  [[nodiscard]] const std::string& misfit() const { return misfit_; }

 private:
  /// No tenant is no attribute: two that are empty must not be equal.
  void put_owner(std::string_view tenant) {
    if (!tenant.empty()) put("tenant", tenant);
  }

  void put(std::string_view key, std::string_view value) {
    remit_cedar_put_string(request_, shim_text(key), shim_text(value));
  }
  void put(std::string_view key, const std::string& value) { put(key, std::string_view(value)); }
  void put(std::string_view key, std::int64_t value) {
    remit_cedar_put_long(request_, shim_text(key), value);
  }
  void put(std::string_view key, bool value) {
    remit_cedar_put_bool(request_, shim_text(key), value);
  }
  void put(std::string_view key, const std::vector<std::string>& values) {
    remit_cedar_open_set(request_, shim_text(key));
    for (const std::string& value : values) put("", value);
    remit_cedar_close(request_);
  }

  void put_extension(std::string_view key, std::string_view type, std::string_view text) {
    std::uint32_t kind = REMIT_CEDAR_DECIMAL;
    if (type == "datetime") kind = REMIT_CEDAR_DATETIME;
    if (type == "duration") kind = REMIT_CEDAR_DURATION;
    if (type == "ipaddr") kind = REMIT_CEDAR_IPADDR;
    remit_cedar_put_extension(request_, shim_text(key), kind, shim_text(text));
  }

  /// What the schema names of the arguments, and nothing else: a policy cannot ask for more.
  void put_record(std::string_view key, const json::Object& object, const Shape& shape) {
    remit_cedar_open_record(request_, shim_text(key));
    for (const auto& [name, field] : shape.fields) {
      if (const json::Value* value = object.find(name)) put_argument(name, *value, field.shape);
    }
    remit_cedar_close(request_);
  }

  void put_elements(std::string_view key, const json::Array& array, const Shape& element) {
    remit_cedar_open_set(request_, shim_text(key));
    for (const json::Value& value : array) put_argument("", value, element);
    remit_cedar_close(request_);
  }

  void put_argument(std::string_view key, const json::Value& value, const Shape& shape) {
    using Kind = Shape::Kind;
    if (shape.kind == Kind::kBool && value.if_bool() != nullptr) {
      put(key, *value.if_bool());
    } else if (const auto integer = integer_of(value); shape.kind == Kind::kLong && integer) {
      put(key, *integer);
    } else if (shape.kind == Kind::kString && value.if_string() != nullptr) {
      put(key, *value.if_string());
    } else if (shape.kind == Kind::kSet && value.if_array() != nullptr) {
      put_elements(key, *value.if_array(), *shape.element);
    } else if (shape.kind == Kind::kRecord && value.if_object() != nullptr) {
      put_record(key, *value.if_object(), shape);
    } else if (shape.kind == Kind::kExtension && value.if_string() != nullptr) {
      put_extension(key, shape.name, *value.if_string());
    } else if (shape.kind == Kind::kExtension && shape.name == "decimal" &&
               put_decimal(key, value)) {
      // put
    } else if (misfit_.empty()) {
      misfit_ = fmt::format("context.arguments: {} is not of the schema's type {}",
                            key.empty() ? "an element" : quoted(key), shape.to_string());
    }
  }

  /// A JSON number as Cedar's decimal, which has one to four fraction digits; the engine refuses
  /// more.
  bool put_decimal(std::string_view key, const json::Value& value) {
    if (const std::optional<std::int64_t> integer = integer_of(value)) {
      put_extension(key, "decimal", fmt::format("{}.0", *integer));
      return true;
    }
    if (value.if_double() != nullptr) {
      put_extension(key, "decimal", fmt::format("{}", *value.if_double()));
      return true;
    }
    return false;
  }

  remit_cedar_request* request_;
  std::string misfit_;
};

/// A defect of ours is counted; for access it is a refusal like any other.
std::string refusal(remit_shim_status status) {
  std::string message(view(remit_shim_last_message()));
  if (status == REMIT_SHIM_REFUSED || status == REMIT_SHIM_LIMIT) return message;
  return REMIT_BUG(
             fmt::format("the Cedar engine failed with status {}: {}", status, quoted(message)))
      .message;
}

void read_errors(const Engine& engine, const remit_cedar_request* request, std::size_t count,
                 Answer& answer) {
  for (std::uint32_t i = 0; i < count; ++i) {
    std::uint32_t policy = 0;
    remit_str kind{};
    if (remit_cedar_verdict_error(request, i, &policy, &kind) != REMIT_SHIM_OK) return;
    answer.failed.push_back(policy);
    if (answer.detail.empty()) {
      answer.detail =
          fmt::format("policy {}: {}", quoted(engine.policies()[policy].id), view(kind));
    }
  }
}

}  // namespace

Answer ask(const Engine& engine, const Target& target, const decision::DecisionRequest& request,
           const decision::ApprovalFacts& approval) {
  Answer answer;
  remit_cedar_request* raw = nullptr;
  if (const remit_shim_status status = remit_cedar_request_new(engine.handle(), &raw);
      status != REMIT_SHIM_OK) {
    answer.detail = refusal(status);
    return answer;
  }
  const std::unique_ptr<remit_cedar_request, FreeRequest> owner(raw);
  Filler filler(raw);
  filler.principal(target.principal_type, request.principal);
  filler.resource(target.resource_type, request.resource);
  filler.context(request, approval, *target.arguments);
  if (!filler.misfit().empty()) {
    answer.detail = filler.misfit();
    return answer;
  }
  remit_cedar_verdict verdict{};
  if (const remit_shim_status status = remit_cedar_decide(raw, target.action, &verdict);
      status != REMIT_SHIM_OK) {
    answer.detail = refusal(status);
    return answer;
  }
  answer.allows = verdict.allows;
  answer.permits.assign(verdict.permits, verdict.permits + verdict.permit_count);
  answer.forbids.assign(verdict.forbids, verdict.forbids + verdict.forbid_count);
  read_errors(engine, raw, verdict.error_count, answer);
  return answer;
}

}  // namespace remit::cedar
