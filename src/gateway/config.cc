// Reading `remit.config/1`, every mistake at once.
#include "gateway/config.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "yaml/yaml.h"

namespace remit::gateway {
namespace {

constexpr std::size_t kMaxUpstreamNameBytes = 32;
constexpr std::int64_t kMaxCallsPerSecond = 1'000'000;
constexpr std::int64_t kMaxCallTimeoutMs = 24 * 3600 * 1000;
constexpr std::int64_t kLeastBodyBytes = 1024;
constexpr std::int64_t kMaxResolveMs = 60'000;
constexpr std::int64_t kMaxKeyFetchMs = 60'000;
constexpr std::int64_t kLeastKeyRefreshS = 10;
constexpr std::int64_t kMaxKeyAgeS = 7 * 24 * 3600;

// What is wrong with a file that must be there and be ours alone; nothing if it is right.
std::optional<Error> check_file(FileSystem& files, const std::string& path) {
  const Result<FileInfo> info = files.info(path);
  if (!info) {
    Error error = info.error();
    error.message = fmt::format("{}: {}", path, error.message);
    return error;
  }
  if (info->kind == FileInfo::Kind::kLink) {
    return Error{ErrorCode::kInvalidInput, path + " is a link; name the file itself"};
  }
  if (info->kind != FileInfo::Kind::kFile) {
    return Error{ErrorCode::kInvalidInput, path + " is not a file"};
  }
  if (info->writable_by_others || !info->owned_by_us) {
    return Error{ErrorCode::kInvalidInput,
                 path + " can be written by others; make it yours and mode 0600"};
  }
  return std::nullopt;
}

std::optional<Error> check_there(FileSystem& files, const std::string& path) {
  const Result<FileInfo> info = files.info(path);
  if (info) return std::nullopt;
  Error error = info.error();
  error.message = fmt::format("{}: {}", path, error.message);
  return error;
}

// The directory in which another file could be put in this one's place.
std::optional<Error> check_directory(FileSystem& files, const std::string& path) {
  std::string directory = std::filesystem::path(path).parent_path().string();
  if (directory.empty()) directory = ".";
  const Result<FileInfo> info = files.info(directory);
  if (!info) return check_there(files, directory);
  if (!info->writable_by_others && info->owned_by_us) return std::nullopt;
  return Error{ErrorCode::kInvalidInput, "the directory " + directory +
                                             " can be written by others, and with it the database; "
                                             "make it yours and mode 0700"};
}

// A database, with the files that its writers put beside it, and the directory in which any could
// be put in their place.
std::optional<Error> check_database(FileSystem& files, const std::string& path) {
  if (std::optional<Error> error = check_file(files, path)) return error;
  for (const char* suffix : {"-wal", "-shm", "-journal"}) {
    if (!files.info(path + suffix)) continue;
    if (std::optional<Error> error = check_file(files, path + suffix)) return error;
  }
  return check_directory(files, path);
}

// A database that is made where there is none.
std::optional<Error> check_own_database(FileSystem& files, const std::string& path) {
  if (files.info(path)) return check_database(files, path);
  return check_directory(files, path);
}

// A secret is ours to read as well: whoever has the digest key can guess what the digests stand
// for.
std::optional<Error> check_secret(FileSystem& files, const std::string& path) {
  if (std::optional<Error> error = check_file(files, path)) return error;
  const Result<FileInfo> info = files.info(path);
  if (info && !info->readable_by_others) return std::nullopt;
  return Error{ErrorCode::kInvalidInput, path + " can be read by others; make it mode 0600"};
}

class ConfigReader {
 public:
  ConfigReader(FileSystem& files, std::string file) : files_(files), problems_(file) {
    config_.file = std::move(file);
    config_.directory = std::filesystem::path(config_.file).parent_path().string();
    if (config_.directory.empty()) config_.directory = ".";
  }

  ConfigOutcome read();

 private:
  void read_root(const yaml::Node& root);
  void read_identity(const yaml::Node& node);
  void read_principal(const yaml::Node& node);
  void read_jwt(const yaml::Node& node);
  std::variant<FileKeySettings, RemoteKeySettings> read_keys(const yaml::Node& node);
  std::vector<identity::JwsAlgorithm> read_algorithms(yaml::ObjectReader& reader);
  identity::FactOrigin read_origin(const yaml::Node& node, std::string_view key);
  void read_attributes(const yaml::Node& node);
  HttpAttributes read_service(const yaml::Node& node);
  void read_upstream(const yaml::Node& node);
  void read_command(const yaml::Node& node, UpstreamSettings& out);
  void read_evidence(const yaml::Node& node);
  void read_state(const yaml::Node& node);
  void read_limits(const yaml::Node& node);
  void refuse_later(yaml::ObjectReader& reader, std::initializer_list<std::string_view> keys);
  std::string place_of(const yaml::Node& node) const;
  std::string joined(const std::string& path) const;
  // The path of `key`, checked where it is named: `check` is one of the functions above.
  template <class Check>
  std::string path_of(yaml::ObjectReader& reader, std::string_view key, Check check);

  FileSystem& files_;
  yaml::Problems problems_;
  Config config_;
};

std::string ConfigReader::place_of(const yaml::Node& node) const {
  return fmt::format("{}:{}:{}", config_.file, node.place().line, node.place().column);
}

std::string ConfigReader::joined(const std::string& path) const {
  return (std::filesystem::path(config_.directory) / path).lexically_normal().string();
}

template <class Check>
std::string ConfigReader::path_of(yaml::ObjectReader& reader, std::string_view key, Check check) {
  const std::string written = reader.required_string(key);
  if (written.empty()) return {};
  std::string path = joined(written);
  if (const std::optional<Error> error = check(files_, path)) {
    reader.problem(key, error->message, error->code);
  }
  return path;
}

void ConfigReader::refuse_later(yaml::ObjectReader& reader,
                                std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    if (reader.optional_node(key) == nullptr) continue;
    reader.problem(key, fmt::format("{} is not supported by this version", key),
                   ErrorCode::kUnsupported);
  }
}

void ConfigReader::read_principal(const yaml::Node& node) {
  yaml::ObjectReader reader(node, "the principal", problems_);
  access::Principal principal;
  principal.subject = reader.required_string("subject");
  principal.tenant = reader.required_string("tenant");
  principal.class_name = reader.required_string("class");
  principal.scopes = reader.required_strings("scopes");
  principal.revision = reader.optional_string("revision").value_or("");
  principal.on_behalf_of = reader.optional_string("on_behalf_of").value_or("");
  if (reader.finish()) config_.pinned = std::move(principal);
}

std::variant<FileKeySettings, RemoteKeySettings> ConfigReader::read_keys(const yaml::Node& node) {
  yaml::ObjectReader reader(node, "keys", problems_);
  const bool is_file = reader.optional_node("file") != nullptr;
  const bool is_remote = reader.optional_node("url") != nullptr;
  if (is_file == is_remote) problems_.add(node, "keys have one of file and url");
  if (is_file) {
    FileKeySettings out{path_of(reader, "file", check_file)};
    reader.finish();
    return out;
  }
  RemoteKeySettings out;
  out.url = reader.optional_string("url").value_or("");
  if (reader.optional_node("trust") != nullptr) out.trust = path_of(reader, "trust", check_file);
  out.refresh =
      std::chrono::seconds{reader.optional_integer("refresh_s", kLeastKeyRefreshS, kMaxKeyAgeS)
                               .value_or(out.refresh.count())};
  out.max_age =
      std::chrono::seconds{reader.optional_integer("max_age_s", kLeastKeyRefreshS, kMaxKeyAgeS)
                               .value_or(out.max_age.count())};
  out.timeout = std::chrono::milliseconds{
      reader.optional_integer("timeout_ms", 1, kMaxKeyFetchMs).value_or(out.timeout.count())};
  if (out.max_age < out.refresh) {
    reader.problem("max_age_s", "keys would be too old before they are asked for again");
  }
  reader.finish();
  return out;
}

std::vector<identity::JwsAlgorithm> ConfigReader::read_algorithms(yaml::ObjectReader& reader) {
  std::vector<identity::JwsAlgorithm> out;
  for (const std::string& name : reader.optional_strings("algorithms")) {
    if (const auto algorithm = identity::parse_jws_algorithm(name)) {
      out.push_back(*algorithm);
    } else {
      reader.problem("algorithms", remit::quoted(name) +
                                       " is no algorithm that is taken; those are "
                                       "RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, "
                                       "ES512 and EdDSA");
    }
  }
  return out;
}

// `{claim: NAME}` or `{value: TEXT}`.
identity::FactOrigin ConfigReader::read_origin(const yaml::Node& node, std::string_view key) {
  yaml::ObjectReader reader(node, key, problems_);
  identity::FactOrigin out;
  const std::optional<std::string> claim = reader.optional_string("claim");
  const std::optional<std::string> value = reader.optional_string("value");
  if (reader.finish() && claim.has_value() == value.has_value()) {
    problems_.add(node, fmt::format("{} has one of claim and value", key));
  }
  out.claim = claim.value_or("");
  out.value = value.value_or("");
  return out;
}

void ConfigReader::read_jwt(const yaml::Node& node) {
  yaml::ObjectReader reader(node, "jwt", problems_);
  JwtSettings out;
  out.where = place_of(node);
  identity::TokenRules& rules = out.rules;
  rules.issuer = reader.required_string("issuer");
  rules.audiences = reader.required_strings("audiences");
  if (reader.optional_node("audiences") != nullptr && rules.audiences.empty()) {
    reader.problem("audiences", "a token is for one of the audiences, so there is one at least");
  }
  rules.type = reader.optional_string("type").value_or("");
  rules.algorithms = read_algorithms(reader);
  rules.skew = std::chrono::seconds{
      reader.optional_integer("skew_s", 0, kMaxClockSkew.count()).value_or(rules.skew.count())};
  for (const auto& [key, origin] : {std::pair{"tenant", &rules.tenant},
                                    {"class", &rules.class_name},
                                    {"scopes", &rules.scopes}}) {
    const yaml::Node* fact = reader.optional_node(key);
    if (fact != nullptr) *origin = read_origin(*fact, key);
  }
  if (const yaml::Node* keys = reader.required_node("keys")) {
    out.where = place_of(*keys);
    out.keys = read_keys(*keys);
  }
  if (reader.optional_node("revocations") != nullptr) {
    out.revocations = path_of(reader, "revocations", check_file);
  }
  out.token_from_env = reader.required_string("token_from_env");
  reader.finish();
  config_.jwt = std::move(out);
}

void ConfigReader::read_identity(const yaml::Node& node) {
  yaml::ObjectReader reader(node, "identity", problems_);
  const yaml::Node* jwt = reader.optional_node("jwt");
  if (jwt != nullptr) read_jwt(*jwt);
  const yaml::Node* pinned = reader.optional_node("pinned");
  if ((jwt != nullptr) == (pinned != nullptr)) {
    problems_.add(node, "identity has one of pinned and jwt");
  }
  if (pinned != nullptr) {
    yaml::ObjectReader pinned_reader(*pinned, "pinned", problems_);
    if (const yaml::Node* principal = pinned_reader.required_node("principal")) {
      read_principal(*principal);
    }
    pinned_reader.finish();
  }
  if (reader.optional_node("directory") != nullptr) {
    config_.directory_file = path_of(reader, "directory", check_file);
  }
  reader.finish();
}

HttpAttributes ConfigReader::read_service(const yaml::Node& node) {
  yaml::ObjectReader reader(node, "http", problems_);
  HttpAttributes out;
  out.url = reader.required_string("url");
  out.timeout = std::chrono::milliseconds{
      reader.optional_integer("timeout_ms", 1, kMaxResolveMs).value_or(out.timeout.count())};
  if (reader.optional_node("trust") != nullptr) out.trust = path_of(reader, "trust", check_file);
  if (reader.optional_node("credential") != nullptr) {
    out.credential = path_of(reader, "credential", check_secret);
  }
  reader.finish();
  return out;
}

void ConfigReader::read_attributes(const yaml::Node& node) {
  yaml::ObjectReader reader(node, "an attribute source", problems_);
  AttributeSettings out;
  out.where = place_of(node);
  out.type = reader.required_string("type");
  // What events call the store; a deployment with several of a kind tells them apart by it.
  out.source = reader.optional_string("source").value_or(out.type);
  int stores = 0;
  if (const yaml::Node* sqlite = reader.optional_node("sqlite")) {
    ++stores;
    yaml::ObjectReader store(*sqlite, "sqlite", problems_);
    const std::string path = path_of(store, "path", check_database);
    out.store = SqliteAttributes{path, store.required_string("query")};
    store.finish();
  }
  if (const yaml::Node* postgres = reader.optional_node("postgres")) {
    ++stores;
    yaml::ObjectReader store(*postgres, "postgres", problems_);
    const std::string connection = store.required_string("connection");
    out.store = PostgresAttributes{connection, store.required_string("query")};
    store.finish();
  }
  if (const yaml::Node* beneath = reader.optional_node("path")) {
    ++stores;
    yaml::ObjectReader store(*beneath, "path", problems_);
    const std::string root = path_of(store, "root", check_there);
    out.store = PathAttributes{root, store.required_string("tenant")};
    store.finish();
  }
  if (const yaml::Node* service = reader.optional_node("http")) {
    ++stores;
    out.store = read_service(*service);
  }
  if (const yaml::Node* fixture = reader.optional_node("fixture")) {
    ++stores;
    yaml::ObjectReader store(*fixture, "fixture", problems_);
    out.store = FixtureAttributes{path_of(store, "file", check_file)};
    store.finish();
  }
  if (reader.finish() && stores != 1) {
    problems_.add(node, "an attribute source has one of sqlite, postgres, path, http and fixture");
  }
  for (const AttributeSettings& other : config_.attributes) {
    if (other.type == out.type)
      problems_.add(node, "the type " + remit::quoted(out.type) + " is there twice");
  }
  config_.attributes.push_back(std::move(out));
}

void ConfigReader::read_command(const yaml::Node& node, UpstreamSettings& out) {
  yaml::ObjectReader reader(node, "stdio", problems_);
  for (const yaml::Node& word : reader.required_list("command")) {
    if (word.if_string() == nullptr) {
      problems_.add(word, "a command has words, not " + word.describe() + "; put it in quotes");
    } else {
      out.command.push_back(*word.if_string());
    }
  }
  if (out.command.empty() || out.command.front().empty()) {
    reader.problem("command", "a command begins with a program");
  }
  if (out.command.size() > kMaxCommandWords) {
    reader.problem("command", "a command has at most 256 words", ErrorCode::kLimitExceeded);
  }
  out.inherit = reader.optional_strings("inherit");
  if (config_.jwt &&
      std::count(out.inherit.begin(), out.inherit.end(), config_.jwt->token_from_env) > 0) {
    reader.problem("inherit", "the caller's token, in " +
                                  remit::quoted(config_.jwt->token_from_env) +
                                  ", goes to no server");
  }
  if (const yaml::Node* environment = reader.optional_node("environment")) {
    if (environment->kind() != yaml::Node::Kind::kMap) {
      problems_.add(*environment, "environment is a map of names and values");
    }
    for (std::size_t i = 0; i < environment->keys().size(); ++i) {
      const yaml::Key& key = environment->keys()[i];
      const std::string* value = environment->values()[i].if_string();
      if (key.text.empty() || key.text.find('=') != std::string::npos) {
        problems_.add(key.place, "a variable's name is not empty and has no =");
      } else if (value == nullptr) {
        problems_.add(environment->values()[i], "a variable's value is text; put it in quotes");
      } else {
        out.environment.emplace_back(key.text, *value);
      }
    }
  }
  reader.finish();
}

void ConfigReader::read_upstream(const yaml::Node& node) {
  yaml::ObjectReader reader(node, "an upstream", problems_);
  UpstreamSettings out;
  out.where = place_of(node);
  out.name = reader.required_string("name");
  const bool is_name =
      out.name.size() <= kMaxUpstreamNameBytes &&
      out.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_-") == std::string::npos;
  if (!is_name) reader.problem("name", "a name is [a-z0-9_-]{1,32}");
  for (const UpstreamSettings& other : config_.upstreams) {
    if (other.name == out.name) {
      reader.problem("name", "the name " + remit::quoted(out.name) + " is there twice");
    }
  }
  refuse_later(reader, {"http"});
  if (reader.optional_node("http") == nullptr) {
    if (const yaml::Node* stdio = reader.required_node("stdio")) read_command(*stdio, out);
  } else {
    reader.optional_node("stdio");
  }
  reader.finish();
  config_.upstreams.push_back(std::move(out));
}

void ConfigReader::read_evidence(const yaml::Node& node) {
  yaml::ObjectReader reader(node, "evidence", problems_);
  refuse_later(reader, {"checkpoint_key", "retention_days"});
  config_.evidence.directory =
      path_of(reader, "directory", [](FileSystem&, const std::string&) -> std::optional<Error> {
        return std::nullopt;  // made at the start
      });
  config_.evidence.digest_key = path_of(reader, "digest_key", check_secret);
  reader.finish();
}

void ConfigReader::read_state(const yaml::Node& node) {
  yaml::ObjectReader reader(node, "state", problems_);
  int stores = 0;
  ledger::Location state;
  if (reader.optional_node("sqlite") != nullptr) {
    ++stores;
    state = {ledger::Location::Kind::kSqlite, path_of(reader, "sqlite", check_own_database)};
  }
  if (reader.optional_node("postgres") != nullptr) {
    ++stores;
    state = {ledger::Location::Kind::kPostgres, reader.required_string("postgres")};
  }
  if (reader.finish() && stores != 1) problems_.add(node, "state has one of sqlite and postgres");
  config_.state = std::move(state);
}

void ConfigReader::read_limits(const yaml::Node& node) {
  yaml::ObjectReader reader(node, "limits", problems_);
  LimitSettings& limits = config_.limits;
  limits.body_bytes =
      static_cast<std::size_t>(reader
                                   .optional_integer("body_bytes", kLeastBodyBytes,
                                                     static_cast<std::int64_t>(kMaxMcpLineBytes))
                                   .value_or(static_cast<std::int64_t>(limits.body_bytes)));
  limits.calls_per_second = reader.optional_integer("calls_per_second", 0, kMaxCallsPerSecond)
                                .value_or(limits.calls_per_second);
  limits.principal_calls_per_second =
      reader.optional_integer("principal_calls_per_second", 0, kMaxCallsPerSecond)
          .value_or(limits.principal_calls_per_second);
  limits.call_timeout =
      std::chrono::milliseconds{reader.optional_integer("call_timeout_ms", 1, kMaxCallTimeoutMs)
                                    .value_or(limits.call_timeout.count())};
  reader.finish();
}

void ConfigReader::read_root(const yaml::Node& root) {
  yaml::ObjectReader reader(root, "the configuration", problems_);
  if (!reader.format("config", "remit.config/1")) return;
  config_.bundle = path_of(reader, "bundle", check_there);
  refuse_later(reader, {"listen"});
  if (const yaml::Node* node = reader.required_node("identity")) read_identity(*node);
  for (const yaml::Node& node : reader.optional_list("attributes")) read_attributes(node);
  const auto upstreams = reader.required_list("upstreams");
  if (upstreams.size() > kMaxUpstreams) {
    reader.problem("upstreams", "there are at most 64 upstreams", ErrorCode::kLimitExceeded);
  } else {
    for (const yaml::Node& node : upstreams) read_upstream(node);
  }
  if (const yaml::Node* node = reader.required_node("evidence")) read_evidence(*node);
  if (const yaml::Node* node = reader.optional_node("state")) read_state(*node);
  if (const yaml::Node* node = reader.optional_node("limits")) read_limits(*node);
  reader.finish();
}

ConfigOutcome ConfigReader::read() {
  if (std::optional<Error> error = check_file(files_, config_.file)) {
    error->where.clear();  // the message names the file
    return {std::nullopt, {std::move(*error)}};
  }
  const Result<std::string> text = files_.read(config_.file, kMaxConfigBytes);
  if (!text) return {std::nullopt, {text.error()}};
  const Result<yaml::Node> root = yaml::parse(*text);
  if (root) {
    read_root(*root);
    if (problems_.empty() && config_.upstreams.empty()) {
      problems_.add(*root,
                    "the configuration has no upstream, so there is nothing to stand before");
    }
  } else {
    problems_.add(root.error());
  }
  if (!problems_.empty()) return {std::nullopt, problems_.take()};
  return {std::move(config_), {}};
}

}  // namespace

ConfigOutcome read_config(FileSystem& files, const std::string& file) {
  return ConfigReader(files, file).read();
}

}  // namespace remit::gateway
