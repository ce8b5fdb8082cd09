// An event points at its text also where that text may be absent.
// refused: deleted
#include "event/event.h"

using namespace remit::event;

const std::string name();

#ifdef REMIT_BAD
void point(Event& event) {
  event.set_if_any(Field::kTool, name());
}
#else
void point(Event& event, const std::string& kept) {
  event.set_if_any(Field::kTool, kept);
  event.set_if_any(Field::kTool, "literal");
}
#endif
