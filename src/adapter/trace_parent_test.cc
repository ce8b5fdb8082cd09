// Trace contexts that are, and those that are none.
#include "adapter/trace_parent.h"

#include <gtest/gtest.h>

namespace remit::adapter {
namespace {

const std::string kTrace = "4bf92f3577b34da6a3ce929d0e0e4736";
const std::string kSpan = "00f067aa0ba902b7";

std::string words(const std::string& text) {
  const TraceParent found = read_trace_parent(text);
  return found.trace_id + " " + found.span_id;
}

TEST(TraceParent, IsReadAsTheStandardHasIt) {
  const std::string both = kTrace + " " + kSpan;
  const std::string good = kTrace + "-" + kSpan;
  EXPECT_EQ(words("00-" + good + "-01"), both);
  EXPECT_EQ(words("00-" + good + "-ff"), both);
  EXPECT_EQ(words("cc-" + good + "-01"), both) << "a later version";
  EXPECT_EQ(words("cc-" + good + "-01-what-comes-after"), both);
  const std::string bad[] = {
      "",
      "00-" + good,
      "00-" + good + "-0",
      "00-" + good + "-01-more",
      "00-" + good + "-01 ",
      "00-" + good + "-0g",
      "cc-" + good + "-01more",
      "ff-" + good + "-01",
      "0-" + good + "-01 ",
      "zz-" + good + "-01",
      "00-" + std::string(32, '0') + "-" + kSpan + "-01",
      "00-" + kTrace + "-" + std::string(16, '0') + "-01",
      "00-4BF92F3577B34DA6A3CE929D0E0E4736-" + kSpan + "-01",
      "00_" + good + "-01",
      "00-" + kTrace + "_" + kSpan + "-01",
      "00-" + good + "_01",
      "00-" + kTrace.substr(1) + "--" + kSpan + "-01",
  };
  for (const std::string& text : bad) EXPECT_EQ(words(text), " ") << text;
}

}  // namespace
}  // namespace remit::adapter
