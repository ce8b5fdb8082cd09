// Fuzz target: the decoder and its naive twin judge every line alike.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "event/event.h"
#include "event/naive_decoder.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace event = remit::event;
  constexpr std::size_t kMaxBytes = 4096;  // the twin recurses
  if (size > kMaxBytes) return 0;
  const std::string line(reinterpret_cast<const char*>(data), size);
  const std::string padded = line + std::string(event::Decoder::kPadding, '"');
  event::Decoder decoder;
  event::Event decoded;
  const remit::Status status =
      decoder.decode(std::string_view(padded).substr(0, line.size()), decoded);
  const std::optional<std::string> want = event::naive::decode_naively(line);
  REMIT_CHECK(status.has_value() == want.has_value());
  if (!status) {
    REMIT_CHECK(status.error().where.starts_with("byte "));
    return 0;
  }
  REMIT_CHECK(event::naive::print(decoded) == *want);
  return 0;
}
