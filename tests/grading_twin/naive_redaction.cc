// spec/redaction.md, REQ-RD-010 to REQ-RD-032.
#include "naive_redaction.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>

#include "base/error.h"

namespace remit::twin {
namespace {

using std::size_t;
using std::string;
using std::vector;

/// A text, and of each of its bytes where it began in the line.
struct Traced {
  string text;
  vector<size_t> from;
  size_t json = 0, percent = 0;  // escapes that were resolved

  void put(const string& bytes, size_t origin) {
    text += bytes;
    from.insert(from.end(), bytes.size(), origin);
  }
};

char lowered(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

string lowered(string text) {
  for (char& c : text) c = lowered(c);
  return text;
}

// ---- Escapes.

/// The number that so many hexadecimal digits write; nothing for others.
std::optional<unsigned> hex_at(const string& text, size_t at, size_t digits) {
  if (at + digits > text.size()) return std::nullopt;
  unsigned out = 0;
  for (size_t i = at; i < at + digits; ++i) {
    if (std::isxdigit(static_cast<unsigned char>(text[i])) == 0) return std::nullopt;
    out = out * 16 + static_cast<unsigned>(std::stoul(string(1, text[i]), nullptr, 16));
  }
  return out;
}

string utf8_of(unsigned code) {
  const auto byte = [](unsigned value) { return static_cast<char>(value); };
  if (code < 0x80) return {byte(code)};
  if (code < 0x800) return {byte(0xc0 + code / 64), byte(0x80 + code % 64)};
  if (code < 0x10000) {
    return {byte(0xe0 + code / 4096), byte(0x80 + code / 64 % 64), byte(0x80 + code % 64)};
  }
  return {byte(0xf0 + code / 262144), byte(0x80 + code / 4096 % 64), byte(0x80 + code / 64 % 64),
          byte(0x80 + code % 64)};
}

/// What stands at `at` written as an escape, and how long it is written; of length 0 for none.
std::pair<string, size_t> escape_at(const string& text, size_t at, bool is_json) {
  if (!is_json) {
    const auto byte = text[at] == '%' ? hex_at(text, at + 1, 2) : std::nullopt;
    return byte ? std::pair(string(1, static_cast<char>(*byte)), size_t{3})
                : std::pair(string(), size_t{0});
  }
  if (text[at] != '\\' || at + 1 == text.size()) return {"", 0};
  const string names = "\"\\/bfnrt";
  const string meanings = "\"\\/\b\f\n\r\t";
  if (const size_t known = names.find(text[at + 1]); known != string::npos) {
    return {meanings.substr(known, 1), 2};
  }
  const auto unit = text[at + 1] == 'u' ? hex_at(text, at + 2, 4) : std::nullopt;
  if (!unit) return {"", 0};
  if (*unit < 0xd800 || *unit >= 0xe000) return {utf8_of(*unit), 6};
  const auto low = text.compare(at + 6, 2, "\\u") == 0 ? hex_at(text, at + 8, 4) : std::nullopt;
  if (*unit >= 0xdc00 || !low || *low < 0xdc00 || *low >= 0xe000) return {"", 0};
  return {utf8_of(0x10000 + (*unit - 0xd800) * 0x400 + (*low - 0xdc00)), 12};
}

Traced resolved(const Traced& traced, bool is_json) {
  Traced out;
  out.json = traced.json + (is_json ? 1 : 0);
  out.percent = traced.percent + (is_json ? 0 : 1);
  for (size_t at = 0; at < traced.text.size();) {
    const auto [bytes, length] = escape_at(traced.text, at, is_json);
    out.put(length > 0 ? bytes : traced.text.substr(at, 1), traced.from[at]);
    at += std::max<size_t>(length, 1);
  }
  return out;
}

/// The text, and all that up to three resolutions of escapes make of it.
vector<Traced> readings_of(const Traced& traced) {
  vector<Traced> out = {traced};
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i].json + out[i].percent == 3) continue;
    for (const bool is_json : {true, false}) {
      Traced next = resolved(out[i], is_json);
      if (next.text != out[i].text) out.push_back(std::move(next));
    }
  }
  return out;
}

// ---- Encodings.

struct Hit {
  string encoding;
  size_t at = 0;  // in the text
};

void find_all(const string& text, const string& wanted, const string& encoding, vector<Hit>& out) {
  for (size_t at = text.find(wanted); at != string::npos; at = text.find(wanted, at + 1)) {
    out.push_back({encoding, at});
  }
}

void find_plain(const string& text, const string& value, vector<Hit>& out) {
  vector<Hit> any_case;
  find_all(lowered(text), lowered(value), "", any_case);
  for (const Hit& hit : any_case) {
    const bool is_exact = text.compare(hit.at, value.size(), value) == 0;
    out.push_back({is_exact ? "exact" : "case_folded", hit.at});
  }
}

// The text is turned round, by bytes and by characters.
void find_reversed(const string& text, const string& value, vector<Hit>& out) {
  vector<string> characters;
  for (const char c : value) {
    const bool goes_on = (static_cast<unsigned char>(c) & 0xc0U) == 0x80U;
    if (goes_on && !characters.empty()) {
      characters.back() += c;
    } else {
      characters.emplace_back(1, c);
    }
  }
  string by_characters;
  for (const string& one : characters) by_characters.insert(0, one);
  find_all(lowered(text), lowered(string(value.rbegin(), value.rend())), "reversed", out);
  find_all(lowered(text), lowered(by_characters), "reversed", out);
}

void find_hex(const string& text, const string& value, vector<Hit>& out) {
  for (size_t at = 0; at + 2 * value.size() <= text.size(); ++at) {
    bool is_same = true;
    for (size_t i = 0; i < value.size() && is_same; ++i) {
      is_same = hex_at(text, at + 2 * i, 2) == static_cast<unsigned char>(value[i]);
    }
    if (is_same) out.push_back({"hex", at});
  }
}

int sextet(char c) {
  const string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  if (c == '-') return 62;
  if (c == '_') return 63;
  const size_t at = letters.find(c);
  return at == string::npos ? -1 : static_cast<int>(at);
}

bool bit_of(const string& value, size_t at) {
  return (static_cast<unsigned char>(value[at / 8]) >> (7 - at % 8) & 1) != 0;
}

// The bits of the value may begin at three places of a group of four characters. Those that the
// value shares with its neighbours are not compared.
void find_base64(const string& text, const string& value, vector<Hit>& out) {
  for (const size_t lead : {0U, 8U, 16U}) {  // bits before the value in its group
    const size_t first = (lead + 5) / 6;
    const size_t behind = (lead + 8 * value.size()) / 6;
    for (size_t at = 0; at + (behind - first) <= text.size(); ++at) {
      bool is_same = true;
      for (size_t k = first; k < behind && is_same; ++k) {
        int wanted = 0;
        for (size_t bit = 6 * k; bit < 6 * k + 6; ++bit) {
          wanted = wanted * 2 + (bit_of(value, bit - lead) ? 1 : 0);
        }
        is_same = sextet(text[at + (k - first)]) == wanted;
      }
      if (is_same) out.push_back({"base64", at});
    }
  }
}

vector<Hit> hits_of(const string& text, const string& value, const string& whole) {
  vector<Hit> out;
  find_plain(text, value, out);
  find_reversed(text, value, out);
  find_hex(text, value, out);
  find_base64(text, value, out);
  if (whole.find(' ') != string::npos) {  // as forms of HTML write a space
    string form = value;
    std::replace(form.begin(), form.end(), ' ', '+');
    find_all(lowered(text), lowered(form), "percent", out);
  }
  return out;
}

// ---- Canaries.

string first_half(const string& value) {
  return value.substr(0, value.size() / 2);
}
string second_half(const string& value) {
  return value.substr(value.size() - value.size() / 2);
}

/// A string of a line: its text as it is written, whether it is a key, and how deep it stands.
struct Quoted {
  size_t begin = 0, end = 0, depth = 0;
  bool is_key = false;
};

vector<Quoted> strings_of(const string& line) {
  vector<Quoted> out;
  size_t depth = 0;
  for (size_t at = 0; at < line.size(); ++at) {
    if (line[at] == '{' || line[at] == '[') ++depth;
    if ((line[at] == '}' || line[at] == ']') && depth > 0) --depth;
    if (line[at] != '"') continue;
    Quoted one{at + 1, at + 1, depth, false};
    while (one.end < line.size() && line[one.end] != '"') one.end += line[one.end] == '\\' ? 2 : 1;
    one.end = std::min(one.end, line.size());
    at = one.end;
    size_t next = at + 1;
    while (next < line.size() && string(" \t\r\n").find(line[next]) != string::npos) ++next;
    one.is_key = next < line.size() && line[next] == ':';
    out.push_back(one);
  }
  return out;
}

bool is_listed(const string& name) {
  return name == "event" || event::parse_field(name).has_value();
}

string place_of(const string& line, size_t at) {
  string member;
  for (const Quoted& one : strings_of(line)) {
    if (!one.is_key || one.begin > at) continue;
    const string key = line.substr(one.begin, one.end - one.begin);
    if (at < one.end) {
      member = "in a key, ";
    } else if (one.depth <= 1) {
      member = is_listed(key) ? "in the field " + key + ", " : "in an unlisted field, ";
    }
  }
  return fmt::format("{}at byte {} of the line", member, at);
}

string encoding_words(const string& encoding, const Traced& reading) {
  string layers;
  if (reading.json == 1) layers = "json_escapes";
  if (reading.json > 1) layers = "doubly_escaped_json";
  if (reading.percent > 0) layers += layers.empty() ? "percent" : " and percent";
  if (layers.empty()) return encoding;
  const bool is_plain = encoding == "exact" || encoding == "case_folded";
  return is_plain ? layers : encoding + " within " + layers;
}

/// The ways with the fewest escapes in which `value` stands in one of the texts.
vector<NaiveSighting::Way> ways_of(const string& line, const vector<Traced>& readings,
                                   const string& value, const string& whole, const string& subject,
                                   const string& extent) {
  vector<NaiveSighting::Way> out;
  size_t fewest = 4;
  for (const Traced& reading : readings) {
    const size_t layers = reading.json + reading.percent;
    if (layers > fewest) continue;
    for (const Hit& hit : hits_of(reading.text, value, whole)) {
      if (layers < fewest) out.clear();
      fewest = layers;
      out.push_back({subject + ", " + encoding_words(hit.encoding, reading) + extent,
                     place_of(line, reading.from.at(hit.at))});
    }
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

Traced whole_line(const string& line) {
  Traced out;
  for (size_t at = 0; at < line.size(); ++at) out.put(line.substr(at, 1), at);
  return out;
}

/// The values of the line behind each other.
Traced joined_values(const string& line) {
  Traced out;
  for (const Quoted& one : strings_of(line)) {
    if (one.is_key) continue;
    for (size_t at = one.begin; at < one.end; ++at) out.put(line.substr(at, 1), at);
  }
  return out;
}

vector<NaiveSighting::Way> ways_of_canary(const string& line, const string& value,
                                          const string& subject) {
  const vector<Traced> readings = readings_of(whole_line(line));
  vector<NaiveSighting::Way> whole = ways_of(line, readings, value, value, subject, "");
  if (!whole.empty()) return whole;
  vector<NaiveSighting::Way> halves =
      ways_of(line, readings, first_half(value), value, subject, ", the first half");
  const vector<NaiveSighting::Way> second =
      ways_of(line, readings, second_half(value), value, subject, ", the second half");
  halves.insert(halves.end(), second.begin(), second.end());
  if (halves.empty()) return {};
  // A split one is told by the place of the half that led to it.
  vector<NaiveSighting::Way> split;
  for (const auto& way : ways_of(line, readings_of(joined_values(line)), value, value, subject,
                                 ", split over neighbouring values")) {
    for (const auto& half : halves) split.push_back({way.what, half.where});
  }
  if (!split.empty()) return split;
  return has_halves(value) ? halves : vector<NaiveSighting::Way>{};
}

// ---- Fields.

void find_fields(const string& line, const NaiveRedaction& wanted, vector<NaiveSighting>& out) {
  for (const string& entry : wanted.forbid_fields) {
    vector<size_t> places;
    for (const Quoted& one : strings_of(line)) {
      if (!one.is_key) continue;
      Traced written;
      written.put(line.substr(one.begin, one.end - one.begin), 0);
      const string key = resolved(written, true).text;
      const bool is_at_top = one.depth <= 1;
      const bool is_prefix = entry.back() == '*';
      const string start = lowered(entry.substr(0, entry.size() - 1));
      const bool fits = is_prefix
                            ? lowered(key).starts_with(start) && !(is_at_top && is_listed(key))
                            : lowered(key) == lowered(entry);
      if (fits) places.push_back(one.begin);
    }
    if (places.empty()) continue;
    const string subject = "field " + quoted(entry);
    const string more =
        places.size() > 1 ? fmt::format(", and {} more", places.size() - 1) : string();
    out.push_back({false,
                   subject,
                   {{subject, fmt::format("at byte {} of the line{}", places.front(), more)}}});
  }
}

}  // namespace

bool has_halves(const string& value) {
  const auto is_told_from_chance = [](const string& half) {
    return half.size() >= 8 && std::set<char>(half.begin(), half.end()).size() >= 4;
  };
  return is_told_from_chance(first_half(value)) && is_told_from_chance(second_half(value));
}

vector<string> top_keys(const string& line) {
  vector<string> out;
  for (const Quoted& one : strings_of(line)) {
    if (one.is_key && one.depth <= 1) out.push_back(line.substr(one.begin, one.end - one.begin));
  }
  return out;
}

vector<NaiveSighting> sightings_in(const string& line, const NaiveRedaction& wanted,
                                   Searched searched) {
  vector<NaiveSighting> out;
  for (const auto& [name, value] : wanted.canaries) {
    const string subject = "canary " + quoted(name);
    vector<NaiveSighting::Way> ways = ways_of_canary(line, value, subject);
    if (searched == Searched::kDocument) {
      for (NaiveSighting::Way& way : ways) {
        way.where.replace(way.where.rfind("line"), string::npos, "document");
      }
    }
    if (!ways.empty()) out.push_back({true, subject, std::move(ways)});
  }
  if (searched == Searched::kLine) find_fields(line, wanted, out);
  return out;
}

}  // namespace remit::twin
