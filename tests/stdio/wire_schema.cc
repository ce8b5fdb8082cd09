// Definitions of the published schemas, one compiled for each kind of message.
#include "tests/stdio/wire_schema.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "tests/stdio/session.h"

namespace remit::testing {
namespace {

std::filesystem::path schema_folder() {
  if (const char* data = std::getenv("REMIT_SHARED_DATA")) {
    return std::filesystem::path(data) / "mcp-schema";
  }
  const char* root = std::getenv("REMIT_SOURCE_DIR");
  return std::filesystem::path(root == nullptr ? "." : root) / ".." / "shared" / "data" /
         "mcp-schema";
}

std::string member_text(const json::Value& value, std::string_view key) {
  const json::Value* found = value.find(key);
  return found == nullptr ? "" : json::write(*found);
}

std::string result_definition(const std::string& method) {
  static const std::map<std::string, std::string> kNames{
      {"\"initialize\"", "InitializeResult"},        {"\"tools/list\"", "ListToolsResult"},
      {"\"tools/call\"", "CallToolResult"},          {"\"resources/read\"", "ReadResourceResult"},
      {"\"resources/list\"", "ListResourcesResult"}, {"\"prompts/get\"", "GetPromptResult"}};
  const auto found = kNames.find(method);
  return found == kNames.end() ? "EmptyResult" : found->second;
}

}  // namespace

WireSchema::WireSchema() {
  const std::string text = text_of_file(schema_folder() / "2025-11-25.json");
  if (text.empty()) {
    std::printf("schema checks not run, no shared data\n");
    return;
  }
  auto parsed = json::parse(text);
  if (parsed) schema_ = std::move(*parsed);
}

void WireSchema::sent_by_client(const std::string& line) {
  const auto parsed = json::parse(line);
  if (!parsed) return;
  methods_[member_text(*parsed, "id")] = member_text(*parsed, "method");
  const json::Value* version = parsed->at_pointer("/params/protocolVersion");
  if (version == nullptr || version->if_string() == nullptr || !schema_) return;
  if (*version->if_string() != "2025-06-18" || is_old_) return;
  is_old_ = true;
  compiled_.clear();
  auto old = json::parse(text_of_file(schema_folder() / "2025-06-18.json"));
  if (old) schema_ = std::move(*old);
}

json::Schema* WireSchema::definition(const std::string& name) {
  auto& slot = compiled_[name];
  if (!slot) {
    const char* key = schema_->find("$defs") != nullptr ? "$defs" : "definitions";
    json::Object root = *schema_->if_object();
    root.set("$ref", std::string("#/") + key + "/" + name);
    auto compiled = json::Schema::compile(json::Value{std::move(root)});
    if (!compiled) {
      faults_.push_back("cannot compile " + name + ": " + compiled.error().to_string());
      return nullptr;
    }
    slot = std::move(*compiled);
  }
  return &*slot;
}

void WireSchema::check(const json::Value& value, const std::string& name, const std::string& line) {
  json::Schema* schema = definition(name);
  if (schema == nullptr) return;
  const auto mismatches = schema->validate(value);
  if (mismatches && mismatches->empty()) return;
  std::string fault = "not a " + name + ": " + line;
  if (mismatches) {
    for (const json::SchemaMismatch& each : *mismatches) {
      fault += "\n  " + each.instance_pointer + " " + each.keyword + " " + each.property;
    }
  }
  faults_.push_back(fault);
}

void WireSchema::check_to_client(const std::string& line) {
  if (!schema_) return;
  const auto parsed = json::parse(line);
  if (!parsed) {
    faults_.push_back("not JSON: " + line);
    return;
  }
  const std::size_t before = faults_.size();
  check(*parsed, "JSONRPCMessage", line);
  if (faults_.size() != before) return;
  if (const json::Value* result = parsed->find("result")) {
    check(*result, result_definition(methods_[member_text(*parsed, "id")]), line);
  } else if (parsed->find("method") != nullptr) {
    check(*parsed, parsed->find("id") == nullptr ? "ServerNotification" : "ServerRequest", line);
  }
}

void WireSchema::check_to_server(const std::string& line) {
  if (!schema_) return;
  const auto parsed = json::parse(line);
  if (!parsed) {
    faults_.push_back("not JSON: " + line);
    return;
  }
  check(*parsed, "JSONRPCMessage", line);
  if (parsed->find("method") != nullptr) {
    check(*parsed, parsed->find("id") == nullptr ? "ClientNotification" : "ClientRequest", line);
  }
}

}  // namespace remit::testing
