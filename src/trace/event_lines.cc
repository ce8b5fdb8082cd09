// Event lines from gathered fields.
#include "trace/event_lines.h"

#include <algorithm>
#include <tuple>

namespace remit::trace {
namespace {

std::size_t list_index(event::Field field) {
  return field == event::Field::kFurtherResources ? 0 : 1;
}

bool is_list(event::Field field) {
  return field == event::Field::kFurtherResources || field == event::Field::kDeterminingPolicies;
}

void append_value(const Token& value, std::string& out) {
  switch (value.kind) {
    case Token::Kind::kText:
      out.append(1, '"').append(value.text).append(1, '"');
      return;
    case Token::Kind::kBare:
      out.append(value.text);
      return;
    case Token::Kind::kNull:
      out.append("null");
      return;
    case Token::Kind::kAbsent:
    case Token::Kind::kList:
    case Token::Kind::kOther:
      out.append("{}");  // no field is an object: the decoder says what is wrong with it
      return;
  }
}

}  // namespace

void append_member(std::string_view name, const Token& value, std::string& out) {
  out.append(",\"").append(name).append("\":");
  append_value(value, out);
}

std::string id_part(std::string_view text) {
  std::string out(text);
  std::replace_if(
      out.begin(), out.end(),
      [](char c) {
        const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        return !is_letter && !(c >= '0' && c <= '9') && c != '.' && c != '_' && c != '-';
      },
      '_');
  return out;
}

void EventFields::clear() {
  for (const event::Field field : present_) fields_[static_cast<std::size_t>(field)] = {};
  present_.clear();
  event_ = {};
  others_.clear();
}

void EventFields::set(std::string_view name, const Token& value) {
  if (name == "event" && !has_event()) {
    event_ = value;
    return;
  }
  const std::optional<event::Field> field = event::parse_field(name);
  if (!field || fields_[static_cast<std::size_t>(*field)].kind != Token::Kind::kAbsent) {
    append_member(name, value, others_);  // given twice is the decoder's to find
    return;
  }
  fields_[static_cast<std::size_t>(*field)] = value;
  present_.push_back(*field);
}

void EventFields::set_list(std::string_view name, std::string json) {
  const std::optional<event::Field> field = event::parse_field(name);
  const bool is_first =
      field && fields_[static_cast<std::size_t>(*field)].kind == Token::Kind::kAbsent;
  if (!is_first || !is_list(*field)) {
    set(name, {Token::Kind::kOther});
    return;
  }
  lists_json_[list_index(*field)] = std::move(json);
  set(name, {Token::Kind::kList});
}

void EventFields::write(std::string& out) const {
  out.append("{\"event\":");
  append_value(event_, out);
  std::uint64_t left = 0;
  for (const event::Field field : present_)
    left |= std::uint64_t{1} << static_cast<unsigned>(field);
  for (std::size_t i = 0; left != 0; ++i, left >>= 1U) {
    if ((left & 1U) == 0) continue;
    const auto field = static_cast<event::Field>(i);
    Token value = fields_[i];
    if (value.kind == Token::Kind::kList) {
      value = {Token::Kind::kBare, lists_json_[list_index(field)]};
    }
    append_member(event::field_name(field), value, out);
  }
  out.append(others_).append(1, '}');
}

void EventLines::clear() {
  text_.clear();
  entries_.clear();
}

std::string& EventLines::open(std::size_t place) {
  entries_.push_back({text_.size(), 0, place});
  return text_;
}

void EventLines::close() {
  entries_.back().size = text_.size() - entries_.back().begin;
}

void EventLines::arrange() {
  std::erase_if(entries_, [](const Entry& entry) { return entry.size == 0; });
  // Those of one place stay in the order of writing.
  std::sort(entries_.begin(), entries_.end(), [](const Entry& left, const Entry& right) {
    return std::tie(left.place, left.begin) < std::tie(right.place, right.begin);
  });
  text_.append(event::Decoder::kPadding, '\n');
}

}  // namespace remit::trace
