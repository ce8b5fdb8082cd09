// What the program `remit stdio` does, inside a program of one's own.
#include "agent.h"

#include "gateway/notices.h"
#include "gateway/stdio_gateway.h"

namespace remit::examples {

Status serve_agent(Office& office, const std::vector<std::string>& server, int input_fd,
                   int output_fd, const process::TerminationSignals& signals) {
  const gateway::Notices notices(office.settings().notice_fd);
  gateway::StdioGateway gateway({.point = office.point(),
                                 .policy = office.policy(),
                                 .clock = office.clock(),
                                 .notices = notices,
                                 .limits = {},
                                 .route = "agent",
                                 .run_id = office.settings().run_id,
                                 .case_id = {}},
                                output_fd);
  REMIT_TRY(gateway.start({{.where = "agent", .name = "desk", .command = server}},
                          office.settings().directory));
  gateway.serve(input_fd, signals);
  return {};
}

}  // namespace remit::examples
