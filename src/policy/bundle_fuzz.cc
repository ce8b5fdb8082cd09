// Fuzz target: a bundle of any bytes loads whole or is refused with its problems. The input is the
// texts of bundle.yaml, catalogue.yaml and schemas/a.json, each ended by a byte 0.
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/check.h"
#include "policy/bundle.h"

namespace {

using remit::Error;
using remit::ErrorCode;
using remit::FileInfo;

/// A bundle in memory. Loading only looks and reads.
class MemoryFiles final : public remit::FileSystem {
 public:
  void put(std::string path, std::string_view text) { files_[std::move(path)] = text; }

  remit::Result<std::string> read(const std::string& path, std::uint64_t max_bytes) override {
    const auto found = files_.find(path);
    if (found == files_.end()) return missing(path);
    if (found->second.size() > max_bytes) return Error{ErrorCode::kLimitExceeded, "large", path};
    return found->second;
  }
  remit::Result<std::vector<std::string>> list(const std::string& path) override {
    std::vector<std::string> names;
    for (const auto& [file, text] : files_) {
      if (file.starts_with(path + "/")) names.push_back(file.substr(path.size() + 1));
    }
    return names;
  }
  remit::Result<FileInfo> info(const std::string& path) override {
    FileInfo out;
    out.owned_by_us = true;
    out.kind = files_.contains(path) ? FileInfo::Kind::kFile : FileInfo::Kind::kDirectory;
    return out;
  }
  remit::Result<std::unique_ptr<remit::ReadFile>> open_read(const std::string& path) override {
    return missing(path);
  }
  remit::Result<std::unique_ptr<remit::AppendFile>> open_append(const std::string& path,
                                                                remit::OpenMode) override {
    return read_only(path);
  }
  remit::Status replace(const std::string& path, std::string_view) override {
    return read_only(path);
  }
  remit::Status make_directory(const std::string& path) override { return read_only(path); }
  remit::Status sync_directory(const std::string& path) override { return read_only(path); }
  remit::Status sync_file_system(const std::string& path) override { return read_only(path); }
  remit::Status rename(const std::string& path, const std::string&) override {
    return read_only(path);
  }
  remit::Status remove(const std::string& path) override { return read_only(path); }
  remit::Result<std::unique_ptr<remit::AppendFile>> lock(const std::string& path) override {
    return read_only(path);
  }
  remit::Result<std::unique_ptr<remit::ScratchFile>> open_scratch(
      const std::string& path) override {
    return read_only(path);
  }

 private:
  static Error missing(const std::string& path) {
    return Error{ErrorCode::kNotFound, "missing", path};
  }
  static Error read_only(const std::string& path) {
    return Error{ErrorCode::kUnavailable, "read only", path};
  }
  std::map<std::string, std::string> files_;
};

std::string_view take_text(std::string_view& rest) {
  const std::string_view text = rest.substr(0, rest.find('\0'));
  rest.remove_prefix(text.size() < rest.size() ? text.size() + 1 : text.size());
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  MemoryFiles files;
  for (const char* const path : {"b/bundle.yaml", "b/catalogue.yaml", "b/schemas/a.json"}) {
    files.put(path, take_text(rest));
  }
  files.put("b/schema.cedarschema", "");
  files.put("b/policies/a.cedar", rest);
  const remit::policy::BundleOutcome outcome = remit::policy::load_bundle(files, "b");
  REMIT_CHECK((outcome.bundle == nullptr) == !outcome.problems.empty());
  for (const Error& error : outcome.problems) {
    REMIT_CHECK(error.code != ErrorCode::kInternal && !error.where.empty());
  }
  if (outcome.bundle == nullptr) return 0;
  for (const remit::policy::Tool& tool : outcome.bundle->tools) {
    REMIT_CHECK(outcome.bundle->find_tool(tool.name) == &tool);
    REMIT_CHECK(tool.has_boundary || tool.effect == remit::policy::Effect::kNone);
  }
  REMIT_CHECK(!outcome.bundle->routes.empty() && !outcome.bundle->version.empty());
  return 0;
}
