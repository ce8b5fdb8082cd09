// A fixture of the conformance pack as a directory in which the office can be opened.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "database/sqlite_database.h"
#include "json/value.h"
#include "office.h"

namespace remit::examples {

/// The bundle, the staff list and the invoices that a fixture asks for (spec/driver.md), each in
/// the form in which the office has its own. Gone with the object.
class FixtureWorld {
 public:
  /// Errors: of the file system; `unsupported` for resources of another type than Invoice.
  static Result<std::unique_ptr<FixtureWorld>> make(const json::Value& fixture, const Clock& clock,
                                                    Random& random);
  ~FixtureWorld();
  FixtureWorld(const FixtureWorld&) = delete;
  FixtureWorld& operator=(const FixtureWorld&) = delete;

  [[nodiscard]] const std::string& directory() const { return directory_; }
  /// Name of the newest bundle.
  [[nodiscard]] const std::string& bundle() const { return bundle_; }
  /// The names of the principals.
  [[nodiscard]] std::vector<std::string> people() const;
  /// What `name` presents as who it is: for one in the state `invalid`, what no office made.
  [[nodiscard]] access::Credential credential_of(const std::string& name, const Staff& staff) const;

  Status set_policy(const json::Value& policy);
  Status set_principal(const std::string& name, const json::Value& principal);
  Status set_resource(const std::string& reference, const json::Value& resource);
  /// Takes the invoices away, or brings them back.
  Status move_invoices(bool away);
  /// Puts a row without a principal where deferred work waits, as other programs once did. Gives
  /// its id.
  Result<std::string> plant(const std::string& queue, const std::string& route,
                            const std::string& tool, const std::string& arguments_json);

 private:
  FixtureWorld(std::string directory, const json::Value& fixture, const Clock& clock,
               Random& random);
  Status write_all(const json::Value& fixture);
  Status write(const std::string& name, const std::string& text) const;
  Status write_bundle(const json::Value& policy) const;
  [[nodiscard]] std::string cedar_schema() const;
  Status run(database::Database& database, std::string_view statement,
             const std::vector<database::Parameter>& parameters) const;

  const std::string directory_;
  const json::Object tools_;
  const Clock& clock_;
  Random& random_;
  database::SqliteDatabase invoices_;
  database::SqliteDatabase state_;
  std::map<std::string, json::Value> people_;
  std::string bundle_;
  int bundles_ = 0;
};

}  // namespace remit::examples
