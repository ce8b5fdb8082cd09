// The bounds of a conformance run; those of everything else stand in base/limits.h.
#pragma once

#include <chrono>
#include <cstddef>

namespace remit::conformance {

/// One line of a driver: the events of one case are in it.
inline constexpr std::size_t kMaxDriverLineBytes = std::size_t{4} * 1024 * 1024;
/// One answer of a driver, by default and at most.
inline constexpr std::chrono::milliseconds kDriverDeadline{10'000};
inline constexpr std::chrono::milliseconds kMaxDriverDeadline{300'000};
/// One answer of an executor that is asked over MCP or HTTP, by default: its start is in it.
inline constexpr std::chrono::milliseconds kExecutorDeadline{30'000};
/// A driver that was asked to end does so in this time, twice (SIGTERM between), or is killed.
inline constexpr std::chrono::milliseconds kDriverGrace{1'000};
/// Faults of the harness in a row, after which no further trial is begun: a driver that is broken
/// would cost its deadline for each.
inline constexpr std::size_t kMaxHarnessFaultsInARow = 3;
inline constexpr std::size_t kMaxEventsOfTrial = 10'000;
inline constexpr std::size_t kMaxAnswerBytes = std::size_t{64} * 1024;  ///< what a caller saw
/// The spy.
inline constexpr std::size_t kMaxEffectLineBytes = std::size_t{64} * 1024;
inline constexpr std::size_t kMaxEffectsAtOnce = 10'000;
inline constexpr std::size_t kMaxSpyConnections = 256;
/// A tool outside of the runner waits so long for the spy, which is served between two steps as
/// well; and for whoever reads its answer.
inline constexpr std::chrono::milliseconds kSpyDeadline{60'000};
/// The record of one trial.
inline constexpr std::size_t kMaxRecordBytes = std::size_t{16} * 1024 * 1024;
/// A planner behind an endpoint.
inline constexpr std::size_t kMaxChatAnswerBytes = std::size_t{1} * 1024 * 1024;
inline constexpr std::size_t kMaxChatNameBytes = 256;  ///< ids and names of the calls it asks for
inline constexpr std::size_t kMaxCallsOfAnswer = 16;
inline constexpr int kMaxPlannerTurns = 12;  ///< answers in one conversation
inline constexpr int kMaxChatRetries = 4;    ///< of one request
inline constexpr std::chrono::milliseconds kFirstChatPause{1'000};
inline constexpr std::chrono::milliseconds kLongestChatPause{60'000};  ///< that it may ask for
inline constexpr int kMaxPlannerRepetitions = 100;

}  // namespace remit::conformance
