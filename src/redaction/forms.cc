// Encoding values.
#include "redaction/forms.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/utf8.h"

namespace remit::redaction {
namespace {

std::string reversed_bytes(std::string_view value) {
  return {value.rbegin(), value.rend()};
}

// As programs reverse text: character by character.
std::string reversed_characters(std::string_view value) {
  std::string out;
  std::size_t end = value.size();
  while (end > 0) {
    std::size_t begin = end - 1;
    while (begin > 0 && (static_cast<unsigned char>(value[begin]) & 0xc0U) == 0x80U) --begin;
    out.append(value, begin, end - begin);
    end = begin;
  }
  return out;
}

Form plain_form(Encoding encoding, std::string text) {
  Form form{encoding, true, std::move(text), 0, 0};
  form.first_end = form.text.size() / 2;
  form.second_begin = form.text.size() - form.first_end;
  return form;
}

Form hex_form(std::string_view value) {
  const std::size_t half = value.size() / 2;
  return {Encoding::kHex, true, to_hex(bytes_of(value)), 2 * half, 2 * (value.size() - half)};
}

// `before` bytes of others stand before the value in its group of three.
Form base64_form(std::string_view value, std::size_t before) {
  const auto first_whole = [](std::size_t bytes) { return (8 * bytes + 5) / 6; };
  const auto past_whole = [](std::size_t bytes) { return 8 * bytes / 6; };
  const std::size_t size = value.size();
  const std::size_t half = size / 2;
  const std::size_t from = first_whole(before);
  const std::string whole = to_base64(bytes_of(std::string(before, '\0') + std::string(value)));
  Form form{Encoding::kBase64, false, whole.substr(from, past_whole(before + size) - from), 0, 0};
  form.first_end = past_whole(before + half) - from;
  form.second_begin = first_whole(before + size - half) - from;
  return form;
}

Form url_alphabet(Form form) {
  std::replace(form.text.begin(), form.text.end(), '+', '-');
  std::replace(form.text.begin(), form.text.end(), '/', '_');
  return form;
}

}  // namespace

std::vector<Form> forms_of(std::string_view value) {
  std::vector<Form> out;
  const auto add = [&](Form form) {
    const bool is_known = std::any_of(out.begin(), out.end(), [&](const Form& other) {
      return other.text == form.text && other.encoding == form.encoding;
    });
    if (!is_known) out.push_back(std::move(form));
  };
  add(plain_form(Encoding::kExact, std::string(value)));
  add(plain_form(Encoding::kReversed, reversed_bytes(value)));
  add(plain_form(Encoding::kReversed, reversed_characters(value)));
  add(hex_form(value));
  for (std::size_t before = 0; before < 3; ++before) {
    add(base64_form(value, before));
    add(url_alphabet(base64_form(value, before)));
  }
  if (value.find(' ') != std::string_view::npos) {  // as HTML forms write a space
    std::string text(value);
    std::replace(text.begin(), text.end(), ' ', '+');
    add(plain_form(Encoding::kPercent, std::move(text)));
  }
  return out;
}

std::string encoding_words(Encoding encoding, Layers layers, Extent extent) {
  std::string_view inner = kEncodingNames[static_cast<std::size_t>(encoding)];
  std::string outer;
  if (layers.json > 0) outer = layers.json == 1 ? "json_escapes" : "doubly_escaped_json";
  if (layers.percent > 0) outer += outer.empty() ? "percent" : " and percent";
  const bool is_plain = encoding == Encoding::kExact || encoding == Encoding::kCaseFolded;
  std::string out = outer.empty() ? std::string(inner)
                    : is_plain    ? outer
                                  : fmt::format("{} within {}", inner, outer);
  switch (extent) {
    case Extent::kWhole:
      break;
    case Extent::kSplit:
      return out + ", split over neighbouring values";
    case Extent::kFirstHalf:
      return out + ", the first half";
    case Extent::kSecondHalf:
      return out + ", the second half";
  }
  return out;
}

}  // namespace remit::redaction
