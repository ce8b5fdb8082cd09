// What a launcher says of the run that a process serves, and what is recorded of it.
#pragma once

#include <string>
#include <vector>

#include "base/file_system.h"
#include "base/result.h"
#include "enforcement/enforcement_point.h"
#include "evidence/file_evidence_log.h"
#include "gateway/notices.h"
#include "gateway/world.h"

namespace remit::gateway {

/// None of it comes from a message, which an agent could have written. Empty: not said.
struct Launch {
  std::string run_id = {};         ///< evaluation run
  std::string case_id = {};        ///< case of the run
  std::string manifest_file = {};  ///< its digest is recorded with the run
  std::string environment = {};    ///< recorded with the run; the bundle's by default
};

/// What is wrong with it.
std::vector<Error> check_launch(const Launch& launch);

/// What is recorded of the run. Errors: as of reading the manifest.
Result<enforcement::RunFacts> run_facts(const Launch& launch, const World& world,
                                        FileSystem& files);

/// Tells the operator of logs that were left unclosed.
void announce_recovery(const evidence::FileEvidenceLog& log, const Notices& notices);

}  // namespace remit::gateway
