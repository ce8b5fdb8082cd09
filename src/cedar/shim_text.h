// Text across the shim's C boundary, both ways.
#pragma once

#include <remit_shim_cedar.h>

#include <string_view>

namespace remit::cedar {

/// The same text as the shim takes it; it must outlive the call.
inline remit_str shim_text(std::string_view text) {
  return {text.data(), text.size()};
}

/// Text of the shim, valid as long as the header says of whoever gave it.
inline std::string_view view(remit_str text) {
  return text.size == 0 ? std::string_view() : std::string_view(text.data, text.size);
}

}  // namespace remit::cedar
