// Blocks of lines, read by one thread and decoded by several.
#include "trace/decoded_lines.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/text_hash.h"

namespace remit::trace {
namespace {

bool is_blank(std::string_view text) {
  return text.empty() || (text.front() != '{' && std::all_of(text.begin(), text.end(), [](char c) {
                            return c == ' ' || c == '\t' || c == '\r';
                          }));
}

// How many bytes of `text` are whole blank lines of at most `most` bytes, adding their number to
// `lines`: runs of them need not be found one by one.
std::size_t skip_blank_lines(std::string_view text, std::size_t most, std::size_t& lines) {
  std::size_t begin = 0;  // of a line
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\n') {
      if (at - begin > most) break;
      ++lines;
      begin = at + 1;
    } else if (text[at] != ' ' && text[at] != '\t' && text[at] != '\r') {
      break;
    }
  }
  return begin;
}

// Gives texts that the decoder had to unescape, and so stand in its memory, a place of their own.
void adopt_texts(std::string_view line, event::Event& event, std::deque<std::string>& texts) {
  const auto is_elsewhere = [&](std::string_view text) {
    return !text.empty() && (text.data() < line.data() || text.data() >= line.data() + line.size());
  };
  for (std::size_t i = 0; i < event::kTextFieldCount; ++i) {
    const auto field = static_cast<event::Field>(i);
    const std::string_view text = event.text(field);
    if (is_elsewhere(text)) event.set(field, std::string_view(texts.emplace_back(text)));
  }
  for (auto* list : {&event.further_resources, &event.determining_policies}) {
    for (std::string_view& text : *list) {
      if (is_elsewhere(text)) text = texts.emplace_back(text);
    }
  }
}

}  // namespace

LineHashes LineHashes::of(std::string_view line, const event::Event& event, std::uint64_t seed) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  LineHashes out;
  // Only a line with a number can come again.
  if (event.has(event::Field::kSeq)) out.text = hash_text(line, seed);
  const std::string_view id = event.text(event::Field::kInvocationId);
  if (!id.empty()) out.id = hash_text(id, seed) | 1U << 31U;
  return out;
}

DecodedLines::DecodedLines(ReadFile& file, std::size_t max_line_bytes, unsigned threads,
                           std::uint64_t hash_seed)
    : file_(file),
      max_line_bytes_(max_line_bytes),
      threads_(std::max(threads, 1U)),
      lines_at_once_(threads_ > 1 ? kLinesAtOnce : kLinesAtOnceAlone),
      hash_seed_(hash_seed) {
  decoder_.max_line_bytes = max_line_bytes;
}

DecodedLines::~DecodedLines() {
  {
    const MutexLock lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

Result<DecodedLine*> DecodedLines::next() {
  bool is_fresh = false;
  for (;;) {
    if (front_ != nullptr) {
      if (taken_ < front_->count) {
        DecodedLine& out = front_->lines[taken_++];
        fresh_text_ =
            is_fresh ? std::string_view(front_->bytes.get(), front_->size) : std::string_view{};
        out.line.number += number_;
        return &out;
      }
      number_ += front_->numbered;
      taken_ = 0;
      if (front_->at < front_->size) {
        decode(*front_, decoder_);
        continue;
      }
      spare_.push_back(std::move(front_));
    }
    REMIT_TRY_ASSIGN(front_, next_block());
    is_fresh = true;
    if (front_ == nullptr) return nullptr;
    if (threads_ > 1 && !is_short_) fill(2 * std::size_t{threads_});
  }
}

// The next block, decoded; null after the last. What was read before reading broke comes first.
Result<std::unique_ptr<DecodedLines::Block>> DecodedLines::next_block() {
  bool is_empty = false;
  {
    const MutexLock lock(mutex_);
    is_empty = blocks_.empty();
  }
  if (is_empty) fill(1);
  for (;;) {
    Block* mine = nullptr;
    {
      const MutexLock lock(mutex_);
      if (blocks_.empty()) break;
      while (blocks_.front()->stage != Stage::kDone && (mine = take_waiting()) == nullptr) {
        changed_.wait(mutex_);
      }
      if (mine == nullptr) {
        std::unique_ptr<Block> out = std::move(blocks_.front());
        blocks_.pop_front();
        if (out->is_beyond_memory) {
          return Error{ErrorCode::kLimitExceeded, "there is no memory left to decode it"};
        }
        return out;
      }
    }
    decode(*mine, decoder_);
    const MutexLock lock(mutex_);
    mine->stage = Stage::kDone;
  }
  if (broken_) return *broken_;
  return nullptr;
}

// Reads until `wanted` blocks wait or are being decoded, or reading may have to wait.
void DecodedLines::fill(std::size_t wanted) {
  std::size_t ready = 0;
  {
    const MutexLock lock(mutex_);
    ready = blocks_.size();
  }
  while (ready < wanted && !at_end_ && !broken_) {
    std::unique_ptr<Block> block = std::make_unique<Block>();
    if (!spare_.empty()) {
      block = std::move(spare_.back());
      spare_.pop_back();
    }
    Result<bool> found = read(*block);
    if (!found) {
      broken_ = std::move(found).error();
      return;
    }
    if (!*found) return;
    block->stage = Stage::kWaiting;
    {
      const MutexLock lock(mutex_);
      blocks_.push_back(std::move(block));
      ready = blocks_.size();
    }
    if (ready > 1 && workers_.empty()) start_workers();
    changed_.notify_one();
    if (is_short_) return;
  }
}

// As many as the system gives: with fewer, or none, the caller decodes what they would have.
void DecodedLines::start_workers() {
  try {
    while (workers_.size() + 1 < threads_) workers_.emplace_back([this] { work(); });
  } catch (const std::system_error&) {
    threads_ = static_cast<unsigned>(workers_.size()) + 1;
  }
}

// Reads what was carried over and on, up to the last end of a line; false at the end of the file.
Result<bool> DecodedLines::read(Block& block) {
  block.at = block.count = block.numbered = block.size = 0;
  block.is_beyond_memory = false;
  block.offset = offset_;
  const std::string carried = std::exchange(carried_, {});
  make_room(block, carried.size() + kBlockBytes);
  std::memcpy(block.bytes.get(), carried.data(), carried.size());
  block.size = carried.size();
  for (;;) {
    make_room(block, block.size + kBlockBytes);
    char* const from = block.bytes.get() + block.size;
    REMIT_TRY_ASSIGN(const std::size_t count,
                     file_.read(std::as_writable_bytes(std::span{from, kBlockBytes})));
    is_short_ = count < kBlockBytes;
    at_end_ = count == 0;
    if (at_end_) break;
    block.size += count;
    const std::size_t newline = std::string_view(from, count).rfind('\n');
    if (newline != std::string_view::npos) {
      carried_.assign(from + newline + 1, count - newline - 1);
      block.size -= carried_.size();
      break;
    }
    if (block.size <= max_line_bytes_) continue;
    offset_ += block.size;
    REMIT_TRY(skip_rest_of_line());
    return true;
  }
  offset_ += block.size;
  return block.size > 0;
}

void DecodedLines::make_room(Block& block, std::size_t bytes) {
  if (bytes <= block.capacity) return;
  const std::size_t capacity = std::max(bytes, 2 * block.capacity);
  auto larger = std::make_unique_for_overwrite<char[]>(capacity + event::Decoder::kPadding);
  if (block.size > 0) std::memcpy(larger.get(), block.bytes.get(), block.size);
  block.bytes = std::move(larger);
  block.capacity = capacity;
}

// Behind the beginning of a line over the limit: passes over the rest.
Status DecodedLines::skip_rest_of_line() {
  std::string piece(kBlockBytes, '\0');
  for (;;) {
    REMIT_TRY_ASSIGN(const std::size_t count, file_.read(std::as_writable_bytes(std::span{piece})));
    at_end_ = count == 0;
    if (at_end_) return {};
    const std::size_t newline = std::string_view(piece.data(), count).find('\n');
    if (newline == std::string_view::npos) {
      offset_ += count;
      continue;
    }
    offset_ += newline + 1;
    carried_.assign(piece.data() + newline + 1, count - newline - 1);
    return {};
  }
}

void DecodedLines::decode(Block& block, event::Decoder& decoder) const {
  block.count = block.numbered = 0;
  block.texts.clear();
  while (block.at < block.size && block.count < lines_at_once_) {
    block.at += skip_blank_lines({block.bytes.get() + block.at, block.size - block.at},
                                 max_line_bytes_, block.numbered);
    if (block.at == block.size) break;
    const std::string_view rest(block.bytes.get() + block.at, block.size - block.at);
    const std::string_view text = rest.substr(0, decoder.find_line(rest));
    const bool is_whole = text.size() < rest.size();
    const std::uint64_t offset = block.offset + block.at;
    block.at += text.size() + (is_whole ? 1 : 0);
    ++block.numbered;
    const bool is_too_long = text.size() > max_line_bytes_;
    if (!is_too_long && is_blank(text)) continue;
    if (block.lines.size() == block.count) block.lines.emplace_back();
    DecodedLine& out = block.lines[block.count++];
    out.line = {text, offset, block.numbered, is_whole ? LineEnd::kWhole : LineEnd::kTorn};
    out.error.reset();
    out.hashes = {};
    if (is_too_long) {
      out.line.end = LineEnd::kTooLong;
      out.line.text = text.substr(0, max_line_bytes_);
      continue;
    }
    Status decoded = decoder.decode_found(out.event);
    if (!decoded) {
      out.error = std::move(decoded).error();
      continue;
    }
    if (decoder.has_own_texts()) adopt_texts(text, out.event, block.texts);
    out.hashes = LineHashes::of(text, out.event, hash_seed_);
  }
}

DecodedLines::Block* DecodedLines::take_waiting() {
  for (const std::unique_ptr<Block>& block : blocks_) {
    if (block->stage != Stage::kWaiting) continue;
    block->stage = Stage::kBusy;
    return block.get();
  }
  return nullptr;
}

void DecodedLines::work() {
  std::optional<event::Decoder> decoder;
  Block* done = nullptr;
  for (;;) {
    Block* block = nullptr;
    {
      const MutexLock lock(mutex_);
      if (done != nullptr) done->stage = Stage::kDone;
      if (done != nullptr) changed_.notify_all();
      while (!is_over_ && (block = take_waiting()) == nullptr) changed_.wait(mutex_);
      if (is_over_) return;
    }
    try {
      if (!decoder) decoder.emplace().max_line_bytes = max_line_bytes_;
      decode(*block, *decoder);
    } catch (const std::bad_alloc&) {
      block->is_beyond_memory = true;
    }
    done = block;
  }
}

}  // namespace remit::trace
