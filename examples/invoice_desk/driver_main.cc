// invoice_desk_driver: what `remit conform run --subject subject.yaml` starts.
#include <sys/stat.h>

#include "driver.h"

int main(int argc, char** argv) {
  ::umask(077);  // the office refuses files that others may write
  return remit::examples::run_driver({argv + 1, argv + argc},
                                     [](const remit::process::TerminationSignals& signals) {
                                       return std::make_unique<remit::examples::Driver>(signals);
                                     });
}
