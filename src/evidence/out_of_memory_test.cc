// Memory runs out at each allocation of a commit in turn: the batch leaves nothing behind.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "evidence/file_evidence_log.h"
#include "evidence/verify.h"
#include "tests/support/evidence_events.h"
#include "tests/support/fake_clock.h"
#include "tests/support/faulty_file_system.h"
#include "tests/support/seeded_random.h"

namespace {

// Allocations of this thread that still succeed; below zero all do.
thread_local long allocations_left = -1;

}  // namespace

void* operator new(std::size_t size) {
  if (allocations_left == 0) {
    allocations_left = -1;
    throw std::bad_alloc{};
  }
  if (allocations_left > 0) --allocations_left;
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc{};
  return memory;
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace remit::evidence {
namespace {

TEST(OutOfMemory, LeavesNothingOfABatchBehind) {
  const std::string long_tool(2'000, 't');
  int failures = 0;
  for (long allocation = 0; allocation < 200; ++allocation) {
    testing::FaultyFileSystem files;
    const testing::FakeClock clock;
    testing::SeededRandom random(3);
    auto log = FileEvidenceLog::open(files, clock, random, {.directory = "/evidence"});
    ASSERT_TRUE(log);
    std::vector<event::Event> events(4, testing::request("refused"));
    for (event::Event& event : events) event.set(event::Field::kTool, long_tool);
    bool is_out_of_memory = false;
    allocations_left = allocation;
    try {
      static_cast<void>((*log)->append({.events = events}));
    } catch (const std::bad_alloc&) {
      is_out_of_memory = true;
    }
    allocations_left = -1;
    failures += is_out_of_memory ? 1 : 0;
    const std::vector<event::Event> good = {testing::request("good")};
    ASSERT_TRUE((*log)->commit({.events = good}));
    ASSERT_TRUE((*log)->close());
    const auto report = verify(files, "/evidence");
    ASSERT_TRUE(report && report->intact()) << "allocation " << allocation;
    const std::vector<std::string> lines = testing::evidence_lines(files, "/evidence");
    ASSERT_EQ(lines.size(), is_out_of_memory ? 1U : 5U) << "allocation " << allocation;
    EXPECT_EQ(testing::member(lines.back(), "invocation_id"), "good");
    EXPECT_EQ(testing::member(lines.back(), "seq"), std::to_string(lines.size()));
    if (!is_out_of_memory) break;
  }
  EXPECT_GT(failures, 2);
}

}  // namespace
}  // namespace remit::evidence
