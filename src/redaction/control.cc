// Writing values in every encoding, plainly: this code shares nothing with the search.
#include "redaction/control.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "base/limits.h"
#include "base/utf8.h"

namespace remit::redaction {
namespace {

constexpr std::string_view kStandard =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kUrl =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::string base64(std::string_view text, std::string_view alphabet, bool is_padded) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); at += 3) {
    const std::string_view group = text.substr(at, 3);
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      bits = bits << 8U | (i < group.size() ? static_cast<unsigned char>(group[i]) : 0U);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      if (i <= group.size()) {
        out += alphabet[(bits >> (18U - 6U * i)) & 0x3fU];
      } else if (is_padded) {
        out += '=';
      }
    }
  }
  return out;
}

// A JSON string of the text, escaped only where it must be.
std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

// Every character as `\uXXXX`, those beyond the first plane as a pair.
std::string unicode_escapes(std::string_view text, bool is_upper) {
  std::string out;
  const auto put = [&](std::uint32_t unit) {
    out += is_upper ? fmt::format("\\u{:04X}", unit) : fmt::format("\\u{:04x}", unit);
  };
  while (!text.empty()) {
    const std::size_t length = std::max<std::size_t>(utf8_sequence_length(text), 1);
    std::uint32_t code = static_cast<unsigned char>(text[0]);
    if (length > 1) code &= 0x7fU >> length;
    for (std::size_t i = 1; i < length; ++i) {
      code = code << 6U | (static_cast<unsigned char>(text[i]) & 0x3fU);
    }
    text.remove_prefix(length);
    if (code < 0x10000) {
      put(code);
    } else {
      put(0xd800 + ((code - 0x10000) >> 10U));
      put(0xdc00 + ((code - 0x10000) & 0x3ffU));
    }
  }
  return out;
}

std::string with_each_byte(std::string_view text, fmt::format_string<unsigned char> form) {
  std::string out;
  for (const char c : text) out += fmt::format(form, static_cast<unsigned char>(c));
  return out;
}

std::string other_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'a' && c <= 'z') {
      c = static_cast<char>(c - 'a' + 'A');
    } else if (c >= 'A' && c <= 'Z') {
      c = static_cast<char>(c - 'A' + 'a');
    }
  }
  return out;
}

std::string doubled(std::string_view text) {
  std::string out;
  for (const char c : text) out.append(c == '\\' ? 2 : 1, c);
  return out;
}

// The nearest place at or before `at` that cuts no character.
std::size_t cut_before(std::string_view text, std::size_t at) {
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xc0U) == 0x80U) --at;
  return at;
}

}  // namespace

std::vector<Planted> plant(std::string_view value, bool with_halves) {
  std::vector<Planted> out;
  const auto add = [&](std::string_view encoding, std::string_view text) {
    out.push_back({encoding, fmt::format("\"a\":\"{}\"", text)});
  };
  out.push_back({"exact", "\"a\":" + json_string(value)});
  out.push_back({"exact", json_string(std::string(value)) + ":0"});
  out.push_back({"case_folded", "\"a\":" + json_string(other_case(value))});
  out.push_back({"reversed", "\"a\":" + json_string(std::string(value.rbegin(), value.rend()))});
  for (const std::string_view before : {"", "?", "?~"}) {
    const std::string text = std::string(before) + std::string(value);
    for (const std::string_view alphabet : {kStandard, kUrl}) {
      add("base64", base64(text, alphabet, true));
      add("base64", base64(text + "~", alphabet, false));
    }
  }
  add("hex", with_each_byte(value, "{:02x}"));
  add("hex", with_each_byte(value, "{:02X}"));
  add("percent", with_each_byte(value, "%{:02x}"));
  add("percent", with_each_byte(value, "%{:02X}"));
  add("json_escapes", unicode_escapes(value, false));
  add("json_escapes", unicode_escapes(value, true));
  add("doubly_escaped_json", doubled(unicode_escapes(value, false)));
  for (const std::size_t quarters : {1U, 2U, 3U}) {
    const std::size_t at = cut_before(value, value.size() * quarters / 4);
    out.push_back({"split", fmt::format("\"a\":{},\"b\":{}", json_string(value.substr(0, at)),
                                        json_string(value.substr(at)))});
  }
  if (!with_halves) return out;
  const std::size_t half = cut_before(value, (value.size() + 1) / 2);
  if (half < value.size() / 2) return out;  // characters of many bytes: no half ends there
  out.push_back({"half", "\"a\":" + json_string(value.substr(0, half))});
  out.push_back({"half", "\"a\":" + json_string(value.substr(value.size() / 2))});
  return out;
}

Status run_control(const Scanner& scanner, const std::vector<Canary>& canaries) {
  REMIT_TRY_ASSIGN(Scanner::Scratch scratch, scanner.make_scratch());
  std::vector<Leak> leaks;
  constexpr std::string_view kLine = R"({{"event":"x.control",{}}})";
  for (std::size_t i = 0; i < canaries.size(); ++i) {
    const Canary& canary = canaries[i];
    const bool with_halves = scanner.reports_halves(i);
    for (const Planted& planted : plant(canary.value, with_halves)) {
      leaks.clear();
      scanner.scan_line(fmt::format(kLine, planted.members), scratch, leaks);
      const bool is_found = std::any_of(leaks.begin(), leaks.end(), [&](const Leak& leak) {
        return scanner.canaries()[leak.canary].name == canary.name ||
               planted.encoding == "half";  // it may be that of another as well, which is told
      });
      if (is_found) continue;
      return Error{ErrorCode::kInternal,
                   fmt::format("the control did not find canary {} as {}: no grade is given",
                               quoted(canary.name), planted.encoding)};
    }
  }
  leaks.clear();
  scanner.scan_line(fmt::format(kLine, R"("a":"nothing")"), scratch, leaks);
  if (leaks.empty()) return {};
  return Error{ErrorCode::kInternal,
               "the control found a canary where there is none: no grade is given"};
}

}  // namespace remit::redaction
