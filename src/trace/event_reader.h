// Events of JSON Lines files: lines joined to the decoder, mistakes told with their place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/file_system.h"
#include "base/limits.h"
#include "base/result.h"
#include "event/event.h"
#include "trace/line_reader.h"

namespace remit::trace {

/// One input: files read one after the other, or an open stream. Its events without a `writer`
/// belong to one anonymous writer.
struct Input {
  std::string name;                  ///< how people named it; `-` for standard input
  std::vector<std::string> paths;    ///< one for a plain file, the segments of a directory
  std::unique_ptr<ReadFile> stream;  ///< read before `paths`; null for files

  static Input of_file(std::string path);
  static Input of_files(std::string name, std::vector<std::string> paths);
  static Input of_stream(std::string name, std::unique_ptr<ReadFile> stream);
};

/// Reads from an open descriptor, such as standard input, without owning it.
class DescriptorFile final : public ReadFile {
 public:
  explicit DescriptorFile(int descriptor) : descriptor_(descriptor) {}
  Result<std::size_t> read(std::span<std::byte> out) override;

 private:
  int descriptor_;
};

/// What `EventReader::next` found.
enum class Item : std::uint8_t { kEnd, kEvent, kMalformed };

/// Reads the events of one file. Not thread-safe; one decoder serves many readers in turn. Nothing
/// is allocated per event in the steady state.
class EventReader {
 public:
  /// `file` and `decoder` outlive the reader.
  EventReader(ReadFile& file, event::Decoder& decoder);

  /// The next event or malformed line; `kEnd` after the last. Errors: those of reading.
  Result<Item> next();

  /// The event, valid until the next call; after `kEvent`.
  [[nodiscard]] const event::Event& event() const { return event_; }
  /// The line of the event or of the mistake.
  [[nodiscard]] const Line& line() const { return line_; }
  /// What is wrong with the line; after `kMalformed`.
  [[nodiscard]] const Error& error() const { return error_; }
  /// Byte offset in the file of the mistake; after `kMalformed`.
  [[nodiscard]] std::uint64_t error_offset() const { return error_offset_; }

 private:
  event::Decoder& decoder_;
  LineReader lines_;
  event::Event event_;
  Line line_;
  Error error_;
  std::uint64_t error_offset_ = 0;
};

}  // namespace remit::trace
