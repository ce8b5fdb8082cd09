// What a client takes for a response.
#include "http/response_parser.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace remit::http {
namespace {

constexpr ResponseLimits kLimits{.head_bytes = 300, .headers = 8, .body_bytes = 32};

/// `STATUS BODY`, `more`, or the error.
std::string read(std::string_view text, std::size_t step, bool has_body = true) {
  ResponseParser parser(kLimits, has_body);
  std::string input;
  for (std::size_t at = 0; at < text.size() && parser.state() == ResponseParser::State::kUnfinished;
       at += step) {
    input.append(text.substr(at, step));
    input.erase(0, parser.feed(input));
  }
  if (parser.state() == ResponseParser::State::kUnfinished) return "more";
  if (parser.state() == ResponseParser::State::kRefused) {
    return std::string(error_code_name(parser.error().code)) + ": " + parser.error().message;
  }
  return std::to_string(parser.response().status) + " " + parser.response().body;
}

struct Row {
  std::string text;
  const char* said;
};

// REQ-HT-030, REQ-HT-031.
TEST(ResponseParser, JudgesAsTheTableSays) {
  const std::string fault = "data_loss: the response has a fault: ";
  const Row table[] = {
      {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "200 ok"},
      {"HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok", "200 ok"},
      {"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", "200 ok"},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", "200 ok"},
      {"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "404 "},
      {"HTTP/1.1 302 Found\r\nLocation: http://h/\r\nContent-Length: 0\r\n\r\n", "302 "},
      {"HTTP/1.1 204 No Content\r\n\r\n", "204 "},
      {"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", "304 "},
      {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "200 ok"},
      {"HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nSet-Cookie: c=d\r\nContent-Length: 2\r\n\r\nok",
       "200 ok"},
      {"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok", "more"},
      {"HTTP/1.1 200 OK\r\nContent-", "more"},
      {"HTTP/1.1 103 Early Hints\r\n\r\n", "more"},
      {"HTTP/1.1 200 OK\r\n\r\nok", "a body that does not say where it ends"},
      {"HTTP/1.1 101 Switching Protocols\r\n\r\n", "another protocol, which nobody asked for"},
      {"HTTP/2 200\r\n\r\n", "no status line of HTTP/1"},
      {"SSH-2.0-OpenSSH_9.2\r\n\r\n", "no status line of HTTP/1"},
      {"HTTP/1.1 2x0 OK\r\n\r\n", "a status that is no number"},
      {"HTTP/1.1 2000 OK\r\n\r\n", "a status beyond 100 to 599"},
      {"HTTP/1.1 099 OK\r\n\r\n", "a status beyond 100 to 599"},
      {"HTTP/1.1 200 OK\nContent-Length: 2\n\nok", "a line of the head ends without CR"},
      {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok",
       "a header stands there twice"},
      {"HTTP/1.1 200 OK\r\nContent-Type: a/b\r\nContent-Type: c/d\r\nContent-Length: 0\r\n\r\n",
       "a header stands there twice"},
      {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\nok",
       "both Content-Length and Transfer-Encoding"},
      {"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\nok",
       "a content coding, which nobody asked for"},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
       "a chunk whose size is no hexadecimal number alone"},
  };
  for (const Row& row : table) {
    std::string said = row.said;
    const bool is_fault = said != "more" && said.find_first_of("0123456789") != 0;
    if (is_fault) said = fault + said;
    EXPECT_EQ(read(row.text, row.text.size()), said) << row.text;
    EXPECT_EQ(read(row.text, 1), said) << "byte by byte: " << row.text;
  }
}

TEST(ResponseParser, HoldsItsLimits) {
  const std::string large = "limit_exceeded: the response has a fault: the body is too large";
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\nContent-Length: 33\r\n\r\n", 100), large);
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n21\r\n", 100), large);
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\nX: " + std::string(300, 'x'), 400),
            "limit_exceeded: the response has a fault: the head is too large");
  std::string interim;
  for (int i = 0; i <= kMaxInterimResponses; ++i) interim += "HTTP/1.1 102 Processing\r\n\r\n";
  EXPECT_EQ(read(interim, 1000),
            "limit_exceeded: the response has a fault: too many interim responses");
}

TEST(ResponseParser, ExpectsNoBodyAfterHead) {
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", 100, false), "200 ");
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\n\r\n", 100, false), "200 ");
}

}  // namespace
}  // namespace remit::http
