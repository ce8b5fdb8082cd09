// JSON Schema through the shim: handles, and its statuses as errors.
#include "json/schema.h"

#include <remit_shim_json_schema.h>

#include <cstdint>
#include <utility>

#include <fmt/format.h>

namespace remit::json {
namespace {

constexpr std::uint32_t kMaxMismatches = 16;

remit_str shim_text(std::string_view text) {
  return {text.data(), text.size()};
}
std::string owned(remit_str text) {
  return text.size == 0 ? std::string() : std::string(text.data, text.size);
}

struct FreeMismatches {
  void operator()(remit_json_schema_mismatches* found) const {
    remit_json_schema_mismatches_free(found);
  }
};
using Mismatches = std::unique_ptr<remit_json_schema_mismatches, FreeMismatches>;

/// Why a schema does not compile.
Error compile_error(remit_shim_status status) {
  const std::string message = owned(remit_shim_last_message());
  const std::string place = owned(remit_shim_last_place());
  switch (status) {
    case REMIT_SHIM_REFUSED:
      return Error{ErrorCode::kInvalidInput, "not a JSON Schema: " + message, place};
    case REMIT_SHIM_UNSUPPORTED:
      return Error{ErrorCode::kUnsupported, "JSON Schema not supported: " + message, place};
    case REMIT_SHIM_LIMIT:
      return Error{ErrorCode::kLimitExceeded, "JSON Schema too large: " + message, place};
    default:
      return REMIT_BUG(
          fmt::format("JSON Schema compiler failed with status {}: {}", status, quoted(message)));
  }
}

}  // namespace

struct Schema::Compiled {
  explicit Compiled(const remit_json_schema* schema) : handle(schema) {}
  ~Compiled() { remit_json_schema_release(handle); }
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;

  const remit_json_schema* handle;
};

Result<Schema> Schema::compile(const Value& schema) {
  const std::string text = write(schema);
  const remit_json_schema* handle = nullptr;
  const remit_shim_status status = remit_json_schema_compile(shim_text(text), &handle);
  if (status != REMIT_SHIM_OK) return compile_error(status);
  return Schema(std::make_shared<const Compiled>(handle));
}

Result<std::vector<SchemaMismatch>> Schema::validate(const Value& instance) const {
  const std::string text = write(instance);
  remit_json_schema_mismatches* raw = nullptr;
  const remit_shim_status status =
      remit_json_schema_validate(compiled_->handle, shim_text(text), kMaxMismatches, &raw);
  const Mismatches found(raw);
  if (status == REMIT_SHIM_LIMIT) {
    return Error{ErrorCode::kLimitExceeded, owned(remit_shim_last_message())};
  }
  if (status != REMIT_SHIM_OK) {
    return Error{ErrorCode::kInternal,
                 fmt::format("JSON Schema validator failed with status {}: {}", status,
                             quoted(owned(remit_shim_last_message())))};
  }
  std::vector<SchemaMismatch> out;
  const std::uint32_t count = remit_json_schema_mismatch_count(found.get());
  out.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    remit_json_schema_mismatch mismatch{};
    if (remit_json_schema_mismatch_get(found.get(), i, &mismatch) != REMIT_SHIM_OK) {
      return REMIT_BUG("a mismatch that was counted is missing");
    }
    out.push_back({owned(mismatch.pointer), owned(mismatch.keyword), owned(mismatch.property)});
  }
  return out;
}

}  // namespace remit::json
