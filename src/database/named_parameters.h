// Statements with named parameters, for a database that knows only numbered ones.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace remit::database {

/// A statement with `$1`, `$2`, … in place of `:name`.
struct NumberedStatement {
  std::string text;
  std::vector<std::string> parameters;  ///< names with their colons, each once, in order of number
};

/// Numbers the parameters of `statement`: a colon and a word of `[A-Za-z0-9_]`. What stands in
/// quotes, in comments or behind `::` stays as it is.
NumberedStatement number_parameters(std::string_view statement);

}  // namespace remit::database
