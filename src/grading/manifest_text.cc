// Lists that grow by whole lines.
#include "grading/manifest_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "grading/blank.h"
#include "grading/manifest.h"

namespace remit::grading {
namespace {

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::size_t indent_of(std::string_view line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

// Neither a comment nor a blank line, which may belong to what follows.
bool says_something(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t\r");
  return first != line.npos && line[first] != '#';
}

std::size_t item_count(const yaml::Node& root) {
  std::size_t count = 0;
  for (const yaml::Node& value : root.values()) count += value.items().size();
  return count;
}

}  // namespace

ManifestText::ManifestText(std::string_view text, std::string file, yaml::Node root)
    : file_(std::move(file)), root_(std::move(root)), lines_(lines_of(text)) {
  added_.resize(lines_.size() + 1);
}

Result<ManifestText> ManifestText::open(std::string_view text, std::string file) {
  Result<yaml::Node> root = yaml::parse(text);
  if (!root) return in_place(file, std::move(root).error());
  yaml::Problems blanks(file);
  if (!find_blanks(*root, blanks)) {
    const ManifestParse parsed = parse_manifest(text, file);
    if (!parsed.manifest) return parsed.errors.front();
  }
  const yaml::Node* const format = root->find("manifest");
  const std::string* const name = format == nullptr ? nullptr : format->if_string();
  if (name == nullptr || *name != "remit.manifest/1") {
    return Error{ErrorCode::kInvalidInput, "is no manifest (remit.manifest/1)", file};
  }
  return ManifestText(text, std::move(file), std::move(*root));
}

std::uint32_t ManifestText::line_of(std::string_view list, std::string_view key,
                                    std::string_view value) const {
  const yaml::Node* const node = root_.find(list);
  if (node == nullptr) return 0;
  for (const yaml::Node& item : node->items()) {
    const yaml::Node* const named = item.find(key);
    const std::string* const name = named == nullptr ? nullptr : named->if_string();
    if (name != nullptr && *name == value) return item.place().line;
  }
  return 0;
}

Error ManifestText::by_hand(std::string_view list, std::uint32_t line) const {
  return {ErrorCode::kFailedPrecondition,
          fmt::format("'{}' is not written one item a line, each behind a `-`: add to it by hand",
                      list),
          fmt::format("{}:{}", file_, line)};
}

Status ManifestText::append(std::string_view list, std::string_view items) {
  if (items.empty()) return {};
  const auto& keys = root_.keys();
  const auto key =
      std::ranges::find_if(keys, [&](const yaml::Key& one) { return one.text == list; });
  if (key == keys.end()) {
    added_[lines_.size()] += fmt::format("{}:\n{}", list, items);
    return {};
  }
  const yaml::Node& node = *root_.find(list);
  const std::uint32_t begin = key->place.line;
  if (node.items().empty() && node.kind() != yaml::Node::Kind::kNull) return by_hand(list, begin);
  std::size_t indent = 2;
  for (const yaml::Node& item : node.items()) {
    const std::string_view line = lines_[item.place().line - 1];
    indent = indent_of(line);
    if (item.place().line == begin || indent == line.size() || line[indent] != '-') {
      return by_hand(list, item.place().line);
    }
  }
  // Up to the next key of the manifest, or its end.
  std::size_t end = lines_.size();
  for (const yaml::Key& one : keys) {
    if (one.place.line > begin) end = std::min<std::size_t>(end, one.place.line - 1);
  }
  while (end > begin && !says_something(lines_[end - 1])) --end;
  for (const std::string& line : lines_of(items)) {
    added_[end] += std::string(indent, ' ') + line.substr(2) + "\n";
  }
  return {};
}

Result<std::string> ManifestText::take() {
  std::string out;
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    out += lines_[i] + "\n";
    out += added_[i + 1];
  }
  const Result<yaml::Node> root = yaml::parse(out);
  if (root && item_count(*root) > item_count(root_)) return out;
  return Error{ErrorCode::kFailedPrecondition,
               "is written in a way that cannot be added to: add to it by hand", file_};
}

}  // namespace remit::grading
