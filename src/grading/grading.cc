// From events to a grade: reading, then judging everything that was read.
#include "grading/grading.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "grading/casebook.h"
#include "grading/handoff.h"
#include "grading/judge.h"
#include "grading/pinned_facts.h"
#include "grading/record_store.h"
#include "grading/rule_book.h"
#include "grading/run_facts.h"
#include "grading/scope.h"
#include "grading/sightings.h"
#include "grading/unlisted_fields.h"
#include "trace/same_text.h"

namespace remit::grading {
namespace {

Finding run_finding(Code code, std::string_view detail) {
  const CodeInfo& info = code_info(code);
  Finding out;
  out.code = code;
  out.verdict = info.verdict;
  out.owner = info.owner;
  out.value = info.soft ? Value::kUndetermined : Value::kFailed;
  out.message = info.meaning;
  if (!detail.empty()) out.message.append(": ").append(detail);
  return out;
}

// Those of the run, then of cases, then of invocations; the first contradicted fact first, its
// consequences behind it.
bool stands_first(const Finding& left, const Finding& right) {
  const auto key = [](const Finding& one) {
    return std::tie(one.invocation_id, one.case_id, one.consequence, one.owner, one.code,
                    one.events, one.expected, one.recorded, one.message);
  };
  if (const auto order = key(left) <=> key(right); order != 0) return order < 0;
  return std::lexicographical_compare(left.events.begin(), left.events.end(), right.events.begin(),
                                      right.events.end(), [](const Position& a, const Position& b) {
                                        return std::tie(a.file, a.offset) <
                                               std::tie(b.file, b.offset);
                                      });
}

/// The names of writers without one are paths, of which the end matters.
constexpr std::size_t kShownWriter = 200;

/// So far ahead of where they are needed, events and invocations are sent for: what the store holds
/// is larger than the processor's caches.
constexpr std::size_t kEventsAhead = 4;
constexpr std::uint32_t kCallsAhead = 16;

/// Verdicts of invocations, and of those alone for which a verdict blocks (REQ-GR-005).
struct Tally {
  ByVerdict<VerdictResult> all, blocking;

  Tally() {
    for (const Verdict verdict : kVerdicts) {
      all[verdict].value = blocking[verdict].value = Value::kPassed;
    }
  }
  /// Every invocation is in the populations; those of cases have their values there.
  void count(const Requirements& requirements, const ByVerdict<Value>& verdicts, bool is_of_case) {
    for (const Verdict verdict : kVerdicts) {
      if (verdicts[verdict] == Value::kNotExercised) continue;
      const auto add_to = [&](VerdictResult& result) {
        ++result.population;
        if (!is_of_case) result.value = worse(result.value, verdicts[verdict]);
      };
      add_to(all[verdict]);
      if (requirements.blocking[verdict]) add_to(blocking[verdict]);
    }
  }
};

// Counts an invocation that ended on the path without violations, in a run where nothing else can
// be held against it; false for any other.
bool count_plain(const PlainCall& call, RuleBook& book, Population& population, Tally& tally) {
  const Resolved& rules = book.of(call.tool, call.route);
  const bool has_run = call.stage == Stage::kFinished;
  if (!(has_run ? rules.admits_finished : rules.admits_denied)) return false;
  const std::uint64_t runs = has_run ? 1U : 0U;
  population.allowed += runs;
  population.denied += 1U - runs;
  population.started += runs;
  population.finished += runs;
  for (const Verdict verdict : kVerdicts) {
    if (verdict == Verdict::kPlanning) continue;
    ++tally.all[verdict].population;
    if (rules.requirements.blocking[verdict]) ++tally.blocking[verdict].population;
  }
  return true;
}

/// How many malformed lines there were so far.
struct MalformedLines {
  std::uint64_t told = 0;           ///< in the run, as findings of their own
  std::uint64_t of_source = 0;      ///< in the file that is read
  std::optional<std::size_t> rest;  ///< index of the finding that stands for those not told in it
};

/// Files that were read, by what tells most of them apart (REQ-IN-013).
class ReadFiles {
 public:
  explicit ReadFiles(FileSystem& files) : files_(files) {}

  void begin(const trace::Input& input, std::string source) {
    const bool is_file = input.stream == nullptr && input.torn_tail == trace::TornTail::kMistake;
    source_ = is_file ? std::move(source) : std::string();
    shape_ = {};
    unnumbered_ = 0;
  }
  void count(const event::Event& event, const trace::Line& line) {
    shape_ = {line.number, line.offset + line.text.size()};
    if (!event.has(event::Field::kSeq)) ++unnumbered_;
  }
  /// Refuses the file if another with the same text was read. Events that a writer has numbered
  /// may come again, and one event alone may be another that looks the same.
  Status end() {
    constexpr std::size_t kCompared = 8;
    if (source_.empty() || unnumbered_ < 2) return {};
    std::vector<std::string>& alike = by_shape_[shape_];
    for (std::size_t i = 0; i < std::min(alike.size(), kCompared); ++i) {
      const Result<bool> is_same = trace::have_same_text(files_, alike[i], source_);
      if (!is_same || !*is_same) continue;
      return Error{ErrorCode::kInvalidInput,
                   fmt::format("holds the same text as {}: it is given twice", quoted(alike[i])),
                   source_};
    }
    alike.push_back(std::exchange(source_, {}));
    return {};
  }

 private:
  using Shape = std::pair<std::uint64_t, std::uint64_t>;  // lines, and bytes up to the last event
  FileSystem& files_;
  std::string source_;  ///< empty where it is not compared
  Shape shape_;
  std::uint64_t unnumbered_ = 0;
  std::map<Shape, std::vector<std::string>> by_shape_;
};

/// What judging one invocation adds to.
struct Judging {
  Grade& grade;
  Casebook& cases;
  Scope& scope;
  Judge& judge;
  Tally tally;  ///< the values are those of invocations outside cases
};

}  // namespace

struct Grader::State {
  State(FileSystem& files, Criteria wanted)
      : criteria(std::move(wanted)),
        store({files, criteria.memory_bytes, criteria.scratch_directories}, criteria.hash_seed) {}

  const Manifest* manifest() const { return criteria.manifest ? &*criteria.manifest : nullptr; }
  /// Whether it was expected, and nothing of it was seen.
  bool was_missed(std::string_view id) const {
    const auto expected = expected_ids.find(id);
    return expected != expected_ids.end() && !expected->second;
  }
  void end_source();
  void find_in_logs();
  void find_repeats();
  void find_sightings();
  void find_missing_ids(bool has_loss);
  void settle_form();
  Status enter_all(Casebook& cases, RuleBook& book);
  Status judge_all(Grade& grade);
  Status judge_calls(RuleBook& book, Judging& judging);
  void judge_call(const CallView& call, Judging& judging);
  bool has_ended() const;
  void find_in_environment(const PinnedFacts& pinned);
  void conclude(Grade& grade, const Tally& tally, const Casebook& cases);
  std::optional<Value> gate_value(Verdict verdict, const Tally& tally, const Casebook& cases) const;
  bool is_of_run(const Finding& finding) const;
  void list(Grade& grade);

  Criteria criteria;
  RecordStore store;
  Sightings sightings;
  std::vector<Finding> findings;
  MalformedLines malformed;
  UnlistedFields unlisted;
  std::vector<trace::SilentFile> silent_files;
  std::vector<std::uint32_t> files_of_requests;             // ascending
  std::unordered_map<std::string_view, bool> expected_ids;  // and whether they were seen
  std::vector<InvocationGrade> invocations;
};

Grader::Grader(FileSystem& files, Criteria criteria)
    : state_(std::make_unique<State>(files, std::move(criteria))) {}
Grader::~Grader() = default;
Grader::Grader(Grader&&) noexcept = default;
Grader& Grader::operator=(Grader&&) noexcept = default;

Status Grader::begin_source(std::string_view input, std::string_view source) {
  state_->end_source();
  if (state_->store.begin_source(input, source)) return {};
  return Error{ErrorCode::kLimitExceeded,
               fmt::format("a run may have at most {} files", kMaxTraceSources),
               std::string(source)};
}

Status Grader::add(const event::Event& event, const trace::Line& line) {
  state_->unlisted.note(event, line.text);
  return state_->store.add(event, line);
}

void Grader::expect(std::uint64_t id_hash) const {
  state_->store.expect(id_hash);
}

void Grader::note_silent(const trace::SilentFile& file) {
  state_->silent_files.push_back(file);
}

void Grader::note_file_of_requests() {
  state_->store.note_files_of_requests(1);
  state_->files_of_requests.push_back(
      static_cast<std::uint32_t>(state_->store.sources().size() - 1));
}

void Grader::add_malformed(const Error& error, std::uint64_t offset, const trace::Line& line) {
  MalformedLines& seen = state_->malformed;
  ++seen.of_source;
  const bool is_told =
      seen.of_source <= kMalformedLinesOfSource && seen.told < kMalformedLinesOfRun;
  if (!is_told && seen.rest) {
    ++state_->findings[*seen.rest].lines;
    return;
  }
  const std::string what = is_told ? fmt::format("byte {}: {}", offset, error.message) : "";
  Finding finding = run_finding(Code::kMalformedEvent, what);
  const std::uint64_t place = state_->store.place(offset);
  const LineSpan whole = span_of(line);
  const std::uint64_t end = line.offset + whole.bytes;
  const LineSpan span = LineSpan::of(line.number, end > offset ? end - offset : 0);
  finding.events.push_back(state_->store.unwritten_position(place, span));
  if (is_told) {
    ++seen.told;
  } else {
    seen.rest = state_->findings.size();
  }
  state_->findings.push_back(std::move(finding));
}

void Grader::add_observations(std::span<const redaction::Observation> observations,
                              const event::Event* event, const trace::Line& line) {
  state_->sightings.add(observations, event, line, state_->store);
}

void Grader::add_altered(std::string_view input, const Error& error) {
  Finding finding = run_finding(Code::kEvidenceAltered, error.to_string());
  finding.events.push_back({std::string(input), 0, false});
  state_->findings.push_back(std::move(finding));
}

// Says in the finding of the lines that are not told one by one how many they are (REQ-GR-087).
void Grader::State::end_source() {
  if (malformed.rest) {
    Finding& finding = findings[*malformed.rest];
    finding.message += finding.lines == 1
                           ? ": 1 more line from here on"
                           : fmt::format(": {} more lines from here on", finding.lines);
  }
  malformed.of_source = 0;
  malformed.rest.reset();
}

// What the writers' logs say of themselves (REQ-EV-040, REQ-GR-070 to 074).
void Grader::State::find_in_logs() {
  for (std::uint32_t w = 0; w < store.writers().size(); ++w) {
    const WriterLog& log = store.writers()[w];
    const std::string writer = quoted(log.name, kShownWriter);
    std::int64_t expected = 1;
    for (const auto& [first, last] : log.numbers.ranges()) {
      if (first > expected) {
        Finding gap =
            run_finding(Code::kSequenceGap,
                        first - expected == 1
                            ? fmt::format("{} of writer {}", expected, writer)
                            : fmt::format("{} to {} of writer {}", expected, first - 1, writer));
        gap.expected = std::to_string(expected);
        gap.recorded = std::to_string(first);
        const Spot& spot = log.range_starts.at(first);
        gap.events.push_back(store.position(w, true, first, spot.place, spot.line));
        findings.push_back(std::move(gap));
      }
      expected = last + 1;
    }
    for (const Admission& one : log.admissions) {
      const std::string_view cause = store.text(one.cause);
      Finding lost =
          run_finding(Code::kEvidenceLost,
                      fmt::format("writer {} lost {}{}", writer,
                                  one.events < 0 ? "an unknown number" : std::to_string(one.events),
                                  cause.empty() ? "" : fmt::format(", {}", quoted(cause))));
      lost.events.push_back(store.position(w, one.is_numbered, one.key.seq, one.place, one.line));
      lost.is_of_form = cause == trace::kRequestsOnly;
      lost.is_of_open_log = cause == trace::kUnclosedLog;
      findings.push_back(std::move(lost));
    }
    for (const RunFinished& one : log.finished) {
      const auto compare = [&](const char* what, std::optional<std::int64_t> stated,
                               std::uint64_t seen) {
        if (!stated || static_cast<std::uint64_t>(*stated) <= seen) return;
        Finding lost =
            run_finding(Code::kEvidenceLost, fmt::format("writer {} wrote more {}", writer, what));
        lost.expected = fmt::format("{} {}", *stated, what);
        lost.recorded = fmt::format("{} {}", seen, what);
        lost.events.push_back(store.position(w, one.is_numbered, one.key.seq, one.place, one.line));
        findings.push_back(std::move(lost));
      };
      compare("events", one.events, one.seen_events);
      compare("invocations", one.invocations, one.seen_invocations);
    }
  }
}

// What says of a call no more than that it was asked for is of the form only in files of requests.
void Grader::State::settle_form() {
  for (Finding& finding : findings) {
    finding.is_of_form = finding.is_of_form &&
                         std::ranges::binary_search(files_of_requests, finding.events.front().file);
  }
}

// Lines that came again and belong to no invocation that was seen.
void Grader::State::find_repeats() {
  for (const Repeat& one : store.repeats()) {
    if (one.is_of_call) continue;
    Finding finding =
        run_finding(one.is_verified ? Code::kConflictingRepeat : Code::kUnverifiedRepeat, "");
    finding.events.push_back(store.position(one.writer, true, one.seq, one.place, one.line));
    findings.push_back(std::move(finding));
  }
}

// What redaction found in lines of no invocation that was seen.
void Grader::State::find_sightings() {
  for (const Sighting& one : sightings.unclaimed()) {
    Finding finding = run_finding(one.code, one.detail());
    finding.recorded = one.what;
    finding.lines = one.told_lines();
    finding.events.push_back(one.position);
    findings.push_back(std::move(finding));
  }
}

// Expected ids of which nothing was seen; without a manifest their absence is planning's too.
void Grader::State::find_missing_ids(bool has_loss) {
  for (const auto& [id, was_seen] : expected_ids) {
    if (was_seen) continue;
    Finding missing = run_finding(Code::kMissingInvocation, "");
    missing.invocation_id = std::string(id);
    if (has_loss) missing.value = Value::kUndetermined;
    findings.push_back(std::move(missing));
    if (criteria.manifest) continue;
    Finding absent = run_finding(Code::kExpectedRequestAbsent, "");
    absent.invocation_id = std::string(id);
    absent.consequence = true;
    findings.push_back(std::move(absent));
  }
}

// What each `run.started` says that the run was judged in (REQ-GR-126).
void Grader::State::find_in_environment(const PinnedFacts& pinned) {
  for (std::uint32_t w = 0; w < store.writers().size(); ++w) {
    for (const RunStarted& one : store.writers()[w].started) {
      const auto differs = [](Ref expected, Ref recorded) {
        return expected != 0 && recorded != 0 && expected != recorded;
      };
      const bool is_other_place = differs(pinned.environment(), one.environment);
      const bool is_other_manifest = differs(pinned.manifest_digest(), one.manifest_digest);
      if (!is_other_place && !is_other_manifest) continue;
      Finding finding = run_finding(Code::kWrongEnvironment, is_other_place && is_other_manifest
                                                                 ? "environment, manifest_digest"
                                                             : is_other_place ? "environment"
                                                                              : "manifest_digest");
      finding.expected =
          store.text(is_other_place ? pinned.environment() : pinned.manifest_digest());
      finding.recorded = store.text(is_other_place ? one.environment : one.manifest_digest);
      finding.events.push_back(
          store.position(w, one.is_numbered, one.key.seq, one.place, one.line));
      findings.push_back(std::move(finding));
    }
  }
}

// Observers that close their own record end no run (REQ-GR-078).
bool Grader::State::has_ended() const {
  std::uint64_t finished = 0;
  for (const WriterLog& log : store.writers()) {
    for (const RunFinished& one : log.finished) finished += one.source == 0 ? 1U : 0U;
  }
  return finished > 0 && finished >= store.count(event::EventKind::kRunStarted);
}

Status Grader::State::enter_all(Casebook& cases, RuleBook& book) {
  if (!cases.has_cases()) return {};
  CallView call;
  const auto visit = [&] {
    for (std::uint32_t i = 0; i < store.invocations().size(); ++i) {
      call.fill(store, book, i);
      cases.enter(call);
    }
    book.forget_references();
    return Status{};
  };
  REMIT_TRY(store.for_each_part([](const PlainCall&) { return false; }, visit));
  cases.match();
  return {};
}

void Grader::State::judge_call(const CallView& call, Judging& judging) {
  const Casebook::Tie tie = judging.cases.tie_of(call);
  const auto expected = expected_ids.find(call.id);
  Assignment assignment;
  assignment.of_case = tie.of_case;
  assignment.entry = tie.entry;
  assignment.misnamed = tie.misnamed;
  assignment.is_judged_by_ids = manifest() == nullptr && criteria.expected_ids.has_value();
  assignment.sightings = sightings.claim(call.id);
  assignment.is_expected_id = expected != expected_ids.end();
  if (assignment.is_expected_id) expected->second = true;
  const std::size_t before = findings.size();
  const ByVerdict<Value> verdicts = judging.judge.judge(call, assignment);
  store.claim_repeats(call.invocation);
  Population& population = judging.grade.population;
  population.allowed += call.is_allowed ? 1U : 0U;
  population.denied += call.is_denied ? 1U : 0U;
  population.would_deny += call.would_deny ? 1U : 0U;
  population.started += call.starts.empty() ? 0U : 1U;
  population.finished += call.finishes.empty() ? 0U : 1U;
  judging.tally.count(*call.requirements, verdicts, tie.of_case != nullptr);
  if (tie.of_case != nullptr) judging.cases.count(*tie.of_case, call, verdicts);
  if (tie.of_case == nullptr) judging.scope.count_outside();
  judging.scope.look_at(call);
  if (findings.size() == before && !criteria.list_all) return;
  InvocationGrade& one = invocations.emplace_back();
  one.invocation_id = std::string(call.id);
  one.owner = judging.judge.owner();
  one.verdicts = verdicts;
  one.blocking = call.requirements->blocking;
  if (criteria.keep_records) one.record = record_of(store, call);
  if (call.tool != 0) one.tool = std::string(store.text(call.tool));
  if (call.route != 0) one.route = std::string(store.text(call.route));
  if (tie.of_case != nullptr) {
    one.case_id = tie.of_case->id;
  } else if (call.case_id != 0) {
    one.case_id = std::string(store.text(call.case_id));
  }
}

Status Grader::State::judge_calls(RuleBook& book, Judging& judging) {
  const bool may_skip = store.is_plain() && sightings.empty() && manifest() == nullptr &&
                        !criteria.expected_ids && !criteria.list_all;
  Population& population = judging.grade.population;
  const auto take = [&](const PlainCall& call) {
    if (!may_skip || !count_plain(call, book, population, judging.tally)) return false;
    ++population.invocations;
    if (call.route == 0) judging.scope.count_without_route();
    return true;
  };
  CallView call;
  const auto visit = [&] {
    for (std::uint32_t i = 0; i < store.invocations().size(); ++i) {
      store.send_for(i + kCallsAhead);
      const Invocation& one = store.invocations()[i];
      if (const std::optional<PlainCall> plain = store.plain_call(one); plain && take(*plain)) {
        continue;
      }
      ++population.invocations;
      if (!one.has_route) judging.scope.count_without_route();
      call.fill(store, book, i);
      judge_call(call, judging);
    }
    book.forget_references();
    return Status{};
  };
  return store.for_each_part(take, visit);
}

Status Grader::State::judge_all(Grade& grade) {
  const RunFacts facts(store);
  const PinnedFacts pinned(store, manifest());
  Casebook cases(manifest(), criteria.contract.base.blocking, store);
  Scope scope(criteria, store, silent_files, unlisted);
  RuleBook book(criteria.contract, store);
  REMIT_TRY(enter_all(cases, book));
  if (criteria.expected_ids) {
    for (const std::string& id : *criteria.expected_ids) expected_ids.emplace(id, false);
  }
  const bool needs_effects = manifest() != nullptr && manifest()->effects_required;
  Judge judge(store, facts, pinned, needs_effects, findings);
  Judging judging{grade, cases, scope, judge, {}};
  REMIT_TRY(judge_calls(book, judging));
  find_in_logs();
  find_in_environment(pinned);
  find_repeats();
  find_sightings();
  find_missing_ids(facts.has_loss());
  settle_form();
  grade.cases = cases.conclude(facts.has_loss(), findings);
  conclude(grade, judging.tally, cases);
  grade.scope = scope.sentences(cases, judge, book, grade.population);
  return {};
}

bool Grader::State::is_of_run(const Finding& finding) const {
  return !finding.case_id && (!finding.invocation_id || was_missed(*finding.invocation_id));
}

// REQ-GR-003 and 004.
void Grader::State::conclude(Grade& grade, const Tally& tally, const Casebook& cases) {
  grade.verdicts = tally.all;
  for (const Verdict verdict : kVerdicts) {
    VerdictResult& result = grade.verdicts[verdict];
    for (const CaseGrade& one : grade.cases) {
      result.value = worse(result.value, one.verdicts[verdict].value);
    }
    if (result.population == 0) result.value = worse(result.value, Value::kNotExercised);
  }
  for (const Finding& finding : findings) {
    if (!is_of_run(finding)) continue;
    VerdictResult& result = grade.verdicts[finding.verdict];
    result.value = worse(result.value, finding.value);
  }
  grade.blocking = criteria.contract.ever_blocking();
  grade.blocks_run = criteria.contract.base.blocking;
  for (const Verdict verdict : kVerdicts) {
    grade.blocking_values[verdict] = gate_value(verdict, tally, cases);
  }
  grade.gate = gate_of(grade.blocking_values);
  grade.advisory = criteria.advisory;
  grade.exit_code = criteria.advisory ? 0 : exit_code_of(grade.gate);
}

// REQ-GR-005. Nothing for a verdict that is not asked for.
std::optional<Value> Grader::State::gate_value(Verdict verdict, const Tally& tally,
                                               const Casebook& cases) const {
  const bool is_exercised = tally.blocking[verdict].population > 0;
  Value value = worse(tally.blocking[verdict].value, cases.gate_value(verdict));
  if (!criteria.contract.base.blocking[verdict]) {
    return is_exercised ? std::optional(value) : std::nullopt;
  }
  if (!is_exercised) value = worse(value, Value::kNotExercised);
  for (const Finding& finding : findings) {
    if (finding.verdict == verdict && is_of_run(finding)) value = worse(value, finding.value);
  }
  return value;
}

// Sorts the findings and tells each invocation and case which are its own.
void Grader::State::list(Grade& grade) {
  std::sort(findings.begin(), findings.end(), stands_first);
  grade.findings = std::move(findings);
  std::sort(invocations.begin(), invocations.end(),
            [](const auto& a, const auto& b) { return a.invocation_id < b.invocation_id; });
  grade.invocations = std::move(invocations);
  std::unordered_map<std::string_view, InvocationGrade*> by_id;
  for (InvocationGrade& one : grade.invocations) by_id.emplace(one.invocation_id, &one);
  std::unordered_map<std::string_view, CaseGrade*> by_case;
  for (CaseGrade& one : grade.cases) by_case.emplace(one.case_id, &one);
  for (std::size_t i = 0; i < grade.findings.size(); ++i) {
    const Finding& finding = grade.findings[i];
    if (finding.case_id) {
      if (const auto found = by_case.find(*finding.case_id); found != by_case.end()) {
        found->second->findings.push_back(i);
      }
    }
    if (!finding.invocation_id) continue;
    const auto found = by_id.find(*finding.invocation_id);
    if (found == by_id.end()) continue;
    found->second->findings.push_back(i);
  }
}

Result<Grade> Grader::finish() {
  State& state = *state_;
  Grade grade;
  state.end_source();
  REMIT_TRY(state.store.settle());
  state.sightings.settle();
  grade.population = state.store.population();
  grade.files = state.store.sources();
  if (const Manifest* manifest = state.manifest(); manifest != nullptr) {
    grade.manifest_digest = manifest->digest;
    grade.environment = manifest->environment;
    grade.fixture_revision = manifest->fixture_revision;
  }
  REMIT_TRY(state.judge_all(grade));
  state.list(grade);
  grade.has_ended = state.has_ended();
  return grade;
}

Result<Grade> grade(FileSystem& files, Evidence evidence, Criteria criteria) {
  std::vector<std::size_t> order(evidence.inputs.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::size_t left, std::size_t right) {
    return std::tie(evidence.inputs[left].name, left) <
           std::tie(evidence.inputs[right].name, right);
  });
  const unsigned threads = criteria.threads;
  const std::uint64_t seed = criteria.hash_seed;
  std::uint64_t unseen = 0;
  std::uint64_t& events_read = criteria.events_read != nullptr ? *criteria.events_read : unseen;
  const std::shared_ptr<const redaction::Redaction> redaction = criteria.redaction;
  const std::optional<DatedBaseline> known = std::move(criteria.known);
  std::optional<redaction::Inspector> inspector;
  if (redaction != nullptr) {
    REMIT_TRY(redaction->control());
    REMIT_TRY_ASSIGN(inspector, redaction::Inspector::make(redaction));
  }
  Grader grader(files, std::move(criteria));
  std::optional<ReadFiles> read;
  if (order.size() > 1) read.emplace(files);
  const auto inspect = [&](const trace::Line& line, const event::Event* event) {
    grader.add_observations(inspector->inspect(line.text, event), event, line);
  };
  trace::EventReader::OnDocument on_document;
  if (inspector) {
    on_document = [&](const trace::Document& document) {
      const trace::Line line{document.text, document.offset, document.number};
      grader.add_observations(inspector->inspect_document(line.text), nullptr, line);
    };
  }
  event::Decoder decoder;
  for (const std::size_t index : order) {
    const trace::Input& input = evidence.inputs[index];
    trace::EventReader reader(files, input, decoder, on_document, threads, seed);
    std::uint64_t files_of_requests = 0;
    trace::Item item = trace::Item::kSource;
    while (item != trace::Item::kEnd) {
      REMIT_TRY_ASSIGN(item, reader.next());
      if (item == trace::Item::kSource) {
        if (read) read->begin(input, reader.is_translated() ? "" : reader.source());
        REMIT_TRY(grader.begin_source(input.name, reader.source()));
      }
      if (reader.files_of_requests() > files_of_requests) {
        files_of_requests = reader.files_of_requests();
        grader.note_file_of_requests();
      }
      if (item == trace::Item::kMalformed) {
        grader.add_malformed(reader.error(), reader.error_offset(), reader.line());
      }
      const event::Event* const event = item == trace::Item::kEvent ? &reader.event() : nullptr;
      if (event != nullptr) {
        ++events_read;
        grader.expect(reader.id_hash_ahead(kEventsAhead));
        Status added = grader.add(*event, reader.line());
        if (!added) return in_place(reader.source(), std::move(added).error());
        if (read) read->count(*event, reader.line());
      }
      const bool is_line = event != nullptr || item == trace::Item::kMalformed;
      if (inspector && is_line && !reader.is_translated()) {
        if (!reader.fresh_text().empty()) inspector->screen(reader.fresh_text());
        inspect(reader.line(), event);
      }
    }
    if (read) REMIT_TRY(read->end());
    for (const trace::SilentFile& file : reader.silent_files()) grader.note_silent(file);
  }
  for (const Alteration& one : evidence.alterations) grader.add_altered(one.input, one.error);
  REMIT_TRY_ASSIGN(Grade out, grader.finish());
  // Before masking, since entries name what was recorded.
  if (known) out = apply(known->baseline, known->today, std::move(out));
  REMIT_TRY(redact(out, redaction.get(), inspector ? inspector->bytes() : 0));
  return out;
}

}  // namespace remit::grading
