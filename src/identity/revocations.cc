// Reading lists of what was taken back.
#include "identity/revocations.h"

#include <utility>

#include "base/limits.h"
#include "yaml/yaml.h"

namespace remit::identity {
namespace {

OwnFileReading<RevocationList> parse(const std::string& file, const std::string& text) {
  yaml::Problems problems(file);
  const Result<yaml::Node> root = yaml::parse(text);
  if (!root) {
    problems.add(root.error());
    return {nullptr, problems.take()};
  }
  auto list = std::make_shared<RevocationList>();
  yaml::ObjectReader reader(*root, "the revocations", problems);
  if (reader.format("revocations", "remit.revocations/1")) {
    const auto read = [&](std::string_view key, std::set<std::string, std::less<>>& out) {
      for (std::string& each : reader.optional_strings(key)) out.insert(std::move(each));
    };
    read("tokens", list->tokens);
    read("subjects", list->subjects);
    read("keys", list->keys);
    reader.finish();
  }
  if (!problems.empty()) return {nullptr, problems.take()};
  return {std::move(list), {}};
}

}  // namespace

Revocations::Revocations(FileSystem& files, const std::string& file)
    : file_(files, file, kMaxConfigBytes,
            [file](const std::string& text) { return parse(file, text); }) {}

}  // namespace remit::identity
