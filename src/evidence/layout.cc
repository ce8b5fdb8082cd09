// Names in an evidence directory.
#include "evidence/layout.h"

#include <fmt/format.h>

#include "evidence/fields.h"

namespace remit::evidence {

std::string numbered(std::uint64_t number) {
  return fmt::format("{:06}", number);
}

std::optional<std::uint64_t> parse_numbered(std::string_view text) {
  const std::optional<std::uint64_t> number = parse_number(text);
  if (!number || *number == 0 || numbered(*number) != text) return std::nullopt;
  return number;
}

std::string writer_directory(std::uint64_t number) {
  return std::string{kWriterPrefix} + numbered(number);
}

std::optional<std::uint64_t> parse_writer_directory(std::string_view name) {
  if (!name.starts_with(kWriterPrefix)) return std::nullopt;
  return parse_numbered(name.substr(kWriterPrefix.size()));
}

SegmentFiles::SegmentFiles(const std::string& directory, std::uint64_t number)
    : name(numbered(number)),
      lines(fmt::format("{}/{}{}", directory, name, kLinesSuffix)),
      roots(fmt::format("{}/{}{}", directory, name, kRootsSuffix)),
      torn(fmt::format("{}/{}{}", directory, name, kTornSuffix)) {}

}  // namespace remit::evidence
