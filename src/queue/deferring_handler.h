// The handler of a tool that puts work off: what it is asked for becomes a row.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "enforcement/enforcement_point.h"
#include "evidence/evidence_sink.h"
#include "queue/work_queue.h"

namespace remit::queue {

/// What a tool puts off.
struct DeferredTool {
  std::string tool;  ///< catalogue name of the tool that will run
  std::string queue = std::string(kDefaultQueue);
  std::int64_t max_attempts = 5;
};

/// Enqueues the calls of tools that put work off (REQ-QU-001). The arguments of such a call are
/// `{"arguments": {…}, "not_before": "RFC 3339"}`, the second optional: what the other tool is to
/// get, references and all, and when. Who it is for is who called; the invocation is its key, so
/// that one call makes one row. Records `queue.enqueued`. Thread-safe.
class DeferringHandler final : public enforcement::ToolHandler {
 public:
  /// `tools` by the name of the tool that puts off. `queue`, `evidence` and `key` are the
  /// boundary's; the first two outlive the object.
  DeferringHandler(WorkQueue& queue, evidence::EvidenceSink& evidence, DigestKey key,
                   std::map<std::string, DeferredTool, std::less<>> tools)
      : queue_(queue), evidence_(evidence), key_(std::move(key)), tools_(std::move(tools)) {}

  /// The payload is `{"status":"queued","id":…}`. Failures, with nothing enqueued: `invalid_work`,
  /// `queue_full`; `queue_unavailable` where the database is gone, and then the outcome is unknown:
  /// the row may be there.
  enforcement::HandlerResult run(const enforcement::GrantedCall& call) override;

 private:
  void record(const enforcement::GrantedCall& call, const Work& work, const Enqueued& enqueued);

  WorkQueue& queue_;
  evidence::EvidenceSink& evidence_;
  const DigestKey key_;
  const std::map<std::string, DeferredTool, std::less<>> tools_;
};

}  // namespace remit::queue
