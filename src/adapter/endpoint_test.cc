// Requests as arguments and back.
#include "adapter/endpoint.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace remit::adapter {
namespace {

EndpointTable table_of(std::vector<Endpoint> endpoints) {
  return EndpointTable::create(std::move(endpoints)).value();
}

http::Request request(const std::string& method, const std::string& target,
                      const std::string& body = "",
                      const std::string& type = "application/json; charset=utf-8") {
  http::Request out;
  out.method = method;
  out.target = target;
  out.body = body;
  if (!body.empty()) out.headers.set("Content-Type", type);
  return out;
}

/// `TOOL ARGUMENTS`, `-` where no endpoint matches, or why there are no arguments.
std::string read(const EndpointTable& table, const http::Request& asked) {
  const EndpointTable::Match match = table.find(asked);
  if (match.endpoint == nullptr) return "-";
  const Result<std::string> arguments = arguments_of(asked, match);
  return arguments ? match.endpoint->tool + " " + *arguments : arguments.error().message;
}

// REQ-BD-120.
TEST(EndpointTable, ReadsArguments) {
  const EndpointTable table = table_of({{"GET", "/", "home"},
                                        {"GET", "/invoices", "list"},
                                        {"GET", "/invoices/{invoice}", "read"},
                                        {"DELETE", "/invoices/{invoice}", "delete"},
                                        {"POST", "/invoices/{invoice}/refund", "refund"},
                                        {"POST", "/move", "move"},
                                        {"GET", "/a/{one}/b/{two}", "pair"}});
  struct {
    http::Request asked;
    const char* said;
  } const rows[] = {
      {request("GET", "/"), "home {}"},
      {request("GET", "/invoices"), "list {}"},
      {request("GET", "/invoices?from=1&to=a%20b+c&e="),
       R"(list {"from":"1","to":"a b c","e":""})"},
      {request("GET", "/invoices/march"), R"(read {"invoice":"march"})"},
      {request("GET", "/invoices/a%2Fb%20c+d?x=y"), R"(read {"invoice":"a/b c+d","x":"y"})"},
      {request("GET", "/a/1/b/%C3%A4"), R"(pair {"one":"1","two":"ä"})"},
      {request("DELETE", "/invoices/march"), R"(delete {"invoice":"march"})"},
      {request("POST", "/invoices/march/refund", R"({"amount":5})"),
       R"(refund {"amount":5,"invoice":"march"})"},
      {request("POST", "/invoices/march/refund"), R"(refund {"invoice":"march"})"},
      {request("POST", "/move", R"( {"from":"a","to":"b"} )"), R"(move  {"from":"a","to":"b"} )"},
      {request("POST", "/move"), "move {}"},
      // What is no object is refused by the boundary, which records it as any other call.
      {request("POST", "/move", "[1]"), "move [1]"},
      {request("POST", "/invoices/march/refund", "[1]"), "refund [1]"},
      {request("POST", "/invoices/march/refund", R"({"a":1,"a":2})"), R"(refund {"a":1,"a":2})"},

      {request("PUT", "/move"), "-"},
      {request("get", "/invoices"), "-"},
      {request("GET", "/Invoices"), "-"},
      {request("GET", "/invoices/"), "-"},
      {request("GET", "//invoices"), "-"},
      {request("GET", "/invoices/march/"), "-"},
      {request("GET", "/invoices/%2e%2E"), "-"},
      {request("GET", "/invoices/."), "-"},
      {request("GET", "/invoices/%ff"), "-"},
      {request("GET", "/invoices/march/refund"), "-"},
      {request("GET", "/%69nvoices"), "-"},

      {request("GET", "/invoices/march?invoice=april"), "an argument is there twice"},
      {request("GET", "/invoices?a=1&a=1"), "an argument is there twice"},
      {request("GET", "/invoices?a=1&%61=2"), "an argument is there twice"},
      {request("POST", "/invoices/march/refund", R"({"invoice":"april"})"),
       "an argument is there twice"},
      {request("GET", "/invoices?a"), "the query is no list of name=value"},
      {request("GET", "/invoices?=a"), "the query is no list of name=value"},
      {request("GET", "/invoices?a=1&&b=2"), "the query is no list of name=value"},
      {request("GET", "/invoices?a=%ff"), "the query is not UTF-8"},
      {request("GET", "/invoices", "{}"), "a body, where the arguments are the query"},
      {request("POST", "/move?from=a", "{}"), "a query, where the arguments are the body"},
      {request("POST", "/move", "{}", "text/plain"),
       "a body that is not of the type application/json"},
      {request("POST", "/move", "a=b", "application/x-www-form-urlencoded"),
       "a body that is not of the type application/json"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(read(table, row.asked), row.said) << row.asked.method << " " << row.asked.target;
  }
  http::Request untyped = request("POST", "/move");
  untyped.body = "{}";
  EXPECT_EQ(read(table, untyped), "a body that is not of the type application/json");
}

TEST(EndpointTable, RefusesWhatCouldBeMistaken) {
  const auto said = [](std::vector<Endpoint> endpoints) {
    const auto table = EndpointTable::create(std::move(endpoints));
    return table ? "made" : table.error().to_string();
  };
  EXPECT_EQ(said({{"GET", "/a/{x}", "t"}, {"POST", "/a/{x}", "t"}, {"GET", "/a", "t"}}), "made");
  EXPECT_EQ(said({{"GET", "/a/{x}", "t"}, {"GET", "/a/b", "u"}}),
            "GET /a/b: a request could mean this and \"/a/{x}\"");
  EXPECT_EQ(said({{"GET", "/{y}/b", "t"}, {"GET", "/a/{x}", "u"}}),
            "GET /a/{x}: a request could mean this and \"/{y}/b\"");
  EXPECT_EQ(said({{"GET", "/{x}/{x}", "t"}}),
            "GET /{x}/{x}: the path has the argument \"x\" twice");
  EXPECT_EQ(said({{"G T", "/", "t"}}), "G T /: the method is no token");
  EXPECT_EQ(said({{"GET", "a", "t"}}), "GET a: a path begins with a slash");
  EXPECT_EQ(said({{"GET", "", "t"}}), "GET : a path begins with a slash");
  for (const char* const path : {"/a//b", "/a/", "/a/../b", "/./a"}) {
    EXPECT_EQ(said({{"GET", path, "t"}}),
              "GET " + std::string(path) + ": the path has a segment that is empty, . or ..");
  }
  for (const char* const path : {"/a?b", "/%61", "/a b", "/{", "/{}", "/a{x}", "/\xc3\xa4"}) {
    EXPECT_EQ(said({{"GET", path, "t"}}),
              "GET " + std::string(path) + ": the path has a character that must be escaped");
  }
  EXPECT_EQ(said({{"GET", "/a", ""}}), "GET /a: an endpoint has a tool");
}

// REQ-BD-122.
TEST(RequestOf, WritesWhatWasJudged) {
  const auto written = [](const Endpoint& endpoint, const json::Object& arguments) {
    const Result<http::Request> made = request_of(endpoint, arguments);
    if (!made) return made.error().message;
    return made->method + " " + made->target + " " + made->body;
  };
  const Endpoint read{"GET", "/invoices/{invoice}", "read"};
  EXPECT_EQ(written(read, {{"invoice", "canonical-3"}}), "GET /invoices/canonical-3 ");
  EXPECT_EQ(written(read, {{"invoice", "a/b?c#d%e f+\xc3\xa4"}}),
            "GET /invoices/a%2Fb%3Fc%23d%25e%20f%2B%C3%A4 ");
  EXPECT_EQ(written(read, {{"invoice", 7}, {"to", "x&y=z"}, {"all", true}}),
            "GET /invoices/7?to=x%26y%3Dz&all=true ");
  const Endpoint refund{"POST", "/invoices/{invoice}/refund", "refund"};
  EXPECT_EQ(written(refund, {{"amount", 5}, {"invoice", "i"}, {"a", json::Array{1, nullptr}}}),
            R"(POST /invoices/i/refund {"a":[1,null],"amount":5})");
  for (const json::Value& value :
       {json::Value(".."), json::Value("."), json::Value(""), json::Value(nullptr),
        json::Value(json::Array{}), json::Value(1.5)}) {
    EXPECT_EQ(written(read, {{"invoice", value}}),
              "the argument \"invoice\" cannot stand in a path");
  }
  EXPECT_EQ(written(read, {}), "the argument \"invoice\" cannot stand in a path");
  EXPECT_EQ(written(read, {{"invoice", "i"}, {"x", json::Object{}}}),
            "the argument \"x\" cannot stand in a query");
}

TEST(RequestOf, IsTheOppositeOfReading) {
  const EndpointTable table =
      table_of({{"GET", "/a/{one}/{two}", "get"}, {"POST", "/a/{one}/{two}", "post"}});
  for (const char* const method : {"GET", "POST"}) {
    const json::Object arguments{{"one", "../\x01%41"}, {"two", "..."}, {"three", "a=b&c +%"}};
    http::Request asked;
    asked.method = method;
    asked.target = "/a/x/y";
    const Result<http::Request> made = request_of(*table.find(asked).endpoint, arguments);
    ASSERT_TRUE(made) << made.error().to_string();
    const Result<std::string> back = arguments_of(*made, table.find(*made));
    ASSERT_TRUE(back) << back.error().to_string();
    EXPECT_EQ(json::canonical(json::parse(*back).value()), json::canonical(json::Value{arguments}));
  }
}

}  // namespace
}  // namespace remit::adapter
