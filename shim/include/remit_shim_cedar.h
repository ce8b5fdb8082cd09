// The Cedar policy engine: load policies with their schema once, then decide requests from any
// thread.
//
// How. `remit_cedar_load` gives an engine or a report. A `remit_cedar_request` is filled by typed
// calls (principal, resource, context), decided, and can be filled again. Entity types and actions
// are named by their number in the engine's description (see remit_cedar_engine_description).
//
// What an error means. Every status but REMIT_SHIM_OK, and every verdict with `allows` false, is a
// deny. A request that does not fit the schema, lacks its principal, resource or context, or names
// an action that does not apply to the two types, is REMIT_SHIM_REFUSED and evaluates nothing.
//
// Threads. An engine is immutable; any thread may use it. A request belongs to one thread at a
// time. Deciding needs about 1.2 MiB of stack at worst (a policy of 256 operators); with less,
// evaluation reports an error, never a crash.
#pragma once

#include "remit_shim.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct remit_cedar_engine remit_cedar_engine;  ///< shared, immutable, reference counted
typedef struct remit_cedar_report remit_cedar_report;  ///< owned by the caller
typedef struct remit_cedar_request
    remit_cedar_request;  ///< owned by the caller, one thread at a time

/// Bounds on policy and schema text, checked before Cedar's recursive parser sees it. Raising
/// `max_nesting` or `max_operators` raises the stack that loading and deciding need.
typedef struct remit_cedar_limits {
  uint32_t max_policies;      ///< over all sources
  uint32_t max_policy_bytes;  ///< of one policy, from its first character to its semicolon
  uint32_t max_schema_bytes;
  uint32_t max_nesting;        ///< of brackets, in one policy and in the schema
  uint32_t max_operators;      ///< of one policy: `.`, `&&`, `if`, opening brackets, ...
  uint32_t max_request_types;  ///< action, principal type and resource type that fit one another
} remit_cedar_limits;

/// 20,000 policies of 4 KiB, a schema of 4 MiB, nesting 64, 256 operators, 100,000 request types.
remit_cedar_limits remit_cedar_default_limits(void);

/// What a finding is about. All but warnings keep the engine from being made.
enum {
  REMIT_CEDAR_WARNING = 0,
  REMIT_CEDAR_SYNTAX = 1,      ///< policy text does not parse, or is a template
  REMIT_CEDAR_SCHEMA = 2,      ///< schema text does not parse or contradicts itself
  REMIT_CEDAR_VALIDATION = 3,  ///< a policy does not fit the schema in strict mode
  REMIT_CEDAR_LIMIT = 4,
  REMIT_CEDAR_ANNOTATION = 5  ///< `@id` is missing, repeated or malformed
};

/// `source` of a finding in the schema.
#define REMIT_CEDAR_SCHEMA_SOURCE UINT32_MAX

/// One finding; the strings belong to the report. `offset` and `length` are bytes in the source;
/// both 0 where the place is not known.
typedef struct remit_cedar_finding {
  uint32_t kind;
  uint32_t source;  ///< index of the source, or REMIT_CEDAR_SCHEMA_SOURCE
  size_t offset;
  size_t length;
  remit_str policy;  ///< the policy's `@id`, where the finding is about one that has it
  remit_str message;
  remit_str help;  ///< may be empty
} remit_cedar_finding;

/// Loads policy sources (texts of any number of policies) with a schema in Cedar's own syntax.
/// Every policy needs an
/// `@id` of its own, of at most 128 bytes. With REMIT_SHIM_OK, `*report` is set, and `*engine` too
/// unless the report holds a finding above a warning; the caller releases both. Else both are null.
/// Runs on a thread of its own with a 64 MiB stack and returns when it ends.
remit_shim_status remit_cedar_load(const remit_str* sources, size_t source_count, remit_str schema,
                                   const remit_cedar_limits* limits,
                                   const remit_cedar_engine** engine, remit_cedar_report** report);

/// Findings kept (at most 64, in order of place), and how many more there were.
uint32_t remit_cedar_report_size(const remit_cedar_report* report);
uint32_t remit_cedar_report_omitted(const remit_cedar_report* report);
remit_shim_status remit_cedar_report_get(const remit_cedar_report* report, uint32_t number,
                                         remit_cedar_finding* finding);
void remit_cedar_report_free(remit_cedar_report* report);

void remit_cedar_engine_retain(const remit_cedar_engine* engine);
void remit_cedar_engine_release(const remit_cedar_engine* engine);

/// What the schema declares, as JSON; lives as long as the engine. Positions in the two lists are
/// the numbers that requests use:
///
///     {"actions": [{"type": "Action", "id": "read", "principals": [TYPE...], "resources":
///     [TYPE...],
///                   "context": RECORD}],
///      "entities": [{"type": TYPE, "attributes": RECORD, "ancestors": [TYPE...],
///                    "has_tags": bool}]}
///
/// `ancestors` are the types that an entity of this one may be `in`, directly or not.
/// RECORD is {"kind": "record", "fields": {NAME: {"required": bool, "type": VALUE}}}; VALUE is a
/// RECORD or has the kind "bool", "long", "string", "set" (with "element": VALUE), "entity" (with
/// "name": TYPE) or "extension" (with "name": "decimal", "datetime", "duration" or "ipaddr").
remit_str remit_cedar_engine_description(const remit_cedar_engine* engine);

/// A policy; the strings live as long as the engine.
typedef struct remit_cedar_policy {
  remit_str id;
  remit_str reason;  ///< `@reason`
  bool has_reason;
  bool forbids;
  uint32_t source;
  size_t offset;  ///< of its first character in the source
} remit_cedar_policy;

/// Policies are numbered ascending by id, so that ascending numbers are sorted ids.
uint32_t remit_cedar_engine_policy_count(const remit_cedar_engine* engine);
remit_shim_status remit_cedar_engine_policy(const remit_cedar_engine* engine, uint32_t number,
                                            remit_cedar_policy* policy);

/// What the policies can say of an action, whoever asks and whatever for. `permitted`: the scope of
/// a permit admits it, be its condition what it may; where none does, nobody can be permitted it.
/// `forbidden`: a forbid without a condition names it.
remit_shim_status remit_cedar_engine_standing(const remit_cedar_engine* engine, uint32_t action,
                                              bool* permitted, bool* forbidden);

/// An empty request; it keeps the engine alive.
remit_shim_status remit_cedar_request_new(const remit_cedar_engine* engine,
                                          remit_cedar_request** request);
void remit_cedar_request_free(remit_cedar_request* request);

/// Begin a part of the request, each once; what is put next belongs to it. A failed call spoils the
/// request, and the decision then reports the first failure: the statuses of the calls that fill it
/// need not be looked at.
remit_shim_status remit_cedar_request_principal(remit_cedar_request* request, uint32_t entity_type,
                                                remit_str id);
remit_shim_status remit_cedar_request_resource(remit_cedar_request* request, uint32_t entity_type,
                                               remit_str id);
remit_shim_status remit_cedar_request_context(remit_cedar_request* request);

/// Adds an ancestor to the entity begun last. All are given, those above the direct ones included.
remit_shim_status remit_cedar_request_ancestor(remit_cedar_request* request, uint32_t entity_type,
                                               remit_str id);

/// Put an attribute into the part begun last or the record opened last, or an element (with an
/// empty key) into the set opened last. A key given twice is REMIT_SHIM_REFUSED.
remit_shim_status remit_cedar_put_bool(remit_cedar_request* request, remit_str key, bool value);
remit_shim_status remit_cedar_put_long(remit_cedar_request* request, remit_str key, int64_t value);
remit_shim_status remit_cedar_put_string(remit_cedar_request* request, remit_str key,
                                         remit_str value);
remit_shim_status remit_cedar_put_entity(remit_cedar_request* request, remit_str key,
                                         uint32_t entity_type, remit_str id);

/// Cedar's extension types, by the function that makes a value of a text.
enum {
  REMIT_CEDAR_DECIMAL = 0,   ///< `1.25`
  REMIT_CEDAR_DATETIME = 1,  ///< `2026-08-04T09:30:00.000Z`
  REMIT_CEDAR_DURATION = 2,  ///< `1h30m`
  REMIT_CEDAR_IPADDR = 3     ///< `192.0.2.0/24`
};
/// A text that the function does not take is REMIT_SHIM_REFUSED.
remit_shim_status remit_cedar_put_extension(remit_cedar_request* request, remit_str key,
                                            uint32_t kind, remit_str text);

/// Open a record or a set under a key (empty inside a set), and close the one opened last.
remit_shim_status remit_cedar_open_record(remit_cedar_request* request, remit_str key);
remit_shim_status remit_cedar_open_set(remit_cedar_request* request, remit_str key);
remit_shim_status remit_cedar_close(remit_cedar_request* request);

/// What the policies said; the arrays belong to the request and live until its next decision. Each
/// is ascending.
typedef struct remit_cedar_verdict {
  bool allows;  ///< at least one permit, no forbid and no error
  const uint32_t* permits;
  size_t permit_count;
  const uint32_t* forbids;
  size_t forbid_count;
  size_t error_count;
} remit_cedar_verdict;

/// Decides what was filled in and empties the request. Errors: REMIT_SHIM_REFUSED for what does not
/// fit the schema (the message names attributes, never values), REMIT_SHIM_LIMIT for more than
/// 100,000 values, nesting past 64 or more than 1,000 ancestors of an entity.
remit_shim_status remit_cedar_decide(remit_cedar_request* request, uint32_t action,
                                     remit_cedar_verdict* verdict);

/// A policy that failed in the last decision, ascending by policy, and what kind of error it was
/// (static text).
remit_shim_status remit_cedar_verdict_error(const remit_cedar_request* request, uint32_t number,
                                            uint32_t* policy, remit_str* kind);

#ifdef __cplusplus
}
#endif
