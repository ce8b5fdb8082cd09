// remit evidence key, checkpoint, prove, verify-proof and prune.
#include "cli/evidence_proofs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/bytes.h"
#include "base/limits.h"
#include "base/rfc3339.h"
#include "cli/inputs.h"
#include "evidence/fields.h"
#include "evidence/layout.h"
#include "evidence/log_tree.h"
#include "evidence/retention.h"
#include "evidence/verify.h"
#include "grading/counted.h"

namespace remit::cli {
namespace {

using evidence::Checkpoint;
using evidence::SigningKey;
using evidence::VerifierKey;
using grading::counted;

constexpr std::string_view kCheckpointSuffix = ".checkpoint";
/// So many directories are above a folder at most, where no link leads round.
constexpr int kMaxDepth = 256;

/// Ends a command after a complaint: 64 for a command line that cannot be meant, 1 where the answer
/// is no, 65 for what cannot be read.
int refused(World& world, const Error& error) {
  complain(world, error);
  return error.code == ErrorCode::kDataLoss ? kExitFailed : kExitBadInput;
}

int misused(World& world, std::string_view flag, const Error& error) {
  complain(world, in_place(flag, error));
  return kExitUsage;
}

/// A file that only its owner may read and write, since who has it can sign.
Result<SigningKey> read_key(World& world, const std::string& path) {
  REMIT_TRY_ASSIGN(const FileInfo info, world.files.info(path));
  if (info.kind != FileInfo::Kind::kFile || !info.owned_by_us || info.readable_by_others ||
      info.writable_by_others) {
    return Error{ErrorCode::kFailedPrecondition,
                 "holds a key: it must be a plain file of yours, of mode 0600", path};
  }
  REMIT_TRY_ASSIGN(const std::string text, world.files.read(path, kMaxConfigBytes));
  auto key = SigningKey::parse(text);
  if (!key) return in_place(path, key.error());
  return key;
}

/// Whether `path`, which may not be there yet, is beneath the evidence directory, links followed.
bool is_within(World& world, const std::string& path, const std::string& directory) {
  const auto evidence_info = world.files.info(directory + "/.");
  if (!evidence_info || !evidence_info->identity) return false;
  const auto there = world.files.info(path + "/.");
  std::string up = (there ? path : directory_of(path)) + "/.";
  std::optional<std::pair<std::uint64_t, std::uint64_t>> below;
  for (int depth = 0; depth < kMaxDepth; ++depth) {
    const auto info = world.files.info(up);
    if (!info || !info->identity || info->identity == below) return false;
    if (info->identity == evidence_info->identity) return true;
    below = info->identity;
    up += "/..";
  }
  return true;
}

Status check_outside(World& world, const std::string& path, const std::string& directory,
                     std::string_view what) {
  if (!is_within(world, path, directory)) return {};
  return Error{ErrorCode::kFailedPrecondition,
               fmt::format("is within the evidence directory: who can rewrite the log could "
                           "rewrite {} with it",
                           what),
               path};
}

int run_key(const Arguments& arguments, World& world) {
  const std::string& path = arguments.positionals().front();
  if (!arguments.has("--name")) {
    const auto key = read_key(world, path);
    if (!key) return refused(world, key.error());
    return print(world, key->verifier().to_string() + "\n", kExitOk);
  }
  const auto key = SigningKey::make(arguments.value("--name"), world.random);
  if (!key) return misused(world, "--name", key.error());
  const auto file = world.files.open_append(path, OpenMode::kMustCreate);
  if (!file) return refused(world, file.error());
  Status written = (*file)->append(bytes_of(key->secret_text() + "\n"));
  if (written) written = (*file)->sync();
  if (!written) {
    // Half a key would stand in the way of the next try.
    static_cast<void>(world.files.remove(path));
    complain(world, written.error());
    return kExitCannotWrite;
  }
  return print(world, key->verifier().to_string() + "\n", kExitOk);
}

/// The files of a folder that are checkpoints by their names.
Result<std::vector<std::string>> checkpoint_files(World& world, const std::string& folder) {
  REMIT_TRY_ASSIGN(const auto names, world.files.list(folder));
  std::vector<std::string> out;
  for (const std::string& name : names) {
    if (!name.ends_with(kCheckpointSuffix)) continue;
    if (out.size() == kMaxCheckpointFiles) {
      return Error{ErrorCode::kLimitExceeded,
                   fmt::format("holds more than {} checkpoints", kMaxCheckpointFiles), folder};
    }
    out.push_back(folder + "/" + name);
  }
  return out;
}

/// The checkpoints that an earlier run left in `folder`, by the log they are of.
struct Earlier {
  std::vector<Checkpoint> checkpoints;
  std::map<std::string, Checkpoint> by_directory;
};

Result<Earlier> read_earlier(World& world, const std::string& folder, const SigningKey& key) {
  REMIT_TRY(world.files.make_directory(folder));
  REMIT_TRY_ASSIGN(const FileInfo info, world.files.info(folder + "/."));
  if (info.writable_by_others || !info.owned_by_us) {
    return Error{ErrorCode::kFailedPrecondition, "others may write in it", folder};
  }
  REMIT_TRY_ASSIGN(const auto paths, checkpoint_files(world, folder));
  const std::vector<VerifierKey> keys{key.verifier()};
  Earlier out;
  for (const std::string& path : paths) {
    REMIT_TRY_ASSIGN(SignedCheckpoint one, read_checkpoint(world, path, keys));
    const auto log = evidence::log_of(one.checkpoint.origin);
    out.by_directory[log->directory] = one.checkpoint;
    out.checkpoints.push_back(std::move(one.checkpoint));
  }
  return out;
}

/// Signs how far one log goes, unless that stands there already; a line that says so.
Result<std::string> sign_log(World& world, const std::string& directory,
                             const evidence::WriterState& writer, const SigningKey& key,
                             const Earlier& earlier, const std::string& folder) {
  const auto before = earlier.by_directory.find(writer.directory);
  if (before != earlier.by_directory.end() && before->second.size >= writer.events) {
    return fmt::format("{}: {}, as before\n", writer.directory,
                       counted(before->second.size, "event", "events"));
  }
  REMIT_TRY_ASSIGN(const Sha256Digest root,
                   evidence::tree_root(world.files, directory, writer.directory, writer.events));
  const Checkpoint checkpoint{
      evidence::origin_of(key.verifier().name(), writer.directory, writer.writer), writer.events,
      root};
  REMIT_TRY(world.files.replace(fmt::format("{}/{}{}", folder, writer.directory, kCheckpointSuffix),
                                key.sign(evidence::encode(checkpoint))));
  return fmt::format("{}: {}\n", writer.directory, counted(writer.events, "event", "events"));
}

int run_checkpoint(const Arguments& arguments, World& world) {
  const std::string& directory = arguments.positionals().front();
  if (is_no_directory(world, directory)) return kExitBadInput;
  std::string folder = arguments.value("--to");
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  const std::string key_path = arguments.value("--key");
  const auto key = read_key(world, key_path);
  if (!key) return refused(world, key.error());
  for (const auto& [path, what] :
       {std::pair{key_path, "the key"}, std::pair{folder, "the checkpoints"}}) {
    if (Status outside = check_outside(world, path, directory, what); !outside) {
      return refused(world, outside.error());
    }
  }
  const auto earlier = read_earlier(world, folder, *key);
  if (!earlier) return refused(world, earlier.error());
  // Nothing is signed that contradicts what was.
  const auto report =
      evidence::verify(world.files, directory, {.checkpoints = earlier->checkpoints});
  if (!report) return refused(world, report.error());
  if (report->damage) {
    complain(world, {ErrorCode::kDataLoss, "nothing was signed: " + report->damage->to_string()});
    return kExitFailed;
  }
  if (report->writers.empty()) return refused(world, without_writers(directory));
  if (!report->unknown.empty()) {
    complain(world, {ErrorCode::kFailedPrecondition,
                     "nothing was signed: " + report->unknown.front() +
                         "; sign before retention removes, or begin with another folder"});
    return kExitUndetermined;
  }
  std::string out;
  for (const evidence::WriterState& writer : report->writers) {
    const auto line = sign_log(world, directory, writer, *key, *earlier, folder);
    if (!line) return refused(world, line.error());
    out += *line;
  }
  return print(world, out + fmt::format("key {}\n", key->verifier().to_string()), kExitOk);
}

int run_prove(const Arguments& arguments, World& world) {
  const std::string& directory = arguments.positionals().front();
  if (is_no_directory(world, directory)) return kExitBadInput;
  const auto keys = verifier_keys(arguments);
  if (!keys) return misused(world, "--key", keys.error());
  if (arguments.has("--event") == arguments.has("--since")) {
    complain(world, {ErrorCode::kInvalidInput, "give either --event or --since"});
    return kExitUsage;
  }
  const auto seq = evidence::parse_number(arguments.value("--event", "0"));
  if (!seq) {
    return misused(world, "--event",
                   {ErrorCode::kInvalidInput, "not a number; it is the `seq` of the event"});
  }
  const auto newer = read_checkpoint(world, arguments.value("--checkpoint"), *keys);
  if (!newer) return refused(world, newer.error());
  const auto log = evidence::log_of(newer->checkpoint.origin);
  if (arguments.has("--event")) {
    const auto proof = evidence::prove_inclusion(world.files, directory, log->directory, *seq,
                                                 newer->checkpoint, newer->note);
    if (!proof) return refused(world, proof.error());
    return print(world, evidence::encode(*proof), kExitOk);
  }
  const auto older = read_checkpoint(world, arguments.value("--since"), *keys);
  if (!older) return refused(world, older.error());
  if (older->checkpoint.origin != newer->checkpoint.origin) {
    return refused(world, {ErrorCode::kInvalidInput, "the two checkpoints are of different logs"});
  }
  const auto proof = evidence::prove_consistency(world.files, directory, log->directory,
                                                 older->checkpoint, newer->checkpoint, newer->note);
  if (!proof) return refused(world, proof.error());
  return print(world, evidence::encode(*proof), kExitOk);
}

int verify_growth(const Arguments& arguments, World& world, const std::string& text,
                  const std::vector<VerifierKey>& keys) {
  if (!arguments.has("--since")) {
    complain(world, {ErrorCode::kInvalidInput,
                     "this proves that a log grew: give the older checkpoint with --since"});
    return kExitUsage;
  }
  const auto proof = evidence::parse_consistency_proof(text);
  if (!proof) return refused(world, in_place(arguments.positionals().front(), proof.error()));
  const auto older = read_checkpoint(world, arguments.value("--since"), keys);
  if (!older) return refused(world, older.error());
  const auto newer = evidence::check_proof(*proof, older->checkpoint, keys);
  if (!newer) return refused(world, in_place(arguments.positionals().front(), newer.error()));
  return print(world,
               fmt::format("proven: {} grew from {} to {} events, and nothing else changed\n",
                           newer->origin, older->checkpoint.size, newer->size),
               kExitOk);
}

int run_verify_proof(const Arguments& arguments, World& world) {
  const auto keys = verifier_keys(arguments);
  if (!keys) return misused(world, "--key", keys.error());
  const std::string& path = arguments.positionals().front();
  const auto text = world.files.read(path, kMaxProofBytes);
  if (!text) return refused(world, text.error());
  if (evidence::is_consistency_proof(*text)) return verify_growth(arguments, world, *text, *keys);
  if (arguments.has("--since")) {
    complain(world, {ErrorCode::kInvalidInput, "--since is for a proof that a log grew"});
    return kExitUsage;
  }
  const auto proof = evidence::parse_inclusion_proof(*text);
  if (!proof) return refused(world, in_place(path, proof.error()));
  const auto checkpoint = evidence::check_proof(*proof, *keys);
  if (!checkpoint) return refused(world, in_place(path, checkpoint.error()));
  return print(world,
               fmt::format("proven: event {} of the {} of {}\n{}\n", proof->index + 1,
                           checkpoint->size, checkpoint->origin, proof->event),
               kExitOk);
}

std::string pruned_line(const evidence::Pruned& one) {
  if (one.damage) return fmt::format("{}: left as it is: {}\n", one.directory, one.damage->what);
  if (one.error) return fmt::format("{}: not done: {}\n", one.directory, one.error->to_string());
  if (one.segments == 0) return fmt::format("{}: nothing is old enough\n", one.directory);
  return fmt::format("{}: removed {} in {}; in all {}, of {} to {}\n", one.directory,
                     counted(one.events, "event", "events"),
                     counted(one.segments, "segment", "segments"),
                     counted(one.removed.events, "event", "events"), one.removed.first_time,
                     one.removed.last_time);
}

int run_prune(const Arguments& arguments, World& world) {
  const std::string& directory = arguments.positionals().front();
  if (is_no_directory(world, directory)) return kExitBadInput;
  const auto before = parse_rfc3339(arguments.value("--before"));
  if (!before) {
    return misused(world, "--before",
                   {ErrorCode::kInvalidInput,
                    "not a time in the form of RFC 3339, in UTC: 2026-08-04T09:00:00Z"});
  }
  const auto writers = evidence::list_segments(world.files, directory);
  if (!writers) return refused(world, writers.error());
  if (writers->empty()) return refused(world, without_writers(directory));
  const auto pruned = evidence::prune(world.files, directory, *before);
  if (!pruned) return refused(world, pruned.error());
  std::string out;
  int exit_code = kExitOk;
  for (const evidence::Pruned& one : *pruned) {
    out += pruned_line(one);
    if (one.error && exit_code == kExitOk) exit_code = kExitBadInput;
    if (one.damage) exit_code = kExitFailed;
  }
  return print(world, out, exit_code);
}

Flag key_flag() {
  return {.name = "--key",
          .value_name = "VKEY",
          .help = "a verifier key whose signatures are believed, as `remit evidence key` prints it",
          .repeatable = true,
          .required = true};
}

Positional directory_argument() {
  return {.name = "DIRECTORY", .help = "the evidence directory"};
}

Command key_row() {
  return {.path = "evidence key",
          .summary = "Make a key that signs checkpoints, or print its public half",
          .description =
              "With --name, makes an Ed25519 key in a new file that only its owner may read, and "
              "prints the verifier key (C2SP signed note), which is no secret and which whoever is "
              "to verify must get by a way that they trust. Without, prints the verifier key of "
              "the key in the file.\n\n"
              "Keep the file where who can rewrite the evidence cannot read it.",
          .flags = {{.name = "--name",
                     .value_name = "NAME",
                     .help = "what the key is called, such as audit.example/production; no blanks "
                             "and no plus"}},
          .positionals = {{.name = "FILE", .help = "the key's file"}},
          .examples = {{"remit evidence key audit.key --name audit.example/production",
                        "once for each deployment"}},
          .run = run_key};
}

Command checkpoint_row() {
  return {
      .path = "evidence checkpoint",
      .summary = "Sign how far each log goes",
      .description =
          "Verifies the evidence, then writes a checkpoint of each writer's log (C2SP "
          "tlog-checkpoint) to FOLDER: how many events it holds and the Merkle root over them, "
          "signed. Checkpoints that stand there already are compared first, and nothing is signed "
          "where a log was rolled back or rewritten since.\n\n"
          "Keep FOLDER and the key apart from the evidence: a checkpoint shows what was done to "
          "the log after it, by whoever had not the key.",
      .flags = {{.name = "--key",
                 .value_name = "FILE",
                 .help = "the key's file, of mode 0600",
                 .required = true},
                {.name = "--to",
                 .value_name = "FOLDER",
                 .help = "where the checkpoints go, made if absent; not within the evidence",
                 .required = true}},
      .positionals = {directory_argument()},
      .examples =
          {{"remit evidence checkpoint evidence --key audit.key --to /mnt/audit/checkpoints",
            "every hour, and before `remit evidence prune`"}},
      .run = run_checkpoint};
}

Command prove_row() {
  return {
      .path = "evidence prove",
      .summary = "Prove one event, or that a log only grew, to who has no access to it",
      .description =
          "With --event, prints a proof that this event stands in the log of the checkpoint (C2SP "
          "tlog-proof), with the event in it. With --since, prints a proof that the log of the "
          "checkpoint begins with that of an older one. Either is checked by `remit evidence "
          "verify-proof`, or any other program for these forms, with nothing but the key.",
      .flags = {{.name = "--checkpoint",
                 .value_name = "FILE",
                 .help = "the checkpoint that the proof rests on",
                 .required = true},
                key_flag(),
                {.name = "--event",
                 .value_name = "SEQ",
                 .help = "the event, by its `seq` in the log of the checkpoint"},
                {.name = "--since",
                 .value_name = "FILE",
                 .help = "an older checkpoint of the same log"}},
      .positionals = {directory_argument()},
      .examples = {{"remit evidence prove evidence --checkpoint c/writer-000001.checkpoint --key "
                    "\"$VKEY\" --event 42 > 42.tlog-proof",
                    "for an auditor who may see this event and no other"}},
      .run = run_prove};
}

Command verify_proof_row() {
  return {.path = "evidence verify-proof",
          .summary = "Check a proof of `remit evidence prove` by the key alone",
          .description =
              "Reads no evidence. Of a proof of an event it prints which event of which log it is, "
              "then the event as it was recorded. Exit code 1: the proof shows nothing, or is "
              "signed by another.",
          .flags = {key_flag(),
                    {.name = "--since",
                     .value_name = "FILE",
                     .help = "the older checkpoint, for a proof that a log only grew"}},
          .positionals = {{.name = "FILE", .help = "the proof"}},
          .run = run_verify_proof};
}

Command prune_row() {
  return {
      .path = "evidence prune",
      .summary = "Remove old segments, and say in the log that they were removed",
      .description =
          "Removes from the front of each log the complete segments whose every event is older "
          "than TIME. A tombstone stands for them: how many events they held, of what times, and "
          "what the rest is proven with, so that `remit evidence verify` goes on and says what was "
          "removed, and `remit grade` counts it as a loss. A log that is damaged is left as it is. "
          "Writers may be at work.\n\n"
          "Sign a checkpoint first: one that ends within what was removed can no longer be "
          "compared.",
      .flags = {{.name = "--before",
                 .value_name = "TIME",
                 .help = "RFC 3339 in UTC: 2026-08-04T09:00:00Z",
                 .required = true}},
      .positionals = {directory_argument()},
      .examples = {{"remit evidence prune evidence --before \"$(date -ud '90 days ago' "
                    "+%Y-%m-%dT%H:%M:%SZ)\"",
                    "keep ninety days"}},
      .run = run_prune};
}

}  // namespace

std::vector<Command> evidence_commands() {
  return {key_row(), checkpoint_row(), prove_row(), verify_proof_row(), prune_row()};
}

Result<std::vector<VerifierKey>> verifier_keys(const Arguments& arguments) {
  std::vector<VerifierKey> out;
  for (const std::string& text : arguments.values("--key")) {
    REMIT_TRY_ASSIGN(VerifierKey key, VerifierKey::parse(text));
    out.push_back(std::move(key));
  }
  return out;
}

Result<SignedCheckpoint> read_checkpoint(World& world, const std::string& path,
                                         const std::vector<VerifierKey>& keys) {
  REMIT_TRY_ASSIGN(std::string note, world.files.read(path, kMaxNoteBytes));
  auto checkpoint = evidence::open_checkpoint(note, keys);
  if (!checkpoint) return in_place(path, checkpoint.error());
  return SignedCheckpoint{*std::move(checkpoint), std::move(note)};
}

Result<std::vector<Checkpoint>> read_checkpoints(World& world, const std::string& path,
                                                 const std::vector<VerifierKey>& keys) {
  std::vector<Checkpoint> out;
  REMIT_TRY_ASSIGN(const FileInfo info, world.files.info(path));
  if (info.kind != FileInfo::Kind::kDirectory) {
    REMIT_TRY_ASSIGN(SignedCheckpoint one, read_checkpoint(world, path, keys));
    out.push_back(std::move(one.checkpoint));
    return out;
  }
  REMIT_TRY_ASSIGN(const auto paths, checkpoint_files(world, path));
  for (const std::string& file : paths) {
    REMIT_TRY_ASSIGN(SignedCheckpoint one, read_checkpoint(world, file, keys));
    out.push_back(std::move(one.checkpoint));
  }
  if (!out.empty()) return out;
  return Error{ErrorCode::kInvalidInput, "holds no checkpoint: no file ends with .checkpoint",
               path};
}

bool is_no_directory(World& world, const std::string& path) {
  const Result<FileInfo> info = world.files.info(path);
  if (!info || info->kind != FileInfo::Kind::kFile) return false;
  complain(world, Error{ErrorCode::kInvalidInput,
                        "is a file; give the evidence directory, which holds writer-NNNNNN", path});
  return true;
}

}  // namespace remit::cli
