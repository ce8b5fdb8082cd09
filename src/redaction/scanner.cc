// Few bytes of each half of each form are searched for at once; what is hit is compared in full.
#include "redaction/scanner.h"

#include <hs/hs.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "access/reason.h"
#include "base/check.h"
#include "base/limits.h"
#include "event/names.h"
#include "redaction/fold.h"
#include "redaction/layers.h"
#include "redaction/strings.h"

namespace remit::redaction {
namespace {

// So much of a half is searched for: its end, since canaries of one maker begin alike.
constexpr std::size_t kMaxWindowBytes = 16;
// The matcher counts in 32 bits; longer texts are searched in pieces.
constexpr std::size_t kPieceBytes = std::size_t{1} << 30U;

struct FreeDatabase {
  void operator()(hs_database_t* database) const { hs_free_database(database); }
};
struct FreeScratch {
  void operator()(hs_scratch_t* scratch) const { hs_free_scratch(scratch); }
};
using Database = std::unique_ptr<hs_database_t, FreeDatabase>;

/// One half of one form of one canary.
struct Half {
  std::uint32_t canary = 0;
  std::uint32_t form = 0;
  Extent extent = Extent::kFirstHalf;
  std::size_t begin = 0;   ///< of the half in the form's text
  std::size_t end = 0;     ///< behind it
  std::size_t window = 0;  ///< where in the form's text the pattern begins
};

/// What the matcher looks for, and the halves that it may be a part of.
struct Pattern {
  std::string text;
  bool any_case = false;
  std::vector<Half> halves;
};

/// How a canary was found, best so far in this line.
struct Found {
  Encoding encoding = Encoding::kExact;
  Layers layers;
  Extent extent = Extent::kWhole;
  std::size_t at = 0;
  bool is_at_end = false;    ///< it begins or ends the text in which it was found
  std::uint64_t search = 0;  ///< in which it was found; 0 is never
};

/// A text, and the layer that is resolved next to show more of it.
struct Step {
  std::string_view text;
  Layer layer = Layer::kJson;
};

int rank(Extent extent) {
  return extent == Extent::kWhole ? 0 : extent == Extent::kSplit ? 1 : 2;
}

/// Where in a text something may stand.
struct Screening {
  static constexpr std::size_t kMaxHits = 1024;

  std::string_view text;          // as far as it was not passed yet
  std::vector<std::size_t> hits;  // offsets behind what the matcher found, sorted
  std::size_t next_hit = 0;
  std::array<std::size_t, 2> escape_at{};  // of the next of each kind
  const char* begin = nullptr;             // of the whole text

  static constexpr std::array<char, 2> kEscapes = {'\\', '%'};

  // Where most lines have to be searched anyway, the next texts are not looked through.
  std::size_t lines = 0;     ///< of the text
  std::size_t searched = 0;  ///< of these
  std::size_t left_out = 0;  ///< texts, one after the other

  [[nodiscard]] bool is_of_use() {
    constexpr std::size_t kMostLeftOut = 7;
    const bool is = 2 * searched <= lines || left_out == kMostLeftOut;
    left_out = is ? 0 : left_out + 1;
    return is;
  }
  void clear() {
    lines = searched = 0;
    text = {};
    hits.clear();
    hits.reserve(kMaxHits);
    next_hit = 0;
    escape_at.fill(0);
  }
  /// False if nothing can stand in `line`, and it is one of the text that comes next.
  bool may_hold(std::string_view line) {
    const std::less_equal<const char*> stands_before;
    if (line.empty() || text.empty() || !stands_before(text.data(), line.data()) ||
        !stands_before(line.data() + line.size(), text.data() + text.size())) {
      return true;
    }
    const auto from = static_cast<std::size_t>(line.data() - begin);
    const std::size_t to = from + line.size();
    text.remove_prefix(static_cast<std::size_t>(line.data() - text.data()) + line.size());
    while (next_hit < hits.size() && hits[next_hit] <= from) ++next_hit;
    bool may = next_hit < hits.size() && hits[next_hit] <= to;
    for (std::size_t i = 0; i < kEscapes.size(); ++i) {
      std::size_t& at = escape_at[i];
      if (at < from) {
        const std::string_view rest(begin + from, line.size() + text.size());
        at = from + std::min(rest.find(kEscapes[i]), rest.size());
      }
      may |= at < to;
    }
    ++lines;
    searched += may ? 1 : 0;
    return may;
  }
};

}  // namespace

struct Scanner::State {
  std::vector<Canary> canaries;
  std::vector<bool> has_halves;  // by canary: a half alone is reported
  std::vector<Form> forms;
  std::vector<Pattern> patterns;
  std::size_t longest_form = 0;
  Database database;

  void add_halves(std::uint32_t canary, std::map<std::pair<std::string, bool>, Pattern>& patterns);
  Status compile();
  Status check_words(const Scanner& scanner) const;
};

struct Scanner::Scratch::State {
  std::unique_ptr<hs_scratch_t, FreeScratch> matcher;
  std::vector<Found> found;            // by canary
  std::vector<std::uint32_t> touched;  // canaries found in this line
  std::uint64_t line_search = 0;       // searches up to this one were of earlier lines
  std::uint64_t search = 0;            // the last one
  std::array<std::string, kMaxLayers> resolved;
  std::vector<Step> steps;  // from the line to the text that is searched
  std::string joined;
  Screening screening;
};

Scanner::Scratch::Scratch(std::unique_ptr<State> state) : state_(std::move(state)) {}
Scanner::Scratch::Scratch(Scratch&&) noexcept = default;
Scanner::Scratch& Scanner::Scratch::operator=(Scratch&&) noexcept = default;
Scanner::Scratch::~Scratch() = default;

const std::vector<Canary>& Scanner::canaries() const {
  return state_->canaries;
}

bool Scanner::reports_halves(std::size_t canary) const {
  return canary < state_->has_halves.size() && state_->has_halves[canary];
}

void Scanner::State::add_halves(std::uint32_t canary,
                                std::map<std::pair<std::string, bool>, Pattern>& by_text) {
  for (Form& form : forms_of(canaries[canary].value)) {
    longest_form = std::max(longest_form, form.text.size());
    const auto number = static_cast<std::uint32_t>(forms.size());
    Extent first = Extent::kFirstHalf;
    Extent second = Extent::kSecondHalf;
    if (form.encoding == Encoding::kReversed) std::swap(first, second);  // of the value, that is
    for (Half half : {Half{canary, number, first, 0, form.first_end, 0},
                      Half{canary, number, second, form.second_begin, form.text.size(), 0}}) {
      const std::size_t length = std::min(half.end - half.begin, kMaxWindowBytes);
      half.window = half.end - length;
      std::string text = form.text.substr(half.window, length);
      if (form.any_case) text = folded(text);
      Pattern& pattern = by_text[{text, form.any_case}];
      pattern.text = std::move(text);
      pattern.any_case = form.any_case;
      pattern.halves.push_back(half);
    }
    forms.push_back(std::move(form));
  }
}

Status Scanner::State::compile() {
  std::map<std::pair<std::string, bool>, Pattern> by_text;
  for (std::uint32_t i = 0; i < canaries.size(); ++i) {
    const std::string_view value = canaries[i].value;
    const std::size_t half = value.size() / 2;
    has_halves.push_back(half >= kMinCanaryBytes && has_variety(value.substr(0, half)) &&
                         has_variety(value.substr(value.size() - half)));
    add_halves(i, by_text);
  }
  std::vector<const char*> texts;
  std::vector<unsigned> flags;
  std::vector<unsigned> ids;
  std::vector<std::size_t> lengths;
  for (auto& [key, pattern] : by_text) {
    ids.push_back(static_cast<unsigned>(patterns.size()));
    flags.push_back(pattern.any_case ? HS_FLAG_CASELESS : 0U);
    lengths.push_back(pattern.text.size());
    patterns.push_back(std::move(pattern));
  }
  for (const Pattern& pattern : patterns) texts.push_back(pattern.text.data());
  hs_database_t* made = nullptr;
  hs_compile_error_t* error = nullptr;
  const hs_error_t code = hs_compile_lit_multi(texts.data(), flags.data(), ids.data(),
                                               lengths.data(), static_cast<unsigned>(texts.size()),
                                               HS_MODE_BLOCK, nullptr, &made, &error);
  hs_free_compile_error(error);
  if (code != HS_SUCCESS) {
    return Error{ErrorCode::kInternal, "the matcher does not take the canaries"};
  }
  database.reset(made);
  return {};
}

// A canary that stands in every record anyway proves nothing.
Status Scanner::State::check_words(const Scanner& scanner) const {
  std::string words;
  const auto add = [&](const auto& names) {
    for (const std::string_view name : names) words.append(name).append("\n");
  };
  add(event::kKeyNames);
  add(event::kKindNames);
  add(event::kPrincipalStates);
  add(event::kApprovalStates);
  add(event::kModes);
  for (int i = 0; i < access::kReasonCount; ++i) {
    words.append(access::reason_name(static_cast<access::ReasonCode>(i))).append("\n");
  }
  REMIT_TRY_ASSIGN(Scratch scratch, scanner.make_scratch());
  std::vector<Leak> leaks;
  const auto check = [&](std::string_view text, const char* what) -> Status {
    leaks.clear();
    scanner.scan_line(text, scratch, leaks);
    if (leaks.empty()) return {};
    return Error{ErrorCode::kInvalidInput, what,
                 std::to_string(canaries[leaks.front().canary].line)};
  };
  REMIT_TRY(check(words, "the value, or a half of it, is a word of the event contract"));
  for (const Canary& canary : canaries) {
    REMIT_TRY(check(canary.name, "the value, or a half of it, stands in a name of this file"));
  }
  return {};
}

Result<Scanner> Scanner::make(std::vector<Canary> canaries) {
  if (canaries.empty()) return Error{ErrorCode::kInvalidInput, "no canary"};
  if (hs_valid_platform() != HS_SUCCESS) {
    return Error{ErrorCode::kUnsupported, "this processor is too old to look for canaries"};
  }
  auto state = std::make_shared<State>();
  state->canaries = std::move(canaries);
  REMIT_TRY(state->compile());
  Scanner scanner(state);
  REMIT_TRY(state->check_words(scanner));
  return scanner;
}

Result<Scanner::Scratch> Scanner::make_scratch() const {
  auto state = std::make_unique<Scratch::State>();
  hs_scratch_t* made = nullptr;
  if (hs_alloc_scratch(state_->database.get(), &made) != HS_SUCCESS) {
    return Error{ErrorCode::kInternal, "no memory to look for canaries"};
  }
  state->matcher.reset(made);
  state->found.resize(state_->canaries.size());
  state->touched.reserve(state_->canaries.size());
  state->steps.reserve(kMaxLayers);
  return Scratch(std::move(state));
}

/// The search of one line, over all its layers.
class Scanner::Search {
 public:
  Search(const State& state, Scratch::State& scratch) : state_(state), scratch_(scratch) {
    scratch_.touched.clear();
    scratch_.line_search = scratch_.search;
  }

  void run(std::string_view line) {
    search_layers(line, {});
    const bool has_half =
        std::any_of(scratch_.touched.begin(), scratch_.touched.end(),
                    [&](std::uint32_t canary) { return rank(scratch_.found[canary].extent) == 2; });
    if (!has_half) return;
    join_values(line);
    is_joined_ = true;
    search_layers(scratch_.joined, {});
  }

 private:
  void search_layers(std::string_view text, Layers layers) {
    search_text(text, layers);
    const std::size_t depth = scratch_.steps.size();
    if (depth == kMaxLayers) return;
    for (const Layer layer : {Layer::kJson, Layer::kPercent}) {
      if (!has_escape(text, layer)) continue;
      resolve(text, layer, scratch_.resolved[depth]);
      scratch_.steps.push_back({text, layer});
      Layers deeper = layers;
      ++(layer == Layer::kJson ? deeper.json : deeper.percent);
      search_layers(scratch_.resolved[depth], deeper);
      scratch_.steps.pop_back();
    }
  }

  void search_text(std::string_view text, Layers layers) {
    ++scratch_.search;
    text_ = text;
    layers_ = layers;
    has_found_ = false;
    for (std::size_t piece = 0; piece < text.size(); piece += kPieceBytes) {
      base_ = piece - std::min(piece, kMaxWindowBytes - 1);
      const std::size_t end = std::min(piece + kPieceBytes, text.size());
      const hs_error_t code =
          hs_scan(state_.database.get(), text.data() + base_, static_cast<unsigned>(end - base_), 0,
                  scratch_.matcher.get(), &Search::on_match, this);
      REMIT_CHECK(code == HS_SUCCESS);
    }
    if (has_found_ && !is_joined_) place_in_line();
  }

  // Allocates nothing and throws nothing: it is called by C.
  static int on_match(unsigned id, unsigned long long /*from*/, unsigned long long to,
                      unsigned /*flags*/, void* context) {
    auto& self = *static_cast<Search*>(context);
    const Pattern& pattern = self.state_.patterns[id];
    const std::size_t at = self.base_ + static_cast<std::size_t>(to) - pattern.text.size();
    bool is_whole = false;
    for (const Half& half : pattern.halves) is_whole |= self.match_whole(half, at);
    if (is_whole || self.is_joined_) return 0;
    for (const Half& half : pattern.halves) self.match_half(half, at);
    return 0;
  }

  // The pattern of `half` stands at `at`; whether the whole form does around it.
  bool match_whole(const Half& half, std::size_t at) {
    const Form& form = state_.forms[half.form];
    if (at < half.window || text_.size() - (at - half.window) < form.text.size()) return false;
    const std::string_view part = text_.substr(at - half.window, form.text.size());
    if (!equals(form, form.text, part)) return false;
    note(half, form, part, is_joined_ ? Extent::kSplit : Extent::kWhole, at - half.window);
    return true;
  }

  void match_half(const Half& half, std::size_t at) {
    const Form& form = state_.forms[half.form];
    const std::size_t before = half.window - half.begin;
    const std::size_t size = half.end - half.begin;
    if (at < before || text_.size() - (at - before) < size) return;
    const std::string_view part = text_.substr(at - before, size);
    if (!equals(form, std::string_view(form.text).substr(half.begin, size), part)) return;
    note(half, form, part, half.extent, at - before);
  }

  static bool equals(const Form& form, std::string_view wanted, std::string_view part) {
    return form.any_case ? equal_folded(wanted, part) : wanted == part;
  }

  void note(const Half& half, const Form& form, std::string_view part, Extent extent,
            std::size_t at) {
    Found& found = scratch_.found[half.canary];
    const bool is_first = found.search <= scratch_.line_search;
    if (is_first && is_joined_) return;  // no half of it survived: it is in more than two pieces
    const bool is_at_end = at == 0 || at + part.size() == text_.size();
    const auto worth = [](Extent how_much, const Layers& layers) {
      return std::pair(rank(how_much), layers.json + layers.percent);
    };
    if (!is_first && worth(found.extent, found.layers) <= worth(extent, layers_)) {
      found.is_at_end = found.is_at_end || is_at_end;
      return;
    }
    if (is_first) scratch_.touched.push_back(half.canary);
    const bool is_exact = part == std::string_view(form.text).substr(
                                      extent == Extent::kSecondHalf ? half.begin : 0, part.size());
    found.encoding =
        form.encoding == Encoding::kExact && !is_exact ? Encoding::kCaseFolded : form.encoding;
    found.layers = layers_;
    found.extent = extent;
    if (extent != Extent::kSplit) found.at = at;
    found.is_at_end = is_at_end;
    found.search = scratch_.search;
    has_found_ = true;
  }

  // What was found by this search is told by its place in the line as it is written.
  void place_in_line() {
    for (const std::uint32_t canary : scratch_.touched) {
      Found& found = scratch_.found[canary];
      if (found.search != scratch_.search) continue;
      for (auto step = scratch_.steps.rbegin(); step != scratch_.steps.rend(); ++step) {
        found.at = offset_before(step->text, step->layer, found.at);
      }
    }
  }

  void join_values(std::string_view line) {
    scratch_.joined.clear();
    for_each_string(line, [&](const StringPlace& place) {
      if (!place.is_key) scratch_.joined.append(line, place.begin, place.end - place.begin);
    });
  }

  const State& state_;
  Scratch::State& scratch_;
  std::string_view text_;  // that is searched
  Layers layers_;
  std::size_t base_ = 0;    // of the piece of it that the matcher sees
  bool has_found_ = false;  // something in it
  bool is_joined_ = false;  // it is the line's values joined: only whole canaries count
};

void Scanner::screen(std::string_view text, Scratch& scratch) const {
  Screening& screening = scratch.state_->screening;
  if (!screening.is_of_use()) {
    screening.text = {};
    return;
  }
  screening.clear();
  if (text.size() > kPieceBytes) return;
  // Allocates nothing and throws nothing: it is called by C.
  const auto on_match = [](unsigned /*id*/, unsigned long long /*from*/, unsigned long long to,
                           unsigned /*flags*/, void* context) {
    auto& hits = *static_cast<std::vector<std::size_t>*>(context);
    if (hits.size() == hits.capacity()) return 1;
    hits.push_back(static_cast<std::size_t>(to));
    return 0;
  };
  const hs_error_t code =
      hs_scan(state_->database.get(), text.data(), static_cast<unsigned>(text.size()), 0,
              scratch.state_->matcher.get(), on_match, &screening.hits);
  if (code == HS_SCAN_TERMINATED) return;  // where there is much, each line is searched
  REMIT_CHECK(code == HS_SUCCESS);
  std::sort(screening.hits.begin(), screening.hits.end());
  screening.text = text;
  screening.begin = text.data();
}

void Scanner::scan_line(std::string_view line, Scratch& scratch, std::vector<Leak>& out) const {
  Scratch::State& memory = *scratch.state_;
  if (!memory.screening.may_hold(line)) return;
  Search(*state_, memory).run(line);
  if (memory.touched.empty()) return;
  std::sort(memory.touched.begin(), memory.touched.end());
  const auto first = static_cast<std::ptrdiff_t>(out.size());
  const auto add = [&](std::uint32_t canary) {
    const Found& found = memory.found[canary];
    out.push_back({canary, found.encoding, found.layers, found.extent, found.at});
  };
  for (const std::uint32_t canary : memory.touched) {
    if (rank(memory.found[canary].extent) < 2) add(canary);
  }
  for (const std::uint32_t canary : memory.touched) {
    const Found& found = memory.found[canary];
    if (rank(found.extent) < 2 || !state_->has_halves[canary]) continue;
    // A half that several share is told of the one that is whole, or else of the first.
    const bool is_told = std::any_of(out.begin() + first, out.end(),
                                     [&](const Leak& leak) { return leak.at == found.at; });
    if (!is_told) add(canary);
  }
  std::sort(out.begin() + first, out.end(),
            [](const Leak& left, const Leak& right) { return left.canary < right.canary; });
}

std::optional<std::uint32_t> Scanner::shown_by(std::string_view text, Scratch& scratch) const {
  Scratch::State& memory = *scratch.state_;
  Search(*state_, memory).run(text);
  std::optional<std::uint32_t> first;
  for (const std::uint32_t canary : memory.touched) {
    const Found& found = memory.found[canary];
    const bool is_shown = rank(found.extent) < 2 || state_->has_halves[canary] || found.is_at_end;
    if (is_shown && (!first || canary < *first)) first = canary;
  }
  return first;
}

}  // namespace remit::redaction
