// The server as clients that we did not write see it: curl and Python's own library.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <memory>
#include <string>

#include "http/server.h"
#include "tests/support/certificates.h"
#include "tests/support/test_file.h"

namespace remit::http {
namespace {

/// What `command` prints on both outputs, and how it ended.
std::string output_of(const std::string& command) {
  FILE* const pipe = ::popen((command + " 2>&1; echo \"exit $?\"").c_str(), "r");
  if (pipe == nullptr) return "no shell";
  std::string out;
  std::array<char, 4096> buffer{};
  while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    out.append(buffer.data(), got);
  }
  ::pclose(pipe);
  return out;
}

bool is_there(const std::string& program) {
  if (output_of("command -v " + program + " >/dev/null").starts_with("exit 0")) return true;
  std::printf("not run: no %s\n", program.c_str());
  return false;
}

class Sizes final : public Handler {
 public:
  Response handle(const Request& request, std::stop_token) override {
    if (request.path() == "/stream") {
      auto stream = std::make_shared<BodyStream>();
      for (int i = 0; i < 3; ++i) (void)stream->write("data: " + std::to_string(i) + "\n\n");
      stream->finish();
      return {.status = 200,
              .headers = {{"Content-Type", "text/event-stream"}},
              .stream = std::move(stream)};
    }
    return {.status = 200,
            .headers = {{"Content-Type", "text/plain"}},
            .body = request.method + " " + std::to_string(request.body.size()) + "\n"};
  }
};

class RealClients : public ::testing::Test {
 protected:
  RealClients() {
    const testing::Certificate shown = testing::make_certificate({}, &authority_);
    secure_ =
        Server::start({.tls = TlsIdentity{shown.certificate_pem, shown.key_pem}}, handler_, clock_)
            .value();
    plain_ = Server::start({}, handler_, clock_).value();
  }
  [[nodiscard]] std::string plain() const {
    return "http://localhost:" + std::to_string(plain_->port());
  }
  [[nodiscard]] std::string secure() const {
    return "https://localhost:" + std::to_string(secure_->port());
  }
  SystemClock clock_;
  Sizes handler_;
  const testing::Certificate authority_ = testing::make_certificate({.is_authority = true});
  const testing::TestFile trust_{authority_.certificate_pem};
  std::unique_ptr<Server> secure_;
  std::unique_ptr<Server> plain_;
};

TEST_F(RealClients, Curl) {
  if (!is_there("curl")) return;
  const std::string curl = "curl -sS --noproxy '*' --max-time 20 --cacert " + trust_.path() + " ";
  for (const std::string& base : {plain(), secure()}) {
    EXPECT_EQ(output_of(curl + base + "/a " + base + "/b"), "GET 0\nGET 0\nexit 0\n");
    EXPECT_EQ(output_of(curl + "-d abc " + base + "/"), "POST 3\nexit 0\n");
    EXPECT_EQ(output_of(curl + "-0 " + base + "/"), "GET 0\nexit 0\n");
    EXPECT_EQ(output_of("head -c 300000 /dev/zero | " + curl +
                        "-H 'Transfer-Encoding: chunked' --data-binary @- " + base + "/"),
              "POST 300000\nexit 0\n");
    EXPECT_EQ(output_of("head -c 1048576 /dev/zero | " + curl +
                        "-H 'Expect: 100-continue' --data-binary @- " + base + "/"),
              "POST 1048576\nexit 0\n");
    EXPECT_EQ(output_of("head -c 2000000 /dev/zero | " + curl + "-o /dev/null -w '%{http_code}\n'" +
                        " -H 'Expect:' --data-binary @- " + base + "/"),
              "413\nexit 0\n")
        << "the answer arrives although the body was not read";
    EXPECT_EQ(output_of(curl + "-N " + base + "/stream"),
              "data: 0\n\ndata: 1\n\ndata: 2\n\nexit 0\n");
    EXPECT_EQ(output_of(curl + "-o /dev/null -w '%{http_code}\n' -H 'Host: evil' " + base + "/"),
              "421\nexit 0\n");
    EXPECT_NE(output_of(curl + "-I " + base + "/").find("Content-Length: 7"), std::string::npos);
  }
  EXPECT_TRUE(
      output_of("curl -s --noproxy '*' -o /dev/null " + secure() + "/").ends_with("exit 60\n"))
      << "who does not trust the authority does not talk to us";
}

TEST_F(RealClients, Python) {
  if (!is_there("python3")) return;
  const testing::TestFile script{R"(
import http.client, ssl, sys, urllib.error, urllib.request
secure, plain, trust = sys.argv[1:]
context = ssl.create_default_context(cafile=trust)
opener = urllib.request.build_opener(
    urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context))
for base in (plain, secure):
    print(opener.open(base + "/a").read().decode(), end="")
    print(opener.open(urllib.request.Request(base, data=b"abcd")).read().decode(), end="")
    host = base.split("//")[1]
    kept = (http.client.HTTPSConnection(host, context=context) if base is secure
            else http.client.HTTPConnection(host))
    for size in (0, 10, 100000):
        kept.request("PUT", "/", body=b"x" * size)
        print(kept.getresponse().read().decode(), end="")
    kept.request("POST", "/", body=iter([b"one", b"two"]), encode_chunked=True,
                 headers={"Transfer-Encoding": "chunked"})
    print(kept.getresponse().read().decode(), end="")
    kept.request("GET", "/stream")
    print(len(kept.getresponse().read()))
    try:
        opener.open(urllib.request.Request(base, headers={"Origin": "https://evil.example"}))
    except urllib.error.HTTPError as refused:
        print(refused.code, refused.read().decode(), end="")
)"};
  const std::string once =
      "GET 0\nPOST 4\nPUT 0\nPUT 10\nPUT 100000\nPOST 6\n27\n403 an origin that is not allowed\n";
  EXPECT_EQ(
      output_of("python3 " + script.path() + " " + secure() + " " + plain() + " " + trust_.path()),
      once + once + "exit 0\n");
}

}  // namespace
}  // namespace remit::http
