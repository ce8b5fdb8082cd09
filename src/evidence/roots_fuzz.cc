// Feeds arbitrary bytes to the reader of roots files: what it takes, it must write back as it was.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/check.h"
#include "evidence/roots.h"
#include "evidence/verify.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  remit::evidence::TornRoots torn(size % 512);
  if (torn.take(std::as_bytes(std::span{data, size}))) (void)torn.is_torn_at_end();
  std::string_view rest{reinterpret_cast<const char*>(data), size};
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (const auto header = remit::evidence::parse_roots_header(line)) {
      REMIT_CHECK(encode(*header).starts_with(line));
    }
    if (const auto entry = remit::evidence::parse_roots_entry(line)) {
      REMIT_CHECK(encode(*entry).starts_with(line));
      REMIT_CHECK(remit::evidence::is_torn_roots_entry(line));
    }
    if (const auto head = remit::evidence::Head::parse(line)) {
      REMIT_CHECK(head->to_string() == line);
    }
    (void)remit::evidence::is_torn_roots_entry(line);
  }
  return 0;
}
