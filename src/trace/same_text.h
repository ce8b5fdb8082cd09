// Whether two files hold the same text, packed or not.
#pragma once

#include <string>

#include "base/file_system.h"
#include "base/result.h"

namespace remit::trace {

/// Reads both, unpacked, up to the first difference. Errors: those of opening, reading and
/// unpacking.
Result<bool> have_same_text(FileSystem& files, const std::string& left, const std::string& right);

}  // namespace remit::trace
