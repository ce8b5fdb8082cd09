// An MCP server whose tools have one effect: a line in a journal that outlives it. What came of a
// call is counted there, outside of whatever asked for it.
//
// usage: spy_server JOURNAL PLAN [--twice]
//
// The journal gets `received ORDER INVOCATION`, then `effect ORDER INVOCATION`, each by one append.
// PLAN, where it exists, is a line `MOMENT LATER HOLD [PID...]`: at that moment (`received`,
// `effect` or `answered`), and LATER microseconds after it, the parent is killed, unless it is one
// of PID; the tool goes on HOLD microseconds later, if it lives so long. With `--twice` each effect
// is had twice, which whoever counts has to notice.
#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>

namespace {

constexpr const char* kTools =
    R"({"tools":[)"
    R"({"name":"pay","inputSchema":{"type":"object","properties":{"order":{"type":"string"}},"required":["order"],"additionalProperties":false}},)"
    R"({"name":"note","inputSchema":{"type":"object","properties":{"order":{"type":"string"}},"required":["order"],"additionalProperties":false}},)"
    R"({"name":"release","inputSchema":{"type":"object","properties":{"order":{"type":"string"}},"required":["order"],"additionalProperties":false}}]})";
constexpr const char* kInitialized =
    R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{}},)"
    R"("serverInfo":{"name":"spy","version":"0"}})";

/// The text behind `"name":` up to its end; what talks to us writes no blanks and no escapes.
std::string member(std::string_view line, std::string_view name) {
  const std::string mark = "\"" + std::string(name) + "\":";
  const std::size_t at = line.find(mark);
  if (at == std::string_view::npos) return {};
  std::string_view rest = line.substr(at + mark.size());
  const bool is_text = rest.substr(0, 1) == "\"";
  if (is_text) rest.remove_prefix(1);
  return std::string(rest.substr(0, rest.find_first_of(is_text ? "\"" : ",}")));
}

class Spy {
 public:
  Spy(const char* journal, std::string plan, bool is_double)
      : journal_(::open(journal, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600)),
        plan_(std::move(plan)),
        is_double_(is_double) {}

  void handle(const std::string& line) const {
    const std::string id = member(line, "id");
    const std::string method = member(line, "method");
    if (method == "initialize") {
      answer(id, kInitialized);
    } else if (method == "tools/list") {
      answer(id, kTools);
    } else if (method == "tools/call") {
      const std::string call =
          " " + member(line, "order") + " " + member(line, "io.remit/invocation-id") + "\n";
      note("received", call);
      note("effect", call);
      if (is_double_) note("effect", call);
      answer(id, R"({"content":[{"type":"text","text":"done"}]})");
      reach("answered");
    } else if (!id.empty()) {
      answer(id, "{}");
    }
  }

 private:
  static void answer(const std::string& id, const std::string& result) {
    std::cout << R"({"jsonrpc":"2.0","id":)" << id << R"(,"result":)" << result << "}" << std::endl;
  }
  void note(const char* what, const std::string& call) const {
    const std::string line = what + call;
    if (::write(journal_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
      ::_exit(1);
    }
    reach(what);
  }
  void reach(const std::string& moment) const {
    std::ifstream file(plan_);
    std::string planned;
    useconds_t later_us = 0;
    useconds_t hold_us = 0;
    if (!(file >> planned >> later_us >> hold_us) || planned != moment) return;
    const pid_t parent = ::getppid();
    for (pid_t spared = 0; file >> spared;) {
      if (spared == parent) return;
    }
    ::usleep(later_us);
    if (parent > 1) ::kill(parent, SIGKILL);
    ::usleep(hold_us);
  }

  int journal_;
  std::string plan_;
  bool is_double_;
};

}  // namespace

int main(int count, char** words) {
  if (count < 3) return 64;
  const Spy spy(words[1], words[2], count > 3 && std::string_view(words[3]) == "--twice");
  for (std::string line; std::getline(std::cin, line);) spy.handle(line);
}
