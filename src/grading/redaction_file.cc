// Paths, canaries and forbidden fields put together.
#include "grading/redaction_file.h"

#include <utility>

#include "base/limits.h"

namespace remit::grading {

std::string canaries_path(const std::string& contract_path, const std::string& canaries) {
  const std::size_t slash = contract_path.rfind('/');
  if (canaries.starts_with('/') || slash == std::string::npos) return canaries;
  return contract_path.substr(0, slash + 1) + canaries;
}

RedactionLoad load_redaction(FileSystem& files, const std::optional<std::string>& canaries,
                             std::vector<std::string> forbid_fields,
                             const std::string& contract_path) {
  RedactionLoad out;
  if (!canaries && forbid_fields.empty()) return out;
  redaction::CanaryParse parsed;
  std::string path = contract_path;
  if (canaries) {
    path = canaries_path(contract_path, *canaries);
    const Result<std::string> text = files.read(path, kMaxConfigBytes);
    if (!text) {
      out.errors.push_back(text.error());
      return out;
    }
    parsed = redaction::parse_canaries(*text, path);
    out.errors = std::move(parsed.errors);
    if (!out.errors.empty()) return out;
  }
  auto made = redaction::Redaction::make(std::move(parsed.canaries), std::move(forbid_fields));
  if (made) {
    out.redaction = std::move(made).value();
  } else {
    const bool is_of_line = !made.error().where.empty();
    out.errors.push_back(in_place(is_of_line ? path : contract_path, std::move(made).error()));
  }
  return out;
}

}  // namespace remit::grading
