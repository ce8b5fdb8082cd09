// Golden transcripts: what a client sends, what it gets, what reached the server, what was
// recorded.
//
// Each file of transcripts/ has sections. `server:` gives the fake server's flags, `limits:`
// members of the configuration's `limits`. `> LINE` is sent as it stands; `< LINE` is what the
// gateway says next. Behind `-- server` stands what the server got from the first call on, behind
// `-- events` what the log holds, behind `-- notices` what the operator was told. With
// REMIT_UPDATE_GOLDEN set the files are written anew, keeping the places of `<` lines.
#include <algorithm>
#include <map>
#include <set>

#include "tests/stdio/session.h"
#include "tests/stdio/wire_schema.h"

namespace remit::testing {
namespace {

struct Transcript {
  std::vector<std::string> header;  // comments and settings
  SessionFolder::Options options;
  std::vector<std::string> steps;  // `> …` and `< …`
  std::string tail;                // the other sections
};

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> out;
  for (std::string word; stream >> word;) out.push_back(word);
  return out;
}

Transcript read_transcript(const std::filesystem::path& path) {
  Transcript out;
  std::istringstream lines(text_of_file(path));
  bool is_tail = false;
  for (std::string line; std::getline(lines, line);) {
    is_tail = is_tail || line.starts_with("-- ");
    if (is_tail) {
      out.tail += line + "\n";
    } else if (line.starts_with(">") || line.starts_with("<")) {
      out.steps.push_back(line);
    } else {
      out.header.push_back(line);
      if (line.starts_with("server: ")) out.options.flags = words_of(line.substr(8));
      if (line.starts_with("limits: ")) out.options.limits = line.substr(8);
    }
  }
  return out;
}

// Ids of 26 characters of base 32 in order of appearance: i1, i2 …
class Names {
 public:
  std::string plain(const std::string& text) {
    std::string out;
    for (std::size_t i = 0; i < text.size();) {
      const std::size_t length = id_length(text, i);
      if (length == kIdBytes) {
        const std::string id = text.substr(i, length);
        const auto [at, is_new] = names_.emplace(id, "i" + std::to_string(names_.size() + 1));
        out += at->second;
      } else {
        out += text.substr(i, std::max<std::size_t>(length, 1));
      }
      i += std::max<std::size_t>(length, 1);
    }
    return out;
  }

 private:
  static constexpr std::size_t kIdBytes = 26;
  static std::size_t id_length(const std::string& text, std::size_t from) {
    std::size_t end = from;
    while (end < text.size() && (std::islower(static_cast<unsigned char>(text[end])) != 0 ||
                                 (text[end] >= '2' && text[end] <= '7'))) {
      ++end;
    }
    return end - from;
  }
  std::map<std::string, std::string> names_;
};

// The fields of an event that a reader of a transcript wants.
std::string event_text(const std::string& line, Names& names) {
  std::string out = member(line, "event");
  for (const char* field :
       {"invocation_id", "run_id", "case_id", "route", "tool", "resource_id", "decision", "reason",
        "mode", "outcome", "error_type", "planner_policy_version", "policy_version",
        "principal_state", "invocations", "environment", "cause"}) {
    const std::string value = member(line, field);
    if (!value.empty() && value != "run-1" && value != "case-1" && value != "agent" &&
        value != "enforce") {
      out += std::string(" ") + field + "=" + value;
    }
  }
  return names.plain(out);
}

// The log's events with those of one invocation together, in the order in which each began: calls
// that overlap may end in any order.
std::string events_text(const std::vector<std::string>& events, Names& names) {
  std::vector<std::pair<std::string, std::string>> groups;
  for (const std::string& line : events) {
    const std::string id = member(line, "invocation_id");
    auto at = std::find_if(groups.begin(), groups.end(),
                           [&](const auto& group) { return !id.empty() && group.first == id; });
    if (at == groups.end()) at = groups.insert(groups.end(), {id, ""});
    at->second += event_text(line, names) + "\n";
  }
  std::string out;
  for (const auto& [id, text] : groups) out += text;
  return out;
}

std::string played(const Transcript& script, WireSchema& schema) {
  const SessionFolder folder(script.options);
  Session session(folder);
  Names names;
  std::string out;
  for (const std::string& line : script.header) out += line + "\n";
  for (const std::string& step : script.steps) {
    if (step.starts_with("> ")) {
      schema.sent_by_client(step.substr(2));
      EXPECT_TRUE(session.send(step.substr(2)));
      out += step + "\n";
      continue;
    }
    const auto line = session.receive();
    if (line) schema.check_to_client(*line);
    out += line ? "< " + names.plain(*line) + "\n" : "< nothing came\n";
  }
  for (const std::string& line : session.finish()) {
    schema.check_to_client(line);
    out += "< " + names.plain(line) + "\n";
  }
  for (const Error& problem : session.problems()) out += "problem: " + problem.to_string() + "\n";
  out += "-- server\n";
  bool is_ready = false;
  for (const std::string& line : folder.tap()) {
    schema.check_to_server(line);
    if (is_ready) out += names.plain(line) + "\n";
    is_ready = is_ready || line.find("\"tools/list\"") != std::string::npos;
  }
  out += "-- events\n" + events_text(folder.events(), names);
  out += "-- notices\n" + names.plain(session.notices());
  return out;
}

// What each requirement is shown by:
// REQ-BD-100: other_versions, old_revision, ancient_server.
// REQ-BD-101: allowed, denied (admin.hidden is not listed and is refused by its own check).
// REQ-BD-102: methods. REQ-BD-103: denied (its `-- server` section is empty).
// REQ-BD-104: server_requests, server_requests_refused, eager_server, progress, log_messages.
// REQ-BD-105, REQ-BD-106: meta, allowed.
// REQ-BD-107: failures, timeout, server_die, server_close, server_half, server_flood.
// REQ-BD-109: drift, drifted, repeated.
// REQ-RS-010, REQ-RS-011, REQ-RS-012: denied, output_schema.
class TranscriptTest : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(TranscriptTest, PlaysAsWritten) {
  const Transcript script = read_transcript(GetParam());
  WireSchema schema;
  const std::string now = played(script, schema);
  for (const std::string& fault : schema.faults()) ADD_FAILURE() << fault;
  if (std::getenv("REMIT_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(GetParam(), std::ios::binary) << now;
    return;
  }
  EXPECT_EQ(now, text_of_file(GetParam()));
}

std::vector<std::filesystem::path> transcripts() {
  std::vector<std::filesystem::path> out;
  for (const auto& entry : std::filesystem::directory_iterator(stdio_tests() / "transcripts")) {
    if (entry.path().extension() == ".txt") out.push_back(entry.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::string name_of(const ::testing::TestParamInfo<std::filesystem::path>& info) {
  return info.param.stem().string();
}

INSTANTIATE_TEST_SUITE_P(All, TranscriptTest, ::testing::ValuesIn(transcripts()), name_of);

// The harness can fail: a line that the protocol does not know is found.
TEST(WireSchemaTest, FindsWhatTheProtocolDoesNotKnow) {
  WireSchema schema;
  if (!schema.is_available()) GTEST_SKIP() << "not run, no shared data";
  schema.check_to_client(R"({"jsonrpc":"1.0","id":1,"result":{}})");
  schema.sent_by_client(R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a"}})");
  schema.check_to_client(R"({"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"film"}]}})");
  schema.check_to_server(R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{}})");
  EXPECT_EQ(schema.faults().size(), 3U);
}

}  // namespace
}  // namespace remit::testing
