// Building the authenticators.
#include "gateway/identities.h"

#include <string>
#include <utility>
#include <variant>

#include "identity/file_keys.h"
#include "identity/remote_keys.h"
#include "process/child.h"

namespace remit::gateway {
namespace {

// What the variable has; empty where it is not set.
std::string token_in_environment(const std::string& variable) {
  for (std::string& pair : process::pick_environment({variable})) {
    return pair.substr(variable.size() + 1);
  }
  return {};
}

// The keys are named in one place, and what is wrong with them is said behind it.
Error named_at(const std::string& where, const Error& error) {
  return {error.code, error.to_string(), where};
}

Result<std::unique_ptr<const identity::KeySource>> open_remote(const RemoteKeySettings& settings,
                                                               FileSystem& files,
                                                               const Clock& clock, Random& random) {
  identity::RemoteKeysOptions options{.url = settings.url,
                                      .refresh = settings.refresh,
                                      .max_age = settings.max_age,
                                      .timeout = settings.timeout};
  if (!settings.trust.empty()) {
    REMIT_TRY_ASSIGN(options.trust_pem, files.read(settings.trust, kMaxConfigBytes));
  }
  REMIT_TRY_ASSIGN(std::unique_ptr<identity::RemoteKeys> keys,
                   identity::RemoteKeys::start(std::move(options), clock, random));
  return std::unique_ptr<const identity::KeySource>(std::move(keys));
}

// Where there is no token, none is verified and nothing fetched.
class NoKeys final : public identity::KeySource {
 public:
  [[nodiscard]] identity::KnownKeys known() const override {
    return {nullptr, Error{ErrorCode::kFailedPrecondition, "there was no token to fetch keys for"}};
  }
};

}  // namespace

Result<std::unique_ptr<Identities>> Identities::open(const Config& config, const DigestKey& key,
                                                     FileSystem& files, const Clock& clock,
                                                     Random& random) {
  std::unique_ptr<Identities> out(new Identities(config, key));
  if (config.jwt) REMIT_TRY(out->open_tokens(*config.jwt, key, files, clock, random));
  if (!config.directory_file.empty()) {
    out->directory_ = std::make_unique<identity::PrincipalDirectory>(files, config.directory_file,
                                                                     key, out->authenticator());
  }
  return out;
}

Status Identities::open_tokens(const JwtSettings& settings, const DigestKey& key, FileSystem& files,
                               const Clock& clock, Random& random) {
  std::string token = token_in_environment(settings.token_from_env);
  if (const auto* file = std::get_if<FileKeySettings>(&settings.keys)) {
    keys_ = std::make_unique<identity::FileKeys>(files, file->file);
    if (const auto problem = keys_->known().problem) return named_at(settings.where, *problem);
  } else if (token.empty()) {
    keys_ = std::make_unique<NoKeys>();
  } else {
    auto opened = open_remote(std::get<RemoteKeySettings>(settings.keys), files, clock, random);
    if (!opened) return named_at(settings.where, opened.error());
    keys_ = *std::move(opened);
  }
  if (!settings.revocations.empty()) {
    revocations_ = std::make_unique<identity::Revocations>(files, settings.revocations);
    const auto reading = revocations_->read();
    if (!reading.problems.empty()) return reading.problems.front();
  }
  tokens_ = std::make_unique<identity::JwtAuthenticator>(settings.rules, *keys_, revocations_.get(),
                                                         key, pinned_, std::move(token));
  return {};
}

const identity::Authenticator& Identities::authenticator() const {
  if (directory_ != nullptr) return *directory_;
  if (tokens_ != nullptr) return *tokens_;
  return pinned_;
}

}  // namespace remit::gateway
