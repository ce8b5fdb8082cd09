// Any bytes as a file of canaries: read or refused with a line, and whatever is read is searched.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "redaction/control.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace remit::redaction;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const CanaryParse parse = parse_canaries(text, "c");
  REMIT_CHECK(parse.canaries.empty() != parse.errors.empty());
  for (const remit::Error& error : parse.errors) REMIT_CHECK(error.where.rfind("c:", 0) == 0);
  if (parse.canaries.empty()) return 0;
  const remit::Result<Scanner> scanner = Scanner::make(parse.canaries);
  if (!scanner) {
    REMIT_CHECK(scanner.error().code == remit::ErrorCode::kInvalidInput);
    return 0;
  }
  const remit::Status status = run_control(*scanner, parse.canaries);
  // Canaries made of the control's own lines are the only ones that it may stumble over.
  REMIT_CHECK(status || status.error().message.find("where there is none") != std::string::npos);
  return 0;
}
