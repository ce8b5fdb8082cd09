// One small file, looked at for each credential and parsed when it changed.
#include "identity/principal_directory.h"

#include <utility>

#include "base/limits.h"
#include "identity/facts_revision.h"
#include "yaml/yaml.h"

namespace remit::identity {

using access::PrincipalState;

PrincipalDirectory::PrincipalDirectory(FileSystem& files, std::string file, DigestKey key,
                                       const Authenticator& others)
    : files_(files), file_(std::move(file)), key_(std::move(key)), others_(others) {}

PrincipalDirectory::Reading PrincipalDirectory::parse(const std::string& text) const {
  yaml::Problems problems(file_);
  const Result<yaml::Node> root = yaml::parse(text);
  if (!root) {
    problems.add(root.error());
    return {nullptr, problems.take()};
  }
  auto entries = std::make_shared<Entries>();
  yaml::ObjectReader reader(*root, "the directory", problems);
  if (reader.format("directory", "remit.directory/1")) {
    for (const yaml::Node& node : reader.required_list("principals")) {
      yaml::ObjectReader item(node, "a principal", problems);
      Entry entry;
      access::Principal& principal = entry.principal;
      principal.subject = item.required_string("subject");
      const std::string reference = item.optional_string("reference").value_or(principal.subject);
      principal.tenant = item.required_string("tenant");
      principal.class_name = item.required_string("class");
      principal.scopes = item.required_strings("scopes");
      principal.revision = item.optional_string("revision").value_or("");
      principal.on_behalf_of = item.optional_string("on_behalf_of").value_or("");
      entry.is_revoked = item.optional_bool("revoked").value_or(false);
      item.finish();
      principal = with_revision(std::move(principal), key_);
      if (entries->emplace(reference, std::move(entry)).second) continue;
      problems.add(node, quoted(reference) + " names two principals");
    }
    reader.finish();
  }
  if (!problems.empty()) return {nullptr, problems.take()};
  return {std::move(entries), {}};
}

PrincipalDirectory::Reading PrincipalDirectory::read() const {
  const auto wrong = [&](Error error) { return Reading{nullptr, {std::move(error)}}; };
  const Result<FileInfo> info = files_.info(file_);
  if (!info) return wrong(info.error());
  if (info->kind != FileInfo::Kind::kFile) {
    return wrong({ErrorCode::kInvalidInput, "it is not a file", file_});
  }
  if (info->writable_by_others || !info->owned_by_us) {
    return wrong({ErrorCode::kInvalidInput,
                  "it can be written by others; make it yours and mode 0600", file_});
  }
  const Result<std::string> text = files_.read(file_, kMaxConfigBytes);
  if (!text) return wrong(text.error());
  {
    const MutexLock lock(mutex_);
    if (reading_.entries != nullptr && text_ == *text) return reading_;
  }
  Reading reading = parse(*text);
  const MutexLock lock(mutex_);
  text_ = *text;
  reading_ = reading;
  return reading;
}

std::vector<Error> PrincipalDirectory::check() const {
  return read().problems;
}

Identity PrincipalDirectory::authenticate(const access::Credential& credential,
                                          WallTime now) const {
  if (credential.kind() != access::Credential::Kind::kReference) {
    return others_.authenticate(credential, now);
  }
  const Reading reading = read();
  if (reading.entries == nullptr) {
    return {.state = PrincipalState::kInvalid,
            .detail = "the directory cannot be used: " + reading.problems.front().to_string()};
  }
  const auto found = reading.entries->find(credential.name());
  if (found == reading.entries->end()) {
    return {.state = PrincipalState::kInvalid, .detail = "the directory names no such principal"};
  }
  if (found->second.is_revoked) {
    return {.state = PrincipalState::kExpired, .detail = "the principal is revoked"};
  }
  return {.state = PrincipalState::kAuthenticated, .principal = found->second.principal};
}

}  // namespace remit::identity
