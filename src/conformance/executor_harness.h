// The harness of an executor that has no driver for its calls: the world of each trial, its steps,
// its record. How a call is made is for the protocol's own class.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "conformance/answer_words.h"
#include "conformance/driver.h"
#include "conformance/executor.h"
#include "conformance/harness.h"
#include "conformance/spy.h"
#include "conformance/spy_call.h"
#include "conformance/subject.h"
#include "json/value.h"
#include "process/child.h"

namespace remit::conformance {

/// One call as a client makes it.
struct ClientCall {
  std::string caller;  ///< of the subject's callers; kNobody without a credential
  std::string tool;
  json::Object arguments;
  std::string key;  ///< empty for none
};

using Placeholders = std::map<std::string, std::string, std::less<>>;

class ExecutorHarness : public Harness {
 public:
  ~ExecutorHarness() override;

  [[nodiscard]] const Hello& hello() const override { return hello_; }
  Result<json::Object> ask(json::Object request) override;

 protected:
  ExecutorHarness(const Subject& subject, Spy& spy, const HarnessWorld& world);

  /// Starts the driver of the world, where there is one, and says what can be asked of both.
  Status greet();

  /// Makes ready to be called as `caller`: the plan of a call that is made later. Errors are of the
  /// harness.
  virtual Status plan(const std::string& caller) = 0;
  /// Makes a call. An executor that answers nothing, or nothing that can be read, is no error: the
  /// caller then saw `unknown`.
  virtual Result<Seen> call(const ClientCall& call) = 0;
  /// Ends every process of the executor in order, so that its record is whole.
  virtual void end() = 0;
  /// The numbers of its processes, for a driver that makes something fail.
  [[nodiscard]] virtual std::vector<std::int64_t> processes() const = 0;
  /// Members that a setup has beside the usual ones, and what they stand for in the subject file.
  virtual Status prepare(json::Object& spy_members, Placeholders& values) = 0;

  [[nodiscard]] const Executor& executor() const { return *subject_.executor; }
  [[nodiscard]] const SpyFacts& spy_facts() const { return facts_; }
  /// The placeholders of this trial for `caller`.
  [[nodiscard]] Placeholders values_for(const std::string& caller) const;
  /// The executor's command for `caller`, filled in.
  [[nodiscard]] process::Command command_for(const std::string& caller) const;

  const Subject& subject_;
  Spy& spy_;
  const HarnessWorld& world_;

 private:
  Result<json::Object> set_up(json::Object request);
  Result<json::Object> step(json::Object request);
  Result<json::Object> carry_out(const ClientCall& call);
  Result<json::Object> change_world(const std::string& word, json::Object request);
  Result<json::Object> collect();
  Result<json::Object> reset();
  Status collect_directory(const std::string& directory, json::Object& out);
  Status collect_lines(const std::string& file, json::Object& out);
  void remove_directory();

  std::unique_ptr<Driver> driver_;  // of the world; null where it is always the same
  Hello hello_;
  std::string directory_;  // of this trial; empty between two
  SpyFacts facts_;
  Placeholders values_;
  std::map<std::string, std::string, std::less<>> credentials_;
  std::map<std::string, ClientCall, std::less<>> submitted_;  // by the name of the call
};

}  // namespace remit::conformance
