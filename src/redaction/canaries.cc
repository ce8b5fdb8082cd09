// Lines of names and values, each mistake with its place and without its text.
#include "redaction/canaries.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/limits.h"
#include "base/utf8.h"
#include "redaction/fold.h"

namespace remit::redaction {
namespace {

bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
  });
}

bool has_space_at_an_end(std::string_view text) {
  return text.front() == ' ' || text.back() == ' ';
}

class Parser {
 public:
  explicit Parser(std::string_view file) : file_(file) {}

  void read_line(std::string_view line) {
    ++number_;
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.empty()) return;
    if (first_invalid_utf8(line)) return refuse("the line is not UTF-8");
    const std::size_t tab = line.find('\t');
    if (tab == std::string_view::npos) return refuse("no tab between name and value");
    const std::string_view name = line.substr(0, tab);
    const std::string_view value = line.substr(tab + 1);
    if (!check_name(name) || !check_value(value)) return;
    if (out_.canaries.size() == kMaxCanaries) {
      return refuse(fmt::format("more than {} canaries", kMaxCanaries), ErrorCode::kLimitExceeded);
    }
    out_.canaries.push_back({std::string(name), std::string(value), number_});
  }

  CanaryParse finish() {
    if (out_.canaries.empty() && out_.errors.empty()) {
      number_ = 1;
      refuse("no canary: a file without any finds nothing");
    }
    if (!out_.errors.empty()) out_.canaries.clear();
    return std::move(out_);
  }

  void refuse(std::string what, ErrorCode code = ErrorCode::kInvalidInput) {
    if (out_.errors.size() == kMaxProblems) return;
    out_.errors.push_back({code, std::move(what), fmt::format("{}:{}", file_, number_)});
  }

 private:
  bool check_name(std::string_view name) {
    if (name.empty()) return refused("the name is empty");
    if (name.size() > kMaxIdBytes) {
      refuse(fmt::format("the name is longer than {} bytes", kMaxIdBytes),
             ErrorCode::kLimitExceeded);
      return false;
    }
    if (has_control(name)) return refused("a control character in the name");
    if (has_space_at_an_end(name)) return refused("a space at an end of the name");
    const auto [known, is_new] = names_.emplace(name, number_);
    if (is_new) return true;
    return refused(fmt::format("the name is given in line {} already", known->second));
  }

  bool check_value(std::string_view value) {
    if (value.empty()) return refused("the value is empty");
    if (value.size() < kMinCanaryBytes) {
      return refused(fmt::format(
          "the value is shorter than {} bytes and cannot be told from chance", kMinCanaryBytes));
    }
    if (value.size() > kMaxCanaryBytes) {
      refuse(fmt::format("the value is longer than {} bytes", kMaxCanaryBytes),
             ErrorCode::kLimitExceeded);
      return false;
    }
    if (value.find('\t') != std::string_view::npos) return refused("a second tab");
    if (has_control(value)) return refused("a control character in the value");
    if (has_space_at_an_end(value)) return refused("a space at an end of the value");
    if (!has_variety(value)) {
      return refused(
          fmt::format("the value has fewer than {} different bytes and cannot be told from chance",
                      kMinDifferentBytes));
    }
    const auto [known, is_new] = values_.emplace(folded(value), number_);
    if (is_new) return true;
    return refused(
        fmt::format("the value is given in line {} already, but for upper and lower "
                    "case",
                    known->second));
  }

  bool refused(std::string what) {
    refuse(std::move(what));
    return false;
  }

  std::string_view file_;
  std::size_t number_ = 0;
  CanaryParse out_;
  std::map<std::string, std::size_t, std::less<>> names_;
  std::map<std::string, std::size_t, std::less<>> values_;
};

}  // namespace

CanaryParse parse_canaries(std::string_view text, std::string_view file) {
  Parser parser(file);
  if (text.size() > kMaxConfigBytes) {
    parser.refuse(fmt::format("the file is longer than {} bytes", kMaxConfigBytes),
                  ErrorCode::kLimitExceeded);
    return parser.finish();
  }
  if (text.starts_with("\xef\xbb\xbf")) {
    parser.refuse("a byte order mark");
    return parser.finish();
  }
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    parser.read_line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parser.finish();
}

}  // namespace remit::redaction
