// Reading and answering from a fixture file.
#include "attributes/fixture_attribute_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/limits.h"
#include "yaml/yaml.h"

namespace remit::attributes {
namespace {

std::optional<access::AttributeValue> attribute_of(const yaml::Node& node) {
  if (const auto value = node.if_bool()) return *value;
  if (const auto value = node.if_integer()) return *value;
  if (const std::string* text = node.if_string()) return *text;
  if (node.kind() != yaml::Node::Kind::kList) return std::nullopt;
  std::set<std::string> texts;
  for (const yaml::Node& item : node.items()) {
    const std::string* text = item.if_string();
    if (text == nullptr) return std::nullopt;
    texts.insert(*text);
  }
  return std::vector<std::string>(texts.begin(), texts.end());
}

void read_attributes(const yaml::Node& node, yaml::Problems& problems, access::Resource& resource) {
  if (node.kind() != yaml::Node::Kind::kMap) {
    problems.add(node, fmt::format("\"attributes\" must be a map, not {}", node.describe()));
    return;
  }
  std::map<std::string, access::AttributeValue> sorted;
  for (std::size_t i = 0; i < node.keys().size(); ++i) {
    const yaml::Key& key = node.keys()[i];
    std::optional<access::AttributeValue> value = attribute_of(node.values()[i]);
    if (key.text == "tenant") {
      problems.add(key.place, "\"tenant\" stands beside \"attributes\", not among them");
    } else if (!value) {
      problems.add(node.values()[i],
                   fmt::format("{} must be true or false, an integer, a text or a list of texts, "
                               "not {}",
                               quoted(key.text), node.values()[i].describe()));
    } else {
      sorted.emplace(key.text, *std::move(value));
    }
  }
  resource.attributes.assign(sorted.begin(), sorted.end());
}

struct Entry {
  std::vector<std::string> references;
  access::Resource resource;
};

Entry read_entry(const yaml::Node& node, const std::string& revision, yaml::Problems& problems) {
  yaml::ObjectReader reader(node, "a resource", problems);
  Entry entry;
  access::Resource& resource = entry.resource;
  resource.type = reader.required_string("type");
  resource.id = reader.required_string("id");
  resource.tenant = reader.optional_string("tenant").value_or("");
  resource.revision = reader.optional_string("revision").value_or(revision);
  entry.references = reader.optional_strings("references");
  if (entry.references.empty()) entry.references = {resource.id};
  if (const yaml::Node* attributes = reader.optional_node("attributes")) {
    read_attributes(*attributes, problems, resource);
  }
  reader.finish();
  return entry;
}

}  // namespace

FixtureOutcome FixtureAttributeSource::read(FileSystem& files, const std::string& file,
                                            std::string_view type, std::string_view source) {
  const Result<std::string> text = files.read(file, kMaxConfigBytes);
  if (!text) return {nullptr, {text.error()}};
  yaml::Problems problems(file);
  const Result<yaml::Node> root = yaml::parse(*text);
  if (!root) {
    problems.add(root.error());
    return {nullptr, problems.take()};
  }
  Resources resources;
  yaml::ObjectReader reader(*root, "the fixture", problems);
  if (reader.format("fixture", "remit.fixture/1")) {
    const std::string revision = reader.required_string("revision");
    for (const yaml::Node& item : reader.required_list("resources")) {
      Entry entry = read_entry(item, revision, problems);
      if (entry.resource.type != type) continue;
      entry.resource.source = source;
      const auto shared = std::make_shared<const access::Resource>(std::move(entry.resource));
      for (std::string& reference : entry.references) {
        const auto [place, is_new] = resources.emplace(std::move(reference), shared);
        if (is_new) continue;
        problems.add(item, fmt::format("{} names two resources of one type", quoted(place->first)));
      }
    }
    reader.finish();
  }
  if (!problems.empty()) return {nullptr, problems.take()};
  return {std::unique_ptr<FixtureAttributeSource>(
              new FixtureAttributeSource(std::move(resources), std::string(source))),
          {}};
}

Result<access::Resource> FixtureAttributeSource::resolve(const ResourceQuery& query) const {
  const auto found = resources_.find(query.reference);
  if (found == resources_.end() || found->second->type != query.type) {
    return Error{ErrorCode::kNotFound, "no such resource", source_};
  }
  return *found->second;
}

}  // namespace remit::attributes
