// Loading a bundle whole or not at all.
#include "policy/bundle.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/limits.h"
#include "policy/bundle_files.h"
#include "policy/catalogue.h"
#include "yaml/yaml.h"

namespace remit::policy {

Mode mode_of(const Route* route, const Tool* tool) {
  if (tool != nullptr && route != nullptr) {
    const auto special = tool->route_modes.find(route->name);
    if (special != tool->route_modes.end()) return special->second;
  }
  if (tool != nullptr && tool->mode) return *tool->mode;
  return route != nullptr ? route->mode : Mode::kEnforce;
}

const Tool* Bundle::find_tool(std::string_view name) const {
  const auto found = tool_index_.find(name);
  return found == tool_index_.end() ? nullptr : &tools[found->second];
}

const Route* Bundle::find_route(std::string_view name) const {
  const auto found = std::find_if(routes.begin(), routes.end(),
                                  [&](const Route& route) { return route.name == name; });
  return found == routes.end() ? nullptr : &*found;
}

/// One loading. It goes on after a problem, so that one run tells them all.
class BundleLoader {
 public:
  BundleLoader(FileSystem& files, const std::string& directory) : files_(files, directory) {}

  BundleOutcome load() {
    if (Status root = files_.check_root(); !root) {
      problems_.push_back(std::move(root).error());
      return finish();
    }
    load_description();
    load_catalogue(load_schemas());
    load_policies();
    return finish();
  }

 private:
  BundleOutcome finish() {
    if (!problems_.empty()) return {nullptr, std::move(problems_)};
    bundle_->digest = files_.digest();
    for (std::size_t i = 0; i < bundle_->tools.size(); ++i) {
      bundle_->tool_index_.emplace(bundle_->tools[i].name, i);
    }
    return {std::move(bundle_), {}};
  }

  /// A file's text, or nothing and a problem.
  std::optional<std::string> read(const std::string& path) {
    Result<std::string> text = files_.read(path);
    if (text) return std::move(text).value();
    problems_.push_back(std::move(text).error());
    return std::nullopt;
  }

  enum class Need : std::uint8_t { kRequired, kOptional };

  /// Names of a folder that end in `suffix`, with the folder before them. Hidden files are passed
  /// over; any other name is a problem: a policy by another name would silently not be one.
  std::vector<std::string> list(const std::string& folder, std::string_view suffix, Need need) {
    std::vector<std::string> out;
    Result<std::vector<std::string>> names = files_.list(folder);
    if (!names && need == Need::kOptional && names.error().code == ErrorCode::kNotFound) return out;
    if (!names) {
      problems_.push_back(std::move(names).error());
      return out;
    }
    for (const std::string& name : *names) {
      if (name.starts_with('.')) continue;
      const std::string path = fmt::format("{}/{}", folder, name);
      const std::string_view stem = std::string_view(name).substr(
          0, name.ends_with(suffix) ? name.size() - suffix.size() : 0);
      if (is_plain_name(stem)) {
        out.push_back(path);
      } else {
        problems_.push_back(
            Error{ErrorCode::kInvalidInput,
                  fmt::format("{}/ holds only files NAME{} with a NAME of [A-Za-z0-9_.:-]", folder,
                              suffix),
                  files_.name(fmt::format("{}/{}", folder, quoted(name)))});
      }
    }
    return out;
  }

  /// Parses a YAML file and hands its tree on; problems of either kind end in `problems_`.
  template <class Reader>
  void read_yaml(const std::string& path, Reader reader) {
    const std::optional<std::string> text = read(path);
    if (!text) return;
    yaml::Problems found(files_.name(path));
    const Result<yaml::Node> root = yaml::parse(*text);
    if (root) {
      reader(*root, found);
    } else {
      found.add(root.error());
    }
    for (Error& error : found.take()) problems_.push_back(std::move(error));
  }

  void load_description() {
    read_yaml("bundle.yaml", [&](const yaml::Node& root, yaml::Problems& found) {
      yaml::ObjectReader reader(root, "the bundle", found);
      if (!reader.format("bundle", "remit.bundle/1")) return;
      bundle_->version = read_id(reader, "version");
      bundle_->environment = read_id(reader, "environment");
      bundle_->description = reader.optional_string("description").value_or("");
      std::set<std::string> names;
      for (const yaml::Node& item : reader.required_list("routes")) {
        bundle_->routes.push_back(read_route(item, names, found));
      }
      if (reader.finish() && bundle_->routes.empty()) {
        reader.problem("routes", "a bundle without routes can be reached by no call");
      }
    });
  }

  /// A text that goes into events as it is.
  static std::string read_id(yaml::ObjectReader& reader, std::string_view key) {
    std::string text = reader.required_string(key);
    const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
    if (text.size() > kMaxIdBytes || std::any_of(text.begin(), text.end(), control)) {
      reader.problem(key,
                     fmt::format("\"{}\" must be one line of at most {} bytes", key, kMaxIdBytes));
    }
    return text;
  }

  static Route read_route(const yaml::Node& node, std::set<std::string>& names,
                          yaml::Problems& found) {
    yaml::ObjectReader reader(node, "a route", found);
    Route route;
    route.name = reader.required_string("name");
    route.transport = reader.required_string("transport");
    route.mode =
        reader
            .optional_choice<Mode>("mode", {{"enforce", Mode::kEnforce}, {"shadow", Mode::kShadow}})
            .value_or(Mode::kEnforce);
    if (!route.name.empty() && !is_plain_name(route.name)) {
      reader.problem("name", fmt::format("{} is no route name: 1 to {} of [A-Za-z0-9_./:-]",
                                         quoted(route.name), kMaxToolNameBytes));
    } else if (!route.name.empty() && !names.insert(route.name).second) {
      reader.problem("name", fmt::format("the route {} is given twice", quoted(route.name)));
    }
    reader.finish();
    return route;
  }

  ArgumentSchemas load_schemas() {
    ArgumentSchemas out;
    for (const std::string& path : list("schemas", ".json", Need::kOptional)) {
      const std::optional<std::string> text = read(path);
      std::optional<ArgumentSchema>& slot = out[path];
      if (!text) continue;
      Result<ArgumentSchema> schema = read_argument_schema(*text);
      if (schema) {
        slot = std::move(schema).value();
      } else {
        problems_.push_back(in_place(files_.name(path), std::move(schema).error()));
      }
    }
    return out;
  }

  void load_catalogue(const ArgumentSchemas& schemas) {
    read_yaml("catalogue.yaml", [&](const yaml::Node& root, yaml::Problems& found) {
      bundle_->tools = read_catalogue(root, bundle_->routes, schemas, found);
    });
  }

  void load_policies() {
    if (std::optional<std::string> text = read("schema.cedarschema")) {
      bundle_->schema = PolicySource{"schema.cedarschema", *std::move(text)};
    }
    const std::vector<std::string> paths = list("policies", ".cedar", Need::kRequired);
    if (paths.size() > kMaxPolicies) {
      problems_.push_back(Error{ErrorCode::kLimitExceeded,
                                fmt::format("more than {} policies", kMaxPolicies),
                                files_.name("policies")});
      return;
    }
    for (const std::string& path : paths) {
      if (std::optional<std::string> text = read(path)) {
        bundle_->policies.push_back(PolicySource{path, *std::move(text)});
      }
    }
  }

  BundleFiles files_;
  std::shared_ptr<Bundle> bundle_ = std::make_shared<Bundle>();
  std::vector<Error> problems_;
};

BundleOutcome load_bundle(FileSystem& files, const std::string& directory) {
  return BundleLoader(files, directory).load();
}

}  // namespace remit::policy
