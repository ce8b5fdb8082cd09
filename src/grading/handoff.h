// What is recorded of one invocation, kept for those who must find out why it failed.
#pragma once

#include "grading/call_view.h"
#include "grading/grade.h"
#include "grading/record_store.h"

namespace remit::grading {

/// The invocation that `call` lays out, with the facts that the store remembers of its events in
/// the order of the event contract. At most kMaxRecordedEvents events are kept, and how many there
/// are is said.
InvocationRecord record_of(const RecordStore& store, const CallView& call);

}  // namespace remit::grading
