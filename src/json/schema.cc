// JSON Schema over the shim's validator.
#include "json/schema.h"

#include <remit_shim_json_schema.h>

#include <utility>

#include "base/check.h"

namespace remit::json {
namespace {

constexpr std::uint32_t kMaxMismatches = 16;

remit_str shim_text(std::string_view text) {
  return remit_str{text.data(), text.size()};
}

std::string owned(remit_str text) {
  return text.size == 0 ? std::string() : std::string(text.data, text.size);
}

// What the shim said last on this thread. Its messages hold no values.
Error shim_error(remit_shim_status status) {
  const std::string message = owned(remit_shim_last_message());
  Error error{ErrorCode::kInternal, message, owned(remit_shim_last_place())};
  switch (status) {
    case REMIT_SHIM_REFUSED:
      error.code = ErrorCode::kInvalidInput;
      return error;
    case REMIT_SHIM_UNSUPPORTED:
      error.code = ErrorCode::kUnsupported;
      return error;
    case REMIT_SHIM_LIMIT:
      error.code = ErrorCode::kLimitExceeded;
      return error;
    default:
      return REMIT_BUG("the JSON Schema shim: " + message);
  }
}

struct FreeMismatches {
  void operator()(remit_json_schema_mismatches* found) const {
    remit_json_schema_mismatches_free(found);
  }
};
using Mismatches = std::unique_ptr<remit_json_schema_mismatches, FreeMismatches>;

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
  if (status != REMIT_SHIM_OK) return shim_error(status);
  return Schema(std::make_shared<const Compiled>(handle));
}

Result<std::vector<SchemaMismatch>> Schema::validate(const Value& instance) const {
  const std::string text = write(instance);
  remit_json_schema_mismatches* made = nullptr;
  const remit_shim_status status =
      remit_json_schema_validate(compiled_->handle, shim_text(text), kMaxMismatches, &made);
  const Mismatches found(made);
  if (status != REMIT_SHIM_OK) return shim_error(status);
  std::vector<SchemaMismatch> out;
  const std::uint32_t count = remit_json_schema_mismatch_count(found.get());
  for (std::uint32_t i = 0; i < count; ++i) {
    remit_json_schema_mismatch mismatch{};
    const remit_shim_status got = remit_json_schema_mismatch_get(found.get(), i, &mismatch);
    if (got != REMIT_SHIM_OK) return shim_error(got);
    out.push_back(
        SchemaMismatch{owned(mismatch.pointer), owned(mismatch.keyword), owned(mismatch.property)});
  }
  return out;
}

}  // namespace remit::json
