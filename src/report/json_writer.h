// JSON written member by member, with its commas.
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "json/value.h"

namespace remit::report {

/// Appends to a text. The caller pairs the brackets.
class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out) {}

  void open(char bracket) {
    out_ += bracket;
    needs_comma_ = false;
  }
  void close(char bracket) {
    out_ += bracket;
    needs_comma_ = true;
  }
  void item() {
    if (needs_comma_) out_ += ',';
    needs_comma_ = true;
  }
  void item_on_line(std::string_view indent) {
    item();
    out_.append("\n").append(indent);
  }
  void key(std::string_view name) {
    item();
    json::write_string(name, out_);
    out_ += ':';
    needs_comma_ = false;
  }
  /// A member that holds an object or a list; the caller closes it.
  void open_member(std::string_view name, char bracket) {
    key(name);
    open(bracket);
  }
  void text(std::string_view value) {
    json::write_string(value, out_);
    needs_comma_ = true;
  }
  void text_or_null(const std::optional<std::string>& value) {
    if (value) return text(*value);
    out_ += "null";
    needs_comma_ = true;
  }
  /// A number or a boolean.
  template <class T>
  void plain(T value) {
    fmt::format_to(std::back_inserter(out_), "{}", value);
    needs_comma_ = true;
  }
  void member(std::string_view name, std::string_view value) {
    key(name);
    text(value);
  }
  template <class T>
  void plain_member(std::string_view name, T value) {
    key(name);
    plain(value);
  }
  void break_line() {
    item();
    out_ += "\n ";
    needs_comma_ = false;
  }

 private:
  std::string& out_;
  bool needs_comma_ = false;
};

}  // namespace remit::report
