// What one decision costs in process, under 1 to 10,000 policies, on one thread and on two.
//
// `spread`: ten policies for each action. `one_action`: every policy for the same action, each
// naming one resource. `p50_us` and `p99_us` are of single calls; the time column is the mean.
// `load` is from texts in memory, `load_from_files` a whole bundle from its directory.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "base/file_system.h"
#include "cedar/cedar_decision_point.h"
#include "policy/bundle.h"
#include "tests/support/large_bundle.h"

namespace {

using remit::access::AttributeValue;

enum class Layout : std::uint8_t { kSpread, kOneAction };

remit::policy::Bundle bundle_of(std::int64_t count, Layout layout) {
  const bool spread = layout == Layout::kSpread;
  const std::int64_t actions = spread ? std::max<std::int64_t>(1, count / 10) : 1;
  remit::policy::Bundle bundle;
  bundle.schema = {"schema.cedarschema", R"(
entity Principal { tenant: String, class: String, scopes: Set<String>, on_behalf_of?: String };
entity Invoice { tenant: String, amount: Long, open: Bool, owner: String, tags: Set<String> };
type Context = { route: String, environment: String, now: datetime,
  approval: { state: String, id?: String }, arguments: { limit?: Long, note?: String } };
)"};
  for (std::int64_t i = 0; i < actions; ++i) {
    bundle.schema.text += fmt::format(
        "action \"tool{}\" appliesTo {{ principal: [Principal], resource: [Invoice], "
        "context: Context }};\n",
        i);
    remit::policy::Tool tool;
    tool.name = tool.action = fmt::format("tool{}", i);
    tool.argument_names = {"invoice", "limit", "note"};
    tool.resources = {{"/invoice", "Invoice"}};
    bundle.tools.push_back(std::move(tool));
  }
  std::string text;
  for (std::int64_t i = 0; i < count; ++i) {
    text += fmt::format(
        "@id(\"p{}\") permit(principal, action == Action::\"tool{}\", {}) when {{ "
        "principal.scopes.contains(\"invoice:read\") && principal.tenant == resource.tenant }};\n",
        i, i % actions, spread ? "resource" : fmt::format("resource == Invoice::\"inv-{}\"", i));
  }
  bundle.policies = {{"policies/all.cedar", std::move(text)}};
  return bundle;
}

/// Loads once per layout and count; loading is not what is measured here.
const remit::decision::DecisionPoint& point_of(std::int64_t count, Layout layout) {
  static std::map<std::pair<std::int64_t, Layout>,
                  std::shared_ptr<const remit::decision::DecisionPoint>>
      made;
  auto& point = made[{count, layout}];
  if (point == nullptr) {
    const auto outcome = remit::cedar::CedarDecisionPointFactory().create(bundle_of(count, layout));
    if (outcome.decision_point == nullptr) {
      fmt::print(stderr, "{}\n", outcome.problems.front().to_string());
      std::abort();
    }
    point = outcome.decision_point;
  }
  return *point;
}

double percentile(std::vector<double>& sorted, double part) {
  const auto last = static_cast<double>(sorted.size() - 1);
  return sorted[static_cast<std::size_t>(part * last)];
}

void decide(benchmark::State& state, Layout layout) {
  static const remit::decision::DecisionPoint* point = nullptr;
  if (state.thread_index() == 0) point = &point_of(state.range(0), layout);
  const remit::access::Principal principal{.subject = "agent-7",
                                           .tenant = "acme",
                                           .class_name = "support_agent",
                                           .scopes = {"invoice:list", "invoice:read"},
                                           .revision = "p1",
                                           .on_behalf_of = "ann"};
  const remit::access::Resource resource{
      .type = "Invoice",
      .id = "inv-0",
      .tenant = "acme",
      .source = "desk",
      .revision = "r1",
      .attributes = {{"amount", std::int64_t{120}},
                     {"open", true},
                     {"owner", "ann"},
                     {"tags", std::vector<std::string>{"eu", "vip"}}}};
  const remit::json::Value arguments = remit::json::Object{{"limit", 10}, {"note", "monthly"}};
  const remit::decision::DecisionRequest request{
      principal, "tool0",  resource, "agent", "production", {1'785'758'400'000'000'000},
      {},        arguments};
  std::vector<double> times;
  times.reserve(1U << 20U);
  for (auto _ : state) {
    const auto start = std::chrono::steady_clock::now();
    const auto decision = point->decide(request);
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    if (!decision || !decision->allowed()) state.SkipWithError("not allowed");
    times.push_back(took.count());
  }
  std::sort(times.begin(), times.end());
  state.counters["p50_us"] = {percentile(times, 0.50), benchmark::Counter::kAvgThreads};
  state.counters["p99_us"] = {percentile(times, 0.99), benchmark::Counter::kAvgThreads};
  state.counters["decisions"] = {static_cast<double>(state.iterations()),
                                 benchmark::Counter::kIsRate};
}

void load(benchmark::State& state, Layout layout) {
  const remit::policy::Bundle bundle = bundle_of(state.range(0), layout);
  for (auto _ : state) {
    benchmark::DoNotOptimize(remit::cedar::CedarDecisionPointFactory().create(bundle));
  }
}

/// A bundle from its files to a decision point, ten policies for each action.
void load_from_files(benchmark::State& state) {
  std::string pattern = (std::filesystem::temp_directory_path() / "decision_bench.XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) std::abort();
  const std::filesystem::path folder = pattern;
  remit::testing::write_large_bundle(folder, {.actions = static_cast<int>(state.range(0) / 10)});
  remit::PosixFileSystem files;
  for (auto _ : state) {
    const auto loaded = remit::policy::load_bundle(files, folder.string());
    if (loaded.bundle == nullptr ||
        remit::cedar::CedarDecisionPointFactory().create(*loaded.bundle).decision_point ==
            nullptr) {
      state.SkipWithError("refused");
      break;
    }
  }
  std::filesystem::remove_all(folder);
}

void counts(benchmark::internal::Benchmark* bench) {
  for (const std::int64_t count : {1, 100, 1'000, 10'000}) bench->Arg(count);
  bench->ThreadRange(1, 2)->UseRealTime()->Unit(benchmark::kMicrosecond);
}

BENCHMARK_CAPTURE(decide, spread, Layout::kSpread)->Apply(counts);
BENCHMARK_CAPTURE(decide, one_action, Layout::kOneAction)->Apply(counts);
BENCHMARK_CAPTURE(load, spread, Layout::kSpread)
    ->Arg(100)
    ->Arg(10'000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(load_from_files)->Arg(10'000)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
