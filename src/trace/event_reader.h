// Events of an input: lines joined to the decoder, mistakes and losses told with their place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_constancy.h"
#include "base/file_system.h"
#include "base/limits.h"
#include "base/line_splitter.h"
#include "base/result.h"
#include "event/event.h"
#include "trace/decoded_lines.h"
#include "trace/documents.h"
#include "trace/event_lines.h"
#include "trace/form.h"
#include "trace/translator.h"
#include "trace/unpacker.h"

namespace remit::trace {

/// What an event was decoded from. `text` points into the reader until the next call.
struct Line {
  std::string_view text;       ///< without its `\n`; translated where the form is no JSON Lines
  std::uint64_t offset = 0;    ///< of the first byte, in the file, of what records the event
  std::uint64_t number = 0;    ///< of its line, 1 for the file's first, skipped lines counted
  LineHashes hashes = {};      ///< by the seed given to the reader
  bool is_translated = false;  ///< `text` is ours: its length is none of the file's
};

/// What a last line is that was cut short.
enum class TornTail : std::uint8_t {
  kMistake,  ///< malformed, like any other line that is no event (REQ-EV-003)
  kLoss,     ///< what a writer left that died within a line: read as `evidence.lost` (REQ-IN-010)
};

/// One input: files read one after the other, or an open stream. Its events without a `writer`
/// belong to one anonymous writer.
struct Input {
  std::string name;                         ///< how people named it; `-` for standard input
  std::vector<std::string> paths;           ///< one for a plain file, the segments of a directory
  std::unique_ptr<ReadFile> stream;         ///< read before `paths`; null for files
  TornTail torn_tail = TornTail::kMistake;  ///< of the last path
  /// Of a log whose writer works on or died: behind its end an `evidence.lost` is read
  /// (REQ-IN-010).
  bool is_unclosed = false;
  /// Of a log from whose front retention removed events: how many, of which writer. Behind its end
  /// an `evidence.lost` of as many is read (REQ-IN-014).
  std::int64_t removed_events = 0;
  std::string removed_of;
  Form form = Form::kAuto;  ///< of each file
  /// What was known of each path when the input was named; missing at the end, it is not compared.
  /// A file that does anything but grow before it is read is refused (REQ-IN-009).
  std::vector<FileInfo> named;
  std::string run_source;  ///< in ids of recorded runs; empty for the file's name

  static Input of_file(std::string path);
  static Input of_files(std::string name, std::vector<std::string> paths);
  static Input of_stream(std::string name, std::unique_ptr<ReadFile> stream);
  /// The segments of one writer of an evidence directory.
  static Input of_log(std::string name, std::vector<std::string> segments);
};

/// Reads from an open descriptor, such as standard input, without owning it.
class DescriptorFile final : public ReadFile {
 public:
  explicit DescriptorFile(int descriptor) : descriptor_(descriptor), constancy_(descriptor) {}
  /// Errors: as those of a file that is opened by its name.
  Result<std::size_t> read(std::span<std::byte> out) override;

 private:
  int descriptor_;
  FileConstancy constancy_;
};

/// The cause of the `evidence.lost` at the end of a file with requests whose decisions its form
/// cannot record (REQ-IN-033).
inline constexpr std::string_view kRequestsOnly = "a record of requests only";

/// The cause of the one at the end of an unclosed log whose last line is whole (REQ-IN-010).
inline constexpr std::string_view kRemovedByRetention = "removed by retention";
inline constexpr std::string_view kUnclosedLog = "the log is not closed";

/// What `EventReader::next` found.
enum class Item : std::uint8_t {
  kEnd,
  kSource,  ///< another file begins, named by `source`
  kEvent,
  kMalformed
};

/// A file of a translated form that gave no event and no mistake.
struct SilentFile {
  std::string source;
  Form form = Form::kOtlp;
  std::uint64_t records = 0;  ///< spans and log records, or runs, that it holds
};

/// Reads the events of one input, file after file, compressed or not, in any form. Offsets are
/// those of the text as it was before it was compressed. Not thread-safe; one decoder serves many
/// readers in turn. Nothing is allocated per event in the steady state.
class EventReader {
 public:
  /// Sees each document of a form that is translated, as it was written, before its events come.
  using OnDocument = std::function<void(const Document&)>;

  /// The first three outlive the reader. The input's stream is read and left at its end. Lines are
  /// decoded by up to `threads` threads, the caller among them; all else is the caller's.
  /// `hash_seed` is that of `Line::hashes`.
  EventReader(FileSystem& files, const Input& input, event::Decoder& decoder,
              OnDocument on_document = {}, unsigned threads = 1, std::uint64_t hash_seed = 0);

  /// The next file, event or malformed line; `kEnd` after the last. Errors: those of opening,
  /// reading and unpacking, and `invalid_input` at the end of a file that is no evidence, or not in
  /// the form that the input states (REQ-IN-038), with the file's name.
  Result<Item> next();

  /// Whether the events of the current file are translated: `line` is then ours.
  [[nodiscard]] bool is_translated() const { return translator_ != nullptr; }
  /// How many of the files read to their end hold requests whose decisions their form cannot
  /// record (REQ-IN-033).
  [[nodiscard]] std::uint64_t files_of_requests() const { return files_of_requests_; }
  /// Those of the files read to their end.
  [[nodiscard]] const std::vector<SilentFile>& silent_files() const { return silent_files_; }
  /// The file that is being read; after `kSource`.
  [[nodiscard]] const std::string& source() const { return source_; }
  /// The event, valid until the next call; after `kEvent`.
  [[nodiscard]] const event::Event& event() const { return *current_; }
  /// The line of the event or of the mistake.
  [[nodiscard]] const Line& line() const { return line_; }
  /// The hash of the `invocation_id` of the event that comes `count` behind this one; 0 if it is
  /// not known yet.
  [[nodiscard]] std::uint64_t id_hash_ahead(std::size_t count) const {
    const DecodedLine* const later = lines_ ? lines_->ahead(count) : nullptr;
    return later != nullptr ? later->hashes.id : 0;
  }
  /// If `line` is the first of a text that was read at once and is not translated: that text, which
  /// stays as it is until its last line was given. Else empty.
  [[nodiscard]] std::string_view fresh_text() const {
    return lines_ ? lines_->fresh_text() : std::string_view{};
  }
  /// What is wrong with the line; after `kMalformed`.
  [[nodiscard]] const Error& error() const { return error_; }
  /// Byte offset in the file of the mistake; after `kMalformed`.
  [[nodiscard]] std::uint64_t error_offset() const { return error_offset_; }

 private:
  Result<Item> open_next();
  Item end_input();
  Status open_path(std::size_t index);
  Status begin_file(ReadFile& file);
  void note(Item item);
  Status end_file();
  Result<Item> read_item();
  Result<Item> read_line();
  Result<Item> read_translated();
  Item decode_translated(const EventLines::Entry& entry);
  Result<bool> translate_next();
  void move_to(std::size_t place);
  Item malformed(Error error, std::uint64_t offset);
  Item lost(std::string_view cause, std::string_view writer, std::int64_t events = -1);

  FileSystem& files_;
  const Input& input_;
  event::Decoder& decoder_;
  OnDocument on_document_;
  unsigned threads_;
  std::uint64_t hash_seed_;
  std::size_t opened_ = 0;  ///< of the stream and the paths
  std::string source_;
  std::unique_ptr<ReadFile> file_;  ///< null while the stream is read
  std::optional<Unpacker> text_;
  std::optional<PeekedFile> peeked_;
  std::optional<DecodedLines> lines_;        ///< of JSON Lines
  std::optional<DocumentReader> documents_;  ///< of any other form
  std::unique_ptr<Translator> translator_;   ///< of the same
  Document document_;
  std::size_t place_ = 0;  ///< in the document, up to where lines were counted
  EventLines translated_;
  std::size_t next_entry_ = 0;
  Fault fault_;            ///< of the document, not yet told
  bool is_closed_ = true;  ///< nothing more is to be said of the file
  std::uint64_t files_of_requests_ = 0;
  std::vector<SilentFile> silent_files_;
  std::optional<Error> misfit_;  ///< what the file seems to be, where it seems not what is stated
  bool has_event_ = false;       ///< this and the next two: of the file
  std::uint64_t mistakes_ = 0;
  std::string first_mistake_;  ///< with its place; meaningful after a mistake
  bool is_last_ = false;       ///< no file follows the current one
  bool is_removal_told_ = false;
  bool is_end_told_ = false;  ///< the loss at the end of an unclosed log was given
  std::string writer_;        ///< of the last event; kept only where a torn tail is a loss
  event::Event event_;        ///< of what is translated or lost
  const event::Event* current_ = &event_;
  Line line_;
  Error error_;
  std::uint64_t error_offset_ = 0;
};

}  // namespace remit::trace
