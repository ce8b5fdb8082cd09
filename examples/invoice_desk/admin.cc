// An operator has a shell on this machine and no more rights at the desk than the staff list says.
#include "admin.h"

#include <ostream>

namespace remit::examples {

int run_admin(Office& office, const std::vector<std::string>& words, const std::string& badge,
              std::ostream& out) {
  Asked asked;
  if (!badge.empty()) asked.credential = access::Credential::bearer(badge);
  std::vector<std::string> plain;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--key" && i + 1 < words.size()) {
      asked.key = words[++i];
    } else {
      plain.push_back(words[i]);
    }
  }
  if (plain.empty() || plain.size() > 2) {
    out << "usage: admin TOOL [ARGUMENTS] [--key KEY]\n";
    return 64;
  }
  asked.tool = plain[0];
  asked.arguments_json = plain.size() == 2 ? plain[1] : "{}";
  const Told told = office.ask("admin", asked);
  out << told.text << '\n';
  if (told.word == "result") return 0;
  if (told.word == "denied") return 1;
  return told.word == "failed" ? 2 : 3;
}

}  // namespace remit::examples
