// The retry door: an errand that was taken up before and comes again.
#pragma once

#include <string>

#include "queued.h"

namespace remit::examples {

/// The queue of errands that are tried again.
inline constexpr const char* kSecondTries = "second-tries";

/// An errand that somebody took up at closing time and could not begin: it goes back and comes
/// again. Gives the id of its row. Errors: of WorkQueue.
Result<std::string> put_back(Office& office, const Errand& errand);

/// Lets a row that ended as denied, failed or unknown be tried again; `by` answers for it. Errors:
/// of WorkQueue.
Status try_again(Office& office, const std::string& row, const std::string& by,
                 const std::string& why);

}  // namespace remit::examples
