// A folder of its own for one test, with files and SQLite databases in it.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/clock.h"
#include "database/sqlite_database.h"

namespace remit::testing {

/// Made empty, removed at the end.
class TestFolder {
 public:
  TestFolder() {
    std::string pattern =
        (std::filesystem::canonical(::testing::TempDir()) / "folder.XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    path_ = pattern;
  }
  ~TestFolder() { std::filesystem::remove_all(path_); }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  [[nodiscard]] std::string path(const std::string& name = "") const {
    return name.empty() ? path_.string() : (path_ / name).string();
  }
  void put(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << text;
  }
  /// Runs statements on the database of that name, which is made if it is absent.
  void run(const std::string& name, const std::vector<std::string>& statements) const {
    const SystemClock clock;
    database::SqliteDatabase database(path(name), database::Access::kReadWrite, clock);
    for (const std::string& statement : statements) {
      const auto done = database.run(
          statement, {}, {.deadline = clock.monotonic_now() + std::chrono::seconds{10}});
      ASSERT_TRUE(done) << statement << ": " << done.error().to_string();
    }
  }

 private:
  std::filesystem::path path_;
};

}  // namespace remit::testing
