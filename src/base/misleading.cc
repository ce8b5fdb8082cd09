// Ranges of Unicode.
#include "base/misleading.h"

namespace remit {
namespace {

struct Points {
  char32_t first, last;
};

/// General category Cc, the separators of lines and paragraphs, Bidi_Control,
/// Default_Ignorable_Code_Point, marks of annotations and non-characters of Unicode.
constexpr Points kMisleading[] = {
    {0x0, 0x1f},      {0x7f, 0x9f},     {0xad, 0xad},       {0x34f, 0x34f},     {0x61c, 0x61c},
    {0x115f, 0x1160}, {0x17b4, 0x17b5}, {0x180b, 0x180f},   {0x200b, 0x200f},   {0x2028, 0x202e},
    {0x2060, 0x206f}, {0x3164, 0x3164}, {0xfdd0, 0xfdef},   {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},
    {0xffa0, 0xffa0}, {0xfff0, 0xfffb}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
};

}  // namespace

bool misleads(char32_t point) {
  if ((point & 0xfffeU) == 0xfffeU) return true;  // the last two of each plane
  for (const Points& range : kMisleading) {
    if (point >= range.first && point <= range.last) return true;
  }
  return false;
}

char32_t code_point(std::string_view sequence) {
  const auto lead = static_cast<unsigned char>(sequence.front());
  if (sequence.size() == 1) return lead;
  char32_t point = lead & (0x7fU >> sequence.size());
  for (const char c : sequence.substr(1)) {
    point = (point << 6U) | (static_cast<unsigned char>(c) & 0x3fU);
  }
  return point;
}

}  // namespace remit
