// The same events in the forms of others: OpenTelemetry and recorded agent runs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "naive_grader.h"
#include "tests/support/seeded_random.h"

namespace remit::twin {

using testing::SeededRandom;

/// How a document of OpenTelemetry holds events (spec/inputs.md).
enum class Telemetry { kLogRecords, kSpans, kSpanEvents, kTempo, kOlderTempo, kJaeger };
inline constexpr Telemetry kTelemetries[] = {Telemetry::kLogRecords, Telemetry::kSpans,
                                             Telemetry::kSpanEvents, Telemetry::kTempo,
                                             Telemetry::kOlderTempo, Telemetry::kJaeger};

/// The file with each of its lines as a record, by documents of some records each, attributes in
/// any order. Strings have no escapes; a line is an event. No `null` in Jaeger's form.
NaiveInput as_telemetry(const NaiveInput& lines, Telemetry form, SeededRandom& random);

/// What a recording of an agent's runs knows.
enum class Recording { kOpenAiChat, kAgentDojo, kTauBench };
inline constexpr Recording kRecordings[] = {Recording::kOpenAiChat, Recording::kAgentDojo,
                                            Recording::kTauBench};

/// The name that a recording gives to the case `cN`.
std::string case_name(Recording form, std::size_t number);

/// Random runs in a file, as the recording and as the lines that it stands for.
struct Recorded {
  NaiveInput recording, lines;
};
Recorded random_recording(SeededRandom& random, Recording form, const std::string& stem);

}  // namespace remit::twin
