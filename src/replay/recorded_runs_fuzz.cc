// Fuzz target: any bytes, read as recorded runs of any form, are runs whose calls name tools or are
// refused with a reason, and the same however the file comes in pieces.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/limits.h"
#include "replay/recorded_runs.h"

namespace {

using remit::trace::Form;

class Text final : public remit::ReadFile {
 public:
  Text(std::string text, std::size_t piece) : text_(std::move(text)), piece_(piece) {}
  remit::Result<std::size_t> read(std::span<std::byte> out) override {
    const std::size_t count = std::min({out.size(), text_.size() - at_, piece_});
    if (count > 0) std::memcpy(out.data(), text_.data() + at_, count);
    at_ += count;
    return count;
  }

 private:
  std::string text_;
  std::size_t piece_;
  std::size_t at_ = 0;
};

std::string everything(const std::string& text, Form form, std::size_t piece) {
  Text file(text, piece);
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
