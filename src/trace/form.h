// The forms in which evidence comes, and how to tell them apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/file_system.h"
#include "base/result.h"

namespace remit::trace {

/// What a file holds (spec/inputs.md, Forms).
enum class Form : std::uint8_t {
  kAuto,  ///< told by its first keys
  kJsonLines,
  kOtlp,
  kOpenAiChat,
  kAgentDojo,
  kTauBench,
};

/// `auto`, `jsonl`, `otlp`, `openai-chat`, `agentdojo`, `tau-bench`.
std::string_view form_name(Form form);
std::optional<Form> parse_form(std::string_view name);

/// Whether each line is a document or the whole file is one.
enum class Layout : std::uint8_t { kLines, kWhole };

/// A file whose first bytes are looked at before they are read. Not thread-safe.
class PeekedFile final : public ReadFile {
 public:
  /// `file` outlives this one.
  explicit PeekedFile(ReadFile& file) : file_(file) {}

  Result<std::size_t> read(std::span<std::byte> out) override;

  /// Tells the form by the first keys (REQ-IN-031), whatever the pieces in which the file comes. A
  /// file that shows no other form is JSON Lines. Before the first `read`. Errors: those of
  /// reading, `failed_precondition` where keys of several forms stand side by side, and
  /// `invalid_input` for a file that cannot be evidence (REQ-IN-036, REQ-IN-037).
  Result<Form> recognise();
  /// Why the file seems not to be of the form that is stated; nothing where it may be. Before the
  /// first `read`.
  std::optional<Error> misfit(Form stated);
  /// How documents are laid out, as far as the first bytes show; before the first `read`.
  Result<Layout> layout();

 private:
  Result<Form> recognise_form();
  Result<bool> peek_more();
  /// Looks at so many bytes, if there are; whether the file has more.
  Result<bool> peek_to(std::size_t bytes);

  ReadFile& file_;
  std::string head_;
  std::size_t begin_ = 0;  ///< of what was not read yet
  bool at_end_ = false;
  bool has_events_ = false;  ///< the first object has the key `event`
};

}  // namespace remit::trace
