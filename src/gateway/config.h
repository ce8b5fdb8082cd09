// The gateway's configuration, `remit.config/1`: what the operator says once, in one file.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "access/principal.h"
#include "base/file_system.h"
#include "base/limits.h"
#include "base/result.h"
#include "identity/token_claims.h"
#include "ledger/store.h"

namespace remit::gateway {

/// `keys: {file}` of an issuer.
struct FileKeySettings {
  std::string file;
};

/// `keys: {url, trust, refresh_s, max_age_s, timeout_ms}`: an issuer's server.
struct RemoteKeySettings {
  std::string url;
  std::string trust = {};  ///< file of certificates in place of the system's; empty: none
  std::chrono::seconds refresh{300};
  std::chrono::seconds max_age{3600};
  std::chrono::milliseconds timeout{5000};
};

/// `identity: {jwt}`: who calls is who a token says (spec/identity.md).
struct JwtSettings {
  std::string where;  ///< FILE:LINE:COLUMN of the keys
  identity::TokenRules rules;
  std::variant<FileKeySettings, RemoteKeySettings> keys;
  std::string revocations = {};  ///< file; empty: none
  std::string token_from_env;    ///< the variable that has the token
};

/// `sqlite: {path, query}`: one row of a database by a bound `:ref`.
struct SqliteAttributes {
  std::string path;
  std::string query;
};

/// `postgres: {connection, query}`: one row of a server's database by a bound `:ref`.
struct PostgresAttributes {
  std::string connection;
  std::string query;
};

/// `path: {root, tenant}`: files beneath a root.
struct PathAttributes {
  std::string root;
  std::string tenant;
};

/// `http: {url, timeout_ms, trust, credential}`: a service that is asked for each reference.
struct HttpAttributes {
  std::string url;
  std::chrono::milliseconds timeout{kResolveDeadline};
  std::string trust = {};       ///< file of certificates in place of the system's; empty: none
  std::string credential = {};  ///< file with the token that the service wants; empty: none
};

/// `fixture: {file}`: resources written down in a file.
struct FixtureAttributes {
  std::string file;
};

/// The trusted store of one Cedar entity type.
struct AttributeSettings {
  std::string where;  ///< FILE:LINE:COLUMN
  std::string type;
  std::string source;  ///< `resolution_source` in events; the type where the file says nothing
  std::variant<FixtureAttributes, SqliteAttributes, PostgresAttributes, PathAttributes,
               HttpAttributes>
      store;
};

/// One MCP server that we start. It gets `environment` and, of our own, the harmless variables of
/// process/child.h and those named in `inherit`; nothing else.
struct UpstreamSettings {
  std::string where;  ///< FILE:LINE:COLUMN
  std::string name;   ///< `[a-z0-9_-]{1,32}`, as the catalogue names it
  std::vector<std::string> command;
  std::vector<std::pair<std::string, std::string>> environment = {};
  std::vector<std::string> inherit = {};
};

struct EvidenceSettings {
  std::string directory;
  std::string digest_key;  ///< file of 32 bytes or more
};

struct LimitSettings {
  std::size_t body_bytes = kMaxCallBytes;       ///< of one line from the client
  std::int64_t calls_per_second = 1000;         ///< as many may come at once; 0: no bound
  std::int64_t principal_calls_per_second = 0;  ///< of one principal (REQ-BD-024); 0: no bound
  std::chrono::milliseconds call_timeout{300'000};
};

/// A configuration as read. Paths are as the file has them, joined to the file's directory where
/// they are relative.
struct Config {
  std::string file;
  std::string directory;  ///< of the file; upstreams run there
  std::string bundle;
  std::optional<access::Principal> pinned;  ///< or `jwt`, never both
  std::optional<JwtSettings> jwt;
  std::string directory_file = {};  ///< principals that deferred work may name; empty: none
  std::vector<AttributeSettings> attributes;
  std::vector<UpstreamSettings> upstreams;
  EvidenceSettings evidence;
  std::optional<ledger::Location> state;  ///< approvals and invocation keys
  LimitSettings limits;
};

/// A configuration, or everything that is wrong with the file.
struct ConfigOutcome {
  std::optional<Config> config;  ///< nothing exactly when `problems` is not empty
  std::vector<Error> problems;   ///< in the order of the file, each with FILE:LINE:COLUMN
};

/// Reads `file`. Problems: a file that is missing, a link, too large or writable by others; YAML
/// that does not parse; an unknown, missing or misshapen key; a key of a later version
/// (`unsupported`); a bundle, database, root, fixture, key set or digest key that does not exist,
/// said where it was named; a fixture, key set or digest key that others may write, or a database
/// that they may write or replace; for `state` one that is not there yet is made at the start.
/// (Whether they may write the bundle is seen when it is loaded. What lies beneath a root is not
/// looked at: others may be meant to write there.)
ConfigOutcome read_config(FileSystem& files, const std::string& file);

}  // namespace remit::gateway
