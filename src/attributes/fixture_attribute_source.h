// Resources written down in a file, for tests, demonstrations and small fixed stores.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "attributes/attribute_source.h"
#include "base/file_system.h"

namespace remit::attributes {

class FixtureAttributeSource;

/// A source, or everything that is wrong with its file, each with file, line and column.
struct FixtureOutcome {
  std::unique_ptr<FixtureAttributeSource> source;  ///< null exactly when there are problems
  std::vector<Error> problems;
};

/// The resources of one type in a fixture file:
///
///     fixture: remit.fixture/1
///     revision: fx-7
///     resources:
///       - {type: Invoice, references: [march], id: canonical-invoice-4, tenant: tenant-a,
///          revision: "12", attributes: {owner: ana, amount: 12, open: true, labels: [new]}}
///
/// `references` is what callers may write, the id itself where it is left out; `revision` is the
/// file's where it is left out; an attribute is true or false, an integer, a text or a list of
/// texts. The file is read once: its answers never change. Immutable, thread-safe; answers at once.
class FixtureAttributeSource final : public AttributeSource {
 public:
  /// Reads `file`, keeping the resources of `type`; `source` is what their answers name as their
  /// source. Problems: a file that cannot be read, is too large or is not YAML; a missing, unknown
  /// or misshapen key; a reference that names two resources of one type.
  static FixtureOutcome read(FileSystem& files, const std::string& file, std::string_view type,
                             std::string_view source);

  /// Errors: `not_found` alone.
  [[nodiscard]] Result<access::Resource> resolve(const ResourceQuery& query) const override;

 private:
  struct NameHash {
    using is_transparent = void;  // looks up a view without a copy
    std::size_t operator()(std::string_view name) const {
      return std::hash<std::string_view>{}(name);
    }
  };
  using Resources = std::unordered_map<std::string, std::shared_ptr<const access::Resource>,
                                       NameHash, std::equal_to<>>;

  FixtureAttributeSource(Resources resources, std::string source)
      : resources_(std::move(resources)), source_(std::move(source)) {}

  Resources resources_;  // by reference
  std::string source_;
};

}  // namespace remit::attributes
