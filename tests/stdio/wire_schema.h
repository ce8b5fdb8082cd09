// Holds what the gateway sends against the JSON Schemas that the protocol publishes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/schema.h"
#include "json/value.h"

namespace remit::testing {

/// Checks lines against revision 2025-11-25 and, where the client asked for it, 2025-06-18. Without
/// the shared data it checks nothing and says so once.
class WireSchema {
 public:
  WireSchema();
  [[nodiscard]] bool is_available() const { return schema_.has_value(); }

  /// Remembers methods by id, and the revision that the client asks for.
  void sent_by_client(const std::string& line);
  void check_to_client(const std::string& line);
  void check_to_server(const std::string& line);
  [[nodiscard]] const std::vector<std::string>& faults() const { return faults_; }

 private:
  void check(const json::Value& value, const std::string& definition, const std::string& line);
  json::Schema* definition(const std::string& name);

  std::optional<json::Value> schema_;
  bool is_old_ = false;
  std::map<std::string, std::string> methods_;
  std::map<std::string, std::optional<json::Schema>> compiled_;
  std::vector<std::string> faults_;
};

}  // namespace remit::testing
