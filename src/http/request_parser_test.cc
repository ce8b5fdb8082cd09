// What is a request and what is refused, byte for byte, however the bytes arrive.
#include "http/request_parser.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace remit::http {
namespace {

constexpr RequestLimits kLimits{.head_bytes = 400, .headers = 8, .body_bytes = 32};

struct Parsed {
  int status = 0;  // 0: unfinished, 200: complete
  std::string why;
  Request request;
  std::string rest;
  bool keeps_alive = false;
  friend bool operator==(const Parsed& left, const Parsed& right) {
    return left.status == right.status && left.why == right.why && left.rest == right.rest &&
           left.request.method == right.request.method &&
           left.request.target == right.request.target &&
           left.request.headers.fields() == right.request.headers.fields() &&
           left.request.body == right.request.body && left.keeps_alive == right.keeps_alive;
  }
};

/// Feeds `text` in pieces of `step` bytes, as a connection would.
Parsed parse(std::string_view text, std::size_t step) {
  RequestParser parser(kLimits);
  std::string input;
  Parsed out;
  std::size_t at = 0;
  while (at < text.size() && parser.state() != RequestParser::State::kComplete &&
         parser.state() != RequestParser::State::kRefused) {
    input.append(text.substr(at, step));
    at += std::min(step, text.size() - at);
    input.erase(0, parser.feed(input));
  }
  out.rest = input + std::string(text.substr(at));
  if (parser.state() == RequestParser::State::kComplete) out.status = 200;
  if (parser.state() == RequestParser::State::kRefused) {
    out.status = parser.fault().status;
    out.why = parser.fault().why;
    out.rest.clear();  // nothing more is read
  }
  out.request = std::move(parser.request());
  out.keeps_alive = parser.keeps_alive();
  return out;
}

struct Row {
  const char* name;
  std::string text;
  int status;  ///< 200 for a request, 0 for more to come
  const char* why;
};

std::string head(std::string_view more, std::string_view line = "POST /a HTTP/1.1") {
  return std::string(line) + "\r\nHost: h\r\n" + std::string(more) + "\r\n";
}

const std::vector<Row>& rows() {
  static const std::vector<Row> table = {
      {"plain", head(""), 200, ""},
      {"any token is a method", head("", "PROPFIND /a HTTP/1.1"), 200, ""},
      {"HTTP/1.0", head("", "GET / HTTP/1.0"), 200, ""},
      {"query", head("", "GET /a?b=c&d=%2F HTTP/1.1"), 200, ""},
      {"body", head("Content-Length: 3\r\n") + "abc", 200, ""},
      {"body of nothing", head("Content-Length: 0\r\n"), 200, ""},
      {"body to come", head("Content-Length: 4\r\n") + "abc", 0, ""},
      {"chunks", head("Transfer-Encoding: chunked\r\n") + "2\r\nab\r\n01\r\nc\r\n0\r\n\r\n", 200,
       ""},
      {"no chunk", head("Transfer-Encoding: Chunked\r\n") + "0\r\n\r\n", 200, ""},
      {"a list in two lines", head("Accept: a\r\nAccept: b\r\n"), 200, ""},
      {"an empty value", head("X-Empty:\r\n"), 200, ""},
      {"half a head", "POST /a HTTP/1.1\r\nHost: h\r\n", 0, ""},

      // Lines. REQ-HT-001.
      {"bare LF", "GET / HTTP/1.1\nHost: h\n\n", 400, "a line of the head ends without CR"},
      {"bare LF after a header", "GET / HTTP/1.1\r\nHost: h\nX: y\r\n\r\n", 400,
       "a line of the head ends without CR"},
      {"bare CR", "GET / HTTP/1.1\r\nHost: h\rX: y\r\n\r\n", 400, "a CR within a line of the head"},
      {"an empty line first", "\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n", 400,
       "an empty line before the head"},
      {"obs-fold", head("X: a\r\n b\r\n"), 400, "a header goes on in a second line"},
      {"obs-fold with a tab", head("Content-Length: 1\r\n\t2\r\n"), 400,
       "a header goes on in a second line"},
      {"space before the first header", "GET / HTTP/1.1\r\n Host: h\r\n\r\n", 400,
       "a header goes on in a second line"},
      {"NUL", head(std::string("X: a\0b\r\n", 8)), 400, "a control character in the head"},
      {"escape", head("X: \x1b[31m\r\n"), 400, "a control character in the head"},
      {"a TLS greeting", std::string("\x16\x03\x01\x02\x00\x01", 6), 400,
       "a control character in the head"},
      {"HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505,
       "a version besides HTTP/1.1 and HTTP/1.0"},

      // The request line. REQ-HT-002.
      {"HTTP/0.9", "GET /\r\n\r\n", 400, "a request line without method, target and version"},
      {"two spaces", head("", "GET  / HTTP/1.1"), 400, "a target that is no path"},
      {"a space in the target", head("", "GET /a b HTTP/1.1"), 400, "a target that is no path"},
      {"a space behind", head("", "GET / HTTP/1.1 "), 400,
       "a request line without method, target and version"},
      {"lower case", head("", "GET / http/1.1"), 400,
       "a request line without method, target and version"},
      {"HTTP/1.10", head("", "GET / HTTP/1.10"), 505, "a version besides HTTP/1.1 and HTTP/1.0"},
      {"absolute", head("", "GET http://h/ HTTP/1.1"), 400, "a target that is no path"},
      {"asterisk", head("", "OPTIONS * HTTP/1.1"), 400, "a target that is no path"},
      {"fragment", head("", "GET /a#b HTTP/1.1"), 400, "a target that is no path"},
      {"a broken escape", head("", "GET /%2 HTTP/1.1"), 400, "a target that is no path"},
      {"a backslash", head("", "GET /a\\b HTTP/1.1"), 400, "a target that is no path"},
      {"beyond ASCII", head("", "GET /\xc3\xa4 HTTP/1.1"), 400, "a target that is no path"},
      {"CONNECT", head("", "CONNECT h:443 HTTP/1.1"), 501, "a method that is not served"},
      {"TRACE", head("", "TRACE / HTTP/1.1"), 501, "a method that is not served"},
      {"a long method", head("", "ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFG / HTTP/1.1"), 501,
       "a method that is not served"},
      {"a method that is none", head("", "G{T / HTTP/1.1"), 400, "a method that is no token"},

      // Headers. REQ-HT-003.
      {"no colon", head("X\r\n"), 400, "a header without a name and a colon right behind it"},
      {"no name", head(": x\r\n"), 400, "a header without a name and a colon right behind it"},
      {"a space before the colon", head("Content-Length : 3\r\n"), 400,
       "a header without a name and a colon right behind it"},
      {"a name that is none", head("X(Y): z\r\n"), 400,
       "a header without a name and a colon right behind it"},
      {"no Host", "GET / HTTP/1.1\r\n\r\n", 400, "no Host"},
      {"no Host in HTTP/1.0", "GET / HTTP/1.0\r\n\r\n", 400, "no Host"},
      {"two Hosts", head("Host: h\r\n"), 400, "a header stands there twice"},
      {"two Hosts in other letters", head("HOST: i\r\n"), 400, "a header stands there twice"},
      {"two lengths", head("Content-Length: 3\r\nContent-Length: 3\r\n") + "abc", 400,
       "a header stands there twice"},
      {"two codings", head("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), 400,
       "a header stands there twice"},
      {"two credentials", head("Authorization: Bearer a\r\nauthorization: Bearer b\r\n"), 400,
       "a header stands there twice"},
      {"two types", head("Content-Type: text/plain\r\nContent-Type: text/html\r\n"), 400,
       "a header stands there twice"},
      {"two of a kind that we do not know", head("X-One: a\r\nX-One: a\r\n"), 400,
       "a header stands there twice"},
      {"too many headers", head("A: 1\r\nB: 1\r\nC: 1\r\nD: 1\r\nE: 1\r\nF: 1\r\nG: 1\r\nH: 1\r\n"),
       431, "too many headers"},
      {"a large head", head("X: " + std::string(400, 'x') + "\r\n"), 431, "the head is too large"},
      {"a large head without end", "GET /" + std::string(500, 'x'), 431, "the head is too large"},
      {"a connection that is none", head("Connection: cl/se\r\n"), 400,
       "a Connection that is no list"},
      {"a connection of nothing", head("Connection: , ,\r\n"), 200, ""},
      {"an expectation", head("Expect: 200-ok\r\n"), 417, "an expectation"},
      {"a packed body", head("Content-Encoding: gzip\r\n"), 415,
       "a content coding, which is not read"},

      // Framing. REQ-HT-004.
      {"both lengths", head("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n") + "0\r\n\r\n",
       400, "both Content-Length and Transfer-Encoding"},
      {"both the other way", head("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"), 400,
       "both Content-Length and Transfer-Encoding"},
      {"a list of lengths", head("Content-Length: 3, 3\r\n"), 400,
       "a Content-Length that is no number"},
      {"a signed length", head("Content-Length: +3\r\n"), 400,
       "a Content-Length that is no number"},
      {"a hexadecimal length", head("Content-Length: 0x3\r\n"), 400,
       "a Content-Length that is no number"},
      {"no length in it", head("Content-Length:\r\n"), 400, "a Content-Length that is no number"},
      {"a length beyond 64 bits", head("Content-Length: 18446744073709551619\r\n"), 400,
       "a Content-Length that is no number"},
      {"identity", head("Transfer-Encoding: identity\r\n"), 501,
       "a transfer coding besides chunked"},
      {"gzip and chunked", head("Transfer-Encoding: gzip, chunked\r\n"), 501,
       "a transfer coding besides chunked"},
      {"chunked twice", head("Transfer-Encoding: chunked, chunked\r\n"), 501,
       "a transfer coding besides chunked"},
      {"chunked with a tab before", head("Transfer-Encoding: \tchunked\r\n") + "0\r\n\r\n", 200,
       ""},
      {"chunked with a vertical tab",
       head("Transfer-Encoding: \x0b"
            "chunked\r\n"),
       400, "a control character in the head"},
      {"chunked in HTTP/1.0", head("Transfer-Encoding: chunked\r\n", "POST / HTTP/1.0"), 400,
       "Transfer-Encoding in HTTP/1.0"},
      {"a large body", head("Content-Length: 33\r\n"), 413, "the body is too large"},
      {"the largest body", head("Content-Length: 32\r\n") + std::string(32, 'x'), 200, ""},

      // Chunks. REQ-HT-005.
      {"a chunk's extension", head("Transfer-Encoding: chunked\r\n") + "1;a=b\r\nx\r\n0\r\n\r\n",
       400, "a chunk whose size is no hexadecimal number alone"},
      {"a chunk's size with a space", head("Transfer-Encoding: chunked\r\n") + "1 \r\nx\r\n", 400,
       "a chunk whose size is no hexadecimal number alone"},
      {"0x", head("Transfer-Encoding: chunked\r\n") + "0x1\r\nx\r\n", 400,
       "a chunk whose size is no hexadecimal number alone"},
      {"no size", head("Transfer-Encoding: chunked\r\n") + "\r\n", 400,
       "a chunk whose size is no hexadecimal number alone"},
      {"a negative size", head("Transfer-Encoding: chunked\r\n") + "-1\r\n", 400,
       "a chunk whose size is no hexadecimal number alone"},
      {"a size with LF only", head("Transfer-Encoding: chunked\r\n") + "1\nx\r\n0\r\n\r\n", 400,
       "a chunk whose size is no hexadecimal number alone"},
      {"a size with CR only", head("Transfer-Encoding: chunked\r\n") + "1\rxx", 400,
       "the size of a chunk ends without CR LF"},
      {"many digits", head("Transfer-Encoding: chunked\r\n") + "000000001\r\nx\r\n", 400,
       "a chunk whose size has too many digits"},
      {"a size that wraps", head("Transfer-Encoding: chunked\r\n") + "10000000000000001\r\nx\r\n",
       400, "a chunk whose size has too many digits"},
      {"longer than its size", head("Transfer-Encoding: chunked\r\n") + "1\r\nxy\r\n0\r\n\r\n", 400,
       "a chunk longer than its size"},
      {"a chunk that ends with LF", head("Transfer-Encoding: chunked\r\n") + "1\r\nx\n0\r\n\r\n",
       400, "a chunk longer than its size"},
      {"trailers", head("Transfer-Encoding: chunked\r\n") + "0\r\nHost: i\r\n\r\n", 400,
       "trailers, which are not read"},
      {"chunks too large", head("Transfer-Encoding: chunked\r\n") + "21\r\n", 413,
       "the body is too large"},
      {"chunks too large together",
       head("Transfer-Encoding: chunked\r\n") + "20\r\n" + std::string(32, 'x') + "\r\n1\r\n", 413,
       "the body is too large"},
      {"chunks to come", head("Transfer-Encoding: chunked\r\n") + "2\r\nab\r\n0\r\n\r", 0, ""},
  };
  return table;
}

TEST(RequestParser, JudgesAsTheTableSays) {
  for (const Row& row : rows()) {
    const Parsed whole = parse(row.text, row.text.size());
    EXPECT_EQ(whole.status, row.status) << row.name << ": " << whole.why;
    EXPECT_EQ(whole.why, row.why) << row.name;
    if (row.status == 200) {
      EXPECT_EQ(whole.rest, "") << row.name;
    }
    for (const std::size_t step : {1U, 2U, 3U, 7U, 64U}) {
      EXPECT_EQ(parse(row.text, step), whole) << row.name << " in pieces of " << step;
    }
  }
}

TEST(RequestParser, GivesWhatWasSent) {
  const Parsed got = parse(
      "PUT /a/%7Eb?c=d HTTP/1.1\r\nHost: h:1\r\nX-One:  one \t\r\nACCEPT: a\r\nCookie: k=1\r\n"
      "accept: b\r\ncookie: l=2\r\nTransfer-Encoding: chunked\r\n\r\n"
      "a\r\n0123456789\r\n1\r\n!\r\n0\r\n\r\nGET",
      400);
  ASSERT_EQ(got.status, 200) << got.why;
  EXPECT_EQ(got.request.method, "PUT");
  EXPECT_EQ(got.request.target, "/a/%7Eb?c=d");
  EXPECT_EQ(got.request.path(), "/a/%7Eb");
  EXPECT_EQ(got.request.query(), "c=d");
  EXPECT_EQ(got.request.headers.fields(), (std::vector<Field>{{"Host", "h:1"},
                                                              {"X-One", "one"},
                                                              {"ACCEPT", "a, b"},
                                                              {"Cookie", "k=1; l=2"},
                                                              {"Transfer-Encoding", "chunked"}}));
  EXPECT_EQ(*got.request.headers.find("x-one"), "one");
  EXPECT_EQ(got.request.headers.find("x-two"), nullptr);
  EXPECT_EQ(got.request.body, "0123456789!");
  EXPECT_EQ(got.rest, "GET") << "the next request";
}

TEST(RequestParser, KnowsWhichConnectionsGoOn) {
  struct {
    const char* line;
    const char* connection;
    bool keeps_alive;
  } const table[] = {
      {"GET / HTTP/1.1", "", true},
      {"GET / HTTP/1.1", "Connection: close\r\n", false},
      {"GET / HTTP/1.1", "Connection: Keep-Alive, Close\r\n", false},
      {"GET / HTTP/1.1", "Connection: close\r\nConnection: keep-alive\r\n", false},
      {"GET / HTTP/1.1", "Connection: upgrade\r\nUpgrade: h2c\r\n", true},
      {"GET / HTTP/1.0", "", false},
      {"GET / HTTP/1.0", "Connection: keep-alive\r\n", true},
  };
  for (const auto& row : table) {
    EXPECT_EQ(parse(head(row.connection, row.line), 400).keeps_alive, row.keeps_alive)
        << row.line << " " << row.connection;
  }
}

TEST(RequestParser, StartsAnew) {
  RequestParser parser(kLimits);
  EXPECT_EQ(parser.feed(head("")), head("").size());
  ASSERT_EQ(parser.state(), RequestParser::State::kComplete);
  parser.reset();
  EXPECT_EQ(parser.state(), RequestParser::State::kHead);
  EXPECT_EQ(parser.request().method, "");
  parser.feed(head("Content-Length: 1\r\n", "PUT /b HTTP/1.1") + "x");
  ASSERT_EQ(parser.state(), RequestParser::State::kComplete);
  EXPECT_EQ(parser.request().method, "PUT");
  EXPECT_EQ(parser.request().body, "x");
}

// A harness that finds no difference between a request and a refusal would pass everything.
TEST(RequestParser, TheTableCanFail) {
  EXPECT_NE(parse("GET / HTTP/1.1\r\nHost: h\r\n\r\n", 100).status,
            parse("GET / HTTP/1.1\nHost: h\n\n", 100).status);
}

}  // namespace
}  // namespace remit::http
