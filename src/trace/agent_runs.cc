// Recorded agent runs: what a model asked of its tools. Nobody decided and nobody recorded what
// ran, so that a request is all there is.
#include <utility>
#include <vector>

#include "trace/json_cursor.h"
#include "trace/translator.h"

namespace remit::trace {
namespace {

using Kind = Token::Kind;

/// One request.
struct ToolCall {
  Token name;
  std::size_t place = 0;
};

/// What a run says of itself.
struct RunFacts {
  std::size_t place = 0;
  bool has_messages = false;
  Token run_id;
  Token case_id;
  Token id;
  Token task_id;         ///< tau-bench
  Token trial;           ///< tau-bench
  Token suite;           ///< AgentDojo
  Token user_task;       ///< AgentDojo
  Token injection_task;  ///< AgentDojo
  std::vector<ToolCall> calls;
};

bool is_given(const Token& token) {
  return (token.kind == Kind::kText || token.kind == Kind::kBare) && !token.text.empty();
}

class RunTranslator final : public Translator {
 public:
  RunTranslator(Form form, std::string_view source) : Translator(form), source_(source) {}

  Fault translate(std::string_view document, EventLines& out) override;

 private:
  [[nodiscard]] std::string_view messages_key() const {
    return form() == Form::kTauBench ? "traj" : "messages";
  }
  [[nodiscard]] bool is_message_list(std::string_view document) const;
  bool read_run();
  bool read_member(std::string_view key, RunFacts& run);
  bool read_messages(RunFacts& run);
  bool read_message(RunFacts& run);
  bool read_call(RunFacts& run);
  bool read_function(Token& name);
  bool read_name(Token& name);
  bool read_token(Token& out);
  void write(const RunFacts& run);
  [[nodiscard]] std::string run_id(const RunFacts& run) const;
  [[nodiscard]] std::string case_id(const RunFacts& run) const;

  std::string source_;
  JsonCursor cursor_;
  EventLines* out_ = nullptr;
  std::uint64_t runs_ = 0;  ///< of the file, so far
};

Fault RunTranslator::translate(std::string_view document, EventLines& out) {
  out_ = &out;
  const bool is_list = is_message_list(document);
  cursor_.start(document);
  bool is_read = false;
  if (is_list) {
    RunFacts run;
    run.place = cursor_.place();
    is_read = read_messages(run) && cursor_.end();
    write(run);
  } else if (cursor_.is_at('[')) {
    is_read = cursor_.array([&] { return read_run(); }) && cursor_.end();
  } else {
    is_read = read_run() && cursor_.end();
  }
  return is_read ? Fault{} : Fault{cursor_.fault(), cursor_.fault_at()};
}

// Whether the document is one run's messages and nothing else.
bool RunTranslator::is_message_list(std::string_view document) const {
  JsonCursor probe;
  probe.start(document);
  bool has_role = false;
  if (!probe.is_at('[')) return false;
  probe.array([&] {
    probe.object([&](std::string_view key) {
      has_role = has_role || key == "role";
      return !has_role && probe.skip();
    });
    return false;  // the first element tells
  });
  return has_role;
}

bool RunTranslator::read_run() {
  RunFacts run;
  run.place = cursor_.place();
  const bool is_read = cursor_.object([&](std::string_view key) { return read_member(key, run); });
  write(run);  // of a run that is cut short, what there is
  if (!is_read) return false;
  return run.has_messages ||
         cursor_.fail(run.place,
                      form() == Form::kTauBench
                          ? "a run without its messages: they are an object's member `traj`"
                          : "a run without its messages: they are an object's member `messages`");
}

bool RunTranslator::read_member(std::string_view key, RunFacts& run) {
  if (key == messages_key()) return read_messages(run);
  if (key == "run_id") return read_token(run.run_id);
  if (key == "case_id") return read_token(run.case_id);
  if (key == "id") return read_token(run.id);
  if (key == "task_id") return read_token(run.task_id);
  if (key == "trial") return read_token(run.trial);
  if (key == "suite_name") return read_token(run.suite);
  if (key == "user_task_id") return read_token(run.user_task);
  if (key == "injection_task_id") return read_token(run.injection_task);
  return cursor_.skip();
}

// A string or number; anything else says nothing.
bool RunTranslator::read_token(Token& out) {
  if (cursor_.is_at('"')) {
    out.kind = Kind::kText;
    return cursor_.string(out.text);
  }
  if (cursor_.is_at('{') || cursor_.is_at('[')) return cursor_.skip();
  if (!cursor_.scalar(out.text)) return false;
  const bool is_number =
      out.text.front() == '-' || (out.text.front() >= '0' && out.text.front() <= '9');
  out.kind = is_number ? Kind::kBare : Kind::kNull;
  return true;
}

bool RunTranslator::read_messages(RunFacts& run) {
  run.has_messages = true;
  return cursor_.array([&] { return read_message(run); });
}

bool RunTranslator::read_message(RunFacts& run) {
  return cursor_.object([&](std::string_view key) {
    // Calls of another shape than is known are a fault: passed over, nobody would miss them.
    if (key != "tool_calls" && key != "function_call") return cursor_.skip();
    if (cursor_.is_at('n')) return cursor_.skip();
    if (key == "tool_calls") return cursor_.array([&] { return read_call(run); });
    ToolCall call;  // the form before tool_calls
    call.place = cursor_.place();
    const bool is_read = read_function(call.name);
    run.calls.push_back(call);
    return is_read;
  });
}

bool RunTranslator::read_call(RunFacts& run) {
  ToolCall call;
  call.place = cursor_.place();
  const bool is_read = cursor_.object([&](std::string_view key) {
    if (key != "function") return cursor_.skip();
    return cursor_.is_at('{') ? read_function(call.name) : read_name(call.name);
  });
  run.calls.push_back(call);
  return is_read;
}

bool RunTranslator::read_function(Token& name) {
  return cursor_.object(
      [&](std::string_view key) { return key == "name" ? read_name(name) : cursor_.skip(); });
}

// A tool's name. Of a call that has two nobody knows which tool it asked for.
bool RunTranslator::read_name(Token& name) {
  const bool is_first = name.kind == Kind::kAbsent;
  if (!read_token(name)) return false;
  if (!is_first || name.kind == Kind::kAbsent) name = {Kind::kOther};
  return true;
}

std::string RunTranslator::run_id(const RunFacts& run) const {
  std::string out = source_ + "/";
  if (is_given(run.run_id)) return out + std::string(run.run_id.text);
  if (form() == Form::kTauBench && is_given(run.task_id)) {
    out.append("task-").append(run.task_id.text);
    if (is_given(run.trial)) out.append("/trial-").append(run.trial.text);
    return out;
  }
  if (is_given(run.id)) return out + std::string(run.id.text);
  return out + "run-" + std::to_string(runs_);
}

std::string RunTranslator::case_id(const RunFacts& run) const {
  if (is_given(run.case_id)) return std::string(run.case_id.text);
  if (form() == Form::kTauBench && is_given(run.task_id)) {
    return "task-" + std::string(run.task_id.text);
  }
  if (form() != Form::kAgentDojo || !is_given(run.user_task)) return {};
  std::string out;
  if (is_given(run.suite)) out.append(run.suite.text).append(1, '/');
  out.append(run.user_task.text);
  if (is_given(run.injection_task)) out.append(1, '/').append(run.injection_task.text);
  return out;
}

void RunTranslator::write(const RunFacts& run) {
  ++runs_;
  note_record();
  const std::string id = run_id(run);
  const std::string of_case = case_id(run);
  std::size_t number = 0;
  for (const ToolCall& call : run.calls) {
    note_request_only();
    std::string& line = out_->open(call.place);
    line += R"({"event":"tool.request")";
    const std::string invocation = id + "/" + std::to_string(++number);
    append_member("invocation_id", {Kind::kText, invocation}, line);
    append_member("run_id", {Kind::kText, id}, line);
    if (!of_case.empty()) append_member("case_id", {Kind::kText, of_case}, line);
    if (call.name.kind != Kind::kAbsent) append_member("tool", call.name, line);
    line += '}';
    out_->close();
  }
}

}  // namespace

std::unique_ptr<Translator> make_run_translator(Form form, std::string_view source) {
  return std::make_unique<RunTranslator>(form, source);
}

}  // namespace remit::trace
