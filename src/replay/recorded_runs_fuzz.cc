// Fuzz target: any bytes, read as recorded runs of any form, are runs whose calls name tools or are
// refused with a reason, and the same however the file comes in pieces.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "base/limits.h"
#include "replay/recorded_runs.h"
#include "tests/support/memory_file.h"

namespace {

using remit::trace::Form;

std::string everything(const std::string& text, Form form, std::size_t piece) {
  remit::testing::MemoryFile file(text, piece);
  remit::trace::Input input = remit::trace::Input::of_file("fuzz.json");
  input.form = form;
  const auto runs = remit::replay::read_runs(file, input);
  if (!runs) {
    REMIT_CHECK(!runs.error().message.empty());
    return runs.error().to_string();
  }
  std::string out;
  for (const remit::replay::RecordedRun& run : *runs) {
    REMIT_CHECK(run.id.starts_with("fuzz/") && run.id.size() <= remit::kMaxIdBytes);
    out += run.id + "\n" + run.case_id + "\n";
    for (const remit::replay::RecordedCall& call : run.calls) {
      REMIT_CHECK(!call.tool.empty());
      out += call.tool + "\n" + call.arguments_json + "\n";
    }
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kPiece = 7;
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const Form form : {Form::kAuto, Form::kOpenAiChat, Form::kAgentDojo, Form::kTauBench}) {
    REMIT_CHECK(everything(text, form, SIZE_MAX) == everything(text, form, kPiece));
  }
  return 0;
}
