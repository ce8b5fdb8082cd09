// The books: what the tools of the desk act on, whoever asks.
#pragma once

#include <string>

#include "base/result.h"
#include "json/value.h"

namespace remit::examples {

/// What the boundary says a call belongs to, as the books' audit table keeps it.
struct CallOrigin {
  std::string invocation_id;
  std::string run_id;
  std::string case_id;
};

/// One use of a tool.
struct ToolUse {
  std::string tool;
  std::string resource = {};  ///< canonical id of the first resource; empty for none
  json::Value arguments;
  CallOrigin origin;
};

/// What is protected. It trusts whoever calls it, as internal programs do: there is no check behind
/// it. Thread-safe.
class Books {
 public:
  Books() = default;
  virtual ~Books() = default;
  Books(Books&&) = default;
  Books& operator=(Books&&) = default;

  /// The answer of the tool. Errors: `data_loss` where nobody knows whether it was done; any other
  /// says that it was not.
  virtual Result<json::Value> use(const ToolUse& use) = 0;
};

}  // namespace remit::examples
