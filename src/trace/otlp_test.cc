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
       "event: is not the name of an event; did you mean tool.request?"},
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
       "mode: is none of enforce, shadow"},
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

TEST(Otlp, TextIsAListInJaegersFormOnlyAndOnlyWhereItIsOne) {  // REQ-IN-041, REQ-IN-042
  const std::string no_list = "further_resources: is not a list of strings";
  const auto event = [](std::string_view list) {
    return fmt::format(R"({{"event":"tool.request","invocation_id":"i1","further_resources":{}}})",
                       list);
  };
  const struct {
    const char* text;  ///< as it stands in the document
    std::string seen;
  } cases[] = {
      {R"([\"a\"])", event(R"(["a"])")},
      {R"( [ \"a\" , \"b\\\"c\" ] )", event(R"(["a","b\"c"])")},
      {R"([\u0022a\u0022,\"\ud83d\ude00\"])", event("[\"a\",\"\xf0\x9f\x98\x80\"]")},
      {R"([\"\\u0061\"])", event(R"(["a"])")},
      {R"([\"a\"],\"decision\":\"allow\",\"reason\":\"allowed\")", no_list},
      {R"([\"a\"]})", no_list},
      {R"([\"a\"]}\n{\"event\":\"executor.start\"})", no_list},
      {R"([\"a\",])", no_list},
      {R"([\"a\")", no_list},
      {R"([\"a)", no_list},
      {R"([\"a\u005c\"])", no_list},
      {R"([1])", no_list},
      {R"([null])", no_list},
      {R"([[\"a\"]])", no_list},
      {R"([{\"a\":\"b\"}])", no_list},
      {R"(\"a\")", no_list},
      {R"(null)", no_list},
      {R"(a)", no_list},
      {R"()", no_list},
      {R"([\"\n\"])", no_list},
      {R"([\"\ud83d\"])", no_list},
      {R"([\"\q\"])", no_list},
  };
  const std::string more = R"({"key":"remit.event","value":"tool.request"},)"
                           R"({"key":"remit.invocation_id","value":"i1"})";
  for (const auto& one : cases) {
    const std::string tags =
        more + fmt::format(R"(,{{"key":"remit.further_resources","value":"{}"}})", one.text);
    EXPECT_EQ(lines_of(R"({"data":[{"spans":[{"tags":[)" + tags + "]}]}]}"), Strings{one.seen})
        << one.text;
    const std::string attributes = text_attribute("remit.event", "tool.request") + "," +
                                   text_attribute("remit.invocation_id", "i1") + "," +
                                   text_attribute("remit.further_resources", one.text);
    EXPECT_EQ(lines_of(log_record(attributes)).size(), 1U) << one.text;
    EXPECT_FALSE(lines_of(log_record(attributes))[0].starts_with("{")) << one.text;
  }
}

TEST(Otlp, LosesNoRecordWhateverItsAttributesLookLike) {  // REQ-IN-034, REQ-IN-042, REQ-IN-046
  const std::string id = "," + text_attribute("remit.invocation_id", "i1");
  const std::string request = text_attribute("remit.event", "tool.request") + id;
  const std::string event = R"({"event":"tool.request","invocation_id":"i1"})";
  const std::string list = R"(,{"key":"remit.further_resources","value":)";
  const std::string no_list = "further_resources: is not a list of strings";
  const std::string two = "an attribute that says two things";
  const std::string no_count = "a dropped count that is no count";
  const AttributeCase cases[] = {
      {"no value", R"({"key":"remit.event"})" + id, "event: is not a string"},
      {"null value", R"({"key":"remit.event","value":null})" + id, "event: is not a string"},
      {"empty value", R"({"key":"remit.event","value":{}})" + id, "event: is not a string"},
      {"object value", R"({"key":"remit.event","value":{"kvlistValue":{}}})" + id,
       "event: is not a string"},
      {"list value", R"({"key":"remit.event","value":["a"]})" + id, "event: is not a string"},
      {"a field without value", request + R"(,{"key":"remit.tool"})", "tool: is not a string"},
      {"an object for a number", request + R"(,{"key":"remit.seq","value":{"intValue":{}}})",
       "seq: is not an integer"},
      {"key with an escape", text_attribute("remit\\u002eevent", "tool.request") + id, event},
      {"member with an escape",
       R"({"\u006bey":"remit.event","v\u0061lue":{"string\u0056alue":"tool.request"}})" + id,
       event},
      {"key with a wrong escape", text_attribute("remit\\xevent", "tool.request") + id,
       "an unknown escape or a lone surrogate"},
      {"key with half a character", text_attribute("\\ud800", "x") + "," + request,
       "an unknown escape or a lone surrogate"},
      {"key with a cut escape", text_attribute("\\u00", "x") + "," + request,
       "an unknown escape or a lone surrogate"},
      {"two keys",
       R"({"key":"remit.event","key":"other","value":{"stringValue":"tool.request"}})" + id, two},
      {"two values",
       R"({"key":"remit.event","value":{"stringValue":"tool.request"},"value":{}})" + id, two},
      {"two kinds of value",
       R"({"key":"remit.event","value":{"stringValue":"tool.request","intValue":1}})" + id, two},
      {"null beside the value",
       R"({"key":"remit.event","value":{"stringValue":"tool.request","intValue":null}})" + id,
       event},
      {"key that is no string", R"({"key":7},)" + request, "expected a string"},
      {"list with an empty element",
       request + list + R"({"arrayValue":{"values":[{"stringValue":"a"},{}]}}})", no_list},
      {"list with two kinds in an element",
       request + list + R"({"arrayValue":{"values":[{"stringValue":"a","intValue":1}]}}})",
       no_list},
      {"list with two texts in an element",
       request + list + R"({"arrayValue":{"values":[{"stringValue":"a","stringValue":"b"}]}}})",
       no_list},
      {"list with a bare element", request + list + R"({"arrayValue":{"values":["a"]}}})", no_list},
      {"two lists",
       request + list + R"({"arrayValue":{"values":[],"values":[{"stringValue":"a"}]}}})", no_list},
      {"list that is text", request + list + R"({"stringValue":"[\"a\"]"}})", no_list},
      {"dropped many", request + "," + text_attribute("otel.dropped_events_count", "many"),
       no_count},
      {"dropped one and more", request + "," + text_attribute("otel.dropped_events_count", "1e3"),
       no_count},
      {"dropped less than none",
       request + R"(,{"key":"otel.dropped_events_count","value":{"intValue":-1}})", no_count},
      {"dropped without value", request + R"(,{"key":"otel.dropped_events_count"})", no_count},
  };
  for (const AttributeCase& one : cases) {
    EXPECT_EQ(lines_of(log_record(one.attributes)), Strings{one.seen}) << one.name;
    EXPECT_EQ(lines_of(spans(span(one.attributes))), Strings{one.seen}) << one.name;
  }
  EXPECT_EQ(lines_of(R"({"resourceLogs":[{"scopeLogs":[{"logRecords":[{"attributes":{}}]}]}]})"),
            Strings{"expected an array"});
  EXPECT_EQ(lines_of(R"({"resourceLogs":[{"scopeL\u006fgs":[{"logRecords":[{"attributes":[)" +
                     request + "]}]}]}]}"),
            Strings{event});
}

TEST(Otlp, RequestsByConventionDoNotHide) {  // REQ-IN-034, REQ-IN-044
  const std::string run = text_attribute("gen_ai.operation.name", "execute_tool");
  const std::string tool = text_attribute("gen_ai.tool.name", "refund");
  const auto seen = [](const std::string& attributes) {
    const Strings lines = lines_of(spans(span(attributes)));
    if (lines.empty()) return std::string();
    return lines[0].find(R"("tool":"refund")") != std::string::npos ? "refund" : lines[0];
  };
  const AttributeCase cases[] = {
      {"plain", run + "," + tool, "refund"},
      {"escaped", text_attribute("gen_ai.operation.name", "execute\\u005ftool") + "," + tool,
       "refund"},
      {"escaped key", text_attribute("gen_ai.operation\\u002ename", "execute_tool") + "," + tool,
       "refund"},
      {"taken back", run + "," + text_attribute("gen_ai.operation.name", "chat") + "," + tool,
       "refund"},
      {"the same tool twice", run + "," + tool + "," + tool, "refund"},
      {"two tools", run + "," + tool + "," + text_attribute("gen_ai.tool.name", "read"),
       "tool: is not a string"},
      {"tool without value", run + "," + tool + R"(,{"key":"gen_ai.tool.name"})",
       "tool: is not a string"},
      {"two runs",
       run + "," + tool + "," + text_attribute("gen_ai.conversation.id", "a") + "," +
           text_attribute("gen_ai.conversation.id", "b"),
       "run_id: is not a string"},
  };
  for (const AttributeCase& one : cases) EXPECT_EQ(seen(one.attributes), one.seen) << one.name;
}

TEST(Otlp, DropsNoCallThatIsAnother) {  // REQ-IN-045
  struct Span {
    const char* trace;
    const char* id;
    const char* parent;
    const char* tool;
    const char* call;
  };
  const auto written = [](const Span& one, const std::string& what) {
    std::string out = fmt::format(R"({{"attributes":[{})", what);
    if (one.tool != nullptr) out += "," + text_attribute("gen_ai.tool.name", one.tool);
    if (one.call != nullptr) out += "," + text_attribute("gen_ai.tool.call.id", one.call);
    out += "]";
    for (const auto& [name, value] :
         {std::pair{"traceId", one.trace}, {"spanId", one.id}, {"parentSpanId", one.parent}}) {
      if (value != nullptr) out += fmt::format(R"(,"{}":"{}")", name, value);
    }
    return out + "}";
  };
  const char* const trace = "0af7651916cd43dd8448eb211c80319c";
  const char* const other = "1af7651916cd43dd8448eb211c80319c";
  const char* const a = "aaaaaaaaaaaaaaaa";
  const char* const b = "bbbbbbbbbbbbbbbb";
  const struct {
    const char* name;
    Span agent;
    Span message;
    std::size_t calls;
  } cases[] = {
      {"the same", {trace, a, nullptr, "t", "c"}, {trace, b, a, "t", "c"}, 1},
      {"without a tool of its own", {trace, a, nullptr, "t", "c"}, {trace, b, a, nullptr, "c"}, 1},
      {"without a call of its own", {trace, a, nullptr, "t", "c"}, {trace, b, a, "t", nullptr}, 1},
      {"of a call without id", {trace, a, nullptr, "t", nullptr}, {trace, b, a, "t", "c"}, 1},
      {"another tool", {trace, a, nullptr, "t", "c"}, {trace, b, a, "u", "c"}, 2},
      {"another call", {trace, a, nullptr, "t", "c"}, {trace, b, a, "t", "d"}, 2},
      {"the only one with a tool", {trace, a, nullptr, nullptr, "c"}, {trace, b, a, "u", "c"}, 2},
      {"another trace", {trace, a, nullptr, "t", "c"}, {other, b, a, "t", "c"}, 2},
      {"no trace", {nullptr, a, nullptr, "t", "c"}, {nullptr, b, a, "t", "c"}, 2},
      {"no ids", {trace, nullptr, nullptr, "t", "c"}, {trace, nullptr, nullptr, "t", "d"}, 2},
      {"no parent", {trace, nullptr, nullptr, "t", "c"}, {trace, b, nullptr, "t", "c"}, 2},
      {"empty parent", {trace, "", nullptr, "t", "c"}, {trace, b, "", "t", "c"}, 2},
  };
  for (const auto& one : cases) {
    const std::string agent =
        written(one.agent, text_attribute("gen_ai.operation.name", "execute_tool"));
    const std::string message =
        written(one.message, text_attribute("mcp.method.name", "tools/call"));
    for (const std::string& list : {agent + "," + message, message + "," + agent}) {
      EXPECT_EQ(read_events(spans(list)).size() - 1, one.calls) << one.name;
    }
  }
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
    for (const char* filler : {"x", "\\\\", "\\\"", "\xc3\xa9", "x\\\\\\n"}) {
      std::string text = "{\"a\":\"";
      while (text.size() < length) text += filler;
      text += "\",\"resourceSpans\":" + spans(span(request)).substr(17);
      ASSERT_EQ(lines_of(text, Form::kOtlp), Strings{event}) << length << " " << filler;
    }
  }
}

// Runs of them are longer than a window, and begin and end anywhere in one.
TEST(Otlp, BackslashesOfAnyNumberMeanWhatTheyMean) {
  const std::string event = R"({"event":"tool.request","invocation_id":"i1"})";
  const std::string rest =
      ",\"resourceSpans\":" + spans(span(text_attribute("remit.event", "tool.request") + "," +
                                         text_attribute("remit.invocation_id", "i1")))
                                  .substr(17);
  for (const std::size_t front : {0U, 1U, 32'760U, 32'761U, 32'767U, 32'768U}) {
    for (const std::size_t count : {32'766U, 32'767U, 32'768U, 98'303U, 98'304U, 98'305U}) {
      const std::string run = std::string(front, 'x') + std::string(count, '\\');
      // An even run leaves the mark behind it a mark, and an odd one does not.
      const std::string mark = count % 2 == 0 ? "\"" : "\"\"";
      ASSERT_EQ(lines_of("{\"a\":\"" + run + mark + rest, Form::kOtlp), Strings{event})
          << front << " " << count;
      ASSERT_NE(lines_of("{\"a\":\"" + run + "\\" + mark + rest, Form::kOtlp), Strings{event})
          << front << " " << count;
    }
  }
  const std::string continued = "{\"a\":\"" + std::string(100'000, '\x80') + "\"" + rest;
  EXPECT_EQ(read_events(continued, Form::kOtlp), Strings{"6! invalid UTF-8"});
  const std::string cut = "{\"a\":\"" + std::string(100'000, '\\');
  EXPECT_EQ(read_events(cut, Form::kOtlp), Strings{"100006! the document is cut short"});
}

}  // namespace
}  // namespace remit::trace
