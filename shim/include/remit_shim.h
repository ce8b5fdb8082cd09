// What the shim's modules share: strings, status codes and the last message.
//
// Rules that hold for every function of the shim. No panic of the Rust side leaves it: it becomes
// REMIT_SHIM_PANIC. A status other than REMIT_SHIM_OK leaves its message (and place, where it has
// one) in remit_shim_last_message() of the calling thread. For access, every status but
// REMIT_SHIM_OK means deny. Strings are UTF-8, with a length and without a terminator; what is not
// UTF-8 is REMIT_SHIM_MISUSE.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Text that somebody else owns. `data` may be null when `size` is 0.
typedef struct remit_str {
  const char* data;
  size_t size;
} remit_str;

/// What became of a call.
typedef int32_t remit_shim_status;
enum {
  REMIT_SHIM_OK = 0,
  REMIT_SHIM_MISUSE = 1,       ///< the caller broke the rules of a header: a defect of the C++ side
  REMIT_SHIM_LIMIT = 2,        ///< a size, depth, count or cost is past its bound
  REMIT_SHIM_REFUSED = 3,      ///< the input is not acceptable; the message says why
  REMIT_SHIM_UNSUPPORTED = 4,  ///< the input is right, but asks for what is deliberately not done
  REMIT_SHIM_PANIC = 5         ///< a defect in the Rust side; nothing was changed
};

/// Message of this thread's last call with a status other than REMIT_SHIM_OK; valid until its next
/// such call. It never quotes a value of a request or an instance.
remit_str remit_shim_last_message(void);

/// Place of that failure in the input (a JSON pointer, a line and column), or empty; valid as long
/// as the message.
remit_str remit_shim_last_place(void);

#ifdef __cplusplus
}
#endif
