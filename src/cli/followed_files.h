// Whether files that are followed only grow.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/file_system.h"

namespace remit::cli {

/// Looks at inputs again and again, and keeps what is lost of them: what was cut or written anew
/// between two looks was read once and is not there for the last grade (REQ-GR-116). A file may be
/// moved to another name among the inputs, and another that is no shorter may take its place. Not
/// thread-safe.
class FollowedFiles {
 public:
  /// Both outlive it.
  FollowedFiles(FileSystem& files, const std::vector<std::string>& inputs)
      : files_(files), inputs_(inputs) {}

  /// True if anything about the inputs is not as it was at the look before.
  bool look();
  /// What was found lost at the last look and not before.
  [[nodiscard]] const std::vector<Error>& losses() const { return losses_; }
  /// Why the inputs are not the record that they were: what was lost at any look, or a file that is
  /// gone. Nothing where they hold all that was seen.
  [[nodiscard]] std::optional<Error> incomplete() const;

 private:
  struct Followed {
    FileInfo info;
    std::string head;  ///< its first bytes
    bool is_there = true;
  };

  void list(const std::string& path, std::size_t depth, bool is_named);
  void follow(const std::string& path, const FileInfo& info);
  void lose(const std::string& path, std::string what);
  /// Empty where it cannot be read just now, which says nothing of what stands there.
  [[nodiscard]] std::optional<std::string> read_head(const std::string& path) const;
  [[nodiscard]] bool is_segment(const std::string& path) const;
  [[nodiscard]] bool is_elsewhere(const Followed& gone) const;

  FileSystem& files_;
  const std::vector<std::string>& inputs_;
  std::map<std::string, Followed> followed_;  ///< files of events, by path
  std::string listing_;                       ///< all that is there, of the last look
  /// What stood, at the last look but this, where a shorter file stands now; by path.
  std::map<std::string, Followed> displaced_;
  std::vector<Error> losses_;
  std::optional<Error> first_loss_;
};

}  // namespace remit::cli
