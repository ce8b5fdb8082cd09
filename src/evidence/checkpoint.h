// Checkpoints of a log's tree (C2SP tlog-checkpoint), and the proofs that rest on them (C2SP
// tlog-proof, and the proof of an add-checkpoint request of tlog-witness).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "base/result.h"
#include "evidence/note.h"

namespace remit::evidence {

/// How far a log went: its first `size` events, and the root that stands for them.
struct Checkpoint {
  std::string origin;  ///< whose log
  std::uint64_t size = 0;
  Sha256Digest root{};
  friend bool operator==(const Checkpoint&, const Checkpoint&) = default;
};

/// The name of one writer's log among all logs: `NAME/DIRECTORY/WRITER`, NAME that of the key which
/// signs, the others as the log's roots have them.
std::string origin_of(std::string_view key_name, std::string_view directory,
                      std::string_view writer);

/// Of which log of an evidence directory an origin speaks.
struct LogName {
  std::string directory;  ///< `writer-000001`
  std::string writer;     ///< the writer's id
};
/// Nothing where the origin is not in the name of that key, or of any.
std::optional<LogName> log_of(std::string_view origin, std::string_view key_name);
std::optional<LogName> log_of(std::string_view origin);

/// The text of a checkpoint, which is what is signed.
std::string encode(const Checkpoint& checkpoint);
/// Reads the text of a note; further lines are passed over. Error: `invalid_input`.
Result<Checkpoint> parse_checkpoint(std::string_view text);

/// Reads a signed checkpoint and believes it, if `keys` do (`check_note`), and if its origin is in
/// the name of the key that was believed. Errors: those of `parse_note`, `check_note` and
/// `parse_checkpoint`.
Result<Checkpoint> open_checkpoint(std::string_view note, std::span<const VerifierKey> keys);

/// That an event is in a log: with a checkpoint and a key one needs nothing else. `event` is the
/// line without its `\n`; nothing vouches for it but the proof.
struct InclusionProof {
  std::string event;
  std::uint64_t index = 0;  ///< from 0: `seq` - 1
  std::vector<Sha256Digest> nodes;
  std::string checkpoint;  ///< the signed note
};

/// That a log of a checkpoint grew from its first `old_size` events.
struct ConsistencyProof {
  std::uint64_t old_size = 0;
  std::vector<Sha256Digest> nodes;
  std::string checkpoint;  ///< the signed note
};

std::string encode(const InclusionProof& proof);
std::string encode(const ConsistencyProof& proof);
/// Whether `bytes` begin as a proof of consistency does.
bool is_consistency_proof(std::string_view bytes);
/// Only what `encode` writes; nothing is verified. Errors: `invalid_input`, `limit_exceeded`.
Result<InclusionProof> parse_inclusion_proof(std::string_view bytes);
Result<ConsistencyProof> parse_consistency_proof(std::string_view bytes);

/// Whether the event is in the log of the checkpoint. Errors: `data_loss` where it is not, those of
/// `open_checkpoint`.
Result<Checkpoint> check_proof(const InclusionProof& proof, std::span<const VerifierKey> keys);
/// Whether the log of the checkpoint begins with that of `old`, a checkpoint that is believed.
/// Errors: `failed_precondition` where it is the proof of another, `data_loss` where it shows
/// nothing, those of `open_checkpoint`.
Result<Checkpoint> check_proof(const ConsistencyProof& proof, const Checkpoint& old,
                               std::span<const VerifierKey> keys);

}  // namespace remit::evidence
