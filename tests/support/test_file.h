// A file of its own for one test.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace remit::testing {

/// Made with a text, removed at the end.
class TestFile {
 public:
  explicit TestFile(const std::string& text) : path_(::testing::TempDir() + "file.XXXXXX") {
    const int fd = ::mkstemp(path_.data());
    if (fd < 0 || ::write(fd, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
      std::abort();
    }
    ::close(fd);
  }
  ~TestFile() { ::unlink(path_.c_str()); }
  TestFile(const TestFile&) = delete;
  TestFile& operator=(const TestFile&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace remit::testing
