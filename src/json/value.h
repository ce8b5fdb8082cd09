// A JSON value: an owned tree that holds only what survives a round trip.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/limits.h"
#include "base/result.h"

namespace remit::json {

class Value;
using Array = std::vector<Value>;
using Member = std::pair<std::string, Value>;

/// Members in the order of the text, keys unique. Look-up is linear: objects of calls are small.
class Object {
 public:
  Object() = default;
  Object(std::initializer_list<Member> members);

  [[nodiscard]] const Value* find(std::string_view key) const;
  [[nodiscard]] Value* find(std::string_view key);
  /// Sets or adds a member.
  void set(std::string key, Value value);
  /// Takes a member out; false if there was none.
  bool erase(std::string_view key);

  [[nodiscard]] const std::vector<Member>& members() const { return members_; }
  [[nodiscard]] std::vector<Member>& members() { return members_; }
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] bool empty() const;

  friend bool operator==(const Object& left, const Object& right);

 private:
  std::vector<Member> members_;
};

/// Null, a boolean, an integer of magnitude at most 2^53 - 1, a finite double, well-formed UTF-8
/// text, an array or an object. A number written without fraction and exponent is an integer, any
/// other a double.
class Value {
 public:
  // Implicit, so that a tree can be written as it reads: `Object{{"a", Array{1, "x"}}}`.
  Value() = default;
  Value(std::nullptr_t) {}
  Value(bool value) : data_(value) {}
  Value(std::int64_t value) : data_(value) {}
  Value(int value) : data_(static_cast<std::int64_t>(value)) {}
  Value(double value) : data_(value) {}
  Value(std::string value) : data_(std::move(value)) {}
  Value(std::string_view value) : data_(std::string(value)) {}
  Value(const char* value) : data_(std::string(value)) {}
  Value(Array value) : data_(std::move(value)) {}
  Value(Object value) : data_(std::move(value)) {}

  [[nodiscard]] bool is_null() const { return data_.index() == 0; }
  /// The member of the variant, or null if the value is of another kind.
  [[nodiscard]] const bool* if_bool() const { return std::get_if<bool>(&data_); }
  [[nodiscard]] const std::int64_t* if_integer() const { return std::get_if<std::int64_t>(&data_); }
  [[nodiscard]] const double* if_double() const { return std::get_if<double>(&data_); }
  [[nodiscard]] const std::string* if_string() const { return std::get_if<std::string>(&data_); }
  [[nodiscard]] const Array* if_array() const { return std::get_if<Array>(&data_); }
  [[nodiscard]] Array* if_array() { return std::get_if<Array>(&data_); }
  [[nodiscard]] const Object* if_object() const { return std::get_if<Object>(&data_); }
  [[nodiscard]] Object* if_object() { return std::get_if<Object>(&data_); }

  /// Member of an object; null if this is no object or has no such key.
  [[nodiscard]] const Value* find(std::string_view key) const {
    const Object* object = if_object();
    return object == nullptr ? nullptr : object->find(key);
  }
  /// What an RFC 6901 pointer (`""`, `/a/0/b`) names; null if nothing or if the pointer is
  /// malformed.
  [[nodiscard]] const Value* at_pointer(std::string_view pointer) const;
  [[nodiscard]] Value* at_pointer(std::string_view pointer);

  friend bool operator==(const Value& left, const Value& right) {
    return left.data_ == right.data_;
  }

 private:
  std::variant<std::monostate, bool, std::int64_t, double, std::string, Array, Object> data_;
};

/// The RFC 6901 pointer to the member `name` of what `parent` points at.
std::string pointer_to(std::string_view parent, std::string_view name);

// Here, where a member is complete: clang needs it for the distance of two pointers.
inline std::size_t Object::size() const {
  return members_.size();
}
inline bool Object::empty() const {
  return members_.empty();
}
inline bool operator==(const Object& left, const Object& right) {
  return left.members_ == right.members_;
}

/// Bounds of one parse.
struct ParseLimits {
  std::size_t max_bytes = kMaxJsonBytes;
  std::size_t max_depth = kMaxJsonDepth;      ///< nesting of arrays and objects
  std::size_t max_members = kMaxJsonMembers;  ///< of one object
};

/// Parses one JSON text (RFC 8259), strictly (BOUNDARY step 2). Errors, each with `byte N` as its
/// place: `invalid_input` for anything that is not JSON, a duplicate key at any depth, invalid
/// UTF-8, a byte order mark, a lone surrogate, a number that does not survive, trailing text;
/// `limit_exceeded` for a bound of `limits` (a depth beyond 512 is held to 512). Thread-safe.
///
/// A number does not survive if it is written as an integer beyond 2^53 - 1 (RFC 7493 section 2.2),
/// if a double would make it infinite or zero, or if it is a double from 2^53 to below 10^21,
/// because RFC 8785 writes those as integers beyond 2^53 - 1. Any other double is the nearest one.
Result<Value> parse(std::string_view text, const ParseLimits& limits = {});

/// Compact JSON text in member order; every control character escaped, so that the text is one
/// line. `parse` gives back an equal value. A double that is not finite becomes `null`.
std::string write(const Value& value);
/// Appends one JSON string, quotes included. `text` must be well-formed UTF-8; ill-formed bytes
/// become U+FFFD, so that what is written is always JSON.
void write_string(std::string_view text, std::string& out);

/// The canonical form of RFC 8785: members sorted by UTF-16 code units, numbers as ECMAScript
/// prints them, no white space. Equal values have equal bytes.
std::string canonical(const Value& value);

}  // namespace remit::json
