// Names of the states of principals and approvals, from the event contract's closed lists.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "event/names.h"
#include "grading/record.h"

namespace remit::grading {
namespace detail {

template <class State, std::size_t kCount>
State state_of(const std::array<std::string_view, kCount>& names, std::string_view name) {
  if (name.empty()) return State{};
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? State{} : static_cast<State>(found - names.begin() + 1);
}

template <class State, std::size_t kCount>
std::string_view name_of(const std::array<std::string_view, kCount>& names, State state) {
  return state == State{} ? std::string_view{} : names[static_cast<std::size_t>(state) - 1];
}

}  // namespace detail

/// `kUnrecorded` for an empty text, and for one outside the list.
inline PrincipalState principal_state_of(std::string_view name) {
  return detail::state_of<PrincipalState>(event::kPrincipalStates, name);
}
inline ApprovalState approval_state_of(std::string_view name) {
  return detail::state_of<ApprovalState>(event::kApprovalStates, name);
}
/// Empty for `kUnrecorded`.
inline std::string_view principal_state_name(PrincipalState state) {
  return detail::name_of(event::kPrincipalStates, state);
}
inline std::string_view approval_state_name(ApprovalState state) {
  return detail::name_of(event::kApprovalStates, state);
}

}  // namespace remit::grading
