// Paths with names in them, queries and bodies.
#include "conformance/http_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace remit::conformance {
namespace {

constexpr std::string_view kAnyTool = "*";

bool has_query(std::string_view method) {
  return method == "GET" || method == "HEAD" || method == "DELETE";
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' || c == '~';
    if (is_plain) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_escape = text[i] == '%' && i + 2 < text.size() && digit_of(text[i + 1]) >= 0 &&
                           digit_of(text[i + 2]) >= 0;
    out +=
        is_escape ? static_cast<char>(digit_of(text[i + 1]) * 16 + digit_of(text[i + 2])) : text[i];
    if (is_escape) i += 2;
  }
  return out;
}

std::vector<std::string_view> pieces_of(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  for (;;) {
    const std::size_t end = text.find(separator);
    out.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return out;
    text.remove_prefix(end + 1);
  }
}

// The name in `{name}`; empty for a piece of a path that stands for itself.
std::string_view name_in(std::string_view piece) {
  if (piece.size() < 3 || piece.front() != '{' || piece.back() != '}') return {};
  return piece.substr(1, piece.size() - 2);
}

std::optional<std::string> plain_text(const json::Value& value) {
  if (value.if_string() != nullptr) return *value.if_string();
  if (value.if_integer() != nullptr) return std::to_string(*value.if_integer());
  return std::nullopt;
}

Result<std::string> take_text(json::Object& arguments, std::string_view name) {
  const json::Value* value = arguments.find(name);
  const std::optional<std::string> text = value == nullptr ? std::nullopt : plain_text(*value);
  if (!text) {
    return Error{ErrorCode::kInvalidInput,
                 fmt::format("a path or a query cannot carry the argument {}", quoted(name))};
  }
  arguments.erase(name);
  return *text;
}

void read_query(std::string_view query, json::Object& out) {
  if (query.empty()) return;
  for (const std::string_view pair : pieces_of(query, '&')) {
    const std::size_t equals = pair.find('=');
    out.set(unescaped(pair.substr(0, equals)),
            equals == std::string_view::npos ? "" : unescaped(pair.substr(equals + 1)));
  }
}

std::optional<FormMatch> match_path(const HttpForm& form, std::string_view path) {
  const std::vector<std::string_view> wanted = pieces_of(form.path, '/');
  const std::vector<std::string_view> given = pieces_of(path, '/');
  if (wanted.size() != given.size()) return std::nullopt;
  FormMatch out{form.tool, {}};
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::string_view name = name_in(wanted[i]);
    if (name.empty()) {
      if (wanted[i] != given[i]) return std::nullopt;
    } else if (name == "tool" && form.tool == kAnyTool) {
      out.tool = unescaped(given[i]);
    } else {
      out.arguments.set(std::string(name), unescaped(given[i]));
    }
  }
  return out;
}

}  // namespace

const HttpForm* form_of(const std::vector<HttpForm>& forms, std::string_view tool) {
  const HttpForm* any = nullptr;
  for (const HttpForm& form : forms) {
    if (form.tool == tool) return &form;
    if (form.tool == kAnyTool) any = &form;
  }
  return any;
}

Result<http::Request> request_of(const HttpForm& form, std::string_view tool,
                                 json::Object arguments) {
  http::Request out;
  out.method = form.method;
  for (const std::string_view piece : pieces_of(std::string_view(form.path).substr(1), '/')) {
    const std::string_view name = name_in(piece);
    out.target += '/';
    if (name.empty()) {
      out.target += piece;
    } else if (name == "tool" && form.tool == kAnyTool) {
      out.target += escaped(tool);
    } else {
      REMIT_TRY_ASSIGN(const std::string text, take_text(arguments, name));
      out.target += escaped(text);
    }
  }
  if (has_query(form.method)) {
    char separator = '?';
    while (!arguments.empty()) {
      const std::string name = arguments.members().front().first;
      REMIT_TRY_ASSIGN(const std::string text, take_text(arguments, name));
      out.target +=
          fmt::format("{}{}={}", std::exchange(separator, '&'), escaped(name), escaped(text));
    }
  } else {
    out.headers.set("Content-Type", "application/json");
    out.body = json::write(std::move(arguments));
  }
  return out;
}

std::optional<FormMatch> match_form(const std::vector<HttpForm>& forms,
                                    const http::Request& request) {
  for (const bool is_any : {false, true}) {
    for (const HttpForm& form : forms) {
      if ((form.tool == kAnyTool) != is_any || form.method != request.method) continue;
      std::optional<FormMatch> out = match_path(form, request.path());
      if (!out) continue;
      read_query(request.query(), out->arguments);
      const Result<json::Value> body = json::parse(request.body);
      if (body && body->if_object() != nullptr) {
        for (const json::Member& each : body->if_object()->members()) {
          out->arguments.set(each.first, each.second);
        }
      }
      return out;
    }
  }
  return std::nullopt;
}

}  // namespace remit::conformance
