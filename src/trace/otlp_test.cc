// OpenTelemetry's JSON in every form, and what may not be read into it.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <string>
#include <vector>

#include "tests/support/read_events.h"

namespace remit::trace {
namespace {

using Strings = std::vector<std::string>;
using testing::read_events;

/// Without their offsets.
Strings lines_of(const std::string& text, Form form = Form::kAuto) {
  Strings out = read_events(text, form);
  for (std::string& line : out) line.erase(0, line.find(' ') + 1);
  return out;
}

std::string text_attribute(std::string_view key, std::string_view value) {
  return fmt::format(R"({{"key":"{}","value":{{"stringValue":"{}"}}}})", key, value);
}

std::string spans(std::string_view list) {
  return fmt::format(R"({{"resourceSpans":[{{"scopeSpans":[{{"spans":[{}]}}]}}]}})", list);
}

std::string span(std::string_view attributes, std::string_view more = "") {
  return fmt::format(
      R"({{"traceId":"0AF7651916CD43DD8448EB211C80319C","spanId":"b7ad6b7169203331","name":"x",)"
      R"("startTimeUnixNano":"1700000000000000042"{},"attributes":[{}]}})",
      more, attributes);
}

std::string log_record(std::string_view attributes, std::string_view more = "") {
  return fmt::format(
      R"({{"resourceLogs":[{{"scopeLogs":[{{"logRecords":[{{"body":{{"stringValue":"x"}},)"
      R"("attributes":[{}]{}}}]}}]}}]}})",
      attributes, more);
}

const std::string kDecision =
    R"({"event":"authorization.decision","invocation_id":"i1","writer":"w","tool":"t",)"
    R"("resource_id":null,"decision":"deny","reason":"forbidden","policy_version":"v\"1",)"
    R"("seq":7,"enforced":true,"further_resources":["A:1","B:\\2"]})";

std::string decision_attributes() {
  return text_attribute("remit.policy_version", R"(v\"1)") + "," +
         R"({"value":{"intValue":"7"},"key":"remit.seq"},)" +
         R"({"key":"remit.resource_id","value":{}},)" +
         R"({"key":"remit.enforced","value":{"boolValue":true}},)" +
         text_attribute("remit.event", "authorization.decision") + "," +
         text_attribute("remit.decision", "deny") + "," +
         text_attribute("remit.reason", "forbidden") + "," + text_attribute("remit.tool", "t") +
         "," + text_attribute("remit.invocation_id", "i1") + "," +
         text_attribute("remit.writer", "w") + "," + text_attribute("service.name", "ignored") +
         "," + R"({"key":"remit.further_resources","value":{"arrayValue":{"values":[)" +
         R"({"stringValue":"A:1"},{"stringValue":"B:\\2"}]}}})";
}

TEST(Otlp, ReadsOurAttributesWholeWhereverTheyStand) {  // REQ-IN-040, REQ-IN-041
  EXPECT_EQ(lines_of(log_record(decision_attributes())), Strings{kDecision});
  EXPECT_EQ(lines_of(spans(span(decision_attributes()))), Strings{kDecision});
  EXPECT_EQ(lines_of(spans(span(
                "", R"(,"events":[{"name":"e","attributes":[)" + decision_attributes() + "]}]"))),
            Strings{kDecision});
}

TEST(Otlp, GivesTheSameBytesAsTheLogItself) {  // REQ-IN-041: so that a repeat is known as one
  testing::MemoryFile file(log_record(decision_attributes()));
  PosixFileSystem files;
  const Input input = Input::of_stream(
      "-", std::make_unique<testing::MemoryFile>(log_record(decision_attributes())));
  event::Decoder decoder;
  EventReader reader(files, input, decoder);
  ASSERT_EQ(reader.next().value(), Item::kSource);
  ASSERT_EQ(reader.next().value(), Item::kEvent);
  EXPECT_EQ(reader.line().text, kDecision);
}

struct AttributeCase {
  const char* name;
  std::string attributes;
  std::string seen;
};

TEST(Otlp, JudgesOurAttributesByTheContract) {  // REQ-IN-042
  const std::string request = text_attribute("remit.event", "tool.request") + "," +
                              text_attribute("remit.invocation_id", "i1");
  const AttributeCase cases[] = {
      {"unknown event", text_attribute("remit.event", "tool.requested"),
       "event: is not the name of an event"},
      {"no id", text_attribute("remit.event", "tool.request"), "invocation_id: is missing"},
      {"seq as text", request + "," + text_attribute("remit.seq", "7"), "seq: is not an integer"},
      {"seq as fraction", request + R"(,{"key":"remit.seq","value":{"doubleValue":7.0}})",
       "seq: is not an integer of at most 2^53 - 1"},
      {"integer as text", request + R"(,{"key":"remit.tool","value":{"intValue":"7"}})",
       "tool: is not a string"},
      {"null text", request + R"(,{"key":"remit.tool","value":{}})", "tool: is not a string"},
      {"twice",
       request + "," + text_attribute("remit.tool", "a") + "," + text_attribute("remit.tool", "b"),
       "tool: is given twice"},
      {"event twice", request + "," + text_attribute("remit.event", "tool.request"),
       "event: is given twice"},
      {"list of numbers",
       request +
           R"(,{"key":"remit.further_resources","value":{"arrayValue":{"values":[{"intValue":1}]}}})",
       "further_resources: is not a list of strings"},
      {"list for text",
       request + R"(,{"key":"remit.tool","value":{"arrayValue":{"values":[{"stringValue":"a"}]}}})",
       "tool: is not a string"},
      {"bytes", request + R"(,{"key":"remit.tool","value":{"bytesValue":"YQ=="}})",
       "tool: is not a string"},
      {"outside the closed set", request + "," + text_attribute("remit.mode", "maybe"),
       "mode: is none of its closed set"},
      {"bad escape", request + "," + text_attribute("remit.tool", "\\q"), "an unknown escape"},
  };
  for (const AttributeCase& one : cases) {
    const Strings seen = read_events(log_record(one.attributes));
    ASSERT_EQ(seen.size(), 1U) << one.name;
    EXPECT_EQ(seen[0], "46! " + one.seen) << one.name;  // the record's own place
  }
  EXPECT_EQ(lines_of(log_record(request + "," + text_attribute("remit.unheard_of", "x"))),
            Strings{R"({"event":"tool.request","invocation_id":"i1"})"});
}

TEST(Otlp, ReadsToolCallsOfTheConventionsAsRequestsAndNoMore) {  // REQ-IN-033, REQ-IN-044
  const std::string lost =
      R"({"event":"evidence.lost","cause":"a record of requests only","events":-1})";
  const std::string ids =
      R"("trace_id":"0af7651916cd43dd8448eb211c80319c","span_id":"b7ad6b7169203331"})";
  const std::string time = R"("time":"2023-11-14T22:13:20.000000042Z",)";
  const std::string tool = text_attribute("gen_ai.operation.name", "execute_tool") + "," +
                           text_attribute("gen_ai.tool.name", "refund");
  EXPECT_EQ(lines_of(spans(span(tool + "," + text_attribute("gen_ai.tool.call.id", "call_1") + "," +
                                    text_attribute("gen_ai.conversation.id", "c"),
                                R"(,"status":{"code":2,"message":"denied"})"))),
            (Strings{R"({"event":"tool.request","invocation_id":"call_1",)" + time +
                         R"("run_id":"c","tool":"refund",)" + ids,
                     lost}));
  EXPECT_EQ(lines_of(spans(span(text_attribute("mcp.method.name", "tools/call") + "," +
                                text_attribute("gen_ai.tool.name", "refund")))),
            (Strings{R"({"event":"tool.request","invocation_id":)"
                     R"("0af7651916cd43dd8448eb211c80319c/b7ad6b7169203331",)" +
                         time + R"("tool":"refund",)" + ids,
                     lost}));
  EXPECT_EQ(lines_of(spans(span(text_attribute("mcp.method.name", "tools/list")))), Strings{});
  EXPECT_EQ(lines_of(spans(span(text_attribute("gen_ai.operation.name", "chat")))), Strings{});
  EXPECT_EQ(lines_of(spans(span(tool + "," + text_attribute("remit.event", "x.mine")))),
            Strings{R"({"event":"x."})"})
      << "a span that is an event of ours is that and nothing else";
}

TEST(Otlp, CountsOneCallOnceThoughThreeSpansSayIt) {  // REQ-IN-045
  const auto tool_span = [](const char* id, const char* parent, const char* key,
                            const char* value) {
    return fmt::format(R"({{"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"{}",)"
                       R"("parentSpanId":"{}","attributes":[{}]}})",
                       id, parent, text_attribute(key, value));
  };
  const auto message = [&](const char* id, const char* parent) {
    return tool_span(id, parent, "mcp.method.name", "tools/call");
  };
  const std::string server = message("cccccccccccccccc", "bbbbbbbbbbbbbbbb");
  const std::string client = message("bbbbbbbbbbbbbbbb", "aaaaaaaaaaaaaaaa");
  const std::string agent =
      tool_span("aaaaaaaaaaaaaaaa", "", "gen_ai.operation.name", "execute_tool");
  const auto count = [&](const std::string& list) {
    return read_events(spans(list)).size() - 1;  // without the loss at the end
  };
  EXPECT_EQ(count(server + "," + client + "," + agent), 1U);
  EXPECT_EQ(count(agent + "," + client + "," + server), 1U);
  EXPECT_EQ(count(server + "," + client), 1U);
  EXPECT_EQ(count(server), 1U);
  EXPECT_EQ(count(agent + "," + agent), 2U);
  EXPECT_EQ(count(message("bbbbbbbbbbbbbbbb", "cccccccccccccccc") + "," + server), 2U)
      << "a circle hides nothing";
}

TEST(Otlp, TellsWhatExportersDropped) {  // REQ-IN-046
  const std::string request = text_attribute("remit.event", "tool.request") + "," +
                              text_attribute("remit.invocation_id", "i1");
  const std::string event = R"({"event":"tool.request","invocation_id":"i1"})";
  const auto lost = [](const char* what, const char* writer = "") {
    return fmt::format(
        R"({{"event":"evidence.lost",{}"cause":"dropped by the exporter: {}","events":-1}})",
        writer, what);
  };
  EXPECT_EQ(lines_of(log_record(request, R"(,"droppedAttributesCount":3)")),
            (Strings{lost("3 attributes"), event}));
  EXPECT_EQ(lines_of(log_record(request + "," + text_attribute("remit.writer", "w"),
                                R"(,"droppedAttributesCount":3)"))[0],
            lost("3 attributes", R"("writer":"w",)"));
  EXPECT_EQ(lines_of(spans(span("", R"(,"droppedEventsCount":"2","droppedLinksCount":1)"))),
            Strings{lost("2 events, 1 links")});
  EXPECT_EQ(
      lines_of(R"({"resourceSpans":[{"resource":{"droppedAttributesCount":1},"scopeSpans":)"
               R"([{"scope":{"droppedAttributesCount":4},"droppedSpansCount":0,"spans":[]}]}]})"),
      Strings{lost("5 attributes")});
  EXPECT_EQ(lines_of(log_record(request, R"(,"droppedAttributesCount":0)")), Strings{event});
  EXPECT_EQ(lines_of(log_record(request, R"(,"droppedAttributesCount":-1)"))[0],
            "a dropped count that is no count");
  EXPECT_EQ(lines_of(R"({"data":[{"spans":[{"tags":[{"key":"otel.dropped_events_count",)"
                     R"("type":"int64","value":2}]}]}]})"),
            Strings{lost("2 events")});
}

TEST(Otlp, TakesTempoAndJaegerForms) {  // REQ-IN-043
  const std::string event = R"({"event":"tool.request","invocation_id":"i1","seq":1,)"
                            R"("determining_policies":["a","b\"c"]})";
  const std::string tags =
      R"([{"key":"remit.event","type":"string","value":"tool.request"},)"
      R"({"key":"remit.invocation_id","type":"string","value":"i1"},)"
      R"({"key":"remit.seq","type":"int64","value":1},)"
      R"({"key":"remit.determining_policies","type":"string","value":"[\"a\",\"b\\\"c\"]"}])";
  EXPECT_EQ(
      lines_of(R"({"data":[{"traceID":"x","processes":{},"warnings":null,"spans":[{"tags":null,)"
               R"("logs":[{"timestamp":1,"fields":)" +
               tags + "}]}]}],\"errors\":null}"),
      Strings{event});
  const std::string request = text_attribute("remit.event", "tool.request") + "," +
                              text_attribute("remit.invocation_id", "i1");
  const std::string own = R"({"event":"tool.request","invocation_id":"i1"})";
  EXPECT_EQ(lines_of(R"({"batches":[{"instrumentationLibrarySpans":[{"spans":[)" + span(request) +
                     "]}]}]}"),
            Strings{own});
  EXPECT_EQ(lines_of("{\"trace\":" + spans(span(request)) + "}"), Strings{own});
  EXPECT_EQ(lines_of("[" + spans(span(request)) + "," + spans(span(request)) + "]"),
            (Strings{own, own}));
}

TEST(Otlp, ReadsLinesAndPrettyPrintedDocumentsAlike) {  // REQ-IN-032
  const std::string line = log_record(text_attribute("remit.event", "tool.request") + "," +
                                      text_attribute("remit.invocation_id", "i1"));
  const std::string event = R"( {"event":"tool.request","invocation_id":"i1"})";
  const std::string second = std::to_string(line.size() + 2 + 46) + event;
  EXPECT_EQ(read_events(line + "\n\n" + line), (Strings{"46" + event, second}));
  EXPECT_EQ(read_events(line + "\n{\"resourceLogs\":[}\n" + line),
            (Strings{"46" + event, std::to_string(line.size() + 18) + "! expected an object",
                     std::to_string(line.size() + 20 + 46) + event}));
  std::string pretty;
  for (const char c : line)
    pretty += c == ':' || c == ',' || c == '{' ? std::string{c} + "\n " : std::string{c};
  EXPECT_EQ(lines_of(pretty), Strings{event.substr(1)});
  for (const std::size_t piece : {1U, 3U, 1000U}) {
    EXPECT_EQ(read_events(pretty, Form::kAuto, "x", piece), read_events(pretty)) << piece;
  }
}

TEST(Otlp, EveryCutIsToldAtItsPlace) {  // REQ-IN-002
  const std::string text = log_record(decision_attributes());
  for (std::size_t size = 30; size < text.size(); ++size) {
    const Strings seen = read_events(text.substr(0, size), Form::kOtlp);
    ASSERT_FALSE(seen.empty());
    EXPECT_EQ(seen.back(), std::to_string(size) + "! the document is cut short");
  }
}

struct HostileCase {
  const char* text;
  const char* seen;
};

TEST(Otlp, RefusesWhatIsNoJsonWithItsPlace) {  // REQ-IN-002
  const HostileCase cases[] = {
      {R"({"a":tru,"resourceSpans":[]})", "5! expected a value"},
      {R"({"a":01,"resourceSpans":[]})", "5! a number with a leading zero"},
      {R"({"a":[1 2],"resourceSpans":[]})", "8! expected `,` or `]`"},
      {R"({"a":[1},"resourceSpans":[]})", "7! expected `,` or `]`"},
      {R"({"a":{"b":1,},"resourceSpans":[]})", "12! expected a string"},
      {R"({"a":{1:1},"resourceSpans":[]})", "6! expected a string"},
      {R"({"resourceSpans":[],})", "20! expected a string"},
      {R"({"resourceSpans":[]} x)", "21! text behind the end of the document"},
      {R"({"resourceSpans":{}})", "17! expected an array"},
      {R"({"resourceSpans":[[]]})", "18! expected an object"},
      {"{\"a\":\"\x01\",\"resourceSpans\":[]}", "6! a control character in a string"},
      {"{\"a\":\"\xff\",\"resourceSpans\":[]}", "6! invalid UTF-8"},
      {R"({"spans":[]})", "0! is no OTLP, Tempo or Jaeger document"},
      {"17", "0! expected an object"},
  };
  for (const HostileCase& one : cases) {
    EXPECT_EQ(read_events(one.text, Form::kOtlp), Strings{one.seen}) << one.text;
  }
  const std::string deep = "{\"a\":" + std::string(100'000, '[');
  EXPECT_EQ(read_events(deep, Form::kOtlp), Strings{"69! more than 64 levels of nesting"});
}

TEST(Otlp, PassesOverStringsOfEveryLengthAtEveryWindow) {
  const std::string event = R"({"event":"tool.request","invocation_id":"i1"})";
  const std::string request = text_attribute("remit.event", "tool.request") + "," +
                              text_attribute("remit.invocation_id", "i1");
  for (std::size_t length = 32'500; length < 32'900; ++length) {
    for (const char* filler : {"x", "\\\\", "\\\"", "\xc3\xa9"}) {
      std::string text = "{\"a\":\"";
      while (text.size() < length) text += filler;
      text += "\",\"resourceSpans\":" + spans(span(request)).substr(17);
      ASSERT_EQ(lines_of(text, Form::kOtlp), Strings{event}) << length << " " << filler;
    }
  }
}

}  // namespace
}  // namespace remit::trace
