// Forms by the keys of the first object.
#include "trace/form.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "trace/json_cursor.h"
#include "trace/wrong_kind.h"

namespace remit::trace {
namespace {

constexpr std::size_t kPeekBytes = std::size_t{4} * 1024;
constexpr std::array<std::string_view, 6> kNames = {"auto",        "jsonl",     "otlp",
                                                    "openai-chat", "agentdojo", "tau-bench"};

/// What the keys of an object speak for.
struct Votes {
  bool lines = false;
  bool otlp = false;
  bool chat = false;
  bool dojo = false;
  bool tau = false;
  bool is_clear = false;  ///< nothing that follows can change the answer
};

void vote(JsonCursor& cursor, std::string_view key, bool is_first, Votes& votes) {
  if (key == "event") {
    votes.lines = votes.lines || cursor.is_at('"');
    votes.is_clear = is_first && votes.lines;
  } else if (key == "resourceSpans" || key == "resourceLogs" || key == "resourceMetrics" ||
             key == "batches" || key == "data") {
    votes.otlp = votes.otlp || cursor.is_at('[');
  } else if (key == "trace") {
    votes.otlp = votes.otlp || cursor.is_at('{');
  } else if (key == "messages") {
    votes.chat = votes.chat || cursor.is_at('[');
  } else if (key == "role") {
    votes.chat = true;
  } else if (key == "suite_name" || key == "user_task_id") {
    votes.dojo = true;
  } else if (key == "traj") {
    votes.tau = votes.tau || cursor.is_at('[');
  }
}

// Reads as far as the text goes; most often it is cut.
Votes votes_of(const std::string& padded, std::size_t size) {
  JsonCursor cursor;
  cursor.start(std::string_view(padded).substr(0, size));
  Votes votes;
  const auto object = [&] {
    bool is_first = true;
    return cursor.object([&](std::string_view key) {
      vote(cursor, key, is_first, votes);
      is_first = false;
      return !votes.is_clear && cursor.skip();
    });
  };
  bool is_whole = false;
  if (cursor.is_at('{')) {
    is_whole = object();
  } else if (cursor.is_at('[')) {
    cursor.array([&] {
      is_whole = cursor.is_at('{') && object();
      return false;  // the first element tells
    });
  } else {
    is_whole = cursor.place() < size;
  }
  votes.is_clear = votes.is_clear || is_whole;
  return votes;
}

Result<Form> decide(const Votes& votes) {
  std::array<Form, 3> forms{};
  std::size_t count = 0;
  if (votes.lines) forms[count++] = Form::kJsonLines;
  if (votes.otlp) forms[count++] = Form::kOtlp;
  if (votes.tau) {
    forms[count++] = Form::kTauBench;
  } else if (votes.dojo && votes.chat) {
    forms[count++] = Form::kAgentDojo;
  } else if (votes.chat) {
    forms[count++] = Form::kOpenAiChat;
  }
  if (count == 0) return Form::kJsonLines;
  if (count == 1) return forms[0];
  return Error{ErrorCode::kFailedPrecondition,
               fmt::format("may be {} or {}: say which with --input-format", form_name(forms[0]),
                           form_name(forms[1]))};
}

}  // namespace

std::string_view form_name(Form form) {
  return kNames[static_cast<std::size_t>(form)];
}

std::optional<Form> parse_form(std::string_view name) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<Form>(found - kNames.begin());
}

Result<std::size_t> PeekedFile::read(std::span<std::byte> out) {
  if (begin_ == head_.size()) return file_.read(out);
  const std::size_t count = std::min(out.size(), head_.size() - begin_);
  std::memcpy(out.data(), head_.data() + begin_, count);
  begin_ += count;
  if (begin_ == head_.size()) {
    head_ = {};
    begin_ = 0;
  }
  return count;
}

Result<bool> PeekedFile::peek_to(std::size_t bytes) {
  while (head_.size() < bytes && !at_end_) REMIT_TRY(peek_more());
  return head_.size() > bytes || !at_end_;
}

// False where there is no more, or enough was looked at.
Result<bool> PeekedFile::peek_more() {
  if (at_end_ || head_.size() >= kLongLookBytes) return false;
  const std::size_t had = head_.size();
  head_.resize(had + kPeekBytes);
  const Result<std::size_t> count =
      file_.read(std::as_writable_bytes(std::span{head_}.subspan(had)));
  head_.resize(had + (count ? *count : 0));
  if (!count) return count.error();
  at_end_ = *count == 0;
  return !at_end_;
}

Result<Form> PeekedFile::recognise() {
  REMIT_TRY_ASSIGN(bool is_cut, peek_to(kShortLookBytes));
  // What is found does not depend on how much one reading gave.
  std::string head = head_.substr(0, kShortLookBytes);
  if (begins_with_whole_object(head)) return recognise_form();
  if (std::optional<Error> error = wrong_kind(head)) return *std::move(error);
  REMIT_TRY_ASSIGN(const Form form, recognise_form());
  if (form != Form::kJsonLines) return form;
  REMIT_TRY_ASSIGN(is_cut, peek_to(kLongLookBytes));
  head = head_.substr(0, kLongLookBytes);
  if (std::optional<Error> error = wrong_layout(head, has_events_, is_cut)) {
    return *std::move(error);
  }
  return form;
}

std::optional<Error> PeekedFile::misfit(Form stated) {
  const Result<Form> told = recognise();
  if (!told) {
    const bool is_open = told.error().code == ErrorCode::kFailedPrecondition;
    return is_open ? std::nullopt : std::optional(told.error());
  }
  const bool is_known = *told != Form::kJsonLines || has_events_;
  if (*told == stated || !is_known) return std::nullopt;
  return Error{ErrorCode::kInvalidInput,
               fmt::format("is not in the form {}, which --input-format names: it is {}",
                           form_name(stated), form_name(*told))};
}

Result<Form> PeekedFile::recognise_form() {
  for (;;) {
    REMIT_TRY_ASSIGN(const bool has_more, peek_more());
    const std::size_t size = head_.size();
    head_.append(event::kScanPadding, '\0');
    const Votes votes = votes_of(head_, size);
    head_.resize(size);
    has_events_ = votes.lines;
    if (votes.is_clear || !has_more) return decide(votes);
  }
}

Result<Layout> PeekedFile::layout() {
  for (;;) {
    REMIT_TRY_ASSIGN(const bool has_more, peek_more());
    const std::size_t first = head_.find_first_not_of(" \t\r\n");
    if (first != std::string::npos && head_[first] != '{') return Layout::kWhole;
    const std::size_t newline = head_.find('\n', std::min(first, head_.size()));
    const std::size_t next = head_.find_first_not_of("\r\n", std::min(newline, head_.size()));
    if (next != std::string::npos) return head_[next] == '{' ? Layout::kLines : Layout::kWhole;
    if (!has_more) return Layout::kLines;
  }
}

}  // namespace remit::trace
