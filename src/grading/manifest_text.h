// The text of a manifest, to whose lists something is added while all that is there stays.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "yaml/yaml.h"

namespace remit::grading {

/// A manifest that people write by hand, comments and all. Not thread-safe; movable.
class ManifestText {
 public:
  /// Errors: `invalid_input` where it is no manifest; blanks that a person has yet to fill in
  /// (REQ-MF-030) are none.
  static Result<ManifestText> open(std::string_view text, std::string file);

  [[nodiscard]] bool has(std::string_view list) const { return root_.find(list) != nullptr; }
  /// The line of the item of `list` whose `key` is `value`; 0 where there is none.
  [[nodiscard]] std::uint32_t line_of(std::string_view list, std::string_view key,
                                      std::string_view value) const;
  /// Adds `items`, written for two spaces in front of each `-`, behind those of `list`, as far in
  /// as they stand; the list itself at the end where there is none. Errors: `failed_precondition`
  /// where the list is not written one item a line.
  Status append(std::string_view list, std::string_view items);
  /// The text with what was added. Errors: `failed_precondition` where that is no YAML with more
  /// items than before: how the file is written is then beyond this.
  Result<std::string> take();

 private:
  ManifestText(std::string_view text, std::string file, yaml::Node root);

  [[nodiscard]] Error by_hand(std::string_view list, std::uint32_t line) const;

  std::string file_;
  yaml::Node root_;
  std::vector<std::string> lines_;
  std::vector<std::string> added_;  ///< behind the line of that number
};

}  // namespace remit::grading
