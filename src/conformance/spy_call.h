// A tool's side of the spy: how what stands in the place of a tool tells the runner of an effect.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/file_system.h"
#include "base/result.h"
#include "conformance/spy.h"
#include "json/value.h"

namespace remit::conformance {

/// What a tool that is not in the runner's process has to know of the spy: a file that the runner
/// writes for each trial (REQ-CF-086).
struct SpyFacts {
  std::string socket, token;
  std::string invocation_id;  ///< where a call has the invocation id: a member of `_meta`, a header
  json::Object tools;         ///< of the fixture
};

std::string spy_facts_json(const SpyFacts& facts);
/// Reads such a file. Errors: those of reading; `invalid_input` for anything else.
Result<SpyFacts> read_spy_facts(FileSystem& files, const std::string& path);

/// The effect of one call of `tool`: its resource is what `arguments` say of the first resource
/// that the fixture has for it.
Effect effect_of(const SpyFacts& facts, std::string_view invocation_id, std::string_view tool,
                 json::Value arguments);

/// Tells the spy of `effect` and waits for what the tool is to answer: kLost where the spy answers
/// nothing. Errors: `unavailable` where nobody listens, `deadline_exceeded`, `invalid_input` for
/// another answer. Thread-safe.
Result<ToolAnswer> tell_spy(const std::string& socket, const Effect& effect,
                            std::chrono::milliseconds deadline);

}  // namespace remit::conformance
