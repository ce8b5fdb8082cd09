// JSON Schema: compile a schema once, validate values from any thread.
//
// Drafts 4, 6, 7, 2019-09 and 2020-12, by `$schema`; 2020-12 without. No document but the schema is
// ever read. Patterns run in linear time: what only a backtracking matcher can do (look-around,
// back references) is refused. A schema that could make validation endless or exponential is
// refused, or the value that would make it so.
#pragma once

#include "remit_shim.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct remit_json_schema
    remit_json_schema;  ///< shared, immutable, reference counted; any thread may use it
typedef struct remit_json_schema_mismatches remit_json_schema_mismatches;  ///< owned by the caller

/// Compiles JSON text. Errors, each with the JSON pointer of its place where there is one:
/// REMIT_SHIM_REFUSED for text that is not JSON, a schema that its meta-schema refuses or a pattern
/// that is refused; REMIT_SHIM_UNSUPPORTED for an unknown `$schema`, a reference that is not a
/// local pointer or anchor, a `$id` inside the document, or a schema that applies itself to the
/// same value; REMIT_SHIM_LIMIT for size. Runs on a thread of its own.
remit_shim_status remit_json_schema_compile(remit_str schema, const remit_json_schema** out);

void remit_json_schema_retain(const remit_json_schema* schema);
void remit_json_schema_release(const remit_json_schema* schema);

/// Validates JSON text of at most 64 levels. `*out` is null when it matches, else its first
/// mismatches, at most `max` and 64, which the caller frees. Errors: REMIT_SHIM_REFUSED for text
/// that is not JSON; REMIT_SHIM_LIMIT for a value whose check could take too long. An error is not
/// a match.
remit_shim_status remit_json_schema_validate(const remit_json_schema* schema, remit_str instance,
                                             uint32_t max, remit_json_schema_mismatches** out);

/// One way in which a value does not match: places and names, never values. Strings belong to the
/// mismatches.
typedef struct remit_json_schema_mismatch {
  remit_str pointer;  ///< RFC 6901 pointer into the instance
  remit_str keyword;  ///< e.g. `required`
  remit_str
      property;  ///< for `required`, `additionalProperties` and `unevaluatedProperties`, else empty
} remit_json_schema_mismatch;

uint32_t remit_json_schema_mismatch_count(const remit_json_schema_mismatches* found);
remit_shim_status remit_json_schema_mismatch_get(const remit_json_schema_mismatches* found,
                                                 uint32_t number,
                                                 remit_json_schema_mismatch* mismatch);
void remit_json_schema_mismatches_free(remit_json_schema_mismatches* found);

#ifdef __cplusplus
}
#endif
