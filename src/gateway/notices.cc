// Operator lines: one write each.
#include "gateway/notices.h"

#include <bit>
#include <string>

#include "process/lines.h"

namespace remit::gateway {
namespace {

constexpr std::size_t kMaxNoticeBytes = 1000;

}  // namespace

void Notices::say(std::string_view text) const {
  std::string line = "remit: ";
  for (const char byte : text.substr(0, kMaxNoticeBytes)) {
    line += static_cast<unsigned char>(byte) < 0x20 || byte == 0x7f ? '?' : byte;
  }
  line += '\n';
  // Many clients never read standard error: a full one must not hold up a call. Servers write to it
  // as well and may fill it between our look and our write, so that write must not wait either.
  (void)process::write_some(fd_, line);
}

void Tally::count(const Notices& notices, std::string_view text) {
  const std::uint64_t now = count_.fetch_add(1) + 1;
  if (!std::has_single_bit(now)) return;
  std::string line(text);
  if (now > 1) line += " (" + std::to_string(now) + " times so far)";
  notices.say(line);
}

}  // namespace remit::gateway
