// Data that others published, for the tests that judge us by it, and our own beside the sources.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

namespace remit::testing {

/// The root of the source tree.
inline std::filesystem::path source_tree() {
  const char* source = std::getenv("REMIT_SOURCE_DIR");
  return source != nullptr ? source : ".";
}

/// The folder of published data: REMIT_SHARED_DATA, else the one beside the source tree. None where
/// it does not exist, which is said: such a test has not run. Where it exists, whatever a test
/// misses in it is a failure.
inline std::optional<std::filesystem::path> shared_data() {
  const char* named = std::getenv("REMIT_SHARED_DATA");
  std::filesystem::path root =
      named != nullptr ? std::filesystem::path(named) : source_tree() / "../shared/data";
  if (std::filesystem::is_directory(root)) return root;
  std::puts("not run, no shared data");
  return std::nullopt;
}

/// The bytes of a file that a test needs; without it, the test fails.
inline std::string needed_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) ADD_FAILURE() << path << " is missing";
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace remit::testing
