// What a driver writes: any bytes are an answer or an error, and never anything else.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "conformance/driver.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  const auto answer = remit::conformance::read_answer(line, 1);
  if (answer) static_cast<void>(remit::conformance::read_hello(*answer));
  return 0;
}
