// Names, values and phrases.
#include "http/message.h"

#include <algorithm>
#include <array>
#include <utility>

namespace remit::http {
namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// RFC 9110 section 5.6.2.
bool is_token_char(char c) {
  if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) return true;
  return std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

constexpr std::array<std::string_view, 4> kOurs = {"Content-Length", "Transfer-Encoding",
                                                   "Connection", "Date"};

}  // namespace

bool equal_names(std::string_view left, std::string_view right) {
  return left.size() == right.size() &&
         std::equal(left.begin(), left.end(), right.begin(),
                    [](char a, char b) { return lower(a) == lower(b); });
}

bool is_token(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), is_token_char);
}

bool is_field_value(std::string_view value) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
  if (!value.empty() && (is_space(value.front()) || is_space(value.back()))) return false;
  return std::none_of(value.begin(), value.end(), [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
  });
}

Headers::Headers(std::initializer_list<Field> fields) {
  for (const Field& field : fields) set(field.name, field.value);
}

const std::string* Headers::find(std::string_view name) const {
  for (const Field& field : fields_) {
    if (equal_names(field.name, name)) return &field.value;
  }
  return nullptr;
}

void Headers::set(std::string_view name, std::string_view value) {
  for (Field& field : fields_) {
    if (!equal_names(field.name, name)) continue;
    field.value = value;
    return;
  }
  fields_.push_back({std::string(name), std::string(value)});
}

std::string_view Request::path() const {
  return std::string_view(target).substr(0, target.find('?'));
}

std::string_view Request::query() const {
  const std::size_t mark = target.find('?');
  if (mark == std::string::npos) return {};
  return std::string_view(target).substr(mark + 1);
}

Response text_response(int status, std::string_view line) {
  return {.status = status,
          .headers = {{"Content-Type", "text/plain; charset=utf-8"}},
          .body = std::string(line) + "\n"};
}

std::string_view status_phrase(int status) {
  static constexpr std::array<std::pair<int, std::string_view>, 35> kPhrases = {{
      {100, "Continue"},
      {200, "OK"},
      {201, "Created"},
      {202, "Accepted"},
      {204, "No Content"},
      {206, "Partial Content"},
      {301, "Moved Permanently"},
      {302, "Found"},
      {303, "See Other"},
      {304, "Not Modified"},
      {307, "Temporary Redirect"},
      {308, "Permanent Redirect"},
      {400, "Bad Request"},
      {401, "Unauthorized"},
      {403, "Forbidden"},
      {404, "Not Found"},
      {405, "Method Not Allowed"},
      {406, "Not Acceptable"},
      {408, "Request Timeout"},
      {409, "Conflict"},
      {410, "Gone"},
      {411, "Length Required"},
      {412, "Precondition Failed"},
      {413, "Content Too Large"},
      {415, "Unsupported Media Type"},
      {417, "Expectation Failed"},
      {421, "Misdirected Request"},
      {422, "Unprocessable Content"},
      {429, "Too Many Requests"},
      {431, "Request Header Fields Too Large"},
      {500, "Internal Server Error"},
      {501, "Not Implemented"},
      {502, "Bad Gateway"},
      {503, "Service Unavailable"},
      {505, "HTTP Version Not Supported"},
  }};
  const auto* const found = std::find_if(kPhrases.begin(), kPhrases.end(),
                                         [&](const auto& row) { return row.first == status; });
  return found == kPhrases.end() ? "Status" : found->second;
}

std::size_t write_fields(const Headers& headers, std::string& out) {
  std::size_t refused = 0;
  for (const auto& [name, value] : headers.fields()) {
    if (!is_token(name) || !is_field_value(value)) {
      ++refused;
      continue;
    }
    const std::string& field = name;
    const bool is_ours = std::any_of(kOurs.begin(), kOurs.end(), [&](std::string_view ours) {
      return equal_names(ours, field);
    });
    if (!is_ours) out.append(name).append(": ").append(value).append("\r\n");
  }
  return refused;
}

}  // namespace remit::http
