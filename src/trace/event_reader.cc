// Files, their lines, and the decoder.
#include "trace/event_reader.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <system_error>
#include <utility>

#include "base/limits.h"
#include "trace/run_sources.h"

namespace remit::trace {

namespace {

Error named(const std::string& source, Error error) {
  return error.where.starts_with(source) ? error : in_place(source, std::move(error));
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
  input.form = Form::kJsonLines;
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
    if (count >= 0) {
      constancy_.note(out.first(static_cast<std::size_t>(count)));
      if (count == 0 && !out.empty()) REMIT_TRY(constancy_.at_end({}));
      return static_cast<std::size_t>(count);
    }
    if (errno == EINTR) continue;
    return Error{ErrorCode::kUnavailable, "cannot read: " + std::generic_category().message(errno)};
  }
}

EventReader::EventReader(FileSystem& files, const Input& input, event::Decoder& decoder,
                         OnDocument on_document, unsigned threads, std::uint64_t hash_seed)
    : files_(files),
      input_(input),
      decoder_(decoder),
      on_document_(std::move(on_document)),
      threads_(threads),
      hash_seed_(hash_seed) {}

Result<Item> EventReader::next() {
  if (source_.empty()) return open_next();
  Result<Item> item = read_item();
  if (!item) return named(source_, std::move(item).error());
  if (*item != Item::kEnd) {
    note(*item);
    return item;
  }
  Status ended = end_file();
  if (!ended) return named(source_, std::move(ended).error());
  return open_next();
}

void EventReader::note(Item item) {
  has_event_ = has_event_ || item == Item::kEvent;
  if (item != Item::kMalformed || mistakes_++ > 0) return;
  first_mistake_ = fmt::format("line {}, byte {}: {}", line_.number, error_offset_, error_.message);
}

// A file without one event may be another than was meant (REQ-IN-038). Of one line alone that
// cannot be told, and every file of a log is evidence.
Status EventReader::end_file() {
  if (has_event_ || input_.torn_tail == TornTail::kLoss) return {};
  if (misfit_) return *std::move(misfit_);
  if (lines_ && mistakes_ > 1) {
    return Error{ErrorCode::kInvalidInput,
                 "no line of this file is an event: give a trace, one event a line (" +
                     first_mistake_ + ")"};
  }
  if (translator_ != nullptr && mistakes_ == 0) {
    const Form form = translator_->form();
    silent_files_.push_back({source_, form, translator_->records()});
  }
  return {};
}

Result<Item> EventReader::open_next() {
  const std::size_t streams = input_.stream != nullptr ? 1 : 0;
  if (opened_ == streams + input_.paths.size()) return end_input();
  if (opened_ < streams) {
    source_ = input_.name;
  } else {
    REMIT_TRY(open_path(opened_ - streams));
  }
  Status begun = begin_file(opened_ < streams ? *input_.stream : *file_);
  if (!begun) return named(source_, std::move(begun).error());
  ++opened_;
  is_last_ = opened_ == streams + input_.paths.size();
  return Item::kSource;
}

// What a writer at work has not written yet, or one that died never wrote, may be missing behind
// the last line, cut or whole.
Item EventReader::end_input() {
  const bool tells_removal = input_.removed_events > 0 && !is_removal_told_;
  if (!tells_removal && (!input_.is_unclosed || is_end_told_)) return Item::kEnd;
  if (source_.empty()) {
    source_ = input_.name;
    return Item::kSource;
  }
  if (line_.number > 0 && !line_.text.empty()) {
    line_.offset += line_.text.size() + 1;
    line_.text = {};
    ++line_.number;
  }
  if (tells_removal) {
    is_removal_told_ = true;
    return lost(kRemovedByRetention, input_.removed_of, input_.removed_events);
  }
  is_end_told_ = true;
  return lost(kUnclosedLog, writer_);
}

Status EventReader::open_path(std::size_t index) {
  source_ = input_.paths[index];
  const bool is_known =
      index < input_.named.size() && input_.named[index].target_kind == FileInfo::Kind::kFile;
  if (is_known) {
    REMIT_TRY_ASSIGN(const FileInfo now, files_.info(source_));
    REMIT_TRY(only_grown(input_.named[index], now, source_));
  }
  REMIT_TRY_ASSIGN(file_, files_.open_read(source_));
  return {};
}

Status EventReader::begin_file(ReadFile& file) {
  lines_.reset();
  current_ = &event_;
  documents_.reset();
  translator_.reset();
  peeked_.reset();
  text_.emplace(file);
  peeked_.emplace(*text_);
  has_event_ = false;
  line_ = {};
  mistakes_ = 0;
  misfit_.reset();
  Form form = input_.form;
  if (form == Form::kAuto) {
    REMIT_TRY_ASSIGN(form, peeked_->recognise());
  } else if (input_.torn_tail == TornTail::kMistake) {
    misfit_ = peeked_->misfit(form);
  }
  if (form == Form::kJsonLines) {
    lines_.emplace(*peeked_, decoder_.max_line_bytes, threads_, hash_seed_);
    return {};
  }
  REMIT_TRY_ASSIGN(const Layout layout, peeked_->layout());
  documents_.emplace(*peeked_, layout, kMaxTraceDocumentBytes);
  const std::string runs =
      input_.run_source.empty() ? id_part(file_stem(source_)) : input_.run_source;
  translator_ = form == Form::kOtlp ? make_otlp_translator() : make_run_translator(form, runs);
  translated_.clear();
  next_entry_ = 0;
  fault_ = {};
  is_closed_ = false;
  return {};
}

Result<Item> EventReader::read_item() {
  return lines_ ? read_line() : read_translated();
}

Result<Item> EventReader::read_line() {
  REMIT_TRY_ASSIGN(DecodedLine* const found, lines_->next());
  if (found == nullptr) return Item::kEnd;
  line_ = {found->line.text, found->line.offset, found->line.number, found->hashes, false};
  if (found->line.end == LineEnd::kTooLong) {
    return malformed({ErrorCode::kLimitExceeded,
                      fmt::format("the line is longer than {} bytes", decoder_.max_line_bytes)},
                     line_.offset);
  }
  const bool may_be_torn = input_.torn_tail == TornTail::kLoss;
  if (!found->error) {
    current_ = &found->event;
    if (may_be_torn && writer_ != current_->text(event::Field::kWriter)) {
      writer_ = current_->text(event::Field::kWriter);
    }
    return Item::kEvent;
  }
  if (may_be_torn && is_last_ && found->line.end == LineEnd::kTorn) {
    is_end_told_ = true;
    return lost("cut last line", writer_);
  }
  const std::uint64_t place = place_in_line(found->error->where);
  return malformed(std::move(*found->error), line_.offset + place);
}

Item EventReader::malformed(Error error, std::uint64_t offset) {
  error_ = std::move(error);
  error_.where.clear();
  error_offset_ = offset;
  return Item::kMalformed;
}

Item EventReader::lost(std::string_view cause, std::string_view writer, std::int64_t events) {
  current_ = &event_;
  event_.clear();
  event_.kind = event::EventKind::kEvidenceLost;
  event_.set(event::Field::kEvents, events);
  event_.set(event::Field::kCause, cause);
  event_.set_if_any(event::Field::kWriter, writer);
  line_.hashes = {};
  return Item::kEvent;
}

Result<Item> EventReader::read_translated() {
  for (;;) {
    if (next_entry_ < translated_.entries().size()) {
      return decode_translated(translated_.entries()[next_entry_++]);
    }
    if (fault_.what != nullptr) {
      const Fault fault = std::exchange(fault_, {});
      move_to(fault.place);
      return malformed({ErrorCode::kInvalidInput, fault.what}, line_.offset);
    }
    if (is_closed_) return Item::kEnd;
    REMIT_TRY_ASSIGN(const bool found, translate_next());
    if (!found) {
      is_closed_ = true;
      if (!translator_->has_requests_only()) return Item::kEnd;
      ++files_of_requests_;
      line_.text = {};
      line_.offset = document_.offset + document_.text.size();  // behind all requests
      return lost(kRequestsOnly, {});
    }
    if (document_.over_limit) {
      return malformed(
          {ErrorCode::kLimitExceeded,
           fmt::format("the document is longer than {} bytes: write a document on each line, or "
                       "several files",
                       kMaxTraceDocumentBytes)},
          line_.offset);
    }
  }
}

Result<bool> EventReader::translate_next() {
  translated_.clear();
  next_entry_ = 0;
  REMIT_TRY_ASSIGN(const bool found, documents_->next(document_));
  if (!found) return false;
  line_ = {{}, document_.offset, document_.number, {}, true};
  place_ = 0;
  if (on_document_) on_document_(document_);
  if (document_.over_limit) return true;
  fault_ = translator_->translate(document_.text, translated_);
  translated_.arrange();
  return true;
}

// The line's place becomes that of what stands at `place` of the document.
void EventReader::move_to(std::size_t place) {
  line_.offset = document_.offset + place;
  if (place <= place_) return;  // only a fault may stand before what was read last
  const std::string_view passed = document_.text.substr(place_, place - place_);
  for (std::size_t at = passed.find('\n'); at != passed.npos; at = passed.find('\n', at + 1)) {
    ++line_.number;
  }
  place_ = place;
}

Item EventReader::decode_translated(const EventLines::Entry& entry) {
  move_to(entry.place);
  line_.text = translated_.line(entry);
  Status decoded = decoder_.decode(line_.text, event_);
  if (decoded) {
    line_.hashes = LineHashes::of(line_.text, event_, hash_seed_);
    return Item::kEvent;
  }
  return malformed(std::move(decoded).error(), line_.offset);
}

}  // namespace remit::trace
