// Files, their lines, and the decoder.
#include "trace/event_reader.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <system_error>
#include <utility>

namespace remit::trace {

static_assert(LineSplitter::kPadding >= event::Decoder::kPadding);

namespace {

bool is_blank(std::string_view text) {
  return text.empty() || (text.front() != '{' && std::all_of(text.begin(), text.end(), [](char c) {
                            return c == ' ' || c == '\t' || c == '\r';
                          }));
}

/// The `N` of a decoder's `byte N`; 0, the line's beginning, where an error names no place.
std::uint64_t place_in_line(std::string_view where) {
  constexpr std::string_view kPrefix = "byte ";
  std::uint64_t place = 0;
  if (where.substr(0, kPrefix.size()) != kPrefix) return place;
  std::from_chars(where.data() + kPrefix.size(), where.data() + where.size(), place);
  return place;
}

}  // namespace

Input Input::of_file(std::string path) {
  Input input;
  input.name = path;
  input.paths.push_back(std::move(path));
  return input;
}

Input Input::of_files(std::string name, std::vector<std::string> paths) {
  Input input;
  input.name = std::move(name);
  input.paths = std::move(paths);
  return input;
}

Input Input::of_log(std::string name, std::vector<std::string> segments) {
  Input input = of_files(std::move(name), std::move(segments));
  input.torn_tail = TornTail::kLoss;
  return input;
}

Input Input::of_stream(std::string name, std::unique_ptr<ReadFile> stream) {
  Input input;
  input.name = std::move(name);
  input.stream = std::move(stream);
  return input;
}

Result<std::size_t> DescriptorFile::read(std::span<std::byte> out) {
  for (;;) {
    const ssize_t count = ::read(descriptor_, out.data(), out.size());
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno == EINTR) continue;
    return Error{ErrorCode::kUnavailable, "cannot read: " + std::generic_category().message(errno)};
  }
}

EventReader::EventReader(FileSystem& files, const Input& input, event::Decoder& decoder)
    : files_(files), input_(input), decoder_(decoder) {}

Result<Item> EventReader::next() {
  if (!lines_) return open_next();
  Result<Item> item = read_line();
  if (!item) {
    Error error = std::move(item).error();
    return error.where.starts_with(source_) ? error : in_place(source_, std::move(error));
  }
  return *item == Item::kEnd ? open_next() : item;
}

Result<Item> EventReader::open_next() {
  lines_.reset();
  const std::size_t streams = input_.stream != nullptr ? 1 : 0;
  if (opened_ == streams + input_.paths.size()) return Item::kEnd;
  if (opened_ < streams) {
    source_ = input_.name;
    text_.emplace(*input_.stream);
  } else {
    source_ = input_.paths[opened_ - streams];
    REMIT_TRY_ASSIGN(file_, files_.open_read(source_));
    text_.emplace(*file_);
  }
  lines_.emplace(*text_, decoder_.max_line_bytes);
  ++opened_;
  is_last_ = opened_ == streams + input_.paths.size();
  return Item::kSource;
}

Result<Item> EventReader::read_line() {
  do {
    REMIT_TRY_ASSIGN(const bool found, lines_->next(split_));
    if (!found) return Item::kEnd;
  } while (split_.end != LineEnd::kTooLong && is_blank(split_.text));
  line_ = {split_.text, split_.offset, split_.number};
  if (split_.end == LineEnd::kTooLong) {
    return malformed({ErrorCode::kLimitExceeded,
                      fmt::format("the line is longer than {} bytes", decoder_.max_line_bytes)},
                     line_.offset);
  }
  const bool may_be_torn = input_.torn_tail == TornTail::kLoss;
  Status decoded = decoder_.decode(line_.text, event_);
  if (decoded) {
    if (may_be_torn && writer_ != event_.text(event::Field::kWriter)) {
      writer_ = event_.text(event::Field::kWriter);
    }
    return Item::kEvent;
  }
  if (may_be_torn && is_last_ && split_.end == LineEnd::kTorn) return torn();
  const std::uint64_t place = place_in_line(decoded.error().where);
  return malformed(std::move(decoded).error(), line_.offset + place);
}

Item EventReader::malformed(Error error, std::uint64_t offset) {
  error_ = std::move(error);
  error_.where.clear();
  error_offset_ = offset;
  return Item::kMalformed;
}

Item EventReader::torn() {
  event_.clear();
  event_.kind = event::EventKind::kEvidenceLost;
  event_.set(event::Field::kEvents, -1);
  event_.set(event::Field::kCause, "cut last line");
  event_.set_if_any(event::Field::kWriter, std::string_view(writer_));
  return Item::kEvent;
}

}  // namespace remit::trace
