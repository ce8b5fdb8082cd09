// An event points at its text and so takes none that is about to end.
// refused: deleted
#include "event/event.h"

using namespace remit::event;

std::string name();

#ifdef REMIT_BAD
void point(Event& event) {
  event.set(Field::kTool, name());
}
#else
void point(Event& event, const std::string& kept, std::string& other) {
  event.set(Field::kTool, kept);
  event.set(Field::kTool, other);
  event.set(Field::kTool, "literal");
  event.set(Field::kTool, std::string_view{kept});
  event.set(Field::kSeq, 7);
}
#endif
