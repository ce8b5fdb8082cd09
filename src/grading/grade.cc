// The order of values, and what a gate means to the caller.
#include "grading/grade.h"

namespace remit::grading {
namespace {

int badness(Value value) {
  switch (value) {
    case Value::kFailed:
      return 3;
    case Value::kUndetermined:
      return 2;
    case Value::kNotExercised:
      return 1;
    case Value::kPassed:
      return 0;
  }
  return 3;
}

}  // namespace

Value worse(Value left, Value right) {
  return badness(left) >= badness(right) ? left : right;
}

std::string_view gate_name(Gate gate) {
  switch (gate) {
    case Gate::kPassed:
      return "passed";
    case Gate::kFailed:
      return "failed";
    case Gate::kUndetermined:
      break;
  }
  return "undetermined";
}

Gate gate_of(const ByVerdict<std::optional<Value>>& values) {
  bool is_asked = false;
  bool has_passed = true;
  for (const std::optional<Value> value : values.items) {
    if (!value) continue;
    if (*value == Value::kFailed) return Gate::kFailed;
    is_asked = true;
    has_passed = has_passed && *value == Value::kPassed;
  }
  return is_asked && has_passed ? Gate::kPassed : Gate::kUndetermined;
}

int exit_code_of(Gate gate) {
  switch (gate) {
    case Gate::kPassed:
      return 0;
    case Gate::kFailed:
      return 1;
    case Gate::kUndetermined:
      break;
  }
  return 2;
}

}  // namespace remit::grading
