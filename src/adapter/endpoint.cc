// Paths, queries and bodies, read and written.
#include "adapter/endpoint.h"

#include <algorithm>
#include <cstdint>

#include "base/limits.h"
#include "base/utf8.h"
#include "http/url.h"

namespace remit::adapter {
namespace {

std::vector<std::string_view> segments_of(std::string_view path) {
  std::vector<std::string_view> out;
  while (!path.empty()) {
    path.remove_prefix(1);  // its slash
    const std::size_t end = std::min(path.find('/'), path.size());
    out.push_back(path.substr(0, end));
    path.remove_prefix(end);
  }
  return out;
}

// The name of an argument in braces; empty for a segment that stands for itself.
std::string_view name_of(std::string_view segment) {
  if (segment.size() < 3 || segment.front() != '{' || segment.back() != '}') return {};
  return segment.substr(1, segment.size() - 2);
}

bool is_dots(std::string_view segment) {
  return segment == "." || segment == "..";
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Text behind `%` escapes, which the server has seen to be whole; nothing if that is not UTF-8.
std::optional<std::string> decoded(std::string_view text, bool plus_is_space) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      if (i + 2 >= text.size()) return std::nullopt;
      const int high = hex_digit(text[i + 1]);
      const int low = hex_digit(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      out.push_back(static_cast<char>(high * 16 + low));
      i += 2;
    } else {
      out.push_back(plus_is_space && text[i] == '+' ? ' ' : text[i]);
    }
  }
  if (first_invalid_utf8(out)) return std::nullopt;
  return out;
}

void append_encoded(std::string_view text, std::string& out) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  for (const char c : text) {
    const bool is_plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                          (c >= 'A' && c <= 'Z') || c == '-' || c == '.' || c == '_' || c == '~';
    if (is_plain) {
      out.push_back(c);
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out.append({'%', kDigits[byte >> 4U], kDigits[byte & 15U]});
    }
  }
}

bool has_query(std::string_view method) {
  return method == "GET" || method == "HEAD" || method == "DELETE";
}

Error misfit(std::string message) {
  return {ErrorCode::kInvalidInput, std::move(message)};
}

Status check_endpoint(const Endpoint& endpoint) {
  if (!http::is_token(endpoint.method)) return misfit("the method is no token");
  if (endpoint.tool.empty()) return misfit("an endpoint has a tool");
  if (endpoint.path.empty() || endpoint.path.front() != '/') {
    return misfit("a path begins with a slash");
  }
  std::vector<std::string_view> names;
  const std::vector<std::string_view> segments = segments_of(endpoint.path);
  for (const std::string_view segment : segments) {
    const std::string_view name = name_of(segment);
    if (!name.empty()) {
      if (std::find(names.begin(), names.end(), name) != names.end()) {
        return misfit("the path has the argument " + quoted(name) + " twice");
      }
      names.push_back(name);
      continue;
    }
    const bool is_root = segment.empty() && segments.size() == 1;
    if ((segment.empty() && !is_root) || is_dots(segment)) {
      return misfit("the path has a segment that is empty, . or ..");
    }
    // Escapes would be a second spelling.
    if (!http::is_origin_form("/" + std::string(segment)) ||
        segment.find_first_of("%?") != std::string_view::npos) {
      return misfit("the path has a character that must be escaped");
    }
  }
  return {};
}

bool could_be_one(const Endpoint& left, const Endpoint& right) {
  if (left.method != right.method) return false;
  const auto a = segments_of(left.path);
  const auto b = segments_of(right.path);
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](auto one, auto other) {
    return one == other || !name_of(one).empty() || !name_of(other).empty();
  });
}

// Adds an argument; false if it is there already.
bool add(json::Object& arguments, std::string name, std::string value) {
  if (arguments.find(name) != nullptr) return false;
  arguments.set(std::move(name), std::move(value));
  return true;
}

Status add_query(std::string_view query, json::Object& arguments) {
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      return misfit("the query is no list of name=value");
    }
    const auto name = decoded(pair.substr(0, equals), true);
    const auto value = decoded(pair.substr(equals + 1), true);
    if (!name || !value) return misfit("the query is not UTF-8");
    if (!add(arguments, *name, *value)) return misfit("an argument is there twice");
  }
  return {};
}

bool is_json(const std::string* content_type) {
  if (content_type == nullptr) return false;
  std::string_view type = std::string_view(*content_type).substr(0, content_type->find(';'));
  while (!type.empty() && (type.back() == ' ' || type.back() == '\t')) type.remove_suffix(1);
  return http::equal_names(type, "application/json");
}

// What a path or a query can carry: texts, integers, true and false.
std::optional<std::string> plain_text(const json::Value& value) {
  if (const std::string* text = value.if_string()) return *text;
  if (const std::int64_t* integer = value.if_integer()) return std::to_string(*integer);
  if (const bool* flag = value.if_bool()) return std::string(*flag ? "true" : "false");
  return std::nullopt;
}

}  // namespace

Result<EndpointTable> EndpointTable::create(std::vector<Endpoint> endpoints) {
  for (std::size_t i = 0; i < endpoints.size(); ++i) {
    const std::string where = endpoints[i].method + " " + endpoints[i].path;
    if (Status fits = check_endpoint(endpoints[i]); !fits) {
      return in_place(where, std::move(fits).error());
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (!could_be_one(endpoints[i], endpoints[j])) continue;
      return Error{ErrorCode::kInvalidInput,
                   "a request could mean this and " + quoted(endpoints[j].path), where};
    }
  }
  return EndpointTable(std::move(endpoints));
}

EndpointTable::Match EndpointTable::find(const http::Request& request) const {
  const std::vector<std::string_view> segments = segments_of(request.path());
  for (const Endpoint& endpoint : endpoints_) {
    if (endpoint.method != request.method) continue;
    const std::vector<std::string_view> wanted = segments_of(endpoint.path);
    if (wanted.size() != segments.size()) continue;
    Match match{.endpoint = &endpoint};
    for (std::size_t i = 0; match.endpoint != nullptr && i < wanted.size(); ++i) {
      const std::string_view name = name_of(wanted[i]);
      if (name.empty()) {
        if (wanted[i] != segments[i]) match.endpoint = nullptr;
        continue;
      }
      auto value = decoded(segments[i], false);
      if (!value || value->empty() || is_dots(*value)) {
        match.endpoint = nullptr;
      } else {
        match.path_arguments.emplace_back(name, *std::move(value));
      }
    }
    if (match.endpoint != nullptr) return match;
  }
  return {};
}

Result<std::string> arguments_of(const http::Request& request, const EndpointTable::Match& match) {
  json::Object arguments;
  for (const auto& [name, value] : match.path_arguments) add(arguments, name, value);
  if (has_query(request.method)) {
    if (!request.body.empty()) return misfit("a body, where the arguments are the query");
    REMIT_TRY(add_query(request.query(), arguments));
    return json::write(json::Value{std::move(arguments)});
  }
  if (!request.query().empty()) return misfit("a query, where the arguments are the body");
  if (request.body.empty()) return json::write(json::Value{std::move(arguments)});
  if (!is_json(request.headers.find("Content-Type"))) {
    return misfit("a body that is not of the type application/json");
  }
  if (arguments.empty()) return request.body;
  Result<json::Value> body = json::parse(request.body, {.max_bytes = kMaxCallBytes});
  if (!body || body->if_object() == nullptr) return request.body;
  for (json::Member& member : arguments.members()) {
    if (body->find(member.first) != nullptr) return misfit("an argument is there twice");
    body->if_object()->set(member.first, std::move(member.second));
  }
  return json::write(*body);
}

Result<http::Request> request_of(const Endpoint& endpoint, json::Object arguments) {
  http::Request out;
  out.method = endpoint.method;
  for (const std::string_view segment : segments_of(endpoint.path)) {
    out.target.push_back('/');
    const std::string_view name = name_of(segment);
    if (name.empty()) {
      out.target.append(segment);
      continue;
    }
    const json::Value* value = arguments.find(name);
    const auto text = value == nullptr ? std::nullopt : plain_text(*value);
    if (!text || text->empty() || is_dots(*text)) {
      return misfit("the argument " + quoted(name) + " cannot stand in a path");
    }
    append_encoded(*text, out.target);
    arguments.erase(name);
  }
  if (!has_query(endpoint.method)) {
    out.headers.set("Content-Type", "application/json");
    out.body = json::canonical(json::Value{std::move(arguments)});
    return out;
  }
  char mark = '?';
  for (const auto& [name, value] : arguments.members()) {
    const auto text = plain_text(value);
    if (!text) return misfit("the argument " + quoted(name) + " cannot stand in a query");
    out.target.push_back(std::exchange(mark, '&'));
    append_encoded(name, out.target);
    out.target.push_back('=');
    append_encoded(*text, out.target);
  }
  return out;
}

}  // namespace remit::adapter
