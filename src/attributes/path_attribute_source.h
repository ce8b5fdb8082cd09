// Files beneath a root, for tools that take paths.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "attributes/attribute_source.h"
#include "base/clock.h"

namespace remit::attributes {

struct PathSourceOptions {
  std::string type;    ///< Cedar entity type of the resources
  std::string root;    ///< a directory; a link to one is followed once, when the source is opened
  std::string tenant;  ///< of everything beneath the root
  std::string source;  ///< what answers name as their source
};

/// Answers with the file or directory that a path means. A path is relative to the root, or
/// absolute and beneath it; it is walked name by name from the root, links included, and `..` never
/// climbs above the root, so that what comes out lies beneath it. The canonical id is the absolute
/// path without links, `.`, `..` and repeated slashes, which is what a file server understands. The
/// last name may be missing, so that a file can be made; everything before it must be there.
///
/// Attributes: `path`, the canonical path relative to the root (`.` for the root itself), and
/// `exists`. The revision changes with the file's identity, size and time of change, and is
/// `absent` for one that is not there. Between the answer and the tool's use of it, whoever may
/// write beneath the root can put a link in a directory's place: only agents that reach the root
/// through the boundary alone are held by it. Names are bytes, compared as such. Thread-safe.
class PathAttributeSource final : public AttributeSource {
 public:
  /// Errors: `not_found` or `unavailable` for a root that is not there or no directory,
  /// `invalid_input` for one whose own path no record can carry. `clock` outlives the source.
  static Result<std::unique_ptr<PathAttributeSource>> open(const PathSourceOptions& options,
                                                           const Clock& clock);

  /// Errors: `not_found` for a path that means nothing, and for one that leads out of the root,
  /// or has a canonical path that no record can carry (beyond kMaxIdBytes, not UTF-8, or with
  /// control characters), which the message tells apart and the caller must not; `unavailable` for
  /// a root that has gone or cannot be read. A disk that does not answer cannot be interrupted.
  [[nodiscard]] Result<access::Resource> resolve(const ResourceQuery& query) const override;

 private:
  PathAttributeSource(PathSourceOptions options, std::string root, const Clock& clock);

  const PathSourceOptions options_;
  const std::string root_;                        // canonical
  const std::vector<std::string> root_names_;     // of `root_`
  const std::vector<std::string> spelled_names_;  // of the root as configured, if absolute
  const Clock& clock_;
};

}  // namespace remit::attributes
