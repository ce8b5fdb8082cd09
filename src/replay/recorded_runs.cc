// The three forms of recorded runs, with the arguments of their calls.
#include "replay/recorded_runs.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/limits.h"
#include "json/value.h"
#include "trace/documents.h"
#include "trace/event_lines.h"
#include "trace/form.h"
#include "trace/run_sources.h"
#include "trace/unpacker.h"

namespace remit::replay {
namespace {

using trace::Form;

// A recording is a file of ours to read, not a message of somebody's: its members may be many.
constexpr json::ParseLimits kRunLimits{.max_bytes = kMaxTraceDocumentBytes,
                                       .max_members = std::numeric_limits<std::size_t>::max()};

Error misshapen(const std::string& at, std::string_view what) {
  return {ErrorCode::kInvalidInput, std::string(what), at.empty() ? "the document" : at};
}

// Text or an integer; empty for anything else, which names nothing.
std::string id_at(const json::Value& run, std::string_view key) {
  const json::Value* found = run.find(key);
  if (found == nullptr) return {};
  if (const std::string* text = found->if_string()) return *text;
  if (const std::int64_t* number = found->if_integer()) return std::to_string(*number);
  return {};
}

std::string run_id(Form form, const json::Value& run, const std::string& source,
                   std::size_t number) {
  std::string out = source + "/";
  if (const std::string id = id_at(run, "run_id"); !id.empty()) return out + id;
  if (const std::string task = id_at(run, "task_id"); form == Form::kTauBench && !task.empty()) {
    out += "task-" + task;
    const std::string trial = id_at(run, "trial");
    return trial.empty() ? out : out + "/trial-" + trial;
  }
  if (const std::string id = id_at(run, "id"); !id.empty()) return out + id;
  return out + "run-" + std::to_string(number);
}

std::string case_id(Form form, const json::Value& run) {
  if (std::string id = id_at(run, "case_id"); !id.empty()) return id;
  if (const std::string task = id_at(run, "task_id"); form == Form::kTauBench && !task.empty()) {
    return "task-" + task;
  }
  const std::string user_task = id_at(run, "user_task_id");
  if (form != Form::kAgentDojo || user_task.empty()) return {};
  std::string out;
  if (const std::string suite = id_at(run, "suite_name"); !suite.empty()) out = suite + "/";
  out += user_task;
  const std::string injection = id_at(run, "injection_task_id");
  return injection.empty() ? out : out + "/" + injection;
}

/// Reads the messages of one run.
class CallReader {
 public:
  explicit CallReader(std::vector<RecordedCall>& calls) : calls_(calls) {}

  Status messages(const json::Value& value, const std::string& at) {
    const json::Array* list = value.if_array();
    if (list == nullptr) return misshapen(at, "want a list of messages");
    for (std::size_t i = 0; i < list->size(); ++i) {
      REMIT_TRY(message((*list)[i], at + "/" + std::to_string(i)));
    }
    return {};
  }

 private:
  Status message(const json::Value& value, const std::string& at) {
    if (value.if_object() == nullptr) return misshapen(at, "a message is an object");
    for (const auto& [key, member] : value.if_object()->members()) {
      if (member.is_null()) continue;
      if (key == "tool_calls") REMIT_TRY(calls(member, at));
      if (key != "function_call") continue;  // the form before tool_calls
      if (member.if_object() == nullptr) return misshapen(at + "/function_call", "want an object");
      REMIT_TRY(function(member, nullptr, at + "/function_call"));
    }
    return {};
  }

  Status calls(const json::Value& value, const std::string& at) {
    const json::Array* list = value.if_array();
    if (list == nullptr) return misshapen(at + "/tool_calls", "want a list of calls");
    for (std::size_t i = 0; i < list->size(); ++i) {
      const std::string place = at + "/tool_calls/" + std::to_string(i);
      const json::Value* called = (*list)[i].find("function");
      if (called == nullptr) return misshapen(place, "a call without its `function`");
      REMIT_TRY(function(*called, (*list)[i].find("args"), place + "/function"));
    }
    return {};
  }

  // An object with `name` and `arguments`, or the name itself beside the arguments `args`.
  Status function(const json::Value& value, const json::Value* args, const std::string& at) {
    const bool is_object = value.if_object() != nullptr;
    const json::Value* name = is_object ? value.find("name") : &value;
    if (is_object) args = value.find("arguments");
    if (name == nullptr || name->if_string() == nullptr || name->if_string()->empty()) {
      return misshapen(at, "a call without the name of its tool");
    }
    RecordedCall call{.tool = *name->if_string(), .arguments_json = {}};
    if (args != nullptr && !args->is_null()) {
      const std::string* text = args->if_string();
      call.arguments_json = text != nullptr ? *text : json::write(*args);
    }
    calls_.push_back(std::move(call));
    return {};
  }

  std::vector<RecordedCall>& calls_;
};

/// Reads the documents of one file.
class FileRuns {
 public:
  FileRuns(Form form, std::string source) : form_(form), source_(std::move(source)) {}

  Status add(const json::Value& document) {
    const json::Array* list = document.if_array();
    if (list == nullptr) return add_run(document, "");
    // One run's messages and nothing else.
    if (!list->empty() && list->front().find("role") != nullptr) {
      const json::Object bare{{std::string(messages_key()), document}};
      return add_run(bare, "");
    }
    for (std::size_t i = 0; i < list->size(); ++i) {
      REMIT_TRY(add_run((*list)[i], "/" + std::to_string(i)));
    }
    return {};
  }

  std::vector<RecordedRun> take() { return std::move(runs_); }

 private:
  [[nodiscard]] std::string_view messages_key() const {
    return form_ == Form::kTauBench ? "traj" : "messages";
  }

  Status add_run(const json::Value& value, const std::string& at) {
    const json::Value* messages = value.find(messages_key());
    if (messages == nullptr) {
      return misshapen(at, fmt::format("a run without its messages: they are an object's member "
                                       "`{}`",
                                       messages_key()));
    }
    RecordedRun run{.id = run_id(form_, value, source_, ++number_),
                    .case_id = case_id(form_, value),
                    .calls = {}};
    if (run.id.size() > kMaxIdBytes || run.case_id.size() > kMaxIdBytes) {
      return misshapen(at, fmt::format("an id of a run has at most {} bytes", kMaxIdBytes));
    }
    REMIT_TRY(CallReader(run.calls).messages(*messages, fmt::format("{}/{}", at, messages_key())));
    runs_.push_back(std::move(run));
    return {};
  }

  Form form_;
  std::string source_;
  std::size_t number_ = 0;  // of the run in the file
  std::vector<RecordedRun> runs_;
};

Result<Form> form_of(trace::PeekedFile& peeked, Form stated) {
  if (stated == Form::kAuto) {
    REMIT_TRY_ASSIGN(stated, peeked.recognise());
  } else if (std::optional<Error> misfit = peeked.misfit(stated)) {
    return *std::move(misfit);
  }
  if (stated == Form::kJsonLines || stated == Form::kOtlp) {
    return Error{
        ErrorCode::kInvalidInput,
        fmt::format("is in the form {}, which holds no arguments that could be sent again; "
                    "want recorded agent runs",
                    trace::form_name(stated))};
  }
  return stated;
}

}  // namespace

Result<std::vector<RecordedRun>> read_runs(ReadFile& file, const trace::Input& input) {
  trace::Unpacker text(file);
  trace::PeekedFile peeked(text);
  REMIT_TRY_ASSIGN(const Form form, form_of(peeked, input.form));
  REMIT_TRY_ASSIGN(const trace::Layout layout, peeked.layout());
  trace::DocumentReader documents(peeked, layout, kMaxTraceDocumentBytes);
  FileRuns runs(form, input.run_source.empty()
                          ? trace::id_part(trace::file_stem(input.paths.front()))
                          : input.run_source);
  trace::Document document;
  while (true) {
    REMIT_TRY_ASSIGN(const bool found, documents.next(document));
    if (!found) return runs.take();
    const auto here = [&](Error error) {
      return in_place(fmt::format("line {}", document.number), std::move(error));
    };
    if (document.over_limit) {
      return here({ErrorCode::kLimitExceeded,
                   fmt::format("a document of more than {} bytes", kMaxTraceDocumentBytes)});
    }
    const Result<json::Value> value = json::parse(document.text, kRunLimits);
    if (!value) return here(value.error());
    if (const Status added = runs.add(*value); !added) return here(added.error());
  }
}

Result<std::vector<RecordedRun>> read_runs(FileSystem& files, const trace::Input& input) {
  const std::string& path = input.paths.front();
  REMIT_TRY_ASSIGN(const std::unique_ptr<ReadFile> file, files.open_read(path));
  auto runs = read_runs(*file, input);
  if (!runs) return in_place(path, runs.error());
  return runs;
}

}  // namespace remit::replay
