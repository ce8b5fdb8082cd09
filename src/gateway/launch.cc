// From a launcher's words to the facts of a run.
#include "gateway/launch.h"

#include <utility>

#include "base/digest.h"
#include "base/limits.h"

namespace remit::gateway {

std::vector<Error> check_launch(const Launch& launch) {
  std::vector<Error> out;
  const auto check = [&](const std::string& value, const char* what) {
    if (value.size() <= kMaxIdBytes) return;
    out.push_back({ErrorCode::kLimitExceeded, std::string(what) + " has at most 256 bytes"});
  };
  check(launch.run_id, "a run id");
  check(launch.case_id, "a case id");
  check(launch.environment, "an environment's name");
  return out;
}

Result<enforcement::RunFacts> run_facts(const Launch& launch, const World& world,
                                        FileSystem& files) {
  enforcement::RunFacts facts{.run_id = launch.run_id, .environment = launch.environment};
  if (facts.environment.empty()) facts.environment = world.policy.get()->bundle->environment;
  if (!launch.manifest_file.empty()) {
    REMIT_TRY_ASSIGN(const std::string manifest, files.read(launch.manifest_file, kMaxConfigBytes));
    facts.manifest_digest = digest_text(sha256(manifest));
  }
  return facts;
}

void announce_recovery(const evidence::FileEvidenceLog& log, const Notices& notices) {
  for (const evidence::Recovered& recovered : log.recovered()) {
    std::string line = "evidence " + recovered.directory + " was left unclosed; ";
    if (recovered.error) {
      line += "it could not be recovered: " + recovered.error->to_string();
    } else if (recovered.damage) {
      line += "it is damaged and was left as it is: " + recovered.damage->to_string();
    } else {
      line += std::to_string(recovered.torn_bytes) + " torn bytes were cut from its end";
    }
    notices.say(line);
  }
}

}  // namespace remit::gateway
