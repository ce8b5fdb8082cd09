// Feeds arbitrary bytes to the readers of notes, keys, checkpoints, proofs and tombstones: what
// they take, they must write back as it was, and nothing of it is believed without its key.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "evidence/checkpoint.h"
#include "evidence/note.h"
#include "evidence/tombstone.h"

namespace remit::evidence {
namespace {

void read_note(std::string_view text) {
  const auto note = parse_note(text);
  if (!note) return;
  std::string again = note->text + "\n";
  for (const NoteSignature& signature : note->signatures) again += encode(signature);
  REMIT_CHECK(again == text);
  REMIT_CHECK(!check_note(*note, {}));
}

void read_proofs(std::string_view text) {
  if (const auto proof = parse_inclusion_proof(text)) {
    REMIT_CHECK(encode(*proof) == text);
    REMIT_CHECK(!check_proof(*proof, {}));
  }
  if (const auto proof = parse_consistency_proof(text)) {
    REMIT_CHECK(encode(*proof) == text);
    REMIT_CHECK(!check_proof(*proof, Checkpoint{}, {}));
  }
}

void read_others(std::string_view text) {
  if (const auto checkpoint = parse_checkpoint(text)) {
    REMIT_CHECK(text.starts_with(encode(*checkpoint)));
    (void)log_of(checkpoint->origin);
  }
  if (const auto key = VerifierKey::parse(text)) REMIT_CHECK(key->to_string() == text);
  if (const auto key = SigningKey::parse(text)) REMIT_CHECK(text.starts_with(key->secret_text()));
  if (const auto tombstone = parse_tombstone(text)) REMIT_CHECK(encode(*tombstone) == text);
}

}  // namespace
}  // namespace remit::evidence

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  remit::evidence::read_note(text);
  remit::evidence::read_proofs(text);
  remit::evidence::read_others(text);
  return 0;
}
