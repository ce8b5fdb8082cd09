// Fuzz target: any bytes, read in any form, give events and mistakes at places within them, and the
// same ones however the file comes in pieces.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/check.h"
#include "tests/support/memory_file.h"
#include "trace/event_reader.h"

namespace {

using remit::trace::Form;
using remit::trace::Item;

std::string everything(const std::string& text, Form form, std::size_t piece) {
  remit::PosixFileSystem files;
  remit::trace::Input input = remit::trace::Input::of_stream(
      "fuzz", std::make_unique<remit::testing::MemoryFile>(text, piece));
  input.form = form;
  remit::event::Decoder decoder;
  remit::trace::EventReader reader(files, input, decoder);
  std::string out;
  for (;;) {
    const remit::Result<Item> item = reader.next();
    if (!item) return out + item.error().to_string();
    if (*item == Item::kEnd) return out;
    if (*item == Item::kSource) continue;
    REMIT_CHECK(reader.line().offset <= text.size());
    REMIT_CHECK(reader.line().number >= 1);
    if (*item == Item::kMalformed) {
      REMIT_CHECK(reader.error_offset() <= text.size() && !reader.error().message.empty());
      out += std::to_string(reader.error_offset()) + "! " + reader.error().message + "\n";
    } else {
      out += std::to_string(reader.line().offset) + " ";
      remit::event::encode(reader.event(), out);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kForms = 6;
  if (size == 0 || data[0] == 0x1f || data[0] == 0x28) return 0;  // packed: the other target's
  const auto form = static_cast<Form>(data[0] % kForms);
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (text.starts_with("\x1f\x8b") || text.starts_with("\x28\xb5\x2f\xfd")) return 0;
  REMIT_CHECK(everything(text, form, SIZE_MAX) == everything(text, form, 7));
  return 0;
}
