// Where the keys of an issuer come from.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/error.h"
#include "identity/key_set.h"

namespace remit::identity {

/// The keys as they are known now, or why none are to be believed.
struct KnownKeys {
  std::shared_ptr<const KeySet> keys;  ///< null exactly when there is a problem
  std::optional<Error> problem = std::nullopt;
};

/// The keys of one issuer. Nothing of it waits for anybody else's machine: it is asked within
/// calls. Thread-safe.
class KeySource {
 public:
  virtual ~KeySource() = default;
  [[nodiscard]] virtual KnownKeys known() const = 0;
  /// Says that a token names a key that is not among them: the issuer may have a new one.
  virtual void ask_anew() const {}
};

}  // namespace remit::identity
