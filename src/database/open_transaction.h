// A transaction that is under way on a connection, of whichever database.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/result.h"
#include "database/database.h"

namespace remit::database {

/// Runs statements by `connection`, which outlives it, and remembers the last that failed.
template <class Connection>
class OpenTransaction final : public Transaction {
 public:
  explicit OpenTransaction(Connection& connection) : connection_(connection) {}
  Result<Answer> run(std::string_view statement, std::span<const Parameter> parameters,
                     std::size_t max_rows) override {
    Result<Answer> answer = connection_.run(statement, parameters, max_rows);
    if (!answer) fault_ = answer.error();
    return answer;
  }
  /// What `done`, said by the work, comes to: half a transaction is never committed.
  [[nodiscard]] Status verdict(Status done) const {
    return done && fault_ ? Status{*fault_} : std::move(done);
  }

 private:
  Connection& connection_;
  std::optional<Error> fault_;
};

}  // namespace remit::database
