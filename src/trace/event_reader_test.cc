// Events and mistakes of a file, each at its byte.
#include "trace/event_reader.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/memory_file.h"

namespace remit::trace {
namespace {

/// `OFFSET id` for an event, `OFFSET! MESSAGE` for a mistake.
std::vector<std::string> items_of(const std::string& text, std::size_t max_line_bytes = 1000) {
  testing::MemoryFile file(text);
  event::Decoder decoder;
  decoder.max_line_bytes = max_line_bytes;
  EventReader reader(file, decoder);
  std::vector<std::string> items;
  for (;;) {
    const Result<Item> item = reader.next();
    if (!item || *item == Item::kEnd) return items;
    if (*item == Item::kEvent) {
      items.push_back(std::to_string(reader.line().offset) + " " +
                      std::string(reader.event().text(event::Field::kInvocationId)));
    } else {
      items.push_back(std::to_string(reader.error_offset()) + "!");
    }
  }
}

TEST(EventReader, YieldsEventsAndMistakesInOrder) {  // REQ-EV-002, REQ-EV-003
  const std::string request = R"({"event":"tool.request","invocation_id":"i1"})";
  EXPECT_EQ(items_of(request + "\r\n\n" + request),
            (std::vector<std::string>{"0 i1", std::to_string(request.size() + 3) + " i1"}));
  EXPECT_EQ(
      items_of("[]\n" + request + "\n{\"event\":\"tool.req"),
      (std::vector<std::string>{"0!", "3 i1", std::to_string(request.size() + 4 + 18) + "!"}));
  EXPECT_EQ(items_of(request + "\n" + std::string(60, 'x') + "\n" + request, 50),
            (std::vector<std::string>{"0 i1", std::to_string(request.size() + 1) + "!",
                                      std::to_string(request.size() + 62) + " i1"}));
  EXPECT_TRUE(items_of("").empty());
}

}  // namespace
}  // namespace remit::trace
