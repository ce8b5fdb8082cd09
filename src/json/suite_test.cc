// The published suites, whole: what parses, and what a schema says of a value.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "json/schema.h"
#include "json/value.h"
#include "tests/support/shared_data.h"

namespace remit::json {
namespace {

namespace fs = std::filesystem;
using testing::needed_file;

/// One of our own data files, which say what we answer otherwise and why.
Value own_data(std::string_view name) {
  const Result<Value> value =
      parse(needed_file(testing::source_tree() / "tests" / "suites" / name));
  if (!value) {
    ADD_FAILURE() << name << ": " << value.error().to_string();
    return Object{};
  }
  return *value;
}

std::string text_of(const Value& object, std::string_view key) {
  const Value* value = object.find(key);
  if (value == nullptr || value->if_string() == nullptr || value->if_string()->empty()) {
    ADD_FAILURE() << "no " << key << " in " << write(object);
    return {};
  }
  return *value->if_string();
}

std::int64_t count_of(const Value& object, std::string_view key) {
  const Value* value = object.find(key);
  if (value == nullptr || value->if_integer() == nullptr) {
    ADD_FAILURE() << "no " << key << " in " << write(object);
    return -1;
  }
  return *value->if_integer();
}

// ---- Parsing: json-test-suite.

// `y_` must parse and `n_` must not. What we do with each `i_` (readers differ in them) is listed
// with the reason, and so is each `y_` that we refuse; an entry that is not so fails.
TEST(Suite, JsonTestSuite) {
  const auto root = testing::shared_data();
  if (!root) return;
  const Value ours = own_data("json_parsing.json");
  std::map<std::string, Value> listed;
  for (const Value& entry : *ours.find("refused")->if_array()) {
    text_of(entry, "why");
    EXPECT_TRUE(listed.emplace(text_of(entry, "file"), entry).second) << write(entry);
  }
  std::map<char, std::int64_t> judged;
  for (const auto& entry : fs::directory_iterator(*root / "json-test-suite" / "test_parsing")) {
    const std::string name = entry.path().filename();
    const Result<Value> value = parse(needed_file(entry.path()));
    ++judged[name[0]];
    const auto exception = listed.find(name);
    if (name[0] == 'n') {
      EXPECT_FALSE(value) << name;
    } else if (exception == listed.end()) {
      EXPECT_EQ(name[0], 'y') << name << " is not listed";
      EXPECT_TRUE(value) << name;
    } else {
      const std::string message = text_of(exception->second, "message");
      EXPECT_EQ(value ? "parsed" : value.error().message, message) << name;
      listed.erase(exception);
    }
    if (!value) continue;
    const Result<Value> back = parse(write(*value));
    ASSERT_TRUE(back) << name;
    EXPECT_EQ(*back, *value) << name;
  }
  for (const auto& [name, entry] : listed) ADD_FAILURE() << name << " is listed and not there";
  const Value& counts = *ours.find("files");
  for (const char kind : {'y', 'n', 'i'}) {
    EXPECT_EQ(judged[kind], count_of(counts, std::string(1, kind)));
  }
  std::printf("json-test-suite: judged %d files: %d y, %d n, %d i; %zu exceptions\n",
              static_cast<int>(judged['y'] + judged['n'] + judged['i']),
              static_cast<int>(judged['y']), static_cast<int>(judged['n']),
              static_cast<int>(judged['i']), ours.find("refused")->if_array()->size());
}

// ---- Schemas: json-schema-test-suite.

/// Takes JSON apart without reading its numbers, since some tests are about numbers that our parser
/// refuses. The text is JSON, by the suite's own word.
class Pieces {
 public:
  explicit Pieces(std::string_view text) : text_(text) {}

  /// The elements of the array, or the members of the object, that the text is: the texts of their
  /// values, and of their names before each in an object.
  std::vector<std::string_view> all() {
    std::vector<std::string_view> out;
    at_ = text_.find_first_of("[{") + 1;
    while (true) {
      at_ = text_.find_first_not_of(" \t\r\n,:", at_);
      if (at_ == std::string_view::npos || text_[at_] == ']' || text_[at_] == '}') return out;
      const std::size_t start = at_;
      skip_value();
      out.push_back(text_.substr(start, at_ - start));
    }
  }

 private:
  void skip_value() {
    int depth = 0;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '"') {
        for (++at_; text_[at_] != '"'; ++at_) at_ += text_[at_] == '\\' ? 1U : 0U;
      } else if (c == '[' || c == '{') {
        ++depth;
      } else if (c == ']' || c == '}') {
        if (depth == 0) return;
        --depth;
      } else if (depth == 0 && (c == ',' || c == ':' || c == ' ' || c == '\n' || c == '\r')) {
        return;
      }
      if (depth == 0 && (c == '"' || c == ']' || c == '}')) {
        ++at_;
        return;
      }
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::vector<std::string_view> elements(std::string_view array) {
  return Pieces(array).all();
}

std::string_view member(std::string_view object, std::string_view name) {
  const std::vector<std::string_view> pieces = Pieces(object).all();
  for (std::size_t i = 0; i + 1 < pieces.size(); i += 2) {
    if (pieces[i].size() == name.size() + 2 && pieces[i].substr(1, name.size()) == name) {
      return pieces[i + 1];
    }
  }
  ADD_FAILURE() << "no member " << name;
  return "null";
}

std::string unquoted(std::string_view text) {
  const Result<Value> value = parse(text);
  if (value && value->if_string() != nullptr) return *value->if_string();
  ADD_FAILURE() << "no string: " << text;
  return {};
}

/// What we do not judge: by file, group and (unless the whole group is meant) test, with what we
/// say instead. Every entry must be used.
class Exceptions {
 public:
  explicit Exceptions(const Value& data) {
    std::set<std::string> whys;
    for (const Value& entry : *data.find("exceptions")->if_array()) {
      const Value* test = entry.find("test");
      const std::string key = key_of(text_of(entry, "file"), text_of(entry, "group"),
                                     test == nullptr ? "" : *test->if_string());
      const std::string why = text_of(entry, "why");
      if (data.find("reasons")->find(why) == nullptr) faults_.push_back("no such reason: " + why);
      whys.insert(why);
      if (!listed_.emplace(key, text_of(entry, "says")).second) faults_.push_back("twice: " + key);
    }
    for (const Member& reason : data.find("reasons")->if_object()->members()) {
      if (whys.count(reason.first) == 0) faults_.push_back("nothing for: " + reason.first);
    }
  }

  /// Whether this is listed, and with what we say. An entry for a group serves its tests.
  bool take(const std::string& file, const std::string& group, const std::string& test,
            const std::string& says) {
    for (const std::string& key : {key_of(file, group, ""), key_of(file, group, test)}) {
      const auto entry = listed_.find(key);
      if (entry == listed_.end() || entry->second != says) continue;
      used_.insert(key);
      return true;
    }
    return false;
  }

  /// What is wrong with the list once everything was run.
  [[nodiscard]] std::vector<std::string> faults() const {
    std::vector<std::string> out = faults_;
    for (const auto& [key, says] : listed_) {
      if (used_.count(key) == 0) out.push_back("stale: " + key + ": " + says);
    }
    return out;
  }

 private:
  static std::string key_of(const std::string& file, const std::string& group,
                            const std::string& test) {
    return file + " | " + group + " | " + test;
  }

  std::map<std::string, std::string> listed_;
  std::set<std::string> used_;
  std::vector<std::string> faults_;
};

/// Runs files of one draft; what does not end in a right answer must be listed.
class SchemaSuite {
 public:
  SchemaSuite(std::string draft, std::string meta_schema, Exceptions& exceptions)
      : draft_(std::move(draft)), meta_schema_(std::move(meta_schema)), exceptions_(exceptions) {}

  void run_file(const std::string& name, std::string_view text) {
    file_ = draft_ + "/" + name;
    for (const std::string_view group : elements(text)) run_group(group);
  }

  std::int64_t tests = 0;
  std::int64_t judged = 0;
  std::int64_t excepted = 0;
  std::vector<std::string> faults = {};  ///< neither right nor listed

 private:
  static std::string said(const Error& error) {
    return std::string(error_code_name(error.code)) + ": " + error.message;
  }

  [[nodiscard]] Result<Schema> compiled(std::string_view text) const {
    Result<Value> rules = parse(text);
    if (!rules) return std::move(rules).error();
    if (Object* object = rules->if_object();
        object != nullptr && object->find("$schema") == nullptr) {
      object->set("$schema", meta_schema_);
    }
    return Schema::compile(*rules);
  }

  void run_group(std::string_view group) {
    const std::string name = unquoted(member(group, "description"));
    const Result<Schema> schema = compiled(member(group, "schema"));
    for (const std::string_view test : elements(member(group, "tests"))) {
      ++tests;
      const std::string description = unquoted(member(test, "description"));
      const std::string outcome = run_test(schema, test);
      if (outcome.empty()) {
        ++judged;
      } else if (exceptions_.take(file_, name, description, outcome)) {
        ++excepted;
      } else {
        faults.push_back(file_ + " | " + name + " | " + description + " | " + outcome);
      }
    }
  }

  /// Empty when the answer is the stated one, else what we said.
  static std::string run_test(const Result<Schema>& schema, std::string_view test) {
    if (!schema) return said(schema.error());
    const Result<Value> data = parse(member(test, "data"));
    if (!data) return said(data.error());
    const Result<std::vector<SchemaMismatch>> found = schema->validate(*data);
    if (!found) return said(found.error());
    if (found->empty() == (member(test, "valid") == "true")) return {};
    return found->empty() ? "valid" : "invalid";
  }

  std::string draft_;
  std::string meta_schema_;
  std::string file_;
  Exceptions& exceptions_;
};

// Every required test of two drafts. What we refuse on purpose (references out of the document,
// schemas in schemas, numbers that do not survive) is listed with what we say and why.
TEST(Suite, JsonSchemaTestSuite) {
  const auto root = testing::shared_data();
  if (!root) return;
  const Value ours = own_data("json_schema.json");
  Exceptions exceptions(ours);
  for (const Value& draft : *ours.find("drafts")->if_array()) {
    const std::string name = text_of(draft, "folder");
    SchemaSuite suite(name, text_of(draft, "meta_schema"), exceptions);
    std::int64_t files = 0;
    for (const auto& entry :
         fs::directory_iterator(*root / "json-schema-test-suite" / "tests" / name)) {
      if (!entry.is_regular_file()) continue;  // `optional`, and `format` in it
      suite.run_file(entry.path().filename(), needed_file(entry.path()));
      ++files;
    }
    std::printf("json-schema-test-suite %s: judged %d of %d, %d exceptions\n", name.c_str(),
                static_cast<int>(suite.judged), static_cast<int>(suite.tests),
                static_cast<int>(suite.excepted));
    EXPECT_EQ(suite.faults, std::vector<std::string>{});
    EXPECT_EQ(files, count_of(draft, "files")) << name;
    EXPECT_EQ(suite.tests, count_of(draft, "tests")) << name;
    EXPECT_EQ(suite.excepted, count_of(draft, "excepted")) << name;
  }
  EXPECT_EQ(exceptions.faults(), std::vector<std::string>{});
}

// The harness can fail: a wrong statement, a refusal that is not listed, one listed otherwise than
// it is, and entries for what is right, not there or without a reason.
TEST(Suite, TellsWhatIsWrong) {
  const Result<Value> list = parse(R"({"reasons": {"far": "r", "idle": "r"}, "exceptions": [
    {"file": "d/f.json", "group": "refused", "says": "unsupported: something else", "why": "far"},
    {"file": "d/f.json", "group": "right", "test": "a", "says": "invalid", "why": "far"},
    {"file": "d/gone.json", "group": "g", "says": "valid", "why": "none"}]})");
  ASSERT_TRUE(list);
  Exceptions exceptions(*list);
  SchemaSuite suite("d", "https://json-schema.org/draft/2020-12/schema", exceptions);
  suite.run_file("f.json", R"([
    {"description": "right", "schema": {"const": "]\"}"}, "tests": [
      {"description": "a", "data": "]\"}", "valid": true}]},
    {"description": "wrong", "schema": {"type": "string"}, "tests": [
      {"description": "b", "data": 1, "valid": true}, {"description": "c", "data": "x", "valid": false}]},
    {"description": "refused", "schema": {"$ref": "far.json"}, "tests": [
      {"description": "d", "data": 1, "valid": true}]},
    {"description": "number", "schema": {}, "tests": [
      {"description": "e", "data": 1e400, "valid": true}]}])");
  EXPECT_EQ(suite.judged, 1);
  EXPECT_EQ(suite.faults,
            (std::vector<std::string>{
                "d/f.json | wrong | b | invalid", "d/f.json | wrong | c | valid",
                "d/f.json | refused | d | unsupported: a reference leaves the document",
                "d/f.json | number | e | invalid_input: a number that a double cannot hold"}));
  EXPECT_EQ(exceptions.faults(),
            (std::vector<std::string>{"no such reason: none", "nothing for: idle",
                                      "stale: d/f.json | refused | : unsupported: something else",
                                      "stale: d/f.json | right | a: invalid",
                                      "stale: d/gone.json | g | : valid"}));
}

}  // namespace
}  // namespace remit::json
