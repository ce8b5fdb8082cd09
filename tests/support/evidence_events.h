// Small events and what a log made of them, for tests that write evidence.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.h"
#include "base/limits.h"
#include "event/event.h"
#include "evidence/verify.h"

namespace remit::testing {

/// A request that names the invocation `id`, which the caller keeps alive.
inline event::Event request(std::string_view id) {
  event::Event out;
  out.kind = event::EventKind::kToolRequest;
  out.set(event::Field::kInvocationId, id);
  return out;
}

/// Every whole line in the evidence beneath `directory`, by writer, segment and place.
inline std::vector<std::string> evidence_lines(FileSystem& files, const std::string& directory) {
  std::vector<std::string> out;
  const auto writers = evidence::list_segments(files, directory);
  if (!writers) return out;
  for (const auto& writer : *writers) {
    for (const std::string& segment : writer.segments) {
      const auto text = files.read(segment, 2 * kMaxSegmentBytes);
      if (!text) continue;
      for (std::size_t at = 0, end = 0; (end = text->find('\n', at)) != std::string::npos;) {
        out.push_back(text->substr(at, end - at));
        at = end + 1;
      }
    }
  }
  return out;
}

/// The value of a member of a line that we wrote, as text; empty if it is not there.
inline std::string member(const std::string& line, const std::string& name) {
  const std::string start = "\"" + name + "\":";
  std::size_t at = line.find(start);
  if (at == std::string::npos) return "";
  at += start.size();
  if (line[at] == '"') return line.substr(at + 1, line.find('"', at + 1) - at - 1);
  return line.substr(at, line.find_first_of(",}", at) - at);
}

}  // namespace remit::testing
