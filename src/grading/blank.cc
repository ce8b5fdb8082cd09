// Finding the blanks of a tree.
#include "grading/blank.h"

#include <string>

namespace remit::grading {
namespace {

// The tree is as deep as its parser let it be.
bool find(const yaml::Node& node, std::string_view key, yaml::Problems& problems) {
  if (const std::string* text = node.if_string(); text != nullptr && *text == kBlank) {
    problems.add(node, "'" + std::string(key) +
                           "' is left blank: a person has to write it before the file can be used");
    return true;
  }
  bool found = false;
  for (const yaml::Node& item : node.items()) found = find(item, key, problems) || found;
  for (std::size_t i = 0; i < node.keys().size(); ++i) {
    found = find(node.values()[i], node.keys()[i].text, problems) || found;
  }
  return found;
}

}  // namespace

bool find_blanks(const yaml::Node& root, yaml::Problems& problems) {
  return find(root, "the file", problems);
}

}  // namespace remit::grading
