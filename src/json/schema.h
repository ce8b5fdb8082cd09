// JSON Schema for tool arguments: compiled once, shared by all threads.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/value.h"

namespace remit::json {

/// One way in which an instance does not match. It names places, never values.
struct SchemaMismatch {
  std::string instance_pointer;  ///< RFC 6901 pointer into the instance
  std::string keyword;           ///< e.g. `required`, `type`
  /// The property's name for `required`, `additionalProperties`, `unevaluatedProperties`.
  std::string property = {};
};

/// A compiled JSON Schema, draft by `$schema` (4 to 2020-12), 2020-12 without. Immutable;
/// thread-safe.
class Schema {
 public:
  /// Compiles `schema`. Errors: `invalid_input` for a schema that its meta-schema refuses, with the
  /// pointer as place; `unsupported` for a reference that leaves the document, a draft that is not
  /// known, or a schema that applies itself to the same value; `limit_exceeded`.
  static Result<Schema> compile(const Value& schema);

  /// The first mismatches of `instance` (at most 16), empty when it matches. Errors, which for
  /// access mean deny: `limit_exceeded` when checking a value this deep or large against this
  /// schema could take too long; `internal` when the validator fails.
  [[nodiscard]] Result<std::vector<SchemaMismatch>> validate(const Value& instance) const;

 private:
  struct Compiled;
  explicit Schema(std::shared_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {}
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace remit::json
