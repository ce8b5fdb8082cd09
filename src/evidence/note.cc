// Signed notes and their keys.
#include "evidence/note.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/bytes.h"
#include "base/digest.h"
#include "base/limits.h"
#include "base/utf8.h"

namespace remit::evidence {
namespace {

constexpr std::string_view kDash = "\xe2\x80\x94 ";  // An em dash and a blank.
constexpr std::byte kEd25519{0x01};                  // The type of a signature.
constexpr std::string_view kSecretPrefix = "PRIVATE+KEY+";

/// The spaces of Unicode that are no ASCII, as UTF-8.
constexpr std::array<std::string_view, 19> kSpaces{
    "\xc2\x85",     "\xc2\xa0",     "\xe1\x9a\x80", "\xe2\x80\x80", "\xe2\x80\x81",
    "\xe2\x80\x82", "\xe2\x80\x83", "\xe2\x80\x84", "\xe2\x80\x85", "\xe2\x80\x86",
    "\xe2\x80\x87", "\xe2\x80\x88", "\xe2\x80\x89", "\xe2\x80\x8a", "\xe2\x80\xa8",
    "\xe2\x80\xa9", "\xe2\x80\xaf", "\xe2\x81\x9f", "\xe3\x80\x80"};

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20;
}

bool is_key_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxIdBytes && !first_invalid_utf8(name) &&
         std::none_of(name.begin(), name.end(),
                      [](char c) { return is_control(c) || c == ' ' || c == '+' || c == 0x7f; }) &&
         std::none_of(kSpaces.begin(), kSpaces.end(), [&](std::string_view space) {
           return name.find(space) != std::string_view::npos;
         });
}

std::uint32_t read_id(std::span<const std::byte> bytes) {
  std::uint32_t id = 0;
  for (const std::byte byte : bytes.first(4)) id = id << 8U | std::to_integer<std::uint32_t>(byte);
  return id;
}

std::uint32_t key_id(std::string_view name, const Ed25519PublicKey& key) {
  const std::array type{kEd25519};
  return read_id(Sha256{}.update(name).update("\n").update(type).update(key).finish());
}

std::string id_text(std::uint32_t id) {
  return fmt::format("{:08x}", id);
}

/// `NAME+ID+BASE64` taken apart: of the bytes, what stands behind the type.
struct KeyText {
  std::string_view name;
  std::string_view id;
  std::vector<std::byte> material;
};

std::optional<KeyText> read_key_text(std::string_view text) {
  // Base 64 has pluses of its own, and names have none: the first two divide.
  const std::size_t first = text.find('+');
  if (first == std::string_view::npos) return std::nullopt;
  const std::size_t second = text.find('+', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  KeyText out{text.substr(0, first), text.substr(first + 1, second - first - 1), {}};
  auto bytes = from_base64(text.substr(second + 1));
  if (!bytes || bytes->size() != 33 || bytes->front() != kEd25519 || !is_key_name(out.name)) {
    return std::nullopt;
  }
  bytes->erase(bytes->begin());
  out.material = *std::move(bytes);
  return out;
}

Result<NoteSignature> parse_signature(std::string_view line) {
  const Error malformed{ErrorCode::kInvalidInput, "a signature line is not in its form"};
  if (!line.starts_with(kDash)) return malformed;
  line.remove_prefix(kDash.size());
  const std::size_t blank = line.find(' ');
  if (blank == std::string_view::npos || !is_key_name(line.substr(0, blank))) return malformed;
  auto bytes = from_base64(line.substr(blank + 1));
  if (!bytes || bytes->size() < 5) return malformed;
  NoteSignature out;
  out.name = line.substr(0, blank);
  out.id = read_id(*bytes);
  bytes->erase(bytes->begin(), bytes->begin() + 4);
  out.bytes = *std::move(bytes);
  return out;
}

}  // namespace

Result<SignedNote> parse_note(std::string_view bytes) {
  if (bytes.size() > kMaxNoteBytes) {
    return Error{ErrorCode::kLimitExceeded,
                 fmt::format("a signed note of more than {} bytes", kMaxNoteBytes)};
  }
  const Error malformed{ErrorCode::kInvalidInput, "not a signed note"};
  // The last empty line divides text and signatures.
  const std::size_t empty = bytes.rfind("\n\n");
  if (empty == std::string_view::npos || !bytes.ends_with('\n') || first_invalid_utf8(bytes) ||
      std::any_of(bytes.begin(), bytes.end(), [](char c) { return is_control(c) && c != '\n'; })) {
    return malformed;
  }
  SignedNote out;
  out.text = bytes.substr(0, empty + 1);
  std::string_view rest = bytes.substr(empty + 2);
  if (rest.empty()) return malformed;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    REMIT_TRY_ASSIGN(NoteSignature signature, parse_signature(rest.substr(0, end)));
    out.signatures.push_back(std::move(signature));
    rest.remove_prefix(end + 1);
    if (out.signatures.size() > kMaxNoteSignatures) {
      return Error{ErrorCode::kLimitExceeded,
                   fmt::format("a note of more than {} signatures", kMaxNoteSignatures)};
    }
  }
  return out;
}

std::string encode(const NoteSignature& signature) {
  std::vector<std::byte> bytes;
  for (const unsigned shift : {24U, 16U, 8U, 0U}) {
    bytes.push_back(static_cast<std::byte>(signature.id >> shift & 0xffU));
  }
  bytes.insert(bytes.end(), signature.bytes.begin(), signature.bytes.end());
  return fmt::format("{}{} {}\n", kDash, signature.name, to_base64(bytes));
}

VerifierKey::VerifierKey(std::string name, const Ed25519PublicKey& key)
    : name_(std::move(name)), id_(key_id(name_, key)), key_(key) {}

Result<VerifierKey> VerifierKey::parse(std::string_view text) {
  const auto read = read_key_text(text);
  if (read) {
    Ed25519PublicKey key{};
    std::copy(read->material.begin(), read->material.end(), key.begin());
    VerifierKey out(std::string{read->name}, key);
    if (id_text(out.id_) == read->id) return out;
  }
  return Error{ErrorCode::kInvalidInput,
               "not a verifier key of type Ed25519: expected NAME+ID+BASE64"};
}

std::string VerifierKey::to_string() const {
  std::vector<std::byte> bytes{kEd25519};
  bytes.insert(bytes.end(), key_.begin(), key_.end());
  return fmt::format("{}+{}+{}", name_, id_text(id_), to_base64(bytes));
}

SigningKey::SigningKey(std::string name, Ed25519Key key, std::span<const std::byte> seed)
    : key_(std::move(key)), verifier_(std::move(name), key_.public_key()) {
  std::vector<std::byte> bytes{kEd25519};
  bytes.insert(bytes.end(), seed.begin(), seed.end());
  secret_text_ = fmt::format("{}{}+{}+{}", kSecretPrefix, verifier_.name(), id_text(verifier_.id()),
                             to_base64(bytes));
  wipe(bytes);
}

Result<SigningKey> SigningKey::make(std::string_view name, Random& random) {
  if (!is_key_name(name)) {
    return Error{ErrorCode::kInvalidInput,
                 "not a name for a key: at least one character, no blank and no plus"};
  }
  std::array<std::byte, Ed25519Key::kSeedBytes> seed{};
  random.fill(seed);
  REMIT_TRY_ASSIGN(Ed25519Key key, Ed25519Key::from_seed(seed));
  SigningKey out(std::string{name}, std::move(key), seed);
  wipe(seed);
  return out;
}

Result<SigningKey> SigningKey::parse(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  const Error malformed{ErrorCode::kInvalidInput,
                        "not a signing key: expected one line PRIVATE+KEY+NAME+ID+BASE64"};
  if (!text.starts_with(kSecretPrefix)) return malformed;
  const auto read = read_key_text(text.substr(kSecretPrefix.size()));
  if (!read) return malformed;
  REMIT_TRY_ASSIGN(Ed25519Key key, Ed25519Key::from_seed(read->material));
  SigningKey out(std::string{read->name}, std::move(key), read->material);
  if (out.secret_text_ != text) return malformed;
  return out;
}

std::string SigningKey::sign(std::string_view text) const {
  const Ed25519Signature signature = key_.sign(text);
  const NoteSignature line{verifier_.name(), verifier_.id(), {signature.begin(), signature.end()}};
  return fmt::format("{}\n{}", text, encode(line));
}

Status check_note(const SignedNote& note, std::span<const VerifierKey> keys) {
  bool is_signed = false;
  for (const NoteSignature& signature : note.signatures) {
    const auto known = std::find_if(keys.begin(), keys.end(), [&](const VerifierKey& key) {
      return key.name() == signature.name && key.id() == signature.id;
    });
    if (known == keys.end()) continue;
    Ed25519Signature bytes{};
    const bool is_whole = signature.bytes.size() == bytes.size();
    if (is_whole) std::copy(signature.bytes.begin(), signature.bytes.end(), bytes.begin());
    if (!is_whole || !ed25519_verifies(known->key(), note.text, bytes)) {
      return Error{ErrorCode::kDataLoss,
                   fmt::format("forged or altered: the signature of {} is not of this text",
                               quoted(signature.name))};
    }
    is_signed = true;
  }
  if (is_signed) return {};
  return Error{ErrorCode::kFailedPrecondition, "none of the keys given has signed it"};
}

}  // namespace remit::evidence
