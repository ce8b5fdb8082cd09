// OpenTelemetry's JSON: spans, their events and log records, and what their exporters dropped.
//
// Two readings, spec/inputs.md: attributes `remit.*` are an event, whole; a span that the GenAI or
// MCP conventions call a tool call is a request and nothing more. A decision is never guessed.
#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/rfc3339.h"
#include "trace/json_cursor.h"
#include "trace/translator.h"

namespace remit::trace {
namespace {

using Kind = Token::Kind;

constexpr std::string_view kOwnPrefix = "remit.";
constexpr std::array<std::string_view, 4> kDropped = {"attributes", "events", "links", "spans"};

bool is_integer(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// An id as lower-case hex: exporters write hex, and base64 where they follow plain protobuf.
std::string hex_id(std::string_view raw, std::size_t bytes) {
  if (raw.size() == 2 * bytes && raw.find_first_not_of("0123456789abcdefABCDEF") == raw.npos) {
    std::string out(raw);
    for (char& c : out) c = c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
    return out;
  }
  std::string plain(raw);  // JSON may escape the slashes of base64
  std::erase(plain, '\\');
  const auto decoded = from_base64(plain);
  return decoded && decoded->size() == bytes ? to_hex(*decoded) : std::string();
}

/// What the conventions say of a span.
struct Convention {
  bool is_tool_run = false;      ///< `gen_ai.operation.name` is `execute_tool`
  bool is_tool_message = false;  ///< `mcp.method.name` is `tools/call`
  Token tool;
  Token call_id;
  Token conversation;
};

/// What a span says of itself.
struct SpanFacts {
  std::string_view trace_id;
  std::string_view span_id;
  std::string_view parent_id;
  std::string_view start;  ///< since 1970, in units of `start_unit_ns`
  std::uint64_t start_unit_ns = 1;
};

/// A request by convention that was written.
struct ToolSpan {
  SpanFacts facts;
  Token tool;
  Token call_id;
  std::size_t entry = 0;
  bool is_message = false;  ///< an MCP message, which another tool span may stand for
};

/// Whether a span beneath `parent` may be another record of its call: it says nothing that
/// `parent` does not say, and no other call.
bool is_of_call(const ToolSpan& span, const ToolSpan& parent) {
  const auto is_same = [](const Token& left, const Token& right) {
    return left.kind == right.kind && left.text == right.text;
  };
  const bool is_tool = span.tool.kind == Kind::kAbsent || is_same(span.tool, parent.tool);
  return is_tool && (span.call_id.kind == Kind::kAbsent || parent.call_id.kind == Kind::kAbsent ||
                     is_same(span.call_id, parent.call_id));
}

class OtlpTranslator final : public Translator {
 public:
  OtlpTranslator() : Translator(Form::kOtlp) {}
  Fault translate(std::string_view document, EventLines& out) override;

 private:
  bool read_roots();
  bool read_root(std::string_view key);
  bool read_members_of_root();
  template <typename Record>
  bool read_resource(std::string_view scopes, std::string_view older_scopes,
                     std::string_view records, Record&& record);
  bool read_holder();
  bool read_span();
  bool read_span_event();
  bool read_log_record();
  bool read_attributes(EventFields& fields, Convention* convention);
  bool read_attribute(EventFields& fields, Convention* convention);
  bool read_value(Token& value);
  bool read_any_value(Token& value);
  bool read_typed_value(std::string_view type, Token& value);
  bool read_list(Token& value);
  bool read_element(Token& element);
  void append_element(std::string_view raw);
  bool read_text(std::string_view& out);
  bool read_count(std::string_view key);
  bool count_loss(std::size_t place, std::string_view what, std::string_view text);
  bool read_references(SpanFacts& facts);
  bool is_dropped_count(std::string_view key) const {
    return key.starts_with("dropped") && key.ends_with("Count");
  }
  void use_own(std::string_view name, const Token& value, EventFields& fields);
  static void use_convention(std::string_view key, const Token& value, Convention& convention);
  bool read_list_in(std::string_view raw);
  void lose(std::string_view what, std::uint64_t count);
  void write_losses(const EventFields* fields, std::size_t place);
  void write_event(const EventFields& fields, std::size_t place);
  void write_request(const Convention& convention, const SpanFacts& facts, std::size_t place);
  void drop_doubles();

  JsonCursor cursor_;
  JsonCursor list_cursor_;  ///< of lists that are kept as text
  EventLines* out_ = nullptr;
  EventFields span_fields_;
  EventFields fields_;
  std::string list_;
  bool is_jaeger_ = false;  ///< the document's spans are Jaeger's
  std::array<std::uint64_t, kDropped.size()> dropped_{};
  std::vector<ToolSpan> tool_spans_;
  bool is_known_ = false;
};

Fault OtlpTranslator::translate(std::string_view document, EventLines& out) {
  out_ = &out;
  cursor_.start(document);
  dropped_ = {};
  tool_spans_.clear();
  is_known_ = false;
  is_jaeger_ = false;
  const std::size_t place = cursor_.place();
  const bool is_read = read_roots() && cursor_.end();
  write_losses(nullptr, is_read ? place : cursor_.fault_at());
  drop_doubles();
  if (!is_read) return {cursor_.fault(), cursor_.fault_at()};
  if (!is_known_) return {"is no OTLP, Tempo or Jaeger document", place};
  return {};
}

bool OtlpTranslator::read_roots() {
  if (cursor_.is_at('[')) return cursor_.array([&] { return read_members_of_root(); });
  return read_members_of_root();
}

bool OtlpTranslator::read_members_of_root() {
  return cursor_.object([&](std::string_view key) {
    if (key == "trace" && cursor_.is_at('{')) {  // Tempo's answer to a look-up
      return cursor_.object([&](std::string_view inner) { return read_root(inner); });
    }
    return read_root(key);
  });
}

bool OtlpTranslator::read_root(std::string_view key) {
  if (key == "resourceSpans" || key == "batches") {
    is_known_ = true;
    return cursor_.array([&] {
      return read_resource("scopeSpans", "instrumentationLibrarySpans", "spans",
                           [&] { return read_span(); });
    });
  }
  if (key == "resourceLogs") {
    is_known_ = true;
    return cursor_.array([&] {
      return read_resource("scopeLogs", "instrumentationLibraryLogs", "logRecords",
                           [&] { return read_log_record(); });
    });
  }
  if (key == "data" && cursor_.is_at('[')) {  // Jaeger's traces
    is_known_ = true;
    is_jaeger_ = true;
    const bool is_read = cursor_.array([&] {
      return cursor_.object([&](std::string_view inner) {
        return inner == "spans" ? cursor_.array([&] { return read_span(); }) : cursor_.skip();
      });
    });
    is_jaeger_ = false;
    return is_read;
  }
  if (key == "resourceMetrics" || key == "resourceProfiles") is_known_ = true;  // nothing of calls
  return cursor_.skip();
}

template <typename Record>
bool OtlpTranslator::read_resource(std::string_view scopes, std::string_view older_scopes,
                                   std::string_view records, Record&& record) {
  return cursor_.object([&](std::string_view key) {
    if (key == scopes || key == older_scopes) {
      return cursor_.array([&] {
        return cursor_.object([&](std::string_view inner) {
          if (inner == records) return cursor_.array(record);
          return inner == "scope" ? read_holder() : cursor_.skip();
        });
      });
    }
    return key == "resource" ? read_holder() : cursor_.skip();
  });
}

// A resource or scope, of which only the losses matter.
bool OtlpTranslator::read_holder() {
  if (!cursor_.is_at('{')) return cursor_.skip();
  return cursor_.object([&](std::string_view key) {
    return is_dropped_count(key) ? read_count(key) : cursor_.skip();
  });
}

bool OtlpTranslator::read_span() {
  note_record();
  const std::size_t place = cursor_.place();
  span_fields_.clear();
  Convention convention;
  SpanFacts facts;
  const bool is_read = cursor_.object([&](std::string_view key) {
    switch (key.size()) {  // a span has some fifteen members
      case 4:
        if (key == "tags") return read_attributes(span_fields_, &convention);
        if (key == "logs") return cursor_.array([&] { return read_span_event(); });
        break;
      case 6:
        if (key == "spanId" || key == "spanID") return read_text(facts.span_id);
        if (key == "events") return cursor_.array([&] { return read_span_event(); });
        break;
      case 7:
        if (key == "traceId" || key == "traceID") return read_text(facts.trace_id);
        break;
      case 9:
        if (key != "startTime") break;
        facts.start_unit_ns = 1000;  // Jaeger counts microseconds
        return read_text(facts.start);
      case 10:
        if (key == "attributes") return read_attributes(span_fields_, &convention);
        if (key == "references") return read_references(facts);
        break;
      case 12:
        if (key == "parentSpanId") return read_text(facts.parent_id);
        break;
      case 17:
        if (key == "startTimeUnixNano") return read_text(facts.start);
        break;
      default:
        break;
    }
    return is_dropped_count(key) ? read_count(key) : cursor_.skip();
  });
  if (!is_read) return false;
  if (span_fields_.has_event()) {
    write_event(span_fields_, place);
  } else if (convention.is_tool_run || convention.is_tool_message) {
    write_request(convention, facts, place);
  }
  return true;
}

bool OtlpTranslator::read_span_event() {
  const std::size_t place = cursor_.place();
  fields_.clear();
  const bool is_read = cursor_.object([&](std::string_view key) {
    if (key == "attributes" || key == "fields") return read_attributes(fields_, nullptr);
    return is_dropped_count(key) ? read_count(key) : cursor_.skip();
  });
  if (is_read && fields_.has_event()) write_event(fields_, place);
  return is_read;
}

bool OtlpTranslator::read_log_record() {
  note_record();
  return read_span_event();
}

// Jaeger's way to name a parent.
bool OtlpTranslator::read_references(SpanFacts& facts) {
  if (!cursor_.is_at('[')) return cursor_.skip();
  return cursor_.array([&] {
    std::string_view kind;
    std::string_view id;
    const bool is_read = cursor_.object([&](std::string_view key) {
      if (key == "refType") return read_text(kind);
      return key == "spanID" ? read_text(id) : cursor_.skip();
    });
    if (kind == "CHILD_OF") facts.parent_id = id;
    return is_read;
  });
}

// A string or a number, as written; anything else reads as nothing.
bool OtlpTranslator::read_text(std::string_view& out) {
  if (cursor_.is_at('"')) return cursor_.string(out);
  if (cursor_.is_at('{') || cursor_.is_at('[')) return cursor_.skip();
  return cursor_.scalar(out);
}

bool OtlpTranslator::read_count(std::string_view key) {
  const std::size_t place = cursor_.place();
  std::string_view text;
  if (!read_text(text)) return false;
  return count_loss(place, key.substr(7, key.size() - 12), text);
}

bool OtlpTranslator::count_loss(std::size_t place, std::string_view what, std::string_view text) {
  std::uint64_t count = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), count);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) {
    return cursor_.fail(place, "a dropped count that is no count");
  }
  lose(what, count);
  return true;
}

void OtlpTranslator::lose(std::string_view what, std::uint64_t count) {
  for (std::size_t i = 0; i < kDropped.size(); ++i) {
    const std::string_view name = kDropped[i];
    if (what.size() != name.size() || what.substr(1) != name.substr(1)) continue;
    const std::uint64_t room = std::numeric_limits<std::uint64_t>::max() - dropped_[i];
    dropped_[i] += std::min(count, room);
    return;
  }
}

bool OtlpTranslator::read_attributes(EventFields& fields, Convention* convention) {
  if (cursor_.is_at('n')) return cursor_.skip();  // Jaeger writes null for none
  return cursor_.array([&] { return read_attribute(fields, convention); });
}

bool OtlpTranslator::read_attribute(EventFields& fields, Convention* convention) {
  const std::size_t place = cursor_.place();
  std::string_view key;
  std::string_view type;
  std::string plain;
  Token value;
  int keys = 0;
  int values = 0;
  const bool is_read = cursor_.object([&](std::string_view name) {
    if (name == "key") return ++keys > 0 && cursor_.string(key) && cursor_.unescape(key, plain);
    if (name == "value") return ++values > 0 && read_value(value);
    return name == "type" ? read_text(type) : cursor_.skip();
  });
  if (!is_read) return false;
  if (keys > 1 || values > 1) return cursor_.fail(place, "an attribute that says two things");
  if (type == "int64" && value.kind == Kind::kText && is_integer(value.text)) {
    value.kind = Kind::kBare;
  }
  if (key.starts_with("otel.dropped_") && key.ends_with("_count")) {
    return count_loss(place, key.substr(13, key.size() - 19), value.text);
  }
  if (key.starts_with(kOwnPrefix)) {
    use_own(key.substr(kOwnPrefix.size()), value, fields);
  } else if (convention != nullptr) {
    use_convention(key, value, *convention);
  }
  return true;
}

// What OTLP wraps in an object that names its type, Jaeger writes as it is.
bool OtlpTranslator::read_value(Token& value) {
  if (cursor_.is_at('{')) return read_any_value(value);
  if (cursor_.is_at('[')) {
    value.kind = Kind::kOther;
    return cursor_.skip();
  }
  if (cursor_.is_at('"')) {
    value.kind = Kind::kText;
    return cursor_.string(value.text);
  }
  if (!cursor_.scalar(value.text)) return false;
  value.kind = value.text == "null" ? Kind::kNull : Kind::kBare;
  return true;
}

bool OtlpTranslator::read_any_value(Token& value) {
  const std::size_t place = cursor_.place();
  value.kind = Kind::kNull;  // an object without a member is the empty value
  int values = 0;
  const bool is_read = cursor_.object([&](std::string_view type) {
    if (cursor_.is_at('n')) return cursor_.skip();  // a member that is null is none
    if (!type.ends_with("Value")) return cursor_.skip();
    ++values;
    return read_typed_value(type, value);
  });
  return is_read && (values < 2 || cursor_.fail(place, "an attribute that says two things"));
}

bool OtlpTranslator::read_typed_value(std::string_view type, Token& value) {
  if (type == "stringValue" && cursor_.is_at('"')) {
    value.kind = Kind::kText;
    return cursor_.string(value.text);
  }
  if (type == "intValue" && cursor_.is_at('"')) {
    if (!cursor_.string(value.text)) return false;
    value.kind = is_integer(value.text) ? Kind::kBare : Kind::kText;
    return true;
  }
  const bool is_plain = !cursor_.is_at('{') && !cursor_.is_at('[');
  if (is_plain && (type == "intValue" || type == "boolValue" || type == "doubleValue")) {
    value.kind = cursor_.is_at('"') ? Kind::kText : Kind::kBare;
    return read_text(value.text);
  }
  if (type == "arrayValue" && cursor_.is_at('{')) return read_list(value);
  value.kind = Kind::kOther;
  return cursor_.skip();
}

// A list of strings; of anything else, and of two lists, `value` becomes something that is no list.
bool OtlpTranslator::read_list(Token& value) {
  list_.assign(1, '[');
  int lists = 0;
  bool is_of_strings = true;
  const bool is_read = cursor_.object([&](std::string_view key) {
    if (key != "values" || cursor_.is_at('n')) return cursor_.skip();
    ++lists;
    return cursor_.array([&] {
      Token element;
      if (!cursor_.is_at('{')) {
        is_of_strings = false;
        return cursor_.skip();
      }
      if (!read_element(element)) return false;
      is_of_strings = is_of_strings && element.kind == Kind::kText;
      append_element(element.text);
      return true;
    });
  });
  list_ += ']';
  value.kind = is_of_strings && lists < 2 ? Kind::kList : Kind::kOther;
  return is_read;
}

// An element of a list, which is read no deeper.
bool OtlpTranslator::read_element(Token& element) {
  int members = 0;
  const bool is_read = cursor_.object([&](std::string_view type) {
    if (cursor_.is_at('n')) return cursor_.skip();
    ++members;
    if (type != "stringValue" || !cursor_.is_at('"')) return cursor_.skip();
    element.kind = Kind::kText;
    return cursor_.string(element.text);
  });
  if (members != 1) element.kind = Kind::kOther;
  return is_read;
}

void OtlpTranslator::append_element(std::string_view raw) {
  list_.append(list_.size() > 1 ? ",\"" : "\"").append(raw).append(1, '"');
}

// Keeps a field of ours.
void OtlpTranslator::use_own(std::string_view name, const Token& value, EventFields& fields) {
  const bool is_list = name == "further_resources" || name == "determining_policies";
  if (value.kind == Kind::kList) {
    fields.set_list(name, list_);
  } else if (is_list && is_jaeger_ && value.kind == Kind::kText && read_list_in(value.text)) {
    fields.set_list(name, list_);
  } else if (value.kind == Kind::kAbsent) {
    fields.set(name, {Kind::kOther});  // an attribute without its value is not an absent one
  } else {
    fields.set(name, value);
  }
}

// Jaeger has no lists: it keeps them as the text of a JSON array. False where the text is anything
// else than one array of strings.
bool OtlpTranslator::read_list_in(std::string_view raw) {
  std::optional<std::string> text = plain_text(raw);
  if (!text) return false;
  const std::size_t size = text->size();
  text->append(event::kScanPadding, ' ');
  list_.assign(1, '[');
  list_cursor_.start(std::string_view(*text).substr(0, size));
  const bool is_read = list_cursor_.array([&] {
    std::string_view element;
    if (!list_cursor_.string(element)) return false;
    append_element(element);
    return true;
  });
  list_ += ']';
  return is_read && list_cursor_.end();
}

// Keeps an attribute that the conventions give a meaning. One that comes again takes nothing back.
void OtlpTranslator::use_convention(std::string_view key, const Token& value,
                                    Convention& convention) {
  const auto says = [&](std::string_view wanted) {
    return value.kind == Kind::kText &&
           (value.text == wanted ||
            (value.text.find('\\') != std::string_view::npos && plain_text(value.text) == wanted));
  };
  const auto keep = [&](Token& kept) {
    const bool is_new = kept.kind == Kind::kAbsent;
    const bool is_same = kept.kind == value.kind && kept.text == value.text;
    if (is_new) kept = value;
    if (kept.kind == Kind::kAbsent || (!is_new && !is_same)) kept = {Kind::kOther};
  };
  if (key == "gen_ai.operation.name") {
    convention.is_tool_run = convention.is_tool_run || says("execute_tool");
  } else if (key == "mcp.method.name") {
    convention.is_tool_message = convention.is_tool_message || says("tools/call");
  } else if (key == "gen_ai.tool.name") {
    keep(convention.tool);
  } else if (key == "gen_ai.tool.call.id") {
    keep(convention.call_id);
  } else if (key == "gen_ai.conversation.id") {
    keep(convention.conversation);
  }
}

// One loss for all that was dropped since the last event, ahead of the event it stands with.
void OtlpTranslator::write_losses(const EventFields* fields, std::size_t place) {
  std::string cause;
  for (std::size_t i = 0; i < kDropped.size(); ++i) {
    if (dropped_[i] == 0) continue;
    cause += fmt::format("{}{} {}", cause.empty() ? "dropped by the exporter: " : ", ", dropped_[i],
                         kDropped[i]);
  }
  if (cause.empty()) return;
  dropped_ = {};
  // In front of the event, so that it stands behind the loss.
  std::string& line = out_->open(place > 0 ? place - 1 : 0);
  line += R"({"event":"evidence.lost")";
  if (fields != nullptr && fields->field(event::Field::kWriter).kind == Kind::kText) {
    append_member("writer", fields->field(event::Field::kWriter), line);
  }
  append_member("cause", {Kind::kText, cause}, line);
  line += R"(,"events":-1})";
  out_->close();
}

void OtlpTranslator::write_event(const EventFields& fields, std::size_t place) {
  write_losses(&fields, place);
  fields.write(out_->open(place));
  out_->close();
}

void OtlpTranslator::write_request(const Convention& convention, const SpanFacts& facts,
                                   std::size_t place) {
  note_request_only();
  write_losses(nullptr, place);
  const std::string trace_id = hex_id(facts.trace_id, 16);
  const std::string span_id = hex_id(facts.span_id, 8);
  std::string& line = out_->open(place);
  line += R"({"event":"tool.request")";
  const std::string own_id = trace_id + "/" + span_id;
  const bool has_call_id =
      convention.call_id.kind == Kind::kText && !convention.call_id.text.empty();
  append_member("invocation_id", has_call_id ? convention.call_id : Token{Kind::kText, own_id},
                line);
  std::int64_t start = 0;
  const auto unit = static_cast<std::int64_t>(facts.start_unit_ns);
  const auto read =
      std::from_chars(facts.start.data(), facts.start.data() + facts.start.size(), start);
  std::string time;
  if (read.ec == std::errc() && start > 0 &&
      start <= std::numeric_limits<std::int64_t>::max() / unit) {
    time = format_rfc3339(WallTime{start * unit});
    append_member("time", {Kind::kText, time}, line);
  }
  if (convention.conversation.kind == Kind::kText || convention.conversation.kind == Kind::kOther) {
    append_member("run_id", convention.conversation, line);
  }
  if (convention.tool.kind != Kind::kAbsent) append_member("tool", convention.tool, line);
  if (!trace_id.empty()) append_member("trace_id", {Kind::kText, trace_id}, line);
  if (!span_id.empty()) append_member("span_id", {Kind::kText, span_id}, line);
  line += '}';
  out_->close();
  tool_spans_.push_back({facts, convention.tool, convention.call_id, out_->entries().size() - 1,
                         convention.is_tool_message});
}

// A message beneath a tool span that was written, or beneath another such message, is the same
// call seen again; only of a span that has an id and says nothing else can that be known.
void OtlpTranslator::drop_doubles() {
  using Id = std::pair<std::string_view, std::string_view>;
  std::map<Id, const ToolSpan*> by_id;
  for (const ToolSpan& span : tool_spans_) {
    by_id.emplace(Id(span.facts.trace_id, span.facts.span_id), &span);
  }
  const auto parent_of = [&](const ToolSpan& span) -> const ToolSpan* {
    const SpanFacts& facts = span.facts;
    if (!span.is_message || facts.trace_id.empty() || facts.parent_id.empty()) return nullptr;
    const auto parent = by_id.find(Id(facts.trace_id, facts.parent_id));
    const bool is_known = parent != by_id.end() && is_of_call(span, *parent->second);
    return is_known ? parent->second : nullptr;
  };
  for (const ToolSpan& span : tool_spans_) {
    // Client and server message beneath one tool span: whatever is longer, or a circle, is kept.
    constexpr int kMostSteps = 4;
    const ToolSpan* top = &span;
    for (int i = 0; i < kMostSteps; ++i) {
      const ToolSpan* const parent = parent_of(*top);
      if (parent == nullptr) break;
      top = parent;
    }
    if (top != &span && parent_of(*top) == nullptr) out_->drop(span.entry);
  }
}

}  // namespace

std::unique_ptr<Translator> make_otlp_translator() {
  return std::make_unique<OtlpTranslator>();
}

}  // namespace remit::trace
