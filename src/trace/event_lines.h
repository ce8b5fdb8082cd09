// Events of one document, written as lines of the event contract.
//
// Every form other than JSON Lines is translated: what it records is written as event lines, which
// the one decoder then judges by its one set of rules.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "event/event.h"

namespace remit::trace {

/// A JSON value as a document writes it. Text keeps its escapes and lacks its quotation marks.
struct Token {
  enum class Kind : std::uint8_t { kAbsent, kText, kBare, kNull, kList, kOther };
  Kind kind = Kind::kAbsent;
  std::string_view text = {};
};

/// The fields of one event, gathered in any order and written in that of the contract, so that one
/// event gives the same bytes wherever it was recorded.
class EventFields {
 public:
  void clear();
  /// A field by its name in the contract, `event` included. An unknown one is kept as it is: the
  /// decoder counts it.
  void set(std::string_view name, const Token& value);
  /// A list of strings, as JSON. An unknown name gives a field without its value.
  void set_list(std::string_view name, std::string json);
  [[nodiscard]] bool has_event() const { return event_.kind != Token::Kind::kAbsent; }
  [[nodiscard]] const Token& field(event::Field field) const {
    return fields_[static_cast<std::size_t>(field)];
  }
  /// Appends the line without its `\n`.
  void write(std::string& out) const;

 private:
  std::array<Token, event::kFieldCount> fields_{};
  Token event_;
  std::vector<event::Field> present_;
  std::string lists_json_[2];
  std::string others_;  ///< unknown fields, and fields that came again, each behind a comma
};

/// The lines of a document with the places of what they were made of.
class EventLines {
 public:
  struct Entry {
    std::size_t begin = 0;
    std::size_t size = 0;
    std::size_t place = 0;  ///< offset in the document
  };

  void clear();
  /// Begins a line for what stands at `place`: append to the text, then `close`.
  std::string& open(std::size_t place);
  void close();
  /// Takes the entry with this index out; entries behind it keep their indices until `arrange`.
  void drop(std::size_t index) { entries_[index].size = 0; }
  /// Sorts the entries by place and forgets the dropped ones.
  void arrange();

  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  /// Readable for event::Decoder::kPadding bytes past its end.
  [[nodiscard]] std::string_view line(const Entry& entry) const {
    return std::string_view(text_).substr(entry.begin, entry.size);
  }

 private:
  std::string text_;
  std::vector<Entry> entries_;
};

/// Appends `,"name":` and the value.
void append_member(std::string_view name, const Token& value, std::string& out);

/// `text` as it may stand in an id: what is no letter, digit, `.`, `_` or `-` becomes `_`.
std::string id_part(std::string_view text);

}  // namespace remit::trace
