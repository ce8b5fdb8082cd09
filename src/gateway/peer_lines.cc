// Lines to their takers.
#include "gateway/peer_lines.h"

#include "process/lines.h"

namespace remit::gateway {

void read_peer_lines(int fd, std::size_t max_line_bytes, int wake_fd, const LineTakers& takers) {
  process::LineReader reader(fd, max_line_bytes, wake_fd);
  while (true) {
    const process::LineRead read = reader.next();
    switch (read.event) {
      case process::LineEvent::kLine:
        if (read.line.find_first_not_of(" \t\r") != std::string_view::npos) takers.line(read.line);
        break;
      case process::LineEvent::kTooLong:
        takers.too_long();
        break;
      case process::LineEvent::kTimeout:
        break;
      case process::LineEvent::kCut:
        if (takers.cut) takers.cut();
        return;
      case process::LineEvent::kEnd:
      case process::LineEvent::kWoken:
      case process::LineEvent::kError:
        return;
    }
    if (takers.goes_on && !takers.goes_on()) return;
  }
}

}  // namespace remit::gateway
