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
    : key_(std::move(key)),
      others_(others),
      file_(files, std::move(file), kMaxConfigBytes,
            [this](const std::string& text) { return parse(text); }) {}

OwnFileReading<PrincipalDirectory::Entries> PrincipalDirectory::parse(
    const std::string& text) const {
  yaml::Problems problems(file_.file());
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

std::vector<Error> PrincipalDirectory::check() const {
  return file_.read().problems;
}

Identity PrincipalDirectory::authenticate(const access::Credential& credential,
                                          WallTime now) const {
  if (credential.kind() != access::Credential::Kind::kReference) {
    return others_.authenticate(credential, now);
  }
  const OwnFileReading<Entries> reading = file_.read();
  if (reading.value == nullptr) {
    return {.state = PrincipalState::kInvalid,
            .detail = "the directory cannot be used: " + reading.problems.front().to_string()};
  }
  const auto found = reading.value->find(credential.name());
  if (found == reading.value->end()) {
    return {.state = PrincipalState::kInvalid, .detail = "the directory names no such principal"};
  }
  if (found->second.is_revoked) {
    return {.state = PrincipalState::kExpired, .detail = "the principal is revoked"};
  }
  return {.state = PrincipalState::kAuthenticated, .principal = found->second.principal};
}

}  // namespace remit::identity
