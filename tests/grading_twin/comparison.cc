// The comparison of the two graders.
#include "comparison.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>
#include <utility>

#include "event/event.h"
#include "naive_trace.h"
#include "tests/support/faulty_file_system.h"
#include "tests/support/memory_file.h"
#include "tests/support/nightly.h"

namespace remit::twin {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kIsSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kIsSanitized = true;
#else
constexpr bool kIsSanitized = false;
#endif
#else
constexpr bool kIsSanitized = false;
#endif

/// What `agree` did so far.
struct Tally {
  std::size_t compared = 0;
  std::map<std::string_view, std::size_t> codes;
};

Tally& tally() {
  static Tally tally;
  return tally;
}

std::string all_lines(const std::vector<NaiveInput>& inputs) {
  std::string out;
  for (const NaiveInput& input : inputs) out += "== " + input.name + "\n" + input.bytes;
  return out.size() > 20'000 ? out.substr(0, 20'000) + "...\n" : out;
}

}  // namespace

TwinCriteria criteria(std::string name, NaiveContract contract, std::string manifest_text,
                      std::optional<std::vector<std::string>> expected_ids) {
  TwinCriteria out;
  out.name = std::move(name);
  out.contract = std::move(contract);
  out.manifest_text = std::move(manifest_text);
  grading::ContractParse parsed =
      grading::parse_contract(contract_text(out.contract), "contract.yaml");
  for (const Error& error : parsed.errors) {
    ADD_FAILURE() << error.to_string() << "\n" << contract_text(out.contract);
  }
  out.criteria.contract = parsed.contract.value();
  out.criteria.expected_ids = std::move(expected_ids);
  if (out.manifest_text.empty()) return out;
  grading::ManifestParse manifest = grading::parse_manifest(out.manifest_text, "manifest.yaml");
  for (const Error& error : manifest.errors) {
    ADD_FAILURE() << error.to_string() << "\n" << out.manifest_text;
  }
  out.criteria.manifest = manifest.manifest.value();
  return out;
}

namespace {

Result<grading::Grade> graded(FileSystem& files, grading::Evidence evidence,
                              const grading::Criteria& criteria, const Way& way) {
  grading::Criteria in_full = criteria;
  in_full.list_all = way.listed == Listed::kAll;
  in_full.memory_bytes = way.memory_bytes;
  in_full.threads = way.threads;
  in_full.hash_seed = way.hash_seed;
  return grading::grade(files, std::move(evidence), std::move(in_full));
}

grading::Grade expected_grade(Result<grading::Grade> grade) {
  if (grade) return std::move(*grade);
  ADD_FAILURE() << grade.error().to_string();
  return {};
}

}  // namespace

bool is_event(const std::string& line) {
  event::Decoder decoder;
  event::Event event;
  const std::string padded = line + std::string(event::Decoder::kPadding, '\0');
  return decoder.decode(std::string_view(padded).substr(0, line.size()), event).has_value();
}

bool is_refused(const std::vector<NaiveInput>& inputs) {
  return std::ranges::any_of(inputs, [](const NaiveInput& input) {
    if (input.may_be_torn) return false;
    std::size_t others = 0;
    std::istringstream lines(input.bytes);
    for (std::string line; std::getline(lines, line);) {
      if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
      if (line.ends_with('\r')) line.pop_back();
      if (is_event(line)) return false;
      ++others;
    }
    return others > 1;
  });
}

Result<grading::Grade> graded(const std::vector<NaiveInput>& inputs,
                              const grading::Criteria& criteria, const Way& way) {
  testing::FaultyFileSystem files;  // without a fault: scratch files in memory
  grading::Evidence evidence;
  for (const NaiveInput& input : inputs) {
    evidence.inputs.push_back(trace::Input::of_stream(
        input.name,
        std::make_unique<testing::MemoryFile>(packed(input.bytes, way.packing), way.piece_bytes)));
  }
  return graded(files, std::move(evidence), criteria, way);
}

grading::Grade streamed(FileSystem& files, grading::Evidence evidence,
                        const grading::Criteria& criteria, const Way& way) {
  return expected_grade(graded(files, std::move(evidence), criteria, way));
}

grading::Grade streamed(const std::vector<NaiveInput>& inputs, const grading::Criteria& criteria,
                        const Way& way) {
  return expected_grade(graded(inputs, criteria, way));
}

bool same(const Judgement& naive, const Judgement& streaming, const std::string& told) {
  if (naive == streaming) return true;
  ADD_FAILURE() << told << difference(naive, streaming);
  return false;
}

Judgement without_files(const Judgement& judgement, Places places) {
  Judgement out = judgement;
  out.findings.clear();
  for (const std::string& finding : judgement.findings) {
    const std::size_t from = finding.find(" at [");
    const std::size_t to = finding.find("]: ", from);
    std::string text = finding.substr(0, from) + " at";
    std::istringstream list(finding.substr(from + 5, to - from - 5));
    for (std::string place; std::getline(list, place, ';');) {
      text += places == Places::kNone ? " a place" : " " + place.substr(0, place.find(','));
    }
    out.findings.insert(text + finding.substr(to));
  }
  return out;
}

std::string unearned(const std::vector<NaiveInput>& inputs) {
  struct Seen {
    int requests = 0, allows = 0, denials = 0, other_decisions = 0;
    int starts = 0, known_finishes = 0, other_finishes = 0, unspent = 0;
  };
  const NaiveTrace trace = read_trace(inputs);
  if (!trace.malformed.empty()) return "a line is malformed";
  if (!trace.repeats.empty()) return "a number came with other bytes";
  std::map<std::string, Seen> calls;
  for (const NaiveEvent& event : trace.events) {
    if (event.kind == EventKind::kEvidenceLost) return "evidence was lost";
    if (!event::is_call_event(event.kind)) continue;
    Seen& call = calls[event.get(Field::kInvocationId)];
    const std::string decision = event.get(Field::kDecision);
    const std::string outcome = event.get(Field::kOutcome);
    const bool is_known = outcome == "succeeded" || outcome == "failed" || outcome == "cancelled";
    const bool has_version = event.has(Field::kPolicyVersion);
    if (event.kind == EventKind::kToolRequest) ++call.requests;
    if (event.kind == EventKind::kExecutorStart) ++call.starts;
    if (event.kind == EventKind::kExecutorFinish) {
      ++(is_known ? call.known_finishes : call.other_finishes);
    }
    if (event.kind == EventKind::kPermitUnspent) ++call.unspent;
    if (event.kind != EventKind::kAuthorizationDecision) continue;
    ++(!has_version          ? call.other_decisions
       : decision == "allow" ? call.allows
       : decision == "deny"  ? call.denials
                             : call.other_decisions);
  }
  if (calls.empty()) return "there is no invocation";
  for (const auto& [id, call] : calls) {
    if (call.requests != 1) return id + " has not one request";
    if (call.allows + call.denials != 1 || call.other_decisions > 0) {
      return id + " has not one known decision by a known version";
    }
    const bool ran = call.starts + call.known_finishes + call.other_finishes > 0;
    if (call.denials == 1 && ran) return id + " was denied and ran";
    const bool is_whole = call.starts == 1 && call.known_finishes == 1 &&
                          call.other_finishes == 0 && call.unspent == 0;
    if (call.allows == 1 && !is_whole && (ran || call.unspent == 0)) {
      return id + " was allowed and has not one start and one known finish";
    }
  }
  return {};
}

bool agree(const std::vector<NaiveInput>& inputs, const TwinCriteria& under) {
  const std::size_t number = tally().compared++;
  const Way way{.memory_bytes = kRooms[number % std::size(kRooms)],
                .threads = 1 + static_cast<unsigned>(number % 2),
                .hash_seed = number};
  const Result<grading::Grade> told = graded(inputs, under.criteria, way);
  if (told.has_value() == is_refused(inputs)) {
    ADD_FAILURE() << (told ? "is graded, though no line is an event" : told.error().to_string())
                  << "\n"
                  << all_lines(inputs);
    return false;
  }
  if (!told) return true;
  const grading::Grade& grade = *told;
  for (const grading::Finding& finding : grade.findings) {
    ++tally().codes[grading::code_info(finding.code).name];
  }
  const Judgement naive = naive_judgement(inputs, under);
  const Judgement streaming = reduced(grade);
  const bool is_sequential = under.contract.extends == "sequential" &&
                             under.contract.rules.empty() && under.contract.blocking.empty();
  const std::string fault = is_sequential && grade.exit_code == 0 ? unearned(inputs) : "";
  if (naive == streaming && fault.empty()) return true;
  ADD_FAILURE() << "under " << under.name << " with room for " << way.memory_bytes << "\n"
                << contract_text(under.contract) << under.manifest_text << all_lines(inputs)
                << difference(naive, streaming) << fault;
  return false;
}

std::size_t take_compared() {
  return std::exchange(tally().compared, 0);
}

const std::map<std::string_view, std::size_t>& codes_met() {
  return tally().codes;
}

Size size() {
  if (testing::is_nightly()) return Size::kNightly;
  return kIsSanitized ? Size::kSanitized : Size::kDaily;
}

std::uint64_t rounds(std::uint64_t daily) {
  switch (size()) {
    case Size::kSanitized:
      return std::max<std::uint64_t>(daily / 8, 1);
    case Size::kDaily:
      return daily;
    case Size::kNightly:
      return daily * 10;
  }
  return daily;
}

std::ranges::iota_view<std::uint64_t, std::uint64_t> seeds(std::uint64_t daily) {
  const char* asked = std::getenv("REMIT_TWIN_SEED");
  const std::uint64_t first = asked == nullptr ? 1 : std::strtoull(asked, nullptr, 10);
  return {first, first + rounds(daily)};
}

}  // namespace remit::twin
