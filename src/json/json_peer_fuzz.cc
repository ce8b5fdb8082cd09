// Fuzz target: Boost.JSON takes what we take, for the same value, and refuses what we refuse, but
// for the differences that are named here.
#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/src.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/limits.h"
#include "json/value.h"

namespace {

namespace json = remit::json;

// Why we refuse texts that the peer takes, by the words of our error.
constexpr std::string_view kDuplicate = "duplicate key";               // RFC 7493 section 2.3
constexpr std::string_view kUnsafe = "an integer beyond 2^53 - 1";     // RFC 7493 section 2.2
constexpr std::string_view kUnheld = "a number that a double cannot";  // the same
constexpr std::string_view kMembers = "more than ";                    // base/limits.h

// Builds a value of ours from the peer's events, and notes what we would refuse. The peer's own
// doubles may be one unit off, so digits go to strtod, which our parser does not use.
class Builder {
 public:
  using Code = boost::json::error_code;
  using View = boost::json::string_view;
  static constexpr std::size_t max_object_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_array_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_key_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_string_size = static_cast<std::size_t>(-1);

  static bool on_document_begin(Code&) { return true; }
  static bool on_document_end(Code&) { return true; }
  static bool on_comment_part(View, Code&) { return false; }
  static bool on_comment(View, Code&) { return false; }

  bool on_array_begin(Code&) { return open(json::Array{}); }
  bool on_object_begin(Code&) { return open(json::Object{}); }
  bool on_array_end(std::size_t, Code&) { return close(); }
  bool on_object_end(std::size_t, Code&) { return close(); }

  bool on_key_part(View part, std::size_t, Code&) { return keep(part); }
  bool on_key(View part, std::size_t, Code&) {
    keep(part);
    keys_.back() = std::exchange(text_, {});
    return true;
  }
  bool on_string_part(View part, std::size_t, Code&) { return keep(part); }
  bool on_string(View part, std::size_t, Code&) {
    keep(part);
    return put(std::exchange(text_, {}));
  }

  bool on_number_part(View part, Code&) { return keep(part); }
  bool on_int64(std::int64_t, View part, Code&) { return number(part); }
  bool on_uint64(std::uint64_t, View part, Code&) { return number(part); }
  bool on_double(double, View part, Code&) { return number(part); }
  bool on_bool(bool value, Code&) { return put(value); }
  bool on_null(Code&) { return put(nullptr); }

  [[nodiscard]] const json::Value& value() const { return root_; }
  [[nodiscard]] bool noted(std::string_view fault) const {
    return std::find(faults_.begin(), faults_.end(), fault) != faults_.end();
  }
  [[nodiscard]] bool faultless() const { return faults_.empty(); }

 private:
  bool keep(View part) {
    text_.append(part.data(), part.size());
    return true;
  }

  bool number(View part) {
    keep(part);
    const std::string digits = std::exchange(text_, {});
    const double value = std::strtod(digits.c_str(), nullptr);
    const double magnitude = std::fabs(value);
    const std::size_t exponent = digits.find_first_of("eE");
    if (digits.find_first_of(".eE") == std::string::npos) {
      const std::int64_t integer = std::strtoll(digits.c_str(), nullptr, 10);
      if (integer > remit::kMaxSafeInteger || integer < -remit::kMaxSafeInteger) {
        faults_.push_back(kUnsafe);
      }
      return put(integer);
    }
    const bool is_zero = digits.substr(0, exponent).find_first_of("123456789") == std::string::npos;
    if (std::isinf(value) || (value == 0 && !is_zero)) {
      faults_.push_back(kUnheld);
    } else if (magnitude >= 9007199254740992.0 && magnitude < 1e21) {
      faults_.push_back(kUnsafe);
    }
    return put(value);
  }

  bool open(json::Value container) {
    open_.push_back(std::move(container));
    keys_.emplace_back();
    return true;
  }

  bool close() {
    json::Value done = std::move(open_.back());
    open_.pop_back();
    keys_.pop_back();
    return put(std::move(done));
  }

  bool put(json::Value value) {
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (json::Array* array = open_.back().if_array()) {
      array->push_back(std::move(value));
    } else if (json::Object* object = open_.back().if_object()) {
      if (object->find(keys_.back()) != nullptr) faults_.push_back(kDuplicate);
      if (object->size() >= remit::kMaxJsonMembers) faults_.push_back(kMembers);
      object->members().emplace_back(keys_.back(), std::move(value));
    }
    return true;
  }

  json::Value root_;
  std::vector<json::Value> open_;
  std::vector<std::string> keys_;
  std::string text_;
  std::vector<std::string_view> faults_;
};

enum class Answer : std::uint8_t { kTaken, kRefused, kNotRead };

// What the peer says of the whole text. Its limit of depth is ours, so both count it. It does not
// read exponents beyond an int, where we know that zero stays zero.
Answer ask(boost::json::basic_parser<Builder>& peer, std::string_view text) {
  boost::json::error_code error;
  const std::size_t used = peer.write_some(false, text.data(), text.size(), error);
  if (error == boost::json::error::exponent_overflow) return Answer::kNotRead;
  return !error && used == text.size() ? Answer::kTaken : Answer::kRefused;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  boost::json::parse_options options;
  options.max_depth = remit::kMaxJsonDepth;
  boost::json::basic_parser<Builder> peer(options);
  const Answer answer = ask(peer, text);
  if (answer == Answer::kNotRead) return 0;
  const remit::Result<json::Value> value = json::parse(text);
  if (value) {
    REMIT_CHECK(answer == Answer::kTaken && peer.handler().faultless());
    REMIT_CHECK(peer.handler().value() == *value);
    return 0;
  }
  if (answer == Answer::kRefused) return 0;
  REMIT_CHECK(!peer.handler().faultless());
  for (const std::string_view fault : {kDuplicate, kUnsafe, kUnheld, kMembers}) {
    if (value.error().message.starts_with(fault)) {
      REMIT_CHECK(peer.handler().noted(fault));
      return 0;
    }
  }
  REMIT_CHECK(false);
  return 0;
}
