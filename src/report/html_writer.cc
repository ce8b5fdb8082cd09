// Heads of pages and escaped text.
#include "report/html_writer.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/digest.h"
#include "base/error.h"
#include "report/page_text.h"

namespace remit::report {

std::string shown_text(std::string_view text, std::size_t limit) {
  const std::string shown = quoted(text, limit);
  // What stands between the quotes; text that was cut has its mark behind them.
  const bool is_cut = shown.back() != '"';
  const std::string_view mark = is_cut ? std::string_view("…") : std::string_view();
  return shown.substr(1, shown.size() - 2 - mark.size()) + std::string(mark);
}

std::string html_words(std::string_view words) {
  std::string out;
  for (const char c : words) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string html_value(grading::Value value) {
  const std::string_view name = grading::value_name(value);
  return fmt::format("<span class=\"value {}\">{}</span>", name,
                     value == grading::Value::kNotExercised ? "not exercised" : name);
}

std::string html_text(std::string_view text, std::size_t limit) {
  return html_words(shown_text(text, limit));
}

void open_page(std::string_view title, bool has_script, std::string& out) {
  const auto source = [](std::string_view text) {
    return fmt::format("'sha256-{}'", to_base64(sha256(text)));
  };
  out += "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  out += fmt::format(
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src {}; "
      "script-src {}; base-uri 'none'; form-action 'none'\">\n",
      source(kPageCSS), has_script ? source(kPageJS) : "'none'");
  out += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  out += "<meta name=\"referrer\" content=\"no-referrer\">\n";
  out += fmt::format("<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n", html_text(title),
                     kPageCSS);
}

}  // namespace remit::report
