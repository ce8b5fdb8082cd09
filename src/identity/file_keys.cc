// A key set that stands in a file.
#include "identity/file_keys.h"

#include <utility>

#include "base/limits.h"

namespace remit::identity {
namespace {

OwnFileReading<KeySet> parse(const std::string& file, const std::string& text) {
  Result<KeySet> set = KeySet::parse(text);
  if (!set) return {nullptr, {in_place(file, std::move(set).error())}};
  return {std::make_shared<const KeySet>(*std::move(set)), {}};
}

}  // namespace

FileKeys::FileKeys(FileSystem& files, const std::string& file)
    : file_(files, file, kMaxKeySetBytes,
            [file](const std::string& text) { return parse(file, text); }) {}

KnownKeys FileKeys::known() const {
  OwnFileReading<KeySet> reading = file_.read();
  if (reading.value == nullptr) return {nullptr, std::move(reading.problems.front())};
  return {std::move(reading.value)};
}

}  // namespace remit::identity
