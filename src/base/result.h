// Result<T>: a value or an Error, with std::expected's member names (absent in g++ 12's C++20).
#pragma once

#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/check.h"
#include "base/error.h"

namespace remit {

/// A value of `T` or the `Error` that took its place. Reading the other one is a defect and aborts.
///
///     Result<std::string> text = files.read("bundle.yaml", kMaxConfigBytes);
///     if (!text) return text.error();
///     use(*text);
template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  template <class U = T>
    requires std::is_constructible_v<T, U&&> && (!std::is_same_v<std::remove_cvref_t<U>, Error>) &&
             (!std::is_same_v<std::remove_cvref_t<U>, Result>)
  Result(U&& value)  // NOLINT(google-explicit-constructor): `return value;` is the point
      : state_(std::in_place_index<0>, std::forward<U>(value)) {}
  Result(Error error)  // NOLINT(google-explicit-constructor): `return error;` is the point
      : state_(std::in_place_index<1>, std::move(error)) {}

  [[nodiscard]] bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  T& value() & {
    REMIT_CHECK(has_value());
    return *std::get_if<0>(&state_);
  }
  const T& value() const& {
    REMIT_CHECK(has_value());
    return *std::get_if<0>(&state_);
  }
  T&& value() && {
    REMIT_CHECK(has_value());
    return std::move(*std::get_if<0>(&state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  Error& error() & {
    REMIT_CHECK(!has_value());
    return *std::get_if<1>(&state_);
  }
  const Error& error() const& {
    REMIT_CHECK(!has_value());
    return *std::get_if<1>(&state_);
  }
  Error&& error() && {
    REMIT_CHECK(!has_value());
    return std::move(*std::get_if<1>(&state_));
  }

  template <class U>
  T value_or(U&& other) const& {
    return has_value() ? **this : static_cast<T>(std::forward<U>(other));
  }

 private:
  std::variant<T, Error> state_;
};

/// Success, or an `Error`. A default-constructed one is success: `return {};`.
template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;

  Result() = default;
  Result(Error error)  // NOLINT(google-explicit-constructor): `return error;` is the point
      : error_(std::move(error)) {}

  [[nodiscard]] bool has_value() const { return !error_.has_value(); }
  explicit operator bool() const { return has_value(); }

  Error& error() & {
    REMIT_CHECK(error_.has_value());
    return *error_;
  }
  const Error& error() const& {
    REMIT_CHECK(error_.has_value());
    return *error_;
  }
  Error&& error() && {
    REMIT_CHECK(error_.has_value());
    return std::move(*error_);
  }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

}  // namespace remit

#define REMIT_CONCAT_INNER(a, b) a##b
#define REMIT_CONCAT(a, b) REMIT_CONCAT_INNER(a, b)

/// Returns the error of `expression` from the enclosing function, if it is one.
#define REMIT_TRY(expression)                     \
  do {                                            \
    auto remit_try_result = (expression);         \
    if (!remit_try_result.has_value()) {          \
      return std::move(remit_try_result).error(); \
    }                                             \
  } while (false)

/// Declares `declaration` as the value of `expression`, or returns its error.
#define REMIT_TRY_ASSIGN(declaration, expression) \
  REMIT_TRY_ASSIGN_INNER(REMIT_CONCAT(remit_result_, __LINE__), declaration, expression)
#define REMIT_TRY_ASSIGN_INNER(result, declaration, expression) \
  auto result = (expression);                                   \
  if (!result.has_value()) return std::move(result).error();    \
  declaration = std::move(result).value()
