// URLs that are read, and tricks that are not.
#include "http/url.h"

#include <gtest/gtest.h>

#include <string>

#include "base/limits.h"

namespace remit::http {
namespace {

std::string read(std::string_view text) {
  const Result<Url> url = Url::parse(text);
  if (!url) return url.error().message;
  return std::string(url->is_secure ? "https " : "http ") + url->host + " " +
         std::to_string(url->port) + " " + url->target + " " + url->authority() +
         (url->is_loopback() ? " loopback" : "");
}

TEST(Url, IsTakenApart) {
  EXPECT_EQ(read("https://ID.example/a/b?c=%20d"), "https id.example 443 /a/b?c=%20d id.example");
  EXPECT_EQ(read("http://127.0.0.1:9000/resolve"),
            "http 127.0.0.1 9000 /resolve 127.0.0.1:9000 loopback");
  EXPECT_EQ(read("http://localhost"), "http localhost 80 / localhost loopback");
  EXPECT_EQ(read("http://h:80?q"), "http h 80 /?q h");
  EXPECT_EQ(read("https://[::1]:8443/"), "https ::1 8443 / [::1]:8443 loopback");
  EXPECT_EQ(read("http://h.example.:65535/"), "http h.example. 65535 / h.example.:65535");
  EXPECT_EQ(read("http://127.8.8.8/"), "http 127.8.8.8 80 / 127.8.8.8 loopback");
  EXPECT_EQ(read("http://10.0.0.1/"), "http 10.0.0.1 80 / 10.0.0.1");
}

TEST(Url, IsRefused) {
  const auto refused = [](const std::string& url, const std::string& why) {
    EXPECT_EQ(read(url), "the URL " + quoted(url, 128) + " " + why);
  };
  const std::string scheme = "begins with neither http:// nor https://";
  refused("", scheme);
  refused("ftp://h/", scheme);
  refused("HTTP://h/", scheme);
  refused("//h/", scheme);
  refused("file:///etc/passwd", scheme);
  refused("http://", "names no host");
  refused("http:///a", "names no host");
  refused("http://a..b/", "names no host");
  refused("http://.a/", "names no host");
  refused("http://a b/", "names no host");
  refused("http://\xc3\xa4/", "names no host");
  refused("http://127.1/", "names no host");
  refused("http://2130706433/", "names no host");
  refused("http://0x7f.0.0.1/", "names no host");
  refused("http://127.0.0.1./", "names no host");
  refused("http://1.2.3.4.5/", "names no host");
  refused("http://127.0.0.1%00.example/", "names no host");
  refused("http://[::1/", "has a bracket without its other");
  refused("http://[127.0.0.1]/", "has no IPv6 address in its brackets");
  refused("http://[::1%eth0]/", "has no IPv6 address in its brackets");
  const std::string port = "has no port from 1 to 65535 behind its host";
  refused("http://h:/", port);
  refused("http://h:0/", port);
  refused("http://h:65536/", port);
  refused("http://h:8a/", port);
  refused("http://[::1]x/", port);
  refused("http://h/#a", "has a fragment");
  refused("http://h/a b", "has a character that must be escaped");
  refused("http://h/%zz", "has a character that must be escaped");
  refused("http://h/\r\nX: y", "has a character that must be escaped");
  EXPECT_EQ(read("http://user:secret@h/"), "the URL has a user name or a password in it");
  EXPECT_EQ(read("http://h/" + std::string(kMaxUrlBytes, 'x')), "a URL of more than 4096 bytes");
}

}  // namespace
}  // namespace remit::http
