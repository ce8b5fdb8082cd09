// The event contract `remit.event/1`: every field an event may have, and nothing else.
//
// One struct serves the writer and the reader. It owns no text: a writer points it at what it has,
// a reader at the bytes it read, so that neither allocates per event.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/result.h"

namespace remit::event {

enum class EventKind : std::uint8_t {
  kExtension,  ///< a name that starts with `x.`: ignored and counted
  kRunStarted,
  kRunFinished,
  kToolRequest,
  kResourceResolved,
  kApprovalChecked,
  kAuthorizationDecision,
  kPermitUnspent,
  kExecutorStart,
  kExecutorFinish,
  kEffectObserved,
  kQueueEnqueued,
  kQueueDequeued,
  kQueueDenied,
  kPolicyPublished,
  kApprovalChanged,
  kEvidenceLost,
};
inline constexpr std::size_t kEventKindCount = 17;

/// `tool.request` and so on; `x.` for an extension.
std::string_view event_kind_name(EventKind kind);
std::optional<EventKind> parse_event_kind(std::string_view name);
/// Whether the event belongs to one invocation and so must carry `invocation_id`.
bool is_call_event(EventKind kind);

/// The known field names, in the order in which they are written. `event` itself is `Event::kind`.
/// Text fields first, then integers, then the two lists and the boolean.
enum class Field : std::uint8_t {
  kInvocationId,
  kTime,
  kWriter,
  kRunId,
  kCaseId,
  kRoute,
  kTool,
  kAction,
  kResourceType,
  kResourceId,  ///< may be null: see `Event::resource_id_is_null`
  kResourceTenant,
  kRequestedRef,
  kTraceId,
  kSpanId,
  kManifestDigest,
  kEnvironment,
  kContract,
  kSource,
  kPrincipalState,
  kPrincipalClass,
  kPrincipalRef,
  kPrincipalTenant,
  kPrincipalRevision,
  kArgsDigest,
  kPlannerPolicyVersion,
  kIdempotencyKeyDigest,
  kResolutionSource,
  kResolutionRevision,
  kOutcome,
  kApprovalId,
  kApprovalState,
  kDecision,
  kReason,
  kPolicyVersion,
  kPolicyDigest,
  kMode,
  kDecisionId,
  kDecisionPoint,
  kWorker,
  kErrorType,
  kQueue,
  kEnqueuedPolicyVersion,
  kCause,
  kLastText = kCause,
  kSeq,
  kAttempt,
  kInvocations,
  kEvents,
  kEffects,
  kDurationUs,
  kLastInteger = kDurationUs,
  kEnforced,
  kFurtherResources,
  kDeterminingPolicies,
};
inline constexpr std::size_t kTextFieldCount = static_cast<std::size_t>(Field::kLastText) + 1;
inline constexpr std::size_t kIntegerFieldCount =
    static_cast<std::size_t>(Field::kLastInteger) - kTextFieldCount + 1;
inline constexpr std::size_t kFieldCount =
    static_cast<std::size_t>(Field::kDeterminingPolicies) + 1;
static_assert(kFieldCount <= 64, "presence is one word");

/// `invocation_id` and so on.
std::string_view field_name(Field field);
std::optional<Field> parse_field(std::string_view name);

/// A string that ends with the expression it stands in. (A plain `std::string&&` overload would
/// make every call with a literal ambiguous.)
template <typename Text>
concept TemporaryString = std::same_as<std::remove_const_t<Text>, std::string>;

/// One event. Text and lists point into memory that the maker keeps alive. Reusable: `clear` keeps
/// the lists' capacity. Only fields that are present may be read for meaning; absent text reads as
/// empty and absent integers as 0.
class Event {
 public:
  EventKind kind = EventKind::kExtension;
  bool resource_id_is_null = false;  ///< `resource_id` was given as null (then also `has`)
  bool enforced = false;             ///< value of `enforced` where present
  std::vector<std::string_view> further_resources;
  std::vector<std::string_view> determining_policies;
  std::uint32_t ignored_fields = 0;  ///< unknown members that the reader passed over

  void clear() {
    present_ = 0;
    empty_ = 0;
    kind = EventKind::kExtension;
    resource_id_is_null = false;
    enforced = false;
    further_resources.clear();
    determining_policies.clear();
    ignored_fields = 0;
  }
  [[nodiscard]] bool has(Field field) const { return (present_ & bit(field)) != 0; }
  /// All fields that are present, each as the bit of its number.
  [[nodiscard]] std::uint64_t present() const { return present_; }
  /// Those of them whose text is empty.
  [[nodiscard]] std::uint64_t empty_texts() const { return empty_; }
  [[nodiscard]] std::string_view text(Field field) const {
    return has(field) ? text_[static_cast<std::size_t>(field)] : std::string_view{};
  }
  [[nodiscard]] std::int64_t integer(Field field) const {
    return has(field) ? integers_[static_cast<std::size_t>(field) - kTextFieldCount] : 0;
  }
  void set(Field field, std::string_view value) {
    text_[static_cast<std::size_t>(field)] = value;
    empty_ = (empty_ & ~bit(field)) | (value.empty() ? bit(field) : 0);
    mark(field);
  }
  /// An event points at its text: what is gone before the event is read is refused by the compiler.
  void set(Field field, TemporaryString auto&& value) = delete;
  void set_if_any(Field field, TemporaryString auto&& value) = delete;
  /// Sets a text field unless `value` is empty: an absent fact is an absent field.
  void set_if_any(Field field, std::string_view value) {
    if (!value.empty()) set(field, value);
  }
  void set(Field field, std::int64_t value) {
    integers_[static_cast<std::size_t>(field) - kTextFieldCount] = value;
    mark(field);
  }
  /// Marks a field as present whose value stands in a public member (`enforced`, the lists, null
  /// id).
  void mark(Field field) { present_ |= bit(field); }

 private:
  static std::uint64_t bit(Field field) { return std::uint64_t{1} << static_cast<unsigned>(field); }
  std::uint64_t present_ = 0;
  std::uint64_t empty_ = 0;
  std::array<std::string_view, kTextFieldCount> text_;
  std::array<std::int64_t, kIntegerFieldCount> integers_;
};

/// Appends one line (JSON, `\n` at its end) with `event` and `invocation_id` first and the other
/// present fields in the order of `Field`. Text is bounded by the maker (kMaxEventTextBytes).
void encode(const Event& event, std::string& out);

/// Decodes event lines (spec/events.md). Not thread-safe; one per reader. It keeps scratch memory,
/// so that in the steady state nothing is allocated per event.
class Decoder {
 public:
  Decoder();
  ~Decoder();
  Decoder(Decoder&&) noexcept;
  Decoder& operator=(Decoder&&) noexcept;

  /// Decodes `line` (without its `\n`; a trailing `\r` is accepted) into `out`, which points into
  /// `line` or into this decoder's memory until the next call. `line` must stand in memory that is
  /// readable for `kPadding` bytes past its end. Errors: `invalid_input` with `byte N` (offset in
  /// the line) for anything that spec/events.md calls malformed; `limit_exceeded` for a line over
  /// `max_line_bytes`.
  Status decode(std::string_view line, Event& out);

  /// For a text of many lines, at less cost: the length of the line that ends in front of the first
  /// `\n` of `text`, or with the text. `text` is readable for `kPadding` bytes past its end.
  std::size_t find_line(std::string_view text);
  /// Decodes the line that `find_line` found last, as `decode` does.
  Status decode_found(Event& out);
  /// Whether some text of the event decoded last may stand in this decoder's memory.
  [[nodiscard]] bool has_own_texts() const;

  static constexpr std::size_t kPadding = 64;
  std::size_t max_line_bytes;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace remit::event
