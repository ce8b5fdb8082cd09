// The runner's spy in the place of the books: it counts what reaches it (spec/driver.md).
#pragma once

#include <string>
#include <utility>

#include "books.h"

namespace remit::examples {

/// Each use is one line to the spy and one back. A connection that ends without an answer is a
/// reply that was lost.
class SpyBooks final : public Books {
 public:
  SpyBooks(std::string socket, std::string token)
      : socket_(std::move(socket)), token_(std::move(token)) {}
  Result<json::Value> use(const ToolUse& use) override;

 private:
  std::string socket_;
  std::string token_;
};

}  // namespace remit::examples
