// First bytes and first lines.
#include "trace/wrong_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "event/event.h"
#include "trace/json_cursor.h"

namespace remit::trace {
namespace {

using namespace std::string_view_literals;

/// First bytes that belong to one kind of file.
struct Magic {
  std::string_view bytes;
  std::string_view what;  ///< the kind, and what to do
  std::size_t at = 0;
};

constexpr std::string_view kUnpack = "unpack it, or pack it by gzip or zstd";
constexpr std::string_view kOneEventALine = "write its events as JSON, one a line";
constexpr std::string_view kAsUtf8 = "write it as UTF-8 without a byte order mark";

constexpr std::string_view kUtf8Mark = "\xef\xbb\xbf";

constexpr Magic kMagics[] = {
    {"\xfd"
     "7zXZ\0"sv,
     "is packed by xz"},
    {"BZh"sv, "is packed by bzip2"},
    {"\x04\x22\x4d\x18"sv, "is packed by lz4"},
    {"\x02\x21\x4c\x18"sv, "is packed by lz4"},
    {"\xff\x06\0\0sNaPpY"sv, "is packed by snappy"},
    {"\x1f\x9d"sv, "is packed by compress"},
    {"7z\xbc\xaf\x27\x1c"sv, "is packed by 7-Zip"},
    {"PK\x03\x04"sv, "is a zip archive"},
    {"PK\x05\x06"sv, "is an empty zip archive"},
    {"ustar"sv, "is a tar archive", 257},
    {"PAR1"sv, "is a Parquet file"},
    {"Obj\x01"sv, "is an Avro file"},
    {"ARROW1"sv, "is an Arrow file"},
    {"SQLite format 3\0"sv, "is an SQLite database"},
    {"\xff\xfe\0\0"sv, "is written in UTF-32"},
    {"\0\0\xfe\xff"sv, "is written in UTF-32"},
    {"\xff\xfe"sv, "is written in UTF-16"},
    {"\xfe\xff"sv, "is written in UTF-16"},
    {"{\0"sv, "is written in UTF-16"},
    {"\0{"sv, "is written in UTF-16"},
    {"[\0"sv, "is written in UTF-16"},
    {"\0["sv, "is written in UTF-16"},
    {kUtf8Mark, "begins with a byte order mark"},
};

std::string_view what_to_do(std::string_view what) {
  if (what.starts_with("is packed")) return kUnpack;
  if (what.find("archive") != what.npos) return "unpack it, and give the files in it";
  const bool is_text = what.starts_with("is written") || what.starts_with("begins");
  return is_text ? kAsUtf8 : kOneEventALine;
}

Error refused(std::string_view what, std::string_view remedy, std::string where) {
  return {ErrorCode::kInvalidInput, fmt::format("{}: {}", what, remedy), std::move(where)};
}

std::string line_place(std::size_t number) {
  return fmt::format("line {}", number);
}

/// A document of Remit, and what to do with it instead.
struct OwnDocument {
  std::string_view name, what, remedy;
};
constexpr std::string_view kGiveEvents = "give the events that it was made of";
constexpr OwnDocument kOwnDocuments[] = {
    {"remit.grade/1", "a grade", kGiveEvents},
    {"remit.watch/1", "a grade that was followed", kGiveEvents},
    {"remit.handoff/1", "a handoff", kGiveEvents},
    {"remit.handoff-index/1", "the index of a handoff", kGiveEvents},
    {"remit.manifest/1", "a manifest", "give it with --manifest"},
    {"remit.contract/1", "a contract", "give it with --contract"},
    {"remit.baseline/1", "a baseline", "give it with --baseline"},
    {"remit.config/1", "a configuration", "give the evidence directory that it names"},
    {"remit.bundle/1", "part of a policy bundle", "give the evidence that was recorded under it"},
};

std::optional<Error> own_document(std::string_view name, std::size_t line) {
  for (const OwnDocument& one : kOwnDocuments) {
    if (one.name != name) continue;
    return refused(fmt::format("is {} ({}), no evidence", one.what, one.name), one.remedy,
                   line_place(line));
  }
  return std::nullopt;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::string_view unquoted(std::string_view text) {
  text = trimmed(text);
  const bool is_quoted = text.size() >= 2 && (text.front() == '"' || text.front() == '\'') &&
                         text.back() == text.front();
  return is_quoted ? text.substr(1, text.size() - 2) : text;
}

/// A line `manifest: remit.manifest/1` or `{"schema":"remit.grade/1",…`.
std::optional<Error> own_line(std::string_view line, std::size_t number) {
  const std::size_t colon = line.find(':');
  if (colon == line.npos) return std::nullopt;
  std::string_view value = line.substr(colon + 1);
  if (line.front() == '{') value = value.substr(0, value.find_first_of(",}"));
  return own_document(unquoted(value.substr(0, value.find(" #"))), number);
}

/// A line that names columns, of which one is a field that every call event has.
std::optional<Error> heads_of_a_table(std::string_view line, std::size_t number) {
  for (const char separator : {',', ';', '\t'}) {
    std::size_t columns = 0;
    bool is_ours = false;
    for (std::string_view rest = line; !rest.empty(); ++columns) {
      const std::size_t end = std::min(rest.find(separator), rest.size());
      const std::string_view name = unquoted(rest.substr(0, end));
      is_ours = is_ours || name == "event" || name == "invocation_id";
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    if (columns < 2 || !is_ours) continue;
    return refused("is a table (CSV)", kOneEventALine, line_place(number));
  }
  return std::nullopt;
}

/// The first line with anything on it that is no comment or mark of YAML, and its number.
std::pair<std::string_view, std::size_t> first_line(std::string_view head) {
  std::size_t number = 0;
  while (!head.empty()) {
    ++number;
    const std::size_t end = std::min(head.find('\n'), head.size());
    const std::string_view line = trimmed(head.substr(0, end));
    if (!line.empty() && line.front() != '#' && line != "---") return {line, number};
    head.remove_prefix(std::min(end + 1, head.size()));
  }
  return {};
}

/// Whether an event follows a mark of UTF-8: then its line is malformed, and others are not.
bool is_marked_event(std::string_view head) {
  if (!head.starts_with(kUtf8Mark)) return false;
  const std::string_view line = first_line(head.substr(kUtf8Mark.size())).first;
  return line.starts_with('{') && trimmed(line.substr(1)).starts_with("\"event\"");
}

/// Where the first value of a text ends.
struct FirstValue {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool is_whole = false;
  bool is_cut = false;  ///< nothing is wrong as far as the text goes
};

FirstValue first_value(const std::string& head) {
  std::string padded = head;
  padded.append(event::kScanPadding, '\0');
  JsonCursor cursor;
  cursor.start(std::string_view(padded).substr(0, head.size()));
  FirstValue out;
  out.begin = cursor.place();
  out.is_whole = cursor.skip();
  out.end = out.is_whole ? cursor.place() : cursor.fault_at();
  // A character may be cut as well.
  constexpr std::size_t kLongestCharacter = 4;
  out.is_cut = !out.is_whole && out.end + kLongestCharacter > head.size();
  return out;
}

}  // namespace

bool begins_with_whole_object(const std::string& head) {
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  if (first == head.npos || head[first] != '{') return false;
  const std::size_t newline = head.find('\n', first);
  if (newline == head.npos || own_line(first_line(head).first, 1)) return false;
  return first_value(head.substr(0, newline)).is_whole;
}

std::optional<Error> wrong_kind(std::string_view head) {
  if (is_marked_event(head)) return std::nullopt;
  for (const Magic& one : kMagics) {
    if (head.substr(std::min(one.at, head.size()), one.bytes.size()) != one.bytes) continue;
    return refused(one.what, what_to_do(one.what), fmt::format("byte {}", one.at));
  }
  const auto [line, number] = first_line(head);
  if (line.empty()) return std::nullopt;
  if (std::optional<Error> own = own_line(line, number)) return own;
  if (line.front() == '<') return refused("is XML or HTML", kOneEventALine, line_place(number));
  return line.front() == '{' || line.front() == '[' ? std::nullopt : heads_of_a_table(line, number);
}

std::optional<Error> wrong_layout(const std::string& head, bool has_events, bool is_cut) {
  const auto [line, number] = first_line(head);
  if (line.empty() || (line.front() != '{' && line.front() != '[')) return std::nullopt;
  const FirstValue value = first_value(head);
  if (line.front() == '[') {
    const bool holds_objects =
        trimmed(std::string_view(head).substr(value.begin + 1)).starts_with('{');
    if (!holds_objects) return std::nullopt;
    return has_events ? refused("is a JSON array of events",
                                "write each event on a line of its own, as `jq -c '.[]'` does",
                                line_place(number))
                      : refused("is a JSON array of objects that show no form of evidence",
                                kOneEventALine, line_place(number));
  }
  // What is broken at its first line is a broken line.
  const bool is_long = line == "{" || value.is_whole || (value.is_cut && is_cut);
  std::string_view text = std::string_view(head).substr(value.begin, value.end - value.begin);
  if (value.is_whole) text = trimmed(text);  // behind it blank lines may stand
  if (!is_long || text.find('\n') == text.npos) return std::nullopt;
  return has_events
             ? refused("holds an event over several lines",
                       "write each event on one line, as `jq -c .` does", line_place(number))
             : refused("is a JSON document over several lines that shows no form of evidence",
                       kOneEventALine, line_place(number));
}

}  // namespace remit::trace
