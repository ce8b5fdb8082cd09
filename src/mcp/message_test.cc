// Lines of peers, honest and hostile, and what is made of them.
#include "mcp/message.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "mcp/methods.h"
#include "mcp/protocol_key.h"

namespace remit::mcp {
namespace {

// A parse as one line of text, so that tables can be read.
std::string read(std::string_view line, std::size_t max_bytes = kMaxMcpLineBytes) {
  const auto parsed = parse_message(line, max_bytes);
  if (const auto* fault = std::get_if<MessageFault>(&parsed)) {
    return "fault " + std::to_string(fault->code) + (fault->id ? " id " + fault->id->json() : "") +
           (fault->is_limit ? " limit" : "") + (fault->is_response ? " answer" : "") + ": " +
           fault->message;
  }
  const Message& message = std::get<Message>(parsed);
  if (const auto* request = std::get_if<Request>(&message)) {
    return "request " + request->id.json() + " " + request->method + " " +
           json::write(request->params);
  }
  if (const auto* notification = std::get_if<Notification>(&message)) {
    return "notification " + notification->method + " " + json::write(notification->params);
  }
  if (const auto* result = std::get_if<ResultResponse>(&message)) {
    return "result " + result->id.json() + " " + json::write(result->result);
  }
  const auto& error = std::get<ErrorResponse>(message);
  return "error " + (error.id ? error.id->json() : "-") + " " + std::to_string(error.code) + " " +
         error.message + (error.data ? " " + json::write(*error.data) : "");
}

struct Case {
  std::string line;
  std::string expected;
};

TEST(ParseMessageTest, TakesTheFourKinds) {
  const std::vector<Case> cases{
      {R"({"jsonrpc":"2.0","id":1,"method":"ping"})", "request 1 ping {}"},
      {R"({"jsonrpc":"2.0","id":"1","method":"ping","params":{}})", R"(request "1" ping {})"},
      {R"( {"method":"m","params":{"b":[1.5],"a":null},"id":-7,"jsonrpc":"2.0"} )"
       "\r",
       R"(request -7 m {"b":[1.5],"a":null})"},
      {R"({"jsonrpc":"2.0","method":"n"})", "notification n {}"},
      {R"({"jsonrpc":"2.0","id":2,"result":{"x":1}})", R"(result 2 {"x":1})"},
      {R"({"jsonrpc":"2.0","id":2,"error":{"code":-1,"message":"m","data":[1]}})",
       "error 2 -1 m [1]"},
      {R"({"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"m"}})", "error - -1 m"},
      {R"({"jsonrpc":"2.0","error":{"code":-1,"message":"m"}})", "error - -1 m"},
      // What the envelope has beyond the protocol is dropped.
      {R"({"jsonrpc":"2.0","id":1,"method":"ping","extra":{"id":2}})", "request 1 ping {}"},
      {R"({"jsonrpc":"2.0","id":9007199254740991,"method":"m"})", "request 9007199254740991 m {}"},
  };
  for (const Case& test : cases) EXPECT_EQ(read(test.line), test.expected) << test.line;
}

TEST(ParseMessageTest, RefusesWhatIsNoMessage) {
  const std::string long_id(300, 'i');
  const std::vector<Case> cases{
      {"[]", "fault -32600: batches are not part of this protocol"},
      {R"([{"jsonrpc":"2.0","id":1,"method":"ping"}])",
       "fault -32600: batches are not part of this protocol"},
      {"1", "fault -32600: a message is an object"},
      {"{}", R"(fault -32600: jsonrpc must be "2.0")"},
      {R"({"jsonrpc":"1.0","id":4,"method":"m"})", R"(fault -32600 id 4: jsonrpc must be "2.0")"},
      {R"({"jsonrpc":2,"id":4,"result":{}})", R"(fault -32600 id 4 answer: jsonrpc must be "2.0")"},
      {R"({"jsonrpc":"2.0","id":4})",
       "fault -32600 id 4: a message is one of request, notification, result and error"},
      {R"({"jsonrpc":"2.0","id":4,"method":"m","result":{}})",
       "fault -32600 id 4: a message is one of request, notification, result and error"},
      {R"({"jsonrpc":"2.0","id":4,"result":{},"error":{"code":1,"message":""}})",
       "fault -32600 id 4: a message is one of request, notification, result and error"},
      {R"({"jsonrpc":"2.0","id":null,"method":"m"})",
       "fault -32600: an id is text of at most 256 bytes or an integer"},
      {R"({"jsonrpc":"2.0","id":1.5,"method":"m"})",
       "fault -32600: an id is text of at most 256 bytes or an integer"},
      {R"({"jsonrpc":"2.0","id":{},"method":"m"})",
       "fault -32600: an id is text of at most 256 bytes or an integer"},
      {R"({"jsonrpc":"2.0","method":"m","id":")" + long_id + R"("})",
       "fault -32600: an id is text of at most 256 bytes or an integer"},
      {R"({"jsonrpc":"2.0","id":1,"method":7})", "fault -32600 id 1: method must be text"},
      {R"({"jsonrpc":"2.0","id":1,"method":""})", "fault -32600 id 1: a method has 1 to 128 bytes"},
      {R"({"jsonrpc":"2.0","id":1,"method":")" + std::string(129, 'm') + R"("})",
       "fault -32600 id 1: a method has 1 to 128 bytes"},
      {R"({"jsonrpc":"2.0","id":1,"method":"m","params":[]})",
       "fault -32600 id 1: params must be an object"},
      {R"({"jsonrpc":"2.0","id":1,"method":"m","params":null})",
       "fault -32600 id 1: params must be an object"},
      {R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":1}})",
       "fault -32600 id 1: _meta must be an object"},
      {R"({"jsonrpc":"2.0","id":1,"result":[]})",
       "fault -32600 id 1 answer: result must be an object"},
      {R"({"jsonrpc":"2.0","result":{}})",
       "fault -32600 answer: an answer needs the id of its request"},
      {R"({"jsonrpc":"2.0","id":true,"result":{}})",
       "fault -32600 answer: an id is text or an integer"},
      {R"({"jsonrpc":"2.0","id":1,"error":"no"})",
       "fault -32600 id 1 answer: error must be an object"},
      {R"({"jsonrpc":"2.0","id":1,"error":{"code":"1","message":"m"}})",
       "fault -32600 id 1 answer: error needs an integer code and a text message"},
  };
  for (const Case& test : cases) EXPECT_EQ(read(test.line), test.expected) << test.line;
}

TEST(ParseMessageTest, RefusesOtherWritingsOfProtocolKeys) {
  for (const std::string& line : {
           std::string(R"({"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call"})"),
           std::string(R"({"jsonrpc":"2.0","id":1,"METHOD":"ping"})"),
           std::string(R"({"jsonrpc":"2.0","id":1,"ID":2,"method":"ping"})"),
           std::string(
               "{\"j\xC5\xBFonrpc\":\"2.0\",\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}"),
           std::string(R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"name":"a","Name":"b"}})"),
           std::string(R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"ARGUMENTS":{}}})"),
           std::string("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":{"
                       "\"ta\xC5\xBF\xE2\x84\xAA\":{}}}"),
           std::string(R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"_META":{}}})"),
           std::string(
               R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":{"progresstoken":1}}})"),
       }) {
    EXPECT_NE(read(line).find("another writing of a protocol key"), std::string::npos)
        << line << "\n"
        << read(line);
  }
  // Arguments are the tool's: any key may stand there.
  EXPECT_EQ(read(R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"arguments":{"Name":1}}})"),
            R"(request 1 m {"arguments":{"Name":1}})");
}

TEST(ParseMessageTest, RefusesHostileJson) {
  for (const std::string& line : {
           std::string(""),
           std::string("{"),
           std::string(R"({"jsonrpc":"2.0",)"),
           std::string(R"({"jsonrpc":"2.0","id":1,"id":2,"method":"m"})"),
           std::string(R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"a":{"b":1,"b":2}}})"),
           std::string("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}"),
           std::string(R"({"jsonrpc":"2.0","id":1,"method":"\ud800"})"),
           std::string(R"({"jsonrpc":"2.0","id":9007199254740992,"method":"m"})"),
           std::string(R"({"jsonrpc":"2.0","id":1,"method":"m"} trailing)"),
           std::string(R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"x":NaN}})"),
       }) {
    EXPECT_TRUE(read(line).starts_with("fault -32700: byte ")) << line << "\n" << read(line);
  }
  const std::string deep = std::string(100, '[') + std::string(100, ']');
  EXPECT_TRUE(read(R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"x":)" + deep + "}}")
                  .starts_with("fault -32600 limit: byte "));
  EXPECT_TRUE(
      read(R"({"jsonrpc":"2.0","id":1,"method":"ping"})", 10).starts_with("fault -32600 limit"));
}

TEST(WriteTest, WritesOneLineEach) {
  EXPECT_EQ(request_line(RequestId{7}, "ping", ""),
            "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}\n");
  EXPECT_EQ(request_line(RequestId{"a\nb"}, "m", R"({"x":1})"),
            "{\"jsonrpc\":\"2.0\",\"id\":\"a\\nb\",\"method\":\"m\",\"params\":{\"x\":1}}\n");
  EXPECT_EQ(notification_line("n", R"({"x":1})"),
            "{\"jsonrpc\":\"2.0\",\"method\":\"n\",\"params\":{\"x\":1}}\n");
  EXPECT_EQ(result_line(RequestId{7}, "{}"), "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}\n");
  EXPECT_EQ(
      error_line({.id = RequestId{7}, .code = -1, .message = "m", .data = json::Value{1}}),
      "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-1,\"message\":\"m\",\"data\":1}}\n");
  EXPECT_EQ(error_line({.id = std::nullopt, .code = -1, .message = "m"}),
            "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-1,\"message\":\"m\"}}\n");
}

TEST(RevisionTest, NamesAreReadBack) {
  for (const Revision revision : kRevisions) {
    EXPECT_EQ(parse_revision(revision_name(revision)), revision);
  }
  for (const char* other : {"2026-07-28", "2025-03-26", "2024-11-05", "", "2025-11-25 "}) {
    EXPECT_FALSE(parse_revision(other)) << other;
  }
}

TEST(MethodTest, ATableForEachSideAndRevision) {
  const auto has = [](Sender sender, MethodKind kind, std::string_view name, Revision revision) {
    return find_method(sender, kind, name, revision) != nullptr;
  };
  constexpr auto kOld = Revision::k2025_06_18;
  EXPECT_TRUE(has(Sender::kClient, MethodKind::kRequest, "tools/call", kOld));
  EXPECT_FALSE(has(Sender::kServer, MethodKind::kRequest, "tools/call", kOld));
  EXPECT_FALSE(has(Sender::kClient, MethodKind::kNotification, "tools/call", kOld));
  EXPECT_FALSE(has(Sender::kClient, MethodKind::kRequest, "Tools/call", kNewestRevision));
  EXPECT_FALSE(has(Sender::kClient, MethodKind::kRequest, "tasks/get", kOld));
  EXPECT_TRUE(has(Sender::kClient, MethodKind::kRequest, "tasks/get", kNewestRevision));
  EXPECT_FALSE(has(Sender::kClient, MethodKind::kRequest, "server/discover", kNewestRevision));
}

TEST(ResultTest, ShapesAreChecked) {
  struct Shape {
    const char* method;
    const char* result;
    const char* error;
  };
  constexpr const char* kBlock = "content has a block of no known shape";
  const std::vector<Shape> cases{
      {"tools/call", R"({"content":[]})", ""},
      {"tools/call", R"({"content":[{"type":"text","text":"t"}],"isError":true})", ""},
      {"tools/call", R"({"content":[{"type":"image","data":"","mimeType":"image/png"}]})", ""},
      {"tools/call", R"({"content":[{"type":"resource_link","uri":"a:b","name":"n"}]})", ""},
      {"tools/call", R"({"content":[{"type":"resource","resource":{"uri":"a:b","text":""}}]})", ""},
      {"tools/call", R"({})", "content must be a list"},
      {"tools/call", R"({"content":{}})", "content must be a list"},
      {"tools/call", R"({"content":[1]})", kBlock},
      {"tools/call", R"({"content":[{"type":"text"}]})", kBlock},
      {"tools/call", R"({"content":[{"type":"video","data":""}]})", kBlock},
      {"tools/call", R"({"content":[{"type":"resource","resource":{"uri":"a:b"}}]})", kBlock},
      {"tools/call", R"({"content":[],"structuredContent":[]})",
       "structuredContent must be an object"},
      {"tools/call", R"({"content":[],"isError":"yes"})", "isError must be true or false"},
      {"tools/call", R"({"content":[],"_meta":1})", "_meta must be an object"},
      {"tools/list", R"({"tools":[{"name":"a","inputSchema":{"type":"object"}}]})", ""},
      {"tools/list", R"({"tools":[{"inputSchema":{"type":"object"}}]})", "a tool needs a name"},
      {"tools/list", R"({"tools":[{"name":"a"}]})", "a tool needs an inputSchema"},
      {"tools/list", R"({"tools":[{"name":"a","inputSchema":{"type":"array"}}]})",
       "a tool's inputSchema must have the type object"},
      {"tools/list", R"({"tools":[],"nextCursor":1})", "nextCursor must be text"},
      {"initialize",
       R"({"protocolVersion":"1","capabilities":{},"serverInfo":{"name":"a","version":"1"}})", ""},
      {"initialize", R"({"protocolVersion":1,"capabilities":{},"serverInfo":{}})",
       "protocolVersion must be text"},
      {"initialize", R"({"protocolVersion":"1","capabilities":{},"serverInfo":{"name":"a"}})",
       "serverInfo needs a name and a version"},
      {"resources/read", R"({"contents":[{"uri":"a:b","text":""}]})", ""},
      {"resources/read", R"({"contents":{}})", "contents must be a list"},
      {"prompts/get", R"({"messages":[1]})", "messages must hold objects"},
      {"completion/complete", R"({"completion":{"values":[]}})", ""},
      {"completion/complete", R"({"completion":{}})", "completion must have a list of values"},
      {"resources/subscribe", R"({"anything":1})", ""},
  };
  for (const Shape& test : cases) {
    const auto result = json::parse(test.result);
    ASSERT_TRUE(result) << test.result;
    const Status status = check_result(test.method, *result->if_object());
    EXPECT_EQ(status ? "" : status.error().message, test.error) << test.result;
  }
}

}  // namespace
}  // namespace remit::mcp
