// Every bound of the program, in one place, with its unit and the reason for its size.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace remit {

/// JSON of an agent or a tool.
inline constexpr std::size_t kMaxJsonBytes = std::size_t{16} * 1024 * 1024;
inline constexpr std::size_t kMaxJsonDepth = 64;
inline constexpr std::size_t kMaxJsonMembers = 10'000;  ///< of one object
/// The body of one call as it reaches the boundary (BOUNDARY step 1).
inline constexpr std::size_t kMaxCallBytes = std::size_t{1} * 1024 * 1024;
/// Integers of this magnitude and beyond do not survive a JSON reader that uses doubles (RFC 7493).
inline constexpr std::int64_t kMaxSafeInteger = (std::int64_t{1} << 53) - 1;

/// Events and evidence.
inline constexpr std::size_t kMaxEventLineBytes = std::size_t{1} * 1024 * 1024;
inline constexpr std::size_t kMaxEventTextBytes = 4096;  ///< one string that we write
inline constexpr std::size_t kMaxSegmentBytes = std::size_t{64} * 1024 * 1024;
/// Encoded events that wait for a writer before callers are made to wait as well.
inline constexpr std::size_t kMaxPendingEvidenceBytes = std::size_t{4} * 1024 * 1024;
/// The longest that an event appended without waiting stays off the disk, but for the disk itself.
inline constexpr std::chrono::milliseconds kEvidenceInterval{50};
/// A signed note, and the signatures under it; those by keys of the future are long.
inline constexpr std::size_t kMaxNoteBytes = std::size_t{256} * 1024;
inline constexpr std::size_t kMaxNoteSignatures = 64;
/// A proof of one event: a note, some hashes, and the event's line in base 64.
inline constexpr std::size_t kMaxProofBytes = kMaxNoteBytes + 2 * kMaxEventLineBytes;
inline constexpr std::size_t kMaxCheckpointFiles = 100'000;  ///< of one folder
/// What stands for the removed segments of one log; a hash for each bit of their events' number.
inline constexpr std::size_t kMaxTombstoneBytes = std::size_t{16} * 1024;

/// Names in the catalogue; a tool name of another form is planner text and recorded as a digest.
inline constexpr std::size_t kMaxToolNameBytes = 64;
inline constexpr std::size_t kMaxIdBytes = 256;  ///< run ids, case ids, resource ids we accept

/// Invocations that `remit case from-trace` keeps at once; one that is named is found among more.
inline constexpr std::size_t kMaxDraftInvocations = 100'000;

/// Policy bundles and configuration.
inline constexpr std::size_t kMaxConfigBytes = std::size_t{4} * 1024 * 1024;
/// A small file that is read whole may be a pipe; one that is silent for so long is given up.
inline constexpr std::chrono::milliseconds kPipePatience{10'000};
inline constexpr std::size_t kMaxBundleBytes = std::size_t{64} * 1024 * 1024;  ///< all its files
inline constexpr std::size_t kMaxPolicyBytes = 4096;  ///< one policy; the parser recurses
inline constexpr std::size_t kMaxPolicyNesting = 64;
inline constexpr std::size_t kMaxPolicies = 20'000;
inline constexpr std::size_t kMaxTools = 10'000;
inline constexpr std::size_t kMaxYamlDepth = 32;
inline constexpr std::size_t kMaxYamlNodes = 500'000;  ///< of one document
inline constexpr std::size_t kMaxProblems = 100;       ///< reported for one file

/// The boundary.
inline constexpr std::chrono::milliseconds kPermitLifetime{1000};   ///< after resolution
inline constexpr std::chrono::milliseconds kResolveDeadline{1000};  ///< all references of a call
inline constexpr std::chrono::milliseconds kDecideDeadline{5000};   ///< all decisions of a call
inline constexpr std::size_t kMaxResourcesPerCall = 16;
inline constexpr int kMaxRemakesAfterPublication = 2;
inline constexpr std::size_t kMaxReferenceBytes = 4096;        ///< one reference to a resource
inline constexpr std::size_t kMaxOutstandingPermits = 10'000;  ///< given out and not spent
inline constexpr std::size_t kMaxRecordedPolicies = 256;       ///< determining, of one decision
inline constexpr std::size_t kMaxReportedArguments = 16;       ///< wrong arguments of one denial
/// Refusals that need no identity and are still recorded; strangers cannot fill the disk with more.
inline constexpr std::int64_t kRefusalsPerSecond = 50;
inline constexpr std::int64_t kRefusalBurst = 200;

/// Bearer tokens and the keys that verify them.
inline constexpr std::size_t kMaxTokenBytes = std::size_t{16} * 1024;
inline constexpr std::size_t kMaxTokenHeaderBytes = 4096;  ///< as JSON text
inline constexpr std::size_t kMaxTokenDepth = 8;           ///< nesting within header and claims
inline constexpr std::size_t kMaxTokenMembers = 256;       ///< of one object of them
inline constexpr std::size_t kMaxTokenScopes = 1000;
inline constexpr std::size_t kMaxKeySetBytes = std::size_t{256} * 1024;
inline constexpr std::size_t kMaxKeysOfSet = 256;
inline constexpr int kLeastRsaBits = 2048;  ///< RFC 7518 section 3.3
inline constexpr int kMostRsaBits = 8192;   ///< a longer key would make each call slow
inline constexpr std::chrono::seconds kMaxClockSkew{300};
/// Key sets of an issuer: between two looks for a key that is not there, and after failures.
inline constexpr std::chrono::milliseconds kLeastKeyPause{10'000};
inline constexpr std::chrono::milliseconds kFirstKeyRetryPause{1'000};
inline constexpr std::chrono::milliseconds kLongestKeyRetryPause{60'000};

/// Databases of the deployment.
inline constexpr std::size_t kMaxDatabaseValueBytes = std::size_t{4} * 1024 * 1024;  ///< or row
inline constexpr std::size_t kMaxStatementBytes = std::size_t{64} * 1024;
inline constexpr std::size_t kMaxDatabaseConnections = 8;  ///< to one server

/// The ledger of approvals and invocation keys.
inline constexpr std::chrono::milliseconds kLedgerDeadline{1000};  ///< one operation of a call
/// How long a process that says nothing more is thought to be alive; renewed each third of it.
inline constexpr std::chrono::milliseconds kLedgerLease{30'000};
/// Whose rates of calls are told apart at once: principals, or addresses.
inline constexpr std::size_t kMaxMeteredCallers = 10'000;
inline constexpr std::size_t kMaxServiceCredentialBytes = 4096;  ///< for a store that is a service
inline constexpr std::size_t kMaxUnwrittenEnds = 10'000;  ///< of calls, those under way among them
inline constexpr std::int64_t kMaxRequestsPerPrincipal = 64;  ///< for approval, not yet granted
inline constexpr std::chrono::hours kRequestLifetime{24};     ///< likewise
inline constexpr std::size_t kMaxRequestArgumentBytes = std::size_t{64} * 1024;  ///< shown whole
inline constexpr std::chrono::hours kMaxApprovalLifetime{24 * 30};
inline constexpr std::size_t kMaxLedgerRows = 1000;  ///< of one list for people

/// Deferred work.
inline constexpr std::size_t kMaxQueuedCallBytes = std::size_t{256} * 1024;  ///< arguments of a row
inline constexpr std::int64_t kMaxOpenQueueRows = 100'000;                   ///< of one queue
inline constexpr std::int64_t kMaxOpenQueueRowsPerLane = 10'000;
inline constexpr std::int64_t kMaxEndedQueueRows = 100'000;  ///< kept for people, of one queue
inline constexpr std::chrono::hours kEndedQueueRowTime{24 * 30};
inline constexpr std::size_t kMaxListedQueueRows = 1000;
inline constexpr std::int64_t kMaxAttempts = 20;
inline constexpr std::int64_t kMaxRequeues = 10;  ///< of one row, by people
inline constexpr std::size_t kMaxRequeueReasonBytes = 1024;
inline constexpr std::chrono::minutes kLeastRepeat{1};
inline constexpr std::chrono::hours kLongestRepeat{24 * 366};
/// A worker that says nothing more for this long has lost what it claimed; renewed each third.
inline constexpr std::chrono::milliseconds kQueueClaimTime{30'000};
inline constexpr std::chrono::milliseconds kQueueOperationDeadline{5'000};  ///< of the database
inline constexpr std::chrono::milliseconds kQueuePoll{500};     ///< between two looks for work
inline constexpr std::chrono::milliseconds kQueueTidy{60'000};  ///< between two tidyings
inline constexpr std::chrono::milliseconds kFirstRetryPause{1'000};
inline constexpr std::chrono::milliseconds kLongestRetryPause{600'000};
inline constexpr std::size_t kMaxQueueThreads = 64;  ///< of one worker

/// The stdio gateway.
inline constexpr std::size_t kMaxMcpLineBytes = std::size_t{16} * 1024 * 1024;
inline constexpr std::size_t kMaxCallsInFlight = 256;
/// Arguments of all calls in flight; their trees take many times as much. One call always goes.
inline constexpr std::size_t kMaxCallBytesInFlight = std::size_t{16} * 1024 * 1024;
inline constexpr std::size_t kMaxQueuedBytes =
    std::size_t{64} * 1024 * 1024;  ///< written by us, not yet taken by a peer: four longest lines
inline constexpr std::size_t kMaxQueuedBytesForNotifications = std::size_t{1} * 1024 * 1024;
inline constexpr std::size_t kMaxServerRequests = 64;  ///< of one server, unanswered by the client
inline constexpr std::size_t kMaxSubscriptions = 1024;
inline constexpr std::size_t kMaxListPages = 1000;  ///< of one list of a server
/// Listings of one server's tools with less than kListingRest between; then it is given up.
inline constexpr std::size_t kMaxListingsInARow = 10;
inline constexpr std::chrono::milliseconds kListingRest{10'000};
inline constexpr std::size_t kToolsPerPage = 500;    ///< of the list that we give
inline constexpr std::size_t kMaxFaultsInARow = 64;  ///< lines of a server that are no messages
inline constexpr std::size_t kMaxUpstreams = 64;
inline constexpr std::size_t kMaxCommandWords = 256;
inline constexpr std::chrono::milliseconds kPeerStall{30'000};  ///< a peer that takes nothing
/// A server's handshake and first list (npx may fetch first), or all pages of a later list.
inline constexpr std::chrono::milliseconds kHandshakeDeadline{60'000};
/// A client waits this long for slow servers beside one that is ready, or once it closed its end.
inline constexpr std::chrono::milliseconds kSlowServerGrace{5'000};
inline constexpr std::chrono::milliseconds kDrainDeadline{10'000};  ///< calls in flight at the end
/// Calls in flight after a signal, or when kDrainDeadline is over; a client that does not read.
inline constexpr std::chrono::milliseconds kLastWords{1'000};
inline constexpr std::chrono::milliseconds kServerGrace{2'000};  ///< to end by itself, twice

/// HTTP, server and client.
inline constexpr std::size_t kMaxUrlBytes = 4096;
inline constexpr std::size_t kMaxHeadBytes = std::size_t{16} * 1024;  ///< start line and headers
inline constexpr std::size_t kMaxHeaders = 100;
inline constexpr std::size_t kMaxStreamBytes = std::size_t{1} * 1024 * 1024;  ///< not yet taken
/// Of requests that a server reads or handles, over all connections.
inline constexpr std::size_t kMaxRequestBodyBytesAtOnce = std::size_t{64} * 1024 * 1024;
/// Of a client's next request, read while the one before it is answered.
inline constexpr std::size_t kMaxReadAheadBytes = std::size_t{64} * 1024;
inline constexpr std::size_t kMaxAttributeAnswerBytes = std::size_t{256} * 1024;  ///< of a service
inline constexpr std::size_t kMaxAttributeConnections = 16;  ///< to one service
inline constexpr std::size_t kMaxHostLookups = 4;            ///< that hang, of one client
inline constexpr int kMaxInterimResponses = 8;               ///< 1xx before the response itself

/// The grader.
inline constexpr std::size_t kMaxTraceSources = 65'535;                 ///< files of one run
inline constexpr std::size_t kMaxTraceBytes = std::size_t{1} << 46U;    ///< of one file: 64 TiB
inline constexpr std::size_t kMaxGraderBytes = std::size_t{16} << 30U;  ///< what it remembers
inline constexpr std::size_t kMaxContractRules = 1000;
/// One JSON document of an input that is not JSON Lines; it is held in memory.
inline constexpr std::size_t kMaxTraceDocumentBytes = std::size_t{256} * 1024 * 1024;
/// A compressed input may unpack to this much, and beyond it to kMaxUnpackRatio times its size:
/// evidence is full of digests and never packs that well, a bomb does.
inline constexpr std::uint64_t kUnpackAlways = std::uint64_t{64} << 20U;
inline constexpr std::uint64_t kMaxUnpackRatio = 1000;
inline constexpr int kMaxZstdWindowLog = 27;  ///< 128 MiB of memory for one file
/// What it keeps in memory of invocations; the rest waits in a scratch file. A trace of some 70 MB
/// is judged without one.
inline constexpr std::size_t kGraderMemoryBytes = std::size_t{24} << 20U;
/// Numbers of one writer within which a repeated line can still be compared with the first.
inline constexpr std::int64_t kRepeatWindow = 16'384;
/// Canaries: a shorter value, or half of one, is found by chance.
inline constexpr std::size_t kMinCanaryBytes = 8;
inline constexpr std::size_t kMaxCanaryBytes = 1024;
inline constexpr std::size_t kMaxCanaries = 1000;
inline constexpr std::size_t kMaxForbiddenFields = 1000;

/// Conformance runs. One line of a driver: the events of one case are in it.
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

}  // namespace remit
