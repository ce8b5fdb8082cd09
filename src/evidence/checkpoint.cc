// Checkpoints and proofs as text, and what they show.
#include "evidence/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/bytes.h"
#include "base/limits.h"
#include "evidence/fields.h"
#include "evidence/merkle.h"
#include "evidence/merkle_proof.h"

namespace remit::evidence {
namespace {

constexpr std::string_view kInclusionFormat = "c2sp.org/tlog-proof@v1";
constexpr std::string_view kExtra = "extra ";
constexpr std::string_view kIndex = "index ";
constexpr std::string_view kOld = "old ";

/// Takes the text up to the next `\n`, and that; nothing where there is none.
std::optional<std::string_view> take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return line;
}

/// Decimal without leading zeros.
std::optional<std::uint64_t> read_number(std::string_view text) {
  const std::optional<std::uint64_t> number = parse_number(text);
  if (!number || fmt::format("{}", *number) != text) return std::nullopt;
  return number;
}

std::string nodes_text(const std::vector<Sha256Digest>& nodes) {
  std::string out;
  for (const Sha256Digest& node : nodes) out += to_base64(node) + '\n';
  return out + '\n';
}

/// The lines of hashes, and the empty line behind them.
std::optional<std::vector<Sha256Digest>> take_nodes(std::string_view& text) {
  std::vector<Sha256Digest> out;
  while (true) {
    const auto line = take_line(text);
    if (!line) return std::nullopt;
    if (line->empty()) return out;
    const auto node = as_digest(from_base64(*line));
    if (!node || out.size() == kMaxProofNodes) return std::nullopt;
    out.push_back(*node);
  }
}

}  // namespace

std::string origin_of(std::string_view key_name, std::string_view directory,
                      std::string_view writer) {
  return fmt::format("{}/{}/{}", key_name, directory, writer);
}

std::optional<LogName> log_of(std::string_view origin, std::string_view key_name) {
  if (!origin.starts_with(key_name) || !origin.substr(key_name.size()).starts_with('/')) {
    return std::nullopt;
  }
  const std::string_view rest = origin.substr(key_name.size() + 1);
  const std::size_t slash = rest.find('/');
  if (slash == std::string_view::npos || rest.find('/', slash + 1) != std::string_view::npos) {
    return std::nullopt;
  }
  return LogName{std::string{rest.substr(0, slash)}, std::string{rest.substr(slash + 1)}};
}

std::optional<LogName> log_of(std::string_view origin) {
  const std::size_t last = origin.rfind('/');
  if (last == std::string_view::npos || last == 0) return std::nullopt;
  const std::size_t before = origin.rfind('/', last - 1);
  if (before == std::string_view::npos) return std::nullopt;
  return log_of(origin, origin.substr(0, before));
}

std::string encode(const Checkpoint& checkpoint) {
  return fmt::format("{}\n{}\n{}\n", checkpoint.origin, checkpoint.size,
                     to_base64(checkpoint.root));
}

Result<Checkpoint> parse_checkpoint(std::string_view text) {
  const Error malformed{ErrorCode::kInvalidInput, "not the text of a checkpoint"};
  const auto origin = take_line(text);
  const auto size_text = take_line(text);
  const auto root_text = take_line(text);
  if (!origin || origin->empty() || !root_text) return malformed;
  const auto size = read_number(*size_text);
  const auto root = as_digest(from_base64(*root_text));
  if (!size || !root || (*size == 0 && *root != MerkleTree{}.root())) return malformed;
  while (!text.empty()) {
    const auto extension = take_line(text);
    if (!extension || extension->empty()) return malformed;
  }
  return Checkpoint{std::string{*origin}, *size, *root};
}

Result<Checkpoint> open_checkpoint(std::string_view note, std::span<const VerifierKey> keys) {
  REMIT_TRY_ASSIGN(const SignedNote parsed, parse_note(note));
  REMIT_TRY(check_note(parsed, keys));
  REMIT_TRY_ASSIGN(Checkpoint checkpoint, parse_checkpoint(parsed.text));
  // A key of another deployment, though known, says nothing of this one's logs.
  const bool is_in_name = std::any_of(keys.begin(), keys.end(), [&](const VerifierKey& key) {
    return log_of(checkpoint.origin, key.name()).has_value() &&
           check_note(parsed, std::span{&key, 1}).has_value();
  });
  if (is_in_name) return checkpoint;
  return Error{ErrorCode::kFailedPrecondition,
               fmt::format("signed by a key in whose name the log {} is not",
                           quoted(checkpoint.origin, 2 * kMaxIdBytes))};
}

std::string encode(const InclusionProof& proof) {
  return fmt::format("{}\n{}{}\n{}{}\n{}{}", kInclusionFormat, kExtra,
                     to_base64(bytes_of(proof.event)), kIndex, proof.index, nodes_text(proof.nodes),
                     proof.checkpoint);
}

std::string encode(const ConsistencyProof& proof) {
  return fmt::format("{}{}\n{}{}", kOld, proof.old_size, nodes_text(proof.nodes), proof.checkpoint);
}

bool is_consistency_proof(std::string_view bytes) {
  return bytes.starts_with(kOld);
}

Result<InclusionProof> parse_inclusion_proof(std::string_view bytes) {
  if (bytes.size() > kMaxProofBytes) {
    return Error{ErrorCode::kLimitExceeded,
                 fmt::format("a proof of more than {} bytes", kMaxProofBytes)};
  }
  const Error malformed{ErrorCode::kInvalidInput,
                        "not a proof of an event (c2sp.org/tlog-proof@v1)"};
  const auto format = take_line(bytes);
  const auto extra = take_line(bytes);
  const auto index_line = take_line(bytes);
  if (format != kInclusionFormat || !index_line || !extra->starts_with(kExtra) ||
      !index_line->starts_with(kIndex)) {
    return malformed;
  }
  const auto event = from_base64(extra->substr(kExtra.size()));
  const auto index = read_number(index_line->substr(kIndex.size()));
  if (!event || !index) return malformed;
  auto nodes = take_nodes(bytes);
  if (!nodes) return malformed;
  InclusionProof out;
  for (const std::byte byte : *event) out.event += static_cast<char>(byte);
  out.index = *index;
  out.nodes = *std::move(nodes);
  out.checkpoint = bytes;
  return out;
}

Result<ConsistencyProof> parse_consistency_proof(std::string_view bytes) {
  const Error malformed{ErrorCode::kInvalidInput, "not a proof of consistency"};
  if (bytes.size() > kMaxProofBytes) return malformed;
  const auto old_line = take_line(bytes);
  if (!old_line || !old_line->starts_with(kOld)) return malformed;
  const auto old_size = read_number(old_line->substr(kOld.size()));
  if (!old_size) return malformed;
  auto nodes = take_nodes(bytes);
  if (!nodes) return malformed;
  return ConsistencyProof{*old_size, *std::move(nodes), std::string{bytes}};
}

Result<Checkpoint> check_proof(const InclusionProof& proof, std::span<const VerifierKey> keys) {
  REMIT_TRY_ASSIGN(Checkpoint checkpoint, open_checkpoint(proof.checkpoint, keys));
  const Sha256Digest leaf = MerkleTree{}.add(proof.event);
  if (proves_inclusion(proof.index, leaf, {0, checkpoint.size}, checkpoint.root, proof.nodes)) {
    return checkpoint;
  }
  return Error{
      ErrorCode::kDataLoss,
      fmt::format("the event is not number {} of the log of the checkpoint", proof.index + 1)};
}

Result<Checkpoint> check_proof(const ConsistencyProof& proof, const Checkpoint& old,
                               std::span<const VerifierKey> keys) {
  REMIT_TRY_ASSIGN(Checkpoint checkpoint, open_checkpoint(proof.checkpoint, keys));
  if (old.origin != checkpoint.origin || old.size != proof.old_size) {
    return Error{ErrorCode::kFailedPrecondition,
                 fmt::format("the proof begins at event {} of {}, and the older checkpoint is of "
                             "event {} of {}",
                             proof.old_size, quoted(checkpoint.origin, 2 * kMaxIdBytes), old.size,
                             quoted(old.origin, 2 * kMaxIdBytes))};
  }
  // Every log begins with no events.
  const bool is_shown = old.size == 0 ? proof.nodes.empty()
                                      : proves_consistency(old.size, old.root, checkpoint.size,
                                                           checkpoint.root, proof.nodes);
  if (is_shown) return checkpoint;
  return Error{ErrorCode::kDataLoss, "the later log does not begin with the earlier one"};
}

}  // namespace remit::evidence
