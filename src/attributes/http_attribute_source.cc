// A question as JSON, and an answer that is taken apart strictly.
#include "attributes/http_attribute_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "base/utf8.h"
#include "json/value.h"

namespace remit::attributes {
namespace {

Error misshapen(std::string message) {
  return {ErrorCode::kDataLoss, "the service's answer " + std::move(message)};
}

// RFC 6750 section 2.1, a bound on its length added.
bool is_bearer_token(std::string_view text) {
  const std::size_t end = std::min(text.find('='), text.size());
  const auto is_of_token = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("-._~+/").find(c) != std::string_view::npos;
  };
  return end > 0 && text.size() <= kMaxServiceCredentialBytes &&
         std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end), is_of_token) &&
         text.find_first_not_of('=', end) == std::string_view::npos;
}

// Of `application/json; charset=utf-8` the part before the parameters.
bool is_json(const std::string* content_type) {
  if (content_type == nullptr) return false;
  std::string_view type = std::string_view(*content_type).substr(0, content_type->find(';'));
  while (!type.empty() && (type.back() == ' ' || type.back() == '\t')) type.remove_suffix(1);
  return http::equal_names(type, "application/json");
}

// Nothing for null.
Result<std::optional<access::AttributeValue>> attribute_of(const json::Member& member) {
  using Attribute = std::optional<access::AttributeValue>;
  const json::Value& value = member.second;
  if (value.is_null()) return Attribute{};
  if (const bool* flag = value.if_bool()) return Attribute{*flag};
  if (const std::int64_t* integer = value.if_integer()) return Attribute{*integer};
  if (const std::string* text = value.if_string()) return Attribute{*text};
  const json::Array* list = value.if_array();
  std::set<std::string> texts;
  bool is_set = list != nullptr;
  for (std::size_t i = 0; is_set && i < list->size(); ++i) {
    const std::string* text = (*list)[i].if_string();
    is_set = text != nullptr;
    if (is_set) texts.insert(*text);
  }
  if (is_set) return Attribute{std::vector<std::string>(texts.begin(), texts.end())};
  return misshapen(
      fmt::format("has the attribute {}, which is no truth, integer, text or list of texts",
                  quoted(member.first)));
}

Status read_attributes(const json::Object& object, access::Resource& out) {
  for (const json::Member& member : object.members()) {
    if (member.first == "tenant") return misshapen("has a tenant among the attributes");
    REMIT_TRY_ASSIGN(std::optional<access::AttributeValue> value, attribute_of(member));
    if (value) out.attributes.emplace_back(member.first, *std::move(value));
  }
  std::sort(out.attributes.begin(), out.attributes.end(),
            [](const auto& left, const auto& right) { return left.first < right.first; });
  return {};
}

Result<access::Resource> read_resource(const json::Value& value) {
  const json::Object* object = value.if_object();
  if (object == nullptr) return misshapen("has a resource that is no object");
  access::Resource out;
  bool has_tenant = false;
  for (const auto& [key, member] : object->members()) {
    const std::string* text = member.if_string();
    if (key == "id" && text != nullptr) {
      out.id = *text;
    } else if (key == "revision" && text != nullptr) {
      out.revision = *text;
    } else if (key == "tenant" && (text != nullptr || member.is_null())) {
      has_tenant = true;
      if (text != nullptr) out.tenant = *text;
    } else if (key == "attributes" && member.if_object() != nullptr) {
      REMIT_TRY(read_attributes(*member.if_object(), out));
    } else {
      return misshapen(
          fmt::format("has a resource whose {} is unknown or of another type", quoted(key)));
    }
  }
  if (out.id.empty()) return misshapen("has a resource without an id");
  if (!has_tenant) return misshapen("has a resource without a tenant");
  if (out.revision.empty()) return misshapen("has a resource without a revision");
  if (out.id.size() > kMaxIdBytes) {
    return Error{ErrorCode::kLimitExceeded,
                 fmt::format("an id of more than {} bytes", kMaxIdBytes)};
  }
  return out;
}

Result<access::Resource> read_answer(const http::Response& response) {
  if (response.status != 200) {
    return Error{ErrorCode::kUnavailable,
                 fmt::format("the service answered with the status {}", response.status)};
  }
  if (!is_json(response.headers.find("Content-Type"))) {
    return misshapen("is not of the type application/json");
  }
  const Result<json::Value> parsed =
      json::parse(response.body, {.max_bytes = kMaxAttributeAnswerBytes});
  if (!parsed) return misshapen("is no JSON: " + parsed.error().to_string());
  const json::Object* object = parsed->if_object();
  const json::Value* list = parsed->find("resources");
  if (object == nullptr || object->size() != 1 || list == nullptr || list->if_array() == nullptr) {
    return misshapen("is no object with a list of resources alone");
  }
  const json::Array& resources = *list->if_array();
  if (resources.empty()) return Error{ErrorCode::kNotFound, "no such resource"};
  if (resources.size() > 1) return misshapen("has more than one resource for one reference");
  return read_resource(resources.front());
}

}  // namespace

Result<std::unique_ptr<HttpAttributeSource>> HttpAttributeSource::open(
    const HttpSourceOptions& options, const Clock& clock) {
  REMIT_TRY_ASSIGN(http::Url url, http::Url::parse(options.url));
  // Whoever could change the answer on its way would decide who owns what.
  if (!url.is_secure && !url.is_loopback()) {
    return Error{
        ErrorCode::kInvalidInput,
        "a service beyond this machine must be asked by https, not by " + quoted(options.url, 128)};
  }
  if (!options.credential.empty() && !is_bearer_token(options.credential)) {
    return Error{ErrorCode::kInvalidInput,
                 "the credential for the service is no token of letters, digits and -._~+/="};
  }
  REMIT_TRY_ASSIGN(auto client,
                   http::Client::create({.trust_pem = options.trust_pem,
                                         .limits = {.body_bytes = kMaxAttributeAnswerBytes},
                                         .connections = kMaxAttributeConnections},
                                        clock));
  return std::unique_ptr<HttpAttributeSource>(
      new HttpAttributeSource(options, std::move(url), std::move(client), clock));
}

Result<access::Resource> HttpAttributeSource::resolve(const ResourceQuery& query) const {
  const bool is_text = !first_invalid_utf8(query.reference);
  if (query.type != options_.type || query.reference.size() > kMaxReferenceBytes || !is_text) {
    return Error{ErrorCode::kNotFound, "no such resource", options_.source};
  }
  // In the body: a path or a query string would end up in somebody's access log.
  const json::Object question{{"type", options_.type}, {"reference", query.reference}};
  http::Headers headers = {{"Content-Type", "application/json"}, {"Accept", "application/json"}};
  if (!options_.credential.empty()) headers.set("Authorization", "Bearer " + options_.credential);
  Result<http::Response> response = client_->send(
      {.method = "POST",
       .url = url_,
       .headers = std::move(headers),
       .body = json::write(json::Value{question}),
       .deadline = std::min(query.deadline, clock_.monotonic_now() + options_.timeout)});
  if (!response) {
    return Error{response.error().code, response.error().to_string(), options_.source};
  }
  Result<access::Resource> resource = read_answer(*response);
  if (!resource) return in_place(options_.source, std::move(resource).error());
  resource->type = options_.type;
  resource->source = options_.source;
  return resource;
}

}  // namespace remit::attributes
