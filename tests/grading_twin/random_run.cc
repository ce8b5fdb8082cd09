// Making random runs.
#include "random_run.h"

#include <fmt/format.h>

#include <map>

#include "comparison.h"

namespace remit::twin {
namespace {

std::string_view one_of(SeededRandom& random, const std::vector<std::string_view>& forms) {
  return forms[random.number(forms.size())];
}

// A core form more often than not, and seldom the end of a run.
std::string_view random_form(SeededRandom& random) {
  const std::uint64_t kind = random.number(12);
  if (kind == 0) return one_of(random, kRare);
  if (kind < 4) return one_of(random, kFurther);
  return kCore[random.number(kCore.size() - (random.number(8) != 0 ? 1 : 0))];
}

}  // namespace

std::vector<std::string> random_lines(SeededRandom& random, std::size_t count,
                                      std::size_t invocations, Numbering numbering) {
  std::vector<std::string> out;
  std::vector<std::size_t> next(1 + random.number(3), 1);
  while (out.size() < count) {
    const std::size_t writer = random.number(next.size());
    const std::string id = fmt::format("i{}", 1 + random.number(invocations));
    const bool is_numbered =
        numbering == Numbering::kAll || (numbering == Numbering::kSome && random.number(2) == 0);
    const bool is_named = is_numbered || (numbering == Numbering::kSome && random.number(2) == 0);
    if (random.number(40) == 0) ++next[writer];  // a hole
    std::string fields;
    if (is_named) fields += fmt::format(R"(,"writer":"w{}")", writer);
    if (is_numbered) fields += fmt::format(R"(,"seq":{})", next[writer]++);
    const std::string_view form = random_form(random);
    out.push_back(line_of(form, id, fields));
    const std::uint64_t accident = random.number(60);
    if (accident < 2) out.push_back(out.back());                                 // said twice
    if (accident == 2) out.push_back(line_of(random_form(random), id, fields));  // in other words
    if (accident == 3) out.push_back(out.back().substr(0, out.back().size() / 2) + "\n");  // cut
    if (accident == 4) out.back().insert(out.back().size() - 1, "\r");
  }
  return out;
}

std::vector<Planned> healthy_plan(SeededRandom& random, std::size_t invocations) {
  std::vector<std::vector<Planned>> calls;
  for (std::size_t i = 1; i <= invocations; ++i) {
    const std::string id = fmt::format("i{}", i);
    const std::size_t executor = random.number(2);
    std::vector<Planned>& call = calls.emplace_back();
    const auto say = [&](std::size_t writer, std::string_view form) {
      call.push_back({writer, std::string(form), id});
    };
    say(0, kCore[0]);
    const std::uint64_t fate = random.number(4);
    if (fate == 0) {
      say(0, kCore[2]);
      continue;
    }
    say(0,
        R"({"event":"authorization.decision","invocation_id":"@","tool":"a","decision":"allow","reason":"allowed","policy_version":"v1","decision_id":"d1"#})");
    if (fate == 1) {
      say(0, R"({"event":"permit.unspent","invocation_id":"@","decision_id":"d1"#})");
      continue;
    }
    say(executor, R"({"event":"executor.start","invocation_id":"@","decision_id":"d1"#})");
    say(executor, kCore[4]);
  }
  std::vector<Planned> out;
  while (!calls.empty()) {
    const std::size_t call = random.number(calls.size());
    out.push_back(calls[call].front());
    calls[call].erase(calls[call].begin());
    if (calls[call].empty()) calls.erase(calls.begin() + static_cast<std::ptrdiff_t>(call));
  }
  std::size_t said = 0;
  for (const Planned& line : out) said += line.writer == 0 ? 1 : 0;
  out.push_back({0,
                 fmt::format(R"({{"event":"run.finished","events":{},"invocations":{}#}})", said,
                             invocations),
                 ""});
  return out;
}

std::vector<std::string> numbered(const std::vector<Planned>& plan) {
  std::vector<std::string> out;
  std::map<std::size_t, std::size_t> next;
  for (const Planned& line : plan) {
    out.push_back(
        line_of(line.form, line.id,
                fmt::format(R"(,"writer":"w{}","seq":{})", line.writer, ++next[line.writer])));
  }
  return out;
}

std::vector<NaiveInput> dealt_to_files(const std::vector<std::string>& lines,
                                       SeededRandom& random) {
  std::vector<NaiveInput> out(1 + random.number(4));
  for (std::size_t i = 0; i < out.size(); ++i) out[i].name = fmt::format("f{}", i);
  for (const std::string& line : lines) out[random.number(out.size())].bytes += line;
  return out;
}

}  // namespace remit::twin
