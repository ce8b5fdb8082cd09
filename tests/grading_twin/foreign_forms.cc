// Writing foreign forms plainly: this code shares nothing with what reads them.
#include "foreign_forms.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sstream>

#include "json/value.h"

namespace remit::twin {
namespace {

using Texts = std::vector<std::string>;

std::string list_of(const Texts& texts) {
  return fmt::format("[{}]", fmt::join(texts, ","));
}

// ---- OpenTelemetry.

std::string strings_text(const json::Array& strings, std::string_view quote) {
  Texts out;
  for (const json::Value& one : strings) {
    out.push_back(fmt::format("{0}{1}{0}", quote, *one.if_string()));
  }
  return list_of(out);
}

std::string attribute(const std::string& key, const json::Value& value, SeededRandom& random) {
  std::string text = "{}";
  if (const auto* string = value.if_string())
    text = fmt::format(R"({{"stringValue":"{}"}})", *string);
  if (const auto* flag = value.if_bool()) text = fmt::format(R"({{"boolValue":{}}})", *flag);
  if (const auto* number = value.if_integer()) {
    const std::string digits = std::to_string(*number);
    const std::string written = random.number(2) == 0 ? digits : "\"" + digits + "\"";
    text = fmt::format(R"({{"intValue":{}}})", written);
  }
  if (const auto* array = value.if_array()) {
    Texts strings;
    for (const json::Value& one : *array) {
      strings.push_back(fmt::format(R"({{"stringValue":"{}"}})", *one.if_string()));
    }
    text = fmt::format(R"({{"arrayValue":{{"values":{}}}}})", list_of(strings));
  }
  return fmt::format(R"({{"key":"remit.{}","value":{}}})", key, text);
}

std::string jaeger_tag(const std::string& key, const json::Value& value) {
  std::string type = "string";
  std::string text;
  if (const auto* string = value.if_string()) text = fmt::format("\"{}\"", *string);
  if (const auto* array = value.if_array()) text = "\"" + strings_text(*array, "\\\"") + "\"";
  if (const auto* flag = value.if_bool()) {
    type = "bool";
    text = *flag ? "true" : "false";
  }
  if (const auto* number = value.if_integer()) {
    type = "int64";
    text = std::to_string(*number);
  }
  return fmt::format(R"({{"key":"remit.{}","type":"{}","value":{}}})", key, type, text);
}

std::string attributes_of(const std::string& line, Telemetry form, SeededRandom& random) {
  const json::Value event = json::parse(line).value();
  Texts out;
  for (const auto& [name, value] : event.if_object()->members()) {
    std::string text =
        form == Telemetry::kJaeger ? jaeger_tag(name, value) : attribute(name, value, random);
    out.insert(out.begin() + static_cast<std::ptrdiff_t>(random.number(out.size() + 1)),
               std::move(text));
  }
  return list_of(out);
}

std::string span_with(const std::string& members) {
  return fmt::format(
      R"({{"traceId":"0AF7651916CD43DD8448EB211C80319C","spanId":"b7ad6b7169203331","name":"x",{}}})",
      members);
}

std::string document_of(const Texts& attributes, Telemetry form) {
  Texts records;
  for (const std::string& list : attributes) {
    if (form == Telemetry::kJaeger) {
      records.push_back(R"({"timestamp":1,"fields":)" + list + "}");
    } else if (form == Telemetry::kSpanEvents) {
      records.push_back(R"({"name":"e","attributes":)" + list + "}");
    } else if (form == Telemetry::kLogRecords) {
      records.push_back(R"({"body":{"stringValue":"x"},"attributes":)" + list + "}");
    } else {
      records.push_back(span_with(R"("attributes":)" + list));
    }
  }
  const std::string all = list_of(records);
  switch (form) {
    case Telemetry::kLogRecords:
      return R"({"resourceLogs":[{"scopeLogs":[{"logRecords":)" + all + "}]}]}";
    case Telemetry::kSpans:
      return R"({"resourceSpans":[{"scopeSpans":[{"spans":)" + all + "}]}]}";
    case Telemetry::kSpanEvents:
      return R"({"resourceSpans":[{"scopeSpans":[{"spans":[)" + span_with(R"("events":)" + all) +
             "]}]}]}";
    case Telemetry::kTempo:
      return R"({"trace":{"resourceSpans":[{"scopeSpans":[{"spans":)" + all + "}]}]}}";
    case Telemetry::kOlderTempo:
      return R"({"batches":[{"instrumentationLibrarySpans":[{"spans":)" + all + "}]}]}";
    case Telemetry::kJaeger:
      return R"({"data":[{"traceID":"x","processes":{},"spans":[{"tags":[],"logs":)" + all +
             "}]}]}";
  }
  return {};
}

// ---- Agent runs.

std::string tool_call(Recording form, const std::string& tool, SeededRandom& random) {
  if (form == Recording::kAgentDojo) {
    return fmt::format(R"({{"function":"{}","args":{{"to":"x"}},"id":"c1"}})", tool);
  }
  const char* const kForms[] = {
      R"({{"id":"c1","type":"function","function":{{"name":"{}","arguments":"{{}}"}}}})",
      R"({{"function":{{"arguments":"{{\"x\":1}}","name":"{}"}}}})"};
  return fmt::format(fmt::runtime(kForms[random.number(2)]), tool);
}

std::string messages_of(Recording form, const Texts& tools, SeededRandom& random) {
  Texts messages = {R"({"role":"user","content":"do it"})"};
  Texts calls;
  const auto flush = [&] {
    messages.push_back(
        fmt::format(R"({{"role":"assistant","content":"","tool_calls":{}}})", list_of(calls)));
    messages.emplace_back(R"({"role":"tool","tool_call_id":"c1","content":"tool_calls"})");
    calls.clear();
  };
  for (const std::string& tool : tools) {
    calls.push_back(tool_call(form, tool, random));
    if (random.number(2) == 0) flush();
  }
  flush();
  return list_of(messages);
}

}  // namespace

NaiveInput as_telemetry(const NaiveInput& lines, Telemetry form, SeededRandom& random) {
  NaiveInput out = lines;
  out.bytes.clear();
  Texts waiting;
  const auto flush = [&] {
    if (!waiting.empty()) out.bytes += document_of(waiting, form) + "\n";
    waiting.clear();
  };
  std::istringstream text(lines.bytes);
  for (std::string line; std::getline(text, line);) {
    waiting.push_back(attributes_of(line, form, random));
    if (random.number(4) == 0) flush();
  }
  flush();
  return out;
}

std::string case_name(Recording form, std::size_t number) {
  if (form == Recording::kAgentDojo) return fmt::format("bank/c{}", number);
  return form == Recording::kTauBench ? fmt::format("task-{}", number) : fmt::format("c{}", number);
}

Recorded random_recording(SeededRandom& random, Recording form, const std::string& stem) {
  Recorded out;
  out.recording.name = out.lines.name = stem + ".json";
  out.lines.has_requests_only = true;
  Texts runs;
  const std::size_t count = 1 + random.number(4);
  for (std::size_t run = 1; run <= count; ++run) {
    Texts tools;
    for (std::uint64_t calls = (run == 1 ? 1 : 0) + random.number(4); calls > 0; --calls) {
      tools.emplace_back(random.number(3) == 0 ? "pay" : "read");
    }
    const std::size_t number = 1 + random.number(2);
    const std::string messages = messages_of(form, tools, random);
    std::string id = fmt::format("run-{}", run);
    if (form == Recording::kOpenAiChat) {
      id = fmt::format("r{}", run);
      runs.push_back(
          fmt::format(R"({{"id":"{}","case_id":"c{}","messages":{}}})", id, number, messages));
    } else if (form == Recording::kAgentDojo) {
      runs.push_back(fmt::format(
          R"({{"suite_name":"bank","user_task_id":"c{}","injection_task_id":null,"messages":{}}})",
          number, messages));
    } else {
      id = fmt::format("task-{}/trial-{}", number, run);
      runs.push_back(
          fmt::format(R"({{"task_id":{},"trial":{},"traj":{}}})", number, run, messages));
    }
    for (std::size_t i = 0; i < tools.size(); ++i) {
      out.lines.bytes += fmt::format(
          R"({{"event":"tool.request","invocation_id":"{0}/{1}/{2}","run_id":"{0}/{1}",)"
          R"("case_id":"{3}","tool":"{4}"}})"
          "\n",
          stem, id, i + 1, case_name(form, number), tools[i]);
    }
  }
  out.lines.bytes += R"({"event":"evidence.lost","cause":"a record of requests only","events":-1})"
                     "\n";
  out.recording.bytes = list_of(runs);
  if (form != Recording::kTauBench && random.number(2) == 0) {
    out.recording.bytes = fmt::format("{}\n", fmt::join(runs, "\n"));
  }
  return out;
}

}  // namespace remit::twin
