// The files of a pack, read and held against each other.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "base/digest.h"
#include "conformance/case_reader.h"
#include "conformance/pack.h"
#include "yaml/yaml.h"

namespace remit::conformance {
namespace {

class PackReader {
 public:
  explicit PackReader(const std::vector<PackFile>& files) {
    for (const PackFile& file : files) texts_.emplace(file.name, &file.text);
  }

  PackParse read() {
    read_file("pack.yaml",
              [&](const yaml::Node& root, yaml::Problems& problems) { read_pack(root, problems); });
    for (const std::string& id : ids_) {
      const std::string file = "cases/" + id + ".yaml";
      read_file(file, [&](const yaml::Node& root, yaml::Problems& problems) {
        Case one = read_case(root, fixture_, problems);
        one.file = file;
        if (one.id != id) problems.add(root, fmt::format("the file's case is {}", quoted(one.id)));
        pack_.cases.push_back(std::move(one));
      });
    }
    check_requirements();
    if (texts_.contains("faults.yaml")) {
      read_file("faults.yaml", [&](const yaml::Node& root, yaml::Problems& problems) {
        read_faults(root, problems);
      });
    }
    for (const auto& [name, text] : texts_) {
      if (!read_.contains(name)) fail(name, "belongs to no list of the pack");
    }
    PackParse out;
    if (errors_.empty()) {
      pack_.digest = digest();
      out.pack = std::move(pack_);
    } else {
      out.errors = std::move(errors_);
    }
    return out;
  }

 private:
  void fail(const std::string& file, std::string message) {
    errors_.push_back(Error{ErrorCode::kInvalidInput, std::move(message), file});
  }

  template <class Take>
  void read_file(const std::string& name, const Take& take) {
    read_.insert(name);
    const auto found = texts_.find(name);
    if (found == texts_.end()) return fail(name, "is missing from the pack");
    yaml::Problems problems(name);
    const Result<yaml::Node> root = yaml::parse(*found->second);
    if (root) {
      take(*root, problems);
    } else {
      problems.add(root.error());
    }
    for (Error& error : problems.take()) errors_.push_back(std::move(error));
  }

  void read_pack(const yaml::Node& root, yaml::Problems& problems) {
    yaml::ObjectReader reader(root, "the pack", problems);
    if (!reader.format("pack", "remit.pack/1")) return;
    pack_.version = reader.required_string("version");
    if (const yaml::Node* node = reader.required_node("fixture")) {
      fixture_ = read_fixture(*node, {}, problems);
    }
    for (const yaml::Node& node : reader.required_list("requirements")) {
      yaml::ObjectReader item(node, "a requirement", problems);
      Requirement one;
      one.id = item.required_string("id");
      one.statement = item.required_string("statement");
      one.cases = item.required_strings("cases");
      item.finish();
      pack_.requirements.push_back(std::move(one));
    }
    ids_ = reader.required_strings("cases");
    reader.finish();
  }

  void read_faults(const yaml::Node& root, yaml::Problems& problems) {
    yaml::ObjectReader reader(root, "the faults", problems);
    if (!reader.format("faults", "remit.faults/1")) return;
    std::set<std::string> names;
    for (const yaml::Node& node : reader.required_list("list")) {
      yaml::ObjectReader item(node, "a fault", problems);
      Fault one;
      one.name = item.required_string("name");
      one.what = item.required_string("what");
      one.case_id = item.required_string("case");
      one.routes = read_routes(item, "routes", node, problems);
      item.finish();
      const Case* made_for_it = pack_.find_case(one.case_id);
      if (made_for_it == nullptr) {
        problems.add(node, fmt::format("there is no case {}", quoted(one.case_id)));
      } else {
        for (const std::string& route : one.routes) {
          if (std::find(made_for_it->routes.begin(), made_for_it->routes.end(), route) ==
              made_for_it->routes.end()) {
            problems.add(node, fmt::format("the case is not run on {}", quoted(route)));
          }
        }
      }
      if (!names.insert(one.name).second) problems.add(node, "the name is given twice");
      pack_.faults.push_back(std::move(one));
    }
    reader.finish();
  }

  // Every case answers a requirement, and every requirement is asked by cases that are there.
  void check_requirements() {
    std::set<std::string> asked;
    std::set<std::string> ids;
    for (const Requirement& one : pack_.requirements) {
      if (!ids.insert(one.id).second) {
        fail("pack.yaml", fmt::format("the requirement {} is given twice", quoted(one.id)));
      }
      if (one.cases.empty()) {
        fail("pack.yaml", fmt::format("no case asks for {}", quoted(one.id)));
      }
      for (const std::string& id : one.cases) {
        asked.insert(id);
        if (pack_.find_case(id) == nullptr) {
          fail("pack.yaml", fmt::format("{} names the case {}, which is not in the pack",
                                        quoted(one.id), quoted(id)));
        }
      }
    }
    for (const Case& one : pack_.cases) {
      if (!asked.contains(one.id)) {
        fail("pack.yaml", fmt::format("no requirement names the case {}", quoted(one.id)));
      }
    }
  }

  [[nodiscard]] std::string digest() const {
    Sha256 sum;
    for (const auto& [name, text] : texts_) {
      sum.update(fmt::format("{} {}\n", name, text->size())).update(*text);
    }
    return digest_text(sum.finish());
  }

  std::map<std::string, const std::string*> texts_;
  std::set<std::string> read_;
  std::vector<std::string> ids_;
  json::Object fixture_;
  Pack pack_;
  std::vector<Error> errors_;
};

}  // namespace

PackParse parse_pack(const std::vector<PackFile>& files) {
  return PackReader(files).read();
}

}  // namespace remit::conformance
