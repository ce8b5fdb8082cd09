// Lines joined to the decoder.
#include "trace/event_reader.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <system_error>
#include <utility>

namespace remit::trace {
namespace {

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

EventReader::EventReader(ReadFile& file, event::Decoder& decoder)
    : decoder_(decoder), lines_(file, decoder.max_line_bytes) {}

Result<Item> EventReader::next() {
  REMIT_TRY_ASSIGN(const bool found, lines_.next(line_));
  if (!found) return Item::kEnd;
  if (line_.over_limit) {
    error_ = {ErrorCode::kLimitExceeded,
              fmt::format("the line is longer than {} bytes", decoder_.max_line_bytes)};
    error_offset_ = line_.offset;
    return Item::kMalformed;
  }
  Status decoded = decoder_.decode(line_.text, event_);
  if (decoded) return Item::kEvent;
  error_ = std::move(decoded).error();
  error_offset_ = line_.offset + place_in_line(error_.where);
  error_.where.clear();
  return Item::kMalformed;
}

}  // namespace remit::trace
