// Canaries and forbidden fields as both graders find them, planted in every encoding.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "base/utf8.h"
#include "comparison.h"
#include "foreign_forms.h"
#include "random_criteria.h"
#include "random_run.h"
#include "redaction/canaries.h"

namespace remit::twin {
namespace {

using std::string;

const NaiveRedaction kAll = {{{"db", "s3cr3t-Canary/7f+Q?>x"},
                              {"session", "k9-Zq!4w"},
                              {"words", "open sesame now"},
                              {"letters", "gr\xc3\xbc\xc3\x9f-G0tt \xf0\x9f\x98\x80 Anna42x"},
                              {"pin", "A1b2C3d4E5f6G7h8"}},
                             {"Prompt", "x_*", "note"}};

string canary_file(const NaiveRedaction& wanted) {
  string out;
  for (const auto& [name, value] : wanted.canaries) out += name + "\t" + value + "\n";
  return out;
}

TwinCriteria with_redaction(TwinCriteria under, NaiveRedaction wanted) {
  std::vector<redaction::Canary> canaries;
  if (!wanted.canaries.empty()) {
    redaction::CanaryParse parsed = redaction::parse_canaries(canary_file(wanted), "canaries.txt");
    EXPECT_TRUE(parsed.errors.empty());
    canaries = std::move(parsed.canaries);
  }
  under.criteria.redaction =
      redaction::Redaction::make(std::move(canaries), wanted.forbid_fields).value();
  under.redaction = std::move(wanted);
  return under;
}

// ---- Writing a value in another way.

/// With each of the last two letters of one alphabet or the other, as `random` says, or of both.
string base64_of(const string& text, SeededRandom& random) {
  const bool is_padded = random.number(2) == 0;
  const std::uint64_t alphabet = random.number(3);
  string out;
  unsigned bits = 0;
  int count = 0;
  const auto letter = [&](unsigned number) {
    const bool is_for_urls = alphabet == 2 ? random.number(2) == 0 : alphabet == 1;
    return (string("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789") +
            (is_for_urls ? "-_" : "+/"))[number & 63U];
  };
  for (const char c : text) {
    bits = bits << 8U | static_cast<unsigned char>(c);
    for (count += 8; count >= 6; count -= 6) out += letter(bits >> (count - 6));
  }
  if (count > 0) out += letter(bits << (6 - count));
  while (is_padded && out.size() % 4 != 0) out += '=';
  return out;
}

string encoded(const string& value, SeededRandom& random) {
  string out = value;
  switch (random.number(8)) {
    case 0:
      for (char& c : out) c = static_cast<char>(random.number(2) == 0 ? std::toupper(c) : c);
      return out;
    case 1:
      return {value.rbegin(), value.rend()};
    case 2:
      out = string(random.number(3), '~') + value + string(random.number(3), '?');
      return base64_of(out, random);
    case 3:
      out.clear();
      for (const char c : value) out += fmt::format("{:02x}", static_cast<unsigned char>(c));
      return out;
    case 4:
      std::replace(out.begin(), out.end(), ' ', '+');
      return out;
    default:
      return out;
  }
}

string percent(const string& text, SeededRandom& random) {
  string out;
  for (const char c : text) {
    const bool is_escaped = random.number(2) == 0;
    out += is_escaped ? fmt::format("%{:02X}", static_cast<unsigned char>(c)) : string(1, c);
  }
  return out;
}

/// What may stand between the quotation marks of a JSON string.
string json_inside(const string& text, SeededRandom& random) {
  string out;
  for (const char c : text) {
    const bool is_ascii = static_cast<unsigned char>(c) < 0x80;
    if (is_ascii && random.number(4) == 0) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
  }
  return out;
}

/// A value, or less of it, as the inside of a JSON string.
string planted_text(const string& value, SeededRandom& random) {
  string text = encoded(value, random);
  const std::uint64_t amount = random.number(6);
  if (amount == 0) text = text.substr(0, (text.size() + 1) / 2);
  if (amount == 1) text = text.substr(text.size() / 2);
  if (amount == 2) text[random.number(text.size())] = '*';
  for (std::uint64_t layers = random.number(3); layers > 0; --layers) {
    text = random.number(2) == 0 ? percent(text, random) : json_inside(text, random);
  }
  const string around = random.number(2) == 0 ? "" : " ";
  return json_inside("use" + around + text + around + ".", random);
}

string random_key(SeededRandom& random) {
  const char* const kKeys[] = {"x_a",        "more", "prompt",       "PROMPT", "note",
                               "no\\u0074e", "x_B",  "inner\\u002e", "Note2"};
  return kKeys[random.number(std::size(kKeys))];
}

/// Members with something planted, for the end of an object.
string planted_members(SeededRandom& random) {
  const string& value = kAll.canaries[random.number(kAll.canaries.size())].second;
  const string key = random_key(random);
  switch (random.number(6)) {
    case 0: {  // over two values or three
      const string text = encoded(value, random);
      const std::size_t first = random.number(text.size());
      const std::size_t second = first + random.number(text.size() - first);
      string out;
      std::size_t from = 0;
      for (const std::size_t to : {first, second, text.size()}) {
        if (to == from && to != text.size()) continue;
        out += fmt::format(R"(,"{}{}":"{}")", key, from,
                           json_inside(text.substr(from, to - from), random));
        from = to;
      }
      return out;
    }
    case 1:
      return fmt::format(R"(,"{}":{{"{}":["{}",1]}})", key, random_key(random),
                         planted_text(value, random));
    case 2:
      return fmt::format(R"(,"{}":{{"{}":0}})", key, planted_text(value, random));
    case 3:
      return fmt::format(R"(,"{}":{{"tool":1,"{}":{{"note":"x"}}}})", key, random_key(random));
    default:
      return fmt::format(R"(,"{}":"{}")", key, planted_text(value, random));
  }
}

std::size_t plant(std::vector<string>& lines, SeededRandom& random) {
  std::size_t out = 0;
  for (string& line : lines) {
    const std::size_t end = line.rfind('}');
    if (end == string::npos || random.number(3) != 0) continue;
    line.insert(end, planted_members(random));
    ++out;
  }
  return out;
}

bool agree_on(const std::vector<NaiveInput>& inputs, const TwinCriteria& under, const Way& way,
              std::map<string, std::size_t>& seen) {
  const grading::Grade grade = streamed(inputs, under.criteria, way);
  for (const grading::Finding& one : grade.findings) {
    if (one.code == grading::Code::kFieldNotAllowed) ++seen["field"];
    if (one.code != grading::Code::kCanaryLeak) continue;
    const string what = one.recorded.value_or("");
    ++seen[what.substr(std::min(what.find(", "), what.size()))];
  }
  string lines;
  for (const NaiveInput& input : inputs) lines += "== " + input.name + "\n" + input.bytes;
  return same(naive_judgement(inputs, under, {}, sightings_told(grade)), reduced(grade),
              lines.substr(0, 20'000));
}

// REQ-RD-010 to REQ-RD-012, REQ-RD-020, REQ-RD-021, REQ-RD-030, REQ-RD-031.
TEST(RedactionTwin, AgreesOnWhatWasPlanted) {
  std::map<string, std::size_t> seen;
  int disagreements = 0;
  for (const std::uint64_t seed : seeds(150)) {
    if (disagreements == kEnough) break;
    SCOPED_TRACE(fmt::format("seed {}", seed));
    SeededRandom random(seed);
    NaiveRedaction wanted = kAll;
    if (random.number(4) == 0) wanted.canaries.resize(1 + random.number(4));
    if (random.number(4) == 0) wanted.forbid_fields.clear();
    if (random.number(8) == 0) wanted.forbid_fields = {"*", "tool"};
    const TwinCriteria under = with_redaction(random_criteria(random), wanted);
    const auto numbering = static_cast<Numbering>(random.number(3));
    const std::vector<Planned> plan = told_plan(random, 1 + random.number(4), under.manifest_text);
    std::vector<string> lines = with_accidents(plan, random, numbering);
    plant(lines, random);
    const Way way{.memory_bytes = kRooms[seed % std::size(kRooms)],
                  .threads = 1 + static_cast<unsigned>(seed % 2)};
    if (!agree_on(dealt_to_files(lines, random), under, way, seen)) ++disagreements;
  }
  EXPECT_GT(seen.size(), 20U);
  for (const auto& [how, count] : seen) std::printf("%zu %s\n", count, how.c_str());
}

/// Puts a canary into an id, a tool or a reason, wherever it stands in all lines.
void plant_in_field(std::vector<string>& lines, SeededRandom& random) {
  const char* const kFields[] = {"invocation_id", "tool", "reason", "case_id", "route"};
  const string start = fmt::format(R"("{}":")", kFields[random.number(std::size(kFields))]);
  const string& line = lines[random.number(lines.size())];
  const std::size_t at = line.find(start);
  if (at == string::npos) return;
  const std::size_t from = at + start.size();
  const string member = line.substr(at, line.find('"', from) + 1 - at);
  const string& value = kAll.canaries[random.number(kAll.canaries.size())].second;
  const string planted = fmt::format("{}a {}{}\"", start, value, random.number(2) == 0 ? "" : "!");
  for (string& one : lines) {
    for (std::size_t i = one.find(member); i != string::npos; i = one.find(member, i + 1)) {
      one.replace(i, member.size(), planted);
    }
  }
}

// REQ-RD-050, REQ-RD-051: no text of a grade shows one.
TEST(RedactionTwin, AgreesOnMasks) {
  std::size_t masked = 0;
  int disagreements = 0;
  for (const std::uint64_t seed : seeds(150)) {
    if (disagreements == kEnough) break;
    SCOPED_TRACE(fmt::format("seed {}", seed));
    SeededRandom random(seed);
    const TwinCriteria under = with_redaction(random_criteria(random), kAll);
    const std::vector<Planned> plan = told_plan(random, 1 + random.number(4), under.manifest_text);
    std::vector<string> lines = with_accidents(plan, random, Numbering::kAll);
    for (std::uint64_t times = 1 + random.number(4); times > 0; --times) {
      plant_in_field(lines, random);
    }
    const std::vector<NaiveInput> inputs = dealt_to_files(lines, random);
    std::map<string, std::size_t> seen;
    if (!agree_on(inputs, under, {}, seen)) ++disagreements;
    for (const string& finding : reduced(streamed(inputs, under.criteria)).findings) {
      masked += finding.find("[canary ") != string::npos ? 1 : 0;
    }
  }
  EXPECT_GT(masked, rounds(150));
}

// REQ-RD-013: what is translated is searched as it was written.
TEST(RedactionTwin, AgreesOnDocuments) {
  const TwinCriteria under = with_redaction(criteria("documents", {}), kAll);
  std::size_t leaks = 0;
  int disagreements = 0;
  for (const std::uint64_t seed : seeds(150)) {
    if (disagreements == kEnough) break;
    SCOPED_TRACE(fmt::format("seed {}", seed));
    SeededRandom random(seed);
    const Recording form = kRecordings[seed % std::size(kRecordings)];
    Recorded one = random_recording(random, form, "runs");
    const string wanted = R"("content":"do it")";
    for (std::size_t at = one.recording.bytes.find(wanted); at != string::npos;
         at = one.recording.bytes.find(wanted, at + 1)) {
      if (random.number(3) == 0) continue;
      const string& value = kAll.canaries[random.number(kAll.canaries.size())].second;
      const string planted = planted_text(value, random);
      if (first_invalid_utf8(planted)) continue;  // half a character would be a fault
      one.recording.bytes.replace(at, wanted.size(), fmt::format(R"("content":"{}")", planted));
    }
    one.lines.translated_from = one.recording.bytes;
    const grading::Grade grade = streamed({one.recording}, under.criteria);
    for (const grading::Finding& finding : grade.findings) {
      leaks += finding.code == grading::Code::kCanaryLeak ? 1 : 0;
    }
    const Judgement naive = naive_judgement({one.lines}, under, {}, sightings_told(grade));
    if (!same(without_files(naive, Places::kNone), without_files(reduced(grade), Places::kNone),
              one.recording.bytes)) {
      ++disagreements;
    }
  }
  EXPECT_GT(leaks, rounds(150) / 2);
}

// REQ-RD-022, in any order of lines.
TEST(RedactionTwin, AgreesOnManyLines) {
  const TwinCriteria under = with_redaction(criteria("many", {}), kAll);
  std::map<string, std::size_t> seen;
  for (const std::uint64_t seed : seeds(8)) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    SeededRandom random(seed);
    std::vector<string> lines;
    const std::uint64_t count = 250 + random.number(200);
    for (std::uint64_t i = 1; i <= count; ++i) {
      const char* const kIds[] = {R"(,"invocation_id":"i1")", R"(,"invocation_id":"unseen")", ""};
      lines.push_back(fmt::format(R"({{"event":"x.note"{},"writer":"w","seq":{},"x_n":"{}"}})"
                                  "\n",
                                  kIds[random.number(seed % 3 + 1)], i, kAll.canaries[0].second));
      if (random.number(9) == 0) lines.push_back(lines.back());
    }
    lines.push_back(R"({"event":"tool.request","invocation_id":"i1","tool":"a"})"
                    "\n");
    for (std::size_t i = lines.size(); i > 1; --i) {
      std::swap(lines[i - 1], lines[random.number(i)]);
    }
    EXPECT_TRUE(agree_on(dealt_to_files(lines, random), under, {}, seen));
  }
}

TEST(RedactionTwin, SeesALeakThatTheOtherDoesNot) {  // the comparisons above can fail
  const std::vector<NaiveInput> inputs = {{"t", R"({"event":"x.note","a":"k9-Zq!4w"})"
                                                "\n"}};
  const TwinCriteria under = with_redaction(criteria("all", {}), kAll);
  TwinCriteria blind = under;
  blind.redaction.canaries.erase(blind.redaction.canaries.begin() + 1);
  const Judgement streaming = reduced(streamed(inputs, under.criteria));
  EXPECT_EQ(naive_judgement(inputs, under), streaming);
  EXPECT_NE(naive_judgement(inputs, blind), streaming);
}

}  // namespace
}  // namespace remit::twin
