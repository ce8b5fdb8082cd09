// HTTP/1.1 as bytes: the strict reading that server and client share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/limits.h"
#include "http/message.h"

namespace remit::http {

/// Why a message is refused: the status that a server answers with, and a line without outside
/// text.
struct Fault {
  int status = 400;
  std::string_view why;
};

/// Finds the end of a head while its bytes arrive, and what no head has: a line that ends without
/// CR, a CR elsewhere, a control character, an empty line first.
class HeadScanner {
 public:
  explicit HeadScanner(std::size_t max_bytes) : max_bytes_(max_bytes) {}
  enum class State : std::uint8_t { kUnfinished, kFinished, kRefused };
  /// `input` begins with the head, and with what earlier calls were given.
  State scan(std::string_view input);
  /// Bytes of the head with its empty line, once finished.
  [[nodiscard]] std::size_t size() const { return at_; }
  [[nodiscard]] const Fault& fault() const { return fault_; }

 private:
  State refuse(int status, std::string_view why);
  std::size_t max_bytes_;
  std::size_t at_ = 0;
  std::size_t line_start_ = 0;
  Fault fault_;
};

/// Reads the header lines of a head that HeadScanner passed, its start line taken off. A header
/// that is repeated is a fault unless its value is a list; then the values are joined. Cookies that
/// a server sets are not kept.
std::optional<Fault> read_fields(std::string_view lines, std::size_t max_headers, Headers& out);

/// How the body behind a head ends.
struct Framing {
  enum class Kind : std::uint8_t { kNone, kLength, kChunked };
  Kind kind = Kind::kNone;
  std::uint64_t length = 0;
};
/// Content-Length or Transfer-Encoding, never both; `chunked` is the only coding.
std::optional<Fault> read_framing(const Headers& headers, bool is_http10, Framing& out);

/// Whether the Connection header, a list of tokens, lets the connection serve another message:
/// by default it does in HTTP/1.1 only.
std::optional<Fault> read_connection(const Headers& headers, bool is_http10, bool& keeps_alive);

/// Takes a body out of the bytes that frame it. Chunks have a size of at most eight digits, no
/// extension and no trailer.
class BodyReader {
 public:
  BodyReader(const Framing& framing, std::size_t max_bytes);
  enum class State : std::uint8_t { kUnfinished, kFinished, kRefused };
  /// Appends to `body` and returns how many bytes of `input` were used: all of them, unless the
  /// body ended or is refused.
  std::size_t read(std::string_view input, std::string& body);
  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] const Fault& fault() const { return fault_; }

 private:
  enum class Step : std::uint8_t { kData, kSize, kSizeEnd, kDataCr, kDataLf, kLastCr, kLastLf };
  void refuse(int status, std::string_view why);
  void step(char c);
  void size_digit(char c);
  State state_ = State::kUnfinished;
  Step step_ = Step::kData;
  bool is_chunked_ = false;
  int digits_ = 0;
  std::uint64_t remaining_ = 0;  // of the body or the chunk
  std::size_t room_ = 0;         // that chunks may still take
  Fault fault_;
};

/// Takes a message out of the bytes of a connection: head, then body. What a head says is its
/// owner's to read.
class MessageReader {
 public:
  MessageReader(std::size_t max_head_bytes, std::size_t max_body_bytes)
      : max_head_bytes_(max_head_bytes), max_body_bytes_(max_body_bytes), head_(max_head_bytes) {}
  enum class State : std::uint8_t { kHead, kBody, kComplete, kRefused };
  /// Reads a whole head, and says how the body behind it ends; nothing where none can come, and
  /// another head follows.
  using ReadHead =
      std::function<std::optional<Fault>(std::string_view head, std::optional<Framing>& framing)>;
  /// Takes from `input` what belongs to the message, appends to `body`, and returns how many bytes
  /// that were. What was not taken has to come again, with more behind it.
  std::size_t feed(std::string_view input, const ReadHead& read_head, std::string& body);
  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] const Fault& fault() const { return fault_; }
  /// Nothing more is read.
  void refuse(const Fault& fault);
  /// Starts with the next message.
  void reset();

 private:
  const std::size_t max_head_bytes_;
  const std::size_t max_body_bytes_;
  HeadScanner head_;
  std::optional<BodyReader> body_;
  State state_ = State::kHead;
  Fault fault_;
};

}  // namespace remit::http
