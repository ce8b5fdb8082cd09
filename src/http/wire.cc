// Heads, framing and chunks (RFC 9112), the lenient parts left out.
#include "http/wire.h"

#include <algorithm>
#include <array>

namespace remit::http {
namespace {

constexpr int kMaxSizeDigits = 8;

// Values of these are lists by their definition, so that two lines are one longer list. All other
// headers of a message stand there once: which of two counts is what request smuggling is about.
constexpr std::array<std::string_view, 20> kLists = {"Accept",
                                                     "Accept-Charset",
                                                     "Accept-Encoding",
                                                     "Accept-Language",
                                                     "Allow",
                                                     "Cache-Control",
                                                     "Connection",
                                                     "Cookie",
                                                     "Forwarded",
                                                     "Link",
                                                     "Pragma",
                                                     "Prefer",
                                                     "TE",
                                                     "Vary",
                                                     "Via",
                                                     "Warning",
                                                     "WWW-Authenticate",
                                                     "X-Forwarded-For",
                                                     "X-Forwarded-Host",
                                                     "X-Forwarded-Proto"};

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::optional<Fault> add_field(std::string_view name, std::string_view value, Headers& out) {
  if (equal_names(name, "Set-Cookie")) return std::nullopt;
  const std::string* before = out.find(name);
  if (before == nullptr) {
    out.set(name, value);
    return std::nullopt;
  }
  const bool is_list = std::any_of(kLists.begin(), kLists.end(),
                                   [&](std::string_view list) { return equal_names(list, name); });
  if (!is_list) return Fault{400, "a header stands there twice"};
  if (value.empty()) return std::nullopt;
  std::string joined = *before;
  if (!joined.empty()) joined.append(equal_names(name, "Cookie") ? "; " : ", ");
  joined.append(value);
  out.set(name, joined);
  return std::nullopt;
}

}  // namespace

HeadScanner::State HeadScanner::refuse(int status, std::string_view why) {
  fault_ = {status, why};
  return State::kRefused;
}

HeadScanner::State HeadScanner::scan(std::string_view input) {
  if (fault_.why.data() != nullptr) return State::kRefused;
  while (at_ < input.size()) {
    if (at_ >= max_bytes_) return refuse(431, "the head is too large");
    const char c = input[at_];
    if (c == '\n') return refuse(400, "a line of the head ends without CR");
    if (c == '\r') {
      if (at_ + 1 == input.size()) return State::kUnfinished;
      if (input[at_ + 1] != '\n') return refuse(400, "a CR within a line of the head");
      if (at_ == 0) return refuse(400, "an empty line before the head");
      const bool is_empty = at_ == line_start_;
      at_ += 2;
      line_start_ = at_;
      if (!is_empty) continue;
      if (at_ > max_bytes_) return refuse(431, "the head is too large");
      return State::kFinished;
    }
    if ((static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f) {
      return refuse(400, "a control character in the head");
    }
    ++at_;
  }
  return State::kUnfinished;
}

std::optional<Fault> read_fields(std::string_view lines, std::size_t max_headers, Headers& out) {
  std::size_t count = 0;
  while (true) {
    const std::size_t end = lines.find("\r\n");
    const std::string_view line = lines.substr(0, end);
    if (line.empty()) return std::nullopt;
    lines.remove_prefix(end + 2);
    if (++count > max_headers) return Fault{431, "too many headers"};
    if (line.front() == ' ' || line.front() == '\t') {
      return Fault{400, "a header goes on in a second line"};
    }
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) {
      return Fault{400, "a header without a name and a colon right behind it"};
    }
    if (auto fault = add_field(line.substr(0, colon), trim(line.substr(colon + 1)), out)) {
      return fault;
    }
  }
}

std::optional<Fault> read_framing(const Headers& headers, bool is_http10, Framing& out) {
  const std::string* length = headers.find("Content-Length");
  const std::string* coding = headers.find("Transfer-Encoding");
  out = {};
  if (coding != nullptr) {
    if (length != nullptr) return Fault{400, "both Content-Length and Transfer-Encoding"};
    if (is_http10) return Fault{400, "Transfer-Encoding in HTTP/1.0"};
    if (!equal_names(*coding, "chunked")) return Fault{501, "a transfer coding besides chunked"};
    out.kind = Framing::Kind::kChunked;
    return std::nullopt;
  }
  if (length == nullptr) return std::nullopt;
  const bool is_number =
      !length->empty() && length->size() <= 18 &&
      std::all_of(length->begin(), length->end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!is_number) return Fault{400, "a Content-Length that is no number"};
  for (const char c : *length) out.length = out.length * 10 + static_cast<std::uint64_t>(c - '0');
  out.kind = out.length == 0 ? Framing::Kind::kNone : Framing::Kind::kLength;
  return std::nullopt;
}

std::optional<Fault> read_connection(const Headers& headers, bool is_http10, bool& keeps_alive) {
  keeps_alive = !is_http10;
  const std::string* connection = headers.find("Connection");
  if (connection == nullptr) return std::nullopt;
  bool closes = false;
  std::string_view rest = *connection;
  while (true) {
    const std::size_t comma = rest.find(',');
    const std::string_view word = trim(rest.substr(0, comma));
    if (!word.empty() && !is_token(word)) return Fault{400, "a Connection that is no list"};
    closes = closes || equal_names(word, "close");
    keeps_alive = keeps_alive || equal_names(word, "keep-alive");
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  keeps_alive = keeps_alive && !closes;
  return std::nullopt;
}

BodyReader::BodyReader(const Framing& framing, std::size_t max_bytes)
    : is_chunked_(framing.kind == Framing::Kind::kChunked),
      remaining_(framing.length),
      room_(max_bytes) {
  if (framing.kind == Framing::Kind::kNone) {
    state_ = State::kFinished;
  } else if (is_chunked_) {
    step_ = Step::kSize;
  } else if (framing.length > max_bytes) {
    refuse(413, "the body is too large");
  }
}

void BodyReader::refuse(int status, std::string_view why) {
  state_ = State::kRefused;
  fault_ = {status, why};
}

std::size_t BodyReader::read(std::string_view input, std::string& body) {
  std::size_t at = 0;
  while (at < input.size() && state_ == State::kUnfinished) {
    if (step_ != Step::kData) {
      step(input[at++]);
      continue;
    }
    const auto size =
        static_cast<std::size_t>(std::min<std::uint64_t>(remaining_, input.size() - at));
    body.append(input.substr(at, size));
    at += size;
    remaining_ -= size;
    if (remaining_ > 0) break;
    if (is_chunked_) {
      step_ = Step::kDataCr;
    } else {
      state_ = State::kFinished;
    }
  }
  return at;
}

// One byte of what frames a chunk.
void BodyReader::step(char c) {
  switch (step_) {
    case Step::kSize:
      return size_digit(c);
    case Step::kSizeEnd:
      if (c != '\n') return refuse(400, "the size of a chunk ends without CR LF");
      digits_ = 0;
      step_ = remaining_ == 0 ? Step::kLastCr : Step::kData;
      return;
    case Step::kDataCr:
    case Step::kLastCr:
      if (c != '\r') {
        return refuse(400, step_ == Step::kLastCr ? "trailers, which are not read"
                                                  : "a chunk longer than its size");
      }
      step_ = step_ == Step::kDataCr ? Step::kDataLf : Step::kLastLf;
      return;
    case Step::kDataLf:
    case Step::kLastLf:
      if (c != '\n') return refuse(400, "a chunk ends without CR LF");
      if (step_ == Step::kLastLf) state_ = State::kFinished;
      step_ = Step::kSize;
      return;
    case Step::kData:
      return;
  }
}

void BodyReader::size_digit(char c) {
  if (c == '\r' && digits_ > 0) {
    if (remaining_ > room_) return refuse(413, "the body is too large");
    room_ -= static_cast<std::size_t>(remaining_);
    step_ = Step::kSizeEnd;
    return;
  }
  int value = 0;
  if (c >= '0' && c <= '9') {
    value = c - '0';
  } else if (c >= 'a' && c <= 'f') {
    value = c - 'a' + 10;
  } else if (c >= 'A' && c <= 'F') {
    value = c - 'A' + 10;
  } else {
    return refuse(400, "a chunk whose size is no hexadecimal number alone");
  }
  if (++digits_ > kMaxSizeDigits) return refuse(400, "a chunk whose size has too many digits");
  remaining_ = (digits_ == 1 ? 0 : remaining_ * 16) + static_cast<std::uint64_t>(value);
}

void MessageReader::refuse(const Fault& fault) {
  state_ = State::kRefused;
  fault_ = fault;
}

void MessageReader::reset() {
  head_ = HeadScanner(max_head_bytes_);
  body_.reset();
  state_ = State::kHead;
  fault_ = {};
}

std::size_t MessageReader::feed(std::string_view input, const ReadHead& read_head,
                                std::string& body) {
  std::size_t used = 0;
  while (state_ == State::kHead) {
    const std::string_view rest = input.substr(used);
    const HeadScanner::State scanned = head_.scan(rest);
    if (scanned == HeadScanner::State::kRefused) refuse(head_.fault());
    if (scanned != HeadScanner::State::kFinished) return used;
    const std::string_view head = rest.substr(0, head_.size());
    used += head.size();
    std::optional<Framing> framing;
    const std::optional<Fault> fault = read_head(head, framing);
    head_ = HeadScanner(max_head_bytes_);
    if (fault) {
      refuse(*fault);
    } else if (framing) {
      body_.emplace(*framing, max_body_bytes_);
      state_ = State::kBody;
    }
  }
  if (state_ != State::kBody) return used;
  used += body_->read(input.substr(used), body);
  if (body_->state() == BodyReader::State::kFinished) state_ = State::kComplete;
  if (body_->state() == BodyReader::State::kRefused) refuse(body_->fault());
  return used;
}

}  // namespace remit::http
