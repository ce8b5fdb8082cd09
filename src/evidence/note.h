// Signed notes and the keys that sign them (C2SP signed-note): text, then a line for each
// signature.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ed25519.h"
#include "base/random.h"
#include "base/result.h"

namespace remit::evidence {

/// One signature line. Of what type it is only who knows the key can tell.
struct NoteSignature {
  std::string name;      ///< of the key
  std::uint32_t id = 0;  ///< of the key
  std::vector<std::byte> bytes;
};

struct SignedNote {
  std::string text;  ///< what is signed, with its last `\n`
  std::vector<NoteSignature> signatures;
};

/// Reads a note; at most kMaxNoteBytes and kMaxNoteSignatures. Nothing is verified. Errors:
/// `invalid_input`, `limit_exceeded`.
Result<SignedNote> parse_note(std::string_view bytes);

/// The public half of a key: its name, and with what its signatures are checked. Text, a "vkey":
/// `NAME+ID+BASE64`.
class VerifierKey {
 public:
  VerifierKey(std::string name, const Ed25519PublicKey& key);
  /// Error: `invalid_input` for anything that is no vkey of type Ed25519.
  static Result<VerifierKey> parse(std::string_view text);
  [[nodiscard]] std::string to_string() const;

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::uint32_t id() const { return id_; }
  [[nodiscard]] const Ed25519PublicKey& key() const { return key_; }

 private:
  std::string name_;
  std::uint32_t id_;
  Ed25519PublicKey key_;
};

/// A secret key with its name. Text, one line: `PRIVATE+KEY+NAME+ID+BASE64`, the form that the note
/// package of Go's checksum database reads and writes.
class SigningKey {
 public:
  /// Error: `invalid_input` for a name that no key may have.
  static Result<SigningKey> make(std::string_view name, Random& random);
  /// Reads one line, with or without its `\n`. Error: `invalid_input`, which tells nothing of the
  /// text.
  static Result<SigningKey> parse(std::string_view text);

  [[nodiscard]] const VerifierKey& verifier() const { return verifier_; }
  /// The note of `text`, which ends with `\n`, signed by this key alone.
  [[nodiscard]] std::string sign(std::string_view text) const;
  /// The secret text, without a `\n`.
  [[nodiscard]] const std::string& secret_text() const { return secret_text_; }

 private:
  SigningKey(std::string name, Ed25519Key key, std::span<const std::byte> seed);
  Ed25519Key key_;
  VerifierKey verifier_;
  std::string secret_text_;
};

/// Whether `note` may be believed by who trusts `keys`: at least one of them signed it, and no
/// signature that names one of them is another's. Signatures by other keys are passed over. Errors:
/// `failed_precondition` where none of them signed it, `data_loss` for a signature that is not what
/// it says.
Status check_note(const SignedNote& note, std::span<const VerifierKey> keys);

/// The signature line of `signature`, with its `\n`.
std::string encode(const NoteSignature& signature);

}  // namespace remit::evidence
